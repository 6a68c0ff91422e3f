package middleware

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"limnomap/api/answer"
)

// maxShownHost is how much of a refused host the problem shows.
const maxShownHost = 64

// Hosts refuses requests whose Host could be a name on the public Internet, unless it is one of names. The owner of such a name
// can let it point to the address of this server (DNS rebinding): to a browser, the answers then belong to the owner's page, which
// may read them. Such a request has no mark of a browser: over plain HTTP there is neither Origin nor Sec-Fetch-Site.
//
// Allowed are IP addresses; localhost and names below it; names without a dot, such as those of containers, which no one can
// register; and requests without a Host, which no browser sends.
func Hosts(names []string) func(http.Handler) http.Handler {
	allowed := make([]string, len(names))
	for i, name := range names {
		allowed[i] = foldHost(name)
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if name := hostName(r.Host); isLocalName(name) || slices.Contains(allowed, name) {
				next.ServeHTTP(w, r)
				return
			}
			shown := r.Host[:min(len(r.Host), maxShownHost)]
			answer.WriteProblem(w, r, &answer.Problem{
				Status: http.StatusMisdirectedRequest,
				Detail: fmt.Sprintf("The host %s is not allowed on the admin listener. Use an IP address, or allow the name with --admin-host.",
					strconv.QuoteToASCII(shown)),
			})
		})
	}
}

// hostName returns the name or address in a Host field, without the port.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		host = strings.TrimSuffix(inner, "]")
	}
	return foldHost(host)
}

// foldHost returns the one spelling of a host.
func foldHost(host string) string {
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// isLocalName reports whether no one can register a host on the public Internet.
func isLocalName(name string) bool {
	if !strings.Contains(name, ".") || strings.HasSuffix(name, ".localhost") {
		return true
	}
	_, err := netip.ParseAddr(name)
	return err == nil
}
