package middleware

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"limnomap/api/answer"
)

// SecurityHeaders sets header fields that protect browsers. Every answer gets X-Content-Type-Options and
// Cross-Origin-Resource-Policy. The others are rules for documents and scripts and apply to everything except pictures: a
// Content-Security-Policy (level 3, section 4.2.1), a Permissions-Policy and a Referrer-Policy. A browser shows a picture in
// a document of its own that runs and loads nothing: on a tile they would be half a kilobyte without use. SVG is a document.
//
// The page needs its own files, images from the origins of the basemap and its labels (sources as BasemapOrigin returns them), data:
// and blob: images, which Leaflet draws with, and the position of the reader if they allow it; no inline script or style.
//
// Only this server may show its documents in a frame; for a map to be embedded, ancestors says who may.
//
// On connections with TLS of this server, hsts is the max-age of HSTS (RFC 6797); 0 leaves HSTS out. The embedded map has a
// Cross-Origin-Embedder-Policy, without which a page that has one cannot show it: credentialless, since require-corp would block basemaps whose
// servers do not send the fields that it asks for.
func SecurityHeaders(imageOrigins []string, ancestors FrameAncestors, hsts time.Duration) Middleware {
	images := strings.Join(append([]string{"img-src 'self' data: blob:"}, imageOrigins...), " ")
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
	// A page of this server shares no window with a page of another site that opens it or is opened by it.
	ownWindow := answer.Field{Name: "Cross-Origin-Opener-Policy", Value: []string{"same-origin"}}
	fields := func(directives ...string) []answer.Field {
		return []answer.Field{
			{Name: "Content-Security-Policy", Value: []string{strings.Join(append([]string{common}, directives...), "; ")}},
			// OpenStreetMap's tile policy asks for a Referer; the origin is enough and does not reveal the place that was viewed.
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
	byEmbed := append(fields(embedded...), answer.Field{Name: "Cross-Origin-Embedder-Policy", Value: []string{"credentialless"}})
	// An image may come from the operator or show words from outside. Opened by itself it runs no script and loads nothing.
	image := fields()
	image[0].Value = []string{"default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox"}
	byDocument := &answer.DocumentFields{
		answer.PlainDocument: fields(noForm, ownFrame),
		answer.EmbedDocument: byEmbed,
		answer.FormDocument:  fields("form-action 'self'", ownFrame),
		answer.ImageDocument: image,
	}
	nosniff := []string{"nosniff"}
	// Tiles are made for pages of other sites.
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

// BasemapOrigin returns the source expression (CSP level 3, section 2.3.1) that covers the addresses of a basemap template,
// such as https://tile.openstreetmap.org for https://tile.openstreetmap.org/{z}/{x}/{y}.png. The template may start with {s},
// Leaflet's subdomain: https://{s}.tile.example.org/... is https://*.tile.example.org. An empty template has the empty source.
func BasemapOrigin(template string) (string, error) {
	if template == "" {
		return "", nil
	}
	const wildcard = "wildcard-subdomain" // replaces {s} while the address is parsed
	u, err := url.Parse(strings.Replace(template, "://{s}.", "://"+wildcard+".", 1))
	if err != nil {
		return "", fmt.Errorf("basemap address %q is malformed, want one such as https://tile.example.org/{z}/{x}/{y}.png", template)
	}
	host := strings.ToLower(u.Host)
	// A host that needs quoting would end the directive, or start another one.
	if u.Scheme != "http" && u.Scheme != "https" || u.User != nil || !validHost(host) {
		return "", fmt.Errorf("basemap address %q has no plain origin, want http or https, a host name with an optional port, and {s} only as its first label", template)
	}
	if rest, ok := strings.CutPrefix(host, wildcard+"."); ok {
		host = "*." + rest
	}
	return u.Scheme + "://" + host, nil
}

// AdminHeaders sets the header fields that protect browsers on the admin listener. The index page of pprof has inline styles.
func AdminHeaders(next http.Handler) http.Handler {
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
