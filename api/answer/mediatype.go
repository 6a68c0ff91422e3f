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

// mediaTypes are the media types of the page's files, by the extension of their names. The tables of operating systems differ,
// and a script sent as text/plain does not run.
var mediaTypes = map[string]string{
	".html":        "text/html; charset=utf-8",
	".css":         "text/css; charset=utf-8",
	".js":          "text/javascript; charset=utf-8",
	".json":        TypeJSON,
	".geojson":     "application/geo+json",
	".webmanifest": "application/manifest+json",
	".svg":         TypeSVG,
	".png":         TypePNG,
	".txt":         "text/plain; charset=utf-8",
}

// MediaTypeOf returns the media type of a file by its name. It reports false for an unknown extension.
func MediaTypeOf(name string) (mediaType string, ok bool) {
	mediaType, ok = mediaTypes[path.Ext(name)]
	return mediaType, ok
}

// isPicture reports whether a body of that type holds only pixels, which are compressed already. SVG is text, and may have
// scripts and links.
func isPicture(mediaType string) bool {
	return strings.HasPrefix(mediaType, "image/") && mediaType != TypeSVG
}
