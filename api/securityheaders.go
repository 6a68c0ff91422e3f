package api

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// securityHeaders sets what browsers are to hold every answer to, and what they are to hold documents to: all that is not
// a picture. A picture in itself is shown by a document of the browser's own, runs nothing, asks for nothing and refers to
// nothing: a Content-Security-Policy (level 3, section 4.2.1), a Permissions-Policy and a Referrer-Policy are rules for
// documents and scripts, and on a tile three fields and half a kilobyte that nobody reads. SVG is a document.
//
// The page needs its own files, images from the basemap's origin (a source as the function basemapOrigin returns, or
// empty), data: and blob: images, which Leaflet draws with, and the reader's position if they wish; nothing else, and no
// inline script or style.
func securityHeaders(basemapOrigin string) func(http.Handler) http.Handler {
	images := "img-src 'self' data: blob:"
	if basemapOrigin != "" {
		images += " " + basemapOrigin
	}
	csp := strings.Join([]string{
		"default-src 'none'",
		"script-src 'self'",
		"style-src 'self'",
		images,
		"connect-src 'self'",
		"font-src 'self'",
		"manifest-src 'self'",
		"worker-src 'self'",
		"base-uri 'none'",
		"form-action 'none'",
		"frame-ancestors 'self'",
	}, "; ")
	documents := []field{
		{"Content-Security-Policy", []string{csp}},
		// OpenStreetMap's tile policy asks for a Referer; the origin is enough and tells nobody what was looked at.
		{"Referrer-Policy", []string{"strict-origin-when-cross-origin"}},
		{"Permissions-Policy", []string{"geolocation=(self), camera=(), microphone=(), payment=(), usb=()"}},
	}
	nosniff := []string{"nosniff"}
	// Tiles are made to be shown on other people's pages.
	resource := []string{"cross-origin"}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			tw := track(w)
			tw.documents = documents
			h := tw.Header()
			h["X-Content-Type-Options"] = nosniff
			h["Cross-Origin-Resource-Policy"] = resource
			next.ServeHTTP(tw, r)
			tw.implicitOK() // for a handler that wrote nothing
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
