package api

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"limnomap/api/answer"
)

// securityHeaders sets what browsers are to hold every answer to, and what they are to hold documents to: all that is not
// a picture. A picture in itself is shown by a document of the browser's own, runs nothing, asks for nothing and refers to
// nothing: a Content-Security-Policy (level 3, section 4.2.1), a Permissions-Policy and a Referrer-Policy are rules for
// documents and scripts, and on a tile three fields and half a kilobyte that nobody reads. SVG is a document.
//
// The page needs its own files, images from the basemap's origin (a source as the function basemapOrigin returns, or
// empty), data: and blob: images, which Leaflet draws with, and the reader's position if they wish; nothing else, and no
// inline script or style.
//
// Nobody but this server may show its documents in a frame; of a map to be embedded ancestors says who may.
//
// Over TLS of this server's own, hsts, unless it is 0, is how long browsers are to come back by HTTPS alone (RFC 6797).
// There is no Cross-Origin-Embedder-Policy: it would keep out basemaps whose servers do not know of it.
func securityHeaders(basemapOrigin string, ancestors FrameAncestors, hsts time.Duration) func(http.Handler) http.Handler {
	images := "img-src 'self' data: blob:"
	if basemapOrigin != "" {
		images += " " + basemapOrigin
	}
	common := strings.Join([]string{
		"default-src 'none'",
		"script-src 'self'",
		"style-src 'self'",
		images,
		"connect-src 'self'",
		"font-src 'self'",
		"manifest-src 'self'",
		"worker-src 'self'",
		"base-uri 'none'",
	}, "; ")
	// A page of ours that is opened from another's, or opens one, shares no window with it. In a frame it says nothing.
	ownWindow := answer.Field{Name: "Cross-Origin-Opener-Policy", Value: []string{"same-origin"}}
	fields := func(directives ...string) []answer.Field {
		return []answer.Field{
			{Name: "Content-Security-Policy", Value: []string{strings.Join(append([]string{common}, directives...), "; ")}},
			// OpenStreetMap's tile policy asks for a Referer; the origin is enough and tells nobody what was looked at.
			{Name: "Referrer-Policy", Value: []string{"strict-origin-when-cross-origin"}},
			{Name: "Permissions-Policy", Value: []string{"geolocation=(self), camera=(), microphone=(), payment=(), usb=()"}},
			ownWindow,
		}
	}
	const (
		noForm   = "form-action 'none'"
		ownFrame = "frame-ancestors 'self'"
	)
	embedded := []string{noForm}
	if ancestors.sources != "" {
		embedded = append(embedded, "frame-ancestors "+ancestors.sources)
	}
	byDocument := &answer.DocumentFields{
		answer.PlainDocument: fields(noForm, ownFrame),
		answer.EmbedDocument: fields(embedded...),
		answer.FormDocument:  fields("form-action 'self'", ownFrame),
	}
	nosniff := []string{"nosniff"}
	// Tiles are made to be shown on other people's pages.
	resource := []string{"cross-origin"}
	transport := []string{"max-age=" + strconv.FormatInt(int64(hsts/time.Second), 10)}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			tw := answer.Track(w)
			tw.AddToDocuments(byDocument)
			h := tw.Header()
			h["X-Content-Type-Options"] = nosniff
			h["Cross-Origin-Resource-Policy"] = resource
			if hsts > 0 && r.TLS != nil { // over plain HTTP a browser ignores it (section 8.1)
				h["Strict-Transport-Security"] = transport
			}
			next.ServeHTTP(tw, r)
			tw.ImplicitOK() // for a handler that wrote nothing
		})
	}
}

// basemapOrigin returns the source expression (CSP level 3, section 2.3.1) that covers the addresses of a basemap's
// template, such as https://tile.openstreetmap.org for https://tile.openstreetmap.org/{z}/{x}/{y}.png. The template
// may start with {s}, Leaflet's subdomain: https://{s}.tile.example.org/... is https://*.tile.example.org. An empty
// template has the empty source. It fails on what is no http or https address with a host.
func basemapOrigin(template string) (string, error) {
	if template == "" {
		return "", nil
	}
	const wildcard = "wildcard-subdomain" // stands for {s} while the address is parsed
	u, err := url.Parse(strings.Replace(template, "://{s}.", "://"+wildcard+".", 1))
	if err != nil {
		return "", fmt.Errorf("basemap address %q is malformed, allowed is such as https://tile.example.org/{z}/{x}/{y}.png", template)
	}
	host := strings.ToLower(u.Host)
	// A host that needs quoting would end the directive, or begin another one.
	if u.Scheme != "http" && u.Scheme != "https" || u.User != nil || !validHost(host) {
		return "", fmt.Errorf("basemap address %q has no plain origin, allowed is http or https, a host name and a port, and {s} as its first label", template)
	}
	if rest, ok := strings.CutPrefix(host, wildcard+"."); ok {
		host = "*." + rest
	}
	return u.Scheme + "://" + host, nil
}

// adminHeaders sets what browsers are to hold the admin listener's answers to. Pprof's list has a style of its own.
func adminHeaders(next http.Handler) http.Handler {
	policy := []string{"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}
	nosniff, referrer, resource := []string{"nosniff"}, []string{"no-referrer"}, []string{"same-origin"}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["X-Content-Type-Options"] = nosniff
		h["Content-Security-Policy"] = policy
		h["Referrer-Policy"] = referrer
		h["Cross-Origin-Resource-Policy"] = resource
		next.ServeHTTP(w, r)
	})
}
