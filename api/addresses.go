package api

import (
	"net/http"
	"net/url"
	"strings"

	"limnomap/api/middleware"
)

// prefixOf returns the path of this server's root as clients see it, without a final slash. A public URL with a path is the
// whole truth: it may lead through a proxy that strips that path. One without a path leaves it to basePath.
func prefixOf(public *url.URL, basePath string) string {
	if public != nil {
		if path := strings.TrimRight(public.EscapedPath(), "/"); path != "" {
			return path
		}
	}
	return basePath
}

// base returns what addresses in an answer to r begin with: the scheme and host by which clients know this server, as
// configured or as a trusted proxy says, and the prefix. If neither says it, it is the address to which the client connected, if
// Host is just that. With any other Host addresses have no host: any client can choose that field, and a cache would send it to
// others. The header of w says what the answer depends on.
//
// The answer is private if its addresses come from the connection: only the client's own cache may store it. A proxy that
// LocalOrigin does not recognise may have sent a Host of its own, or one that an attacker chose: its cache must not give the
// answer to others. No Vary is needed: private answers are in no shared cache, and those without a host are right for everyone.
func (s *common) base(w http.ResponseWriter, r *http.Request) (base string, private bool) {
	if public := s.opts.PublicURL; public != nil {
		return public.Scheme + "://" + public.Host + s.prefix, false
	}
	trusted := s.trustedProxies()
	if len(trusted) > 0 {
		w.Header().Add("Vary", "X-Forwarded-Host, X-Forwarded-Proto")
	}
	if scheme, host, ok := middleware.ForwardedOrigin(r, trusted); ok {
		return scheme + "://" + host + s.prefix, false
	}
	if scheme, host, ok := middleware.LocalOrigin(r, trusted); ok {
		return scheme + "://" + host + s.prefix, true
	}
	return s.prefix, false
}
