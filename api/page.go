package api

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"

	"limnomap/api/answer"
)

const (
	// assets is the folder of the page's files whose names contain a hash of their content.
	assets = "assets/"
	// brotliSuffix ends the names of files that were compressed when the page was built, with more effort than this server
	// spends: they are smaller by a tenth.
	brotliSuffix = ".br"
)

// A page is the files of the web page.
type page struct {
	sender      *answer.Sender
	files       map[string]pageFile // by path below the root
	docs, embed pageFile            // which have addresses of their own
}

// A pageFile is one file. Its body is made when it is loaded or, of a file that is there only in compressed form, at the
// first request: the viewer of the interface is fourteen times the size of the page's own script, and most servers are
// never asked for it.
type pageFile struct {
	kind answer.Kind
	body func() (*answer.Body, error)
}

// loadPage reads the page's files. They are few and small. Embedded files have no modification time, so that their entity
// tags can only come from their bytes.
func loadPage(sender *answer.Sender, files fs.FS) (*page, error) {
	p := &page{sender: sender, files: make(map[string]pageFile)}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(path.Base(name), ".") {
			return err
		}
		if plain, ok := strings.CutSuffix(name, brotliSuffix); ok {
			if _, err := fs.Stat(files, plain); !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			return p.addCompressed(files, plain)
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return p.add(files, name, content)
	})
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	for _, required := range []string{"/index.html", embedFile, docsFile} {
		if _, ok := p.files[required]; !ok {
			return nil, fmt.Errorf("page: no %s among its %d files", required[1:], len(p.files))
		}
	}
	p.files["/"] = p.files["/index.html"]
	p.docs, p.embed = p.files[docsFile], p.files[embedFile]
	delete(p.files, docsFile)
	delete(p.files, embedFile)
	return p, nil
}

// add adds a file with that content.
func (p *page) add(files fs.FS, name string, content []byte) error {
	mediaType, ok := answer.MediaTypeOf(name)
	if !ok {
		return fmt.Errorf("%s: no media type is known for %q", name, path.Ext(name))
	}
	cacheControl := answer.CacheRevisit
	if strings.HasPrefix(name, assets) {
		cacheControl = answer.CacheForever
	}
	kind := answer.NewKind(mediaType, cacheControl)
	body, err := p.prepare(files, name, kind, content)
	if err != nil {
		return err
	}
	p.files["/"+name] = pageFile{kind, func() (*answer.Body, error) { return body, nil }}
	return nil
}

// addCompressed adds a file that is there only in compressed form.
func (p *page) addCompressed(files fs.FS, name string) error {
	mediaType, ok := answer.MediaTypeOf(name)
	if !ok || !strings.HasPrefix(name, assets) {
		return fmt.Errorf("%s: only files of known media types below %s may be there in compressed form only", name+brotliSuffix, assets)
	}
	kind := answer.NewKind(mediaType, answer.CacheForever)
	p.files["/"+name] = pageFile{kind, sync.OnceValues(func() (*answer.Body, error) {
		file, err := files.Open(name + brotliSuffix)
		if err != nil {
			return nil, fmt.Errorf("page: %w", err)
		}
		defer file.Close()
		content, err := io.ReadAll(brotli.NewReader(file)) // the file is part of the program, so that its size needs no bound
		if err != nil {
			return nil, fmt.Errorf("page: %s: %w", name, err)
		}
		return p.prepare(files, name, kind, content)
	})}
	return nil
}

// prepare compresses a file, and takes its Brotli form from the page if it is there.
func (p *page) prepare(files fs.FS, name string, kind answer.Kind, content []byte) (*answer.Body, error) {
	body, err := p.sender.Prepare(kind, content)
	if err != nil {
		return nil, err
	}
	compressed, err := fs.ReadFile(files, name+brotliSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return body, nil
	}
	if err != nil {
		return nil, err
	}
	body.SetBrotli(compressed)
	return body, nil
}

// has reports whether there is a file at that path below the root.
func (p *page) has(path string) bool {
	_, ok := p.files[path]
	return ok
}

// send answers with a file.
func (p *page) send(w http.ResponseWriter, r *http.Request, file pageFile) error {
	body, err := file.body()
	if err != nil {
		return err
	}
	return p.sender.Send(w, r, file.kind, answer.Prepared(body))
}

// pageFile answers with a file of the page.
func (s *Server) pageFile(w http.ResponseWriter, r *http.Request) error {
	return s.page.send(w, r, s.page.files[s.below(r.URL.Path)])
}

// below returns the part of path below the base path, empty if path is not below it.
func (s *Server) below(path string) string {
	rest, ok := strings.CutPrefix(path, s.opts.BasePath)
	if !ok {
		return ""
	}
	return rest
}

// pageSettings is what the script of the page needs to know.
type pageSettings struct {
	Basemap     *basemap `json:"basemap"`
	Notice      string   `json:"notice"`
	Simulated   bool     `json:"simulated"`
	Attribution string   `json:"attribution"`
	MaxZoom     int      `json:"max_zoom"`
	Version     string   `json:"version"`     // of data and renderer; empty before the first snapshot
	TotalLakes  int      `json:"total_lakes"` // 0 before the first snapshot
	Embeddable  bool     `json:"embeddable"`  // whether other sites may show /embed
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
		Embeddable:  s.adjustable().FrameAncestors.AllowOthers(),
	}
	if s.opts.BasemapURL != "" {
		settings.Basemap = &basemap{s.opts.BasemapURL, s.opts.BasemapAttribution}
	}
	if p := s.current.Load(); p != nil {
		settings.Version, settings.TotalLakes = p.version, len(p.snap.Lakes)
	}
	return s.sender.Send(w, r, settingsKind, answer.JSON(settings))
}
