package answer

import (
	"path"
	"strings"
)

// Media types.
const (
	TypeJSON = "application/json"
	TypeXML  = "application/xml"
	TypePNG  = "image/png"
	TypeSVG  = "image/svg+xml"
)

// MediaTypeOf returns the media type of a file by the extension of its name. The table is closed: the tables of operating
// systems differ, and a script sent as text/plain does not run. It reports false for an unknown extension.
func MediaTypeOf(name string) (mediaType string, ok bool) {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8", true
	case ".css":
		return "text/css; charset=utf-8", true
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8", true
	case ".json", ".map":
		return TypeJSON, true
	case ".geojson":
		return "application/geo+json", true
	case ".webmanifest":
		return "application/manifest+json", true
	case ".svg":
		return TypeSVG, true
	case ".png":
		return TypePNG, true
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

// compressible reports whether a body of that type becomes smaller when compressed: pictures and fonts are compressed
// already.
func compressible(mediaType string) bool {
	return !isPicture(mediaType) && !strings.HasPrefix(mediaType, "font/")
}

// isPicture reports whether a body of that type holds only pixels. SVG is text, and may have scripts and links.
func isPicture(mediaType string) bool {
	return strings.HasPrefix(mediaType, "image/") && mediaType != TypeSVG
}
