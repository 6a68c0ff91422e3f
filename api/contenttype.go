package api

import (
	"path"
	"strings"
)

const (
	typeJSON = "application/json"
	typePNG  = "image/png"
	typeSVG  = "image/svg+xml"
)

// contentTypeOf returns the media type of a page's file by its name. The table is closed: what the operating system
// believes of an extension differs between machines, and a script sent as text/plain is not run. It reports false for
// an extension that no page has needed yet.
func contentTypeOf(name string) (contentType string, ok bool) {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8", true
	case ".css":
		return "text/css; charset=utf-8", true
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8", true
	case ".json", ".map":
		return typeJSON, true
	case ".geojson":
		return "application/geo+json", true
	case ".webmanifest":
		return "application/manifest+json", true
	case ".svg":
		return typeSVG, true
	case ".png":
		return typePNG, true
	case ".ico":
		return "image/x-icon", true
	case ".webp":
		return "image/webp", true
	case ".woff2":
		return "font/woff2", true
	case ".txt", ".md", "":
		return "text/plain; charset=utf-8", true
	}
	return "", false
}

// compressible reports whether a body of that type shrinks when compressed: pictures and fonts are compressed already.
func compressible(contentType string) bool {
	return !isPicture(contentType) && !strings.HasPrefix(contentType, "font/")
}

// isPicture reports whether a body of that type is nothing but pixels. SVG is text, and may bear scripts and links.
func isPicture(contentType string) bool {
	return strings.HasPrefix(contentType, "image/") && contentType != typeSVG
}
