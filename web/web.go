// Package web embeds the page: a Leaflet map of the lakes, which npm builds from src into dist. It does not depend on other
// packages. The page uses relative addresses of the API, so it works under any path.
package web

import (
	"embed"
	"io/fs"
)

// The built page is not committed, only a file that keeps its folder, so that go build works without npm.
//
//go:embed all:dist
var dist embed.FS

//go:embed plain
var plain embed.FS

// The pages that the server makes need neither npm nor JavaScript. They share words with the map, and pages/ with each other.
//
//go:embed desk error lake pages region sign table week src/words src/push/words
var templates embed.FS

// Templates returns the templates, the styles and the words of the pages that the server makes, by their paths in this folder.
func Templates() fs.FS { return templates }

// FS returns the files of the page, with index.html at the root: the built page or, before `make web`, a plain page that says
// what is missing.
func FS() fs.FS {
	if built := sub(dist, "dist"); Built(built) {
		return built
	}
	return sub(plain, "plain")
}

// Built reports whether files contain the built page.
func Built(files fs.FS) bool {
	_, err := fs.Stat(files, "assets")
	return err == nil
}

func sub(files embed.FS, dir string) fs.FS {
	s, err := fs.Sub(files, dir)
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return s
}
