package api

import (
	"net/http"

	"limnomap/api/auth"
	"limnomap/api/desk"
	"limnomap/api/middleware"
	"limnomap/api/sign"
	"limnomap/data/index"
	"limnomap/data/snapshot"
)

// newDesk returns the desk of the admin listener.
func newDesk(s *common, keys *auth.Keyring, signs *sign.Signs) (*desk.Desk, error) {
	return desk.New(desk.Options{
		Files: s.opts.Templates, Scale: s.encoder.scale, Signs: signs, Statements: s.opts.Desk, Keys: keys, Now: s.opts.Now, Logger: s.opts.Logger,
		Current: func() (*snapshot.Snapshot, *index.NameIndex, error) {
			p, err := s.published()
			if err != nil {
				return nil, nil, err
			}
			return p.snap, p.lookup.names, nil
		},
		Secure: s.overHTTPS,
	})
}

// overHTTPS reports whether the browser that sent r reaches this server by HTTPS: as a trusted proxy says, or otherwise as the public URL does.
func (s *common) overHTTPS(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	if scheme, _, ok := middleware.ForwardedOrigin(r, s.trustedProxies()); ok {
		return scheme == "https"
	}
	return s.opts.PublicURL != nil && s.opts.PublicURL.Scheme == "https"
}
