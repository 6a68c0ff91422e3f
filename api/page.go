package api

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// assets is the folder of the page's files whose names bear a hash of their content.
const assets = "assets/"

// loadPage reads the page's files and makes each ready to be sent, by its path below the root. They are few and small,
// and embedded files have no modification time, so that their tags can only come from their bytes.
func loadPage(c *compressor, files fs.FS) (map[string]*body, error) {
	page := make(map[string]*body)
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() || strings.HasPrefix(path.Base(name), ".") || strings.HasSuffix(name, brotliSuffix) {
			return nil
		}
		contentType, ok := contentTypeOf(name)
		if !ok {
			return fmt.Errorf("%s: no media type is known for %q", name, path.Ext(name))
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		cacheControl := cacheRevisit
		if strings.HasPrefix(name, assets) {
			cacheControl = cacheForever
		}
		b, err := newBody(c, newKind(contentType, cacheControl), content)
		if err != nil {
			return err
		}
		page["/"+name] = b
		return takeBrotli(b, files, name+brotliSuffix)
	})
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	for _, required := range []string{"/index.html", embedFile, docsFile} {
		if _, ok := page[required]; !ok {
			return nil, fmt.Errorf("page: no %s among its %d files", required[1:], len(page))
		}
	}
	page["/"] = page["/index.html"]
	return page, nil
}

// brotliSuffix ends the names of files that are others, compressed at leisure when the page was built: by a tenth smaller
// than what is made here.
const brotliSuffix = ".br"

// takeBrotli has b sent in the compressed form that the named file holds, if there is one.
func takeBrotli(b *body, files fs.FS, name string) error {
	content, err := fs.ReadFile(files, name)
	if errors.Is(err, fs.ErrNotExist) || b.variants[brotlied].content == nil {
		return nil
	}
	if err != nil {
		return err
	}
	b.variants[brotlied] = newVariant(content)
	return nil
}

// isPage reports whether the page has a file at the path of r.
func (s *Server) isPage(r *http.Request) bool {
	below := s.below(r.URL.Path)
	return s.page[below] != nil || s.packed[below] != nil
}

// pageFile answers with a file of the page.
func (s *Server) pageFile(w http.ResponseWriter, r *http.Request) error {
	below := s.below(r.URL.Path)
	if file, ok := s.page[below]; ok {
		return file.send(w, r)
	}
	unpack, ok := s.packed[below]
	if !ok {
		return errNotFound
	}
	file, err := unpack()
	if err != nil {
		return err
	}
	return file.send(w, r)
}

// below returns path as it is below the base path, or nothing if it is not there.
func (s *Server) below(path string) string {
	rest, ok := strings.CutPrefix(path, s.opts.BasePath)
	if !ok {
		return ""
	}
	return rest
}

// pageSettings is what the page must be told before it can draw itself.
type pageSettings struct {
	Basemap     *basemap `json:"basemap"`
	Notice      string   `json:"notice"`
	Simulated   bool     `json:"simulated"`
	Attribution string   `json:"attribution"`
	MaxZoom     int      `json:"max_zoom"`
	Version     string   `json:"version"`     // of data and renderer; empty before the first snapshot
	TotalLakes  int      `json:"total_lakes"` // 0 before the first snapshot
	Embeddable  bool     `json:"embeddable"`  // whether any page of others may show /embed
}

type basemap struct {
	URL         string `json:"url"`
	Attribution string `json:"attribution"`
}

// settings answers with the page's settings.
func (s *Server) settings(w http.ResponseWriter, r *http.Request) error {
	settings := pageSettings{
		Notice:      s.opts.Notice,
		Simulated:   s.opts.Notice != "",
		Attribution: s.adjustable().Attribution,
		MaxZoom:     s.opts.MaxZoom,
		Embeddable:  s.adjustable().FrameAncestors.others(),
	}
	if s.opts.BasemapURL != "" {
		settings.Basemap = &basemap{s.opts.BasemapURL, s.opts.BasemapAttribution}
	}
	if p := s.current.Load(); p != nil {
		settings.Version, settings.TotalLakes = p.version, len(p.snap.Lakes)
	}
	return s.respondJSON(w, r, settingsKind, settings)
}
