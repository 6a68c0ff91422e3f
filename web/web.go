// Package web is the page: a Leaflet map of the lakes, built by npm from src into dist, and embedded. It knows nothing
// of the other packages; the page reads the API by relative addresses, so it works under any path.
package web

import (
	"embed"
	"io/fs"
)

// The built page is not committed, only the file that keeps its folder: go build works without npm.
//
//go:embed all:dist
var dist embed.FS

//go:embed plain
var plain embed.FS

// The table of lakes needs neither npm nor a browser's script. It shares its words with the page.
//
//go:embed table src/words
var table embed.FS

// Table returns what the table of lakes is made from: its template, its style and the words, by their paths in this folder.
func Table() fs.FS { return table }

// FS returns the page's files, with index.html at the root: the built page, or where `make web` has not been run
// a plain one that says what it lacks.
func FS() fs.FS {
	if built := sub(dist, "dist"); Built(built) {
		return built
	}
	return sub(plain, "plain")
}

// Built reports whether files hold the built page.
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
