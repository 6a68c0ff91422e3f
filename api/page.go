package api

import (
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/andybalholm/brotli"

	"limnomap/api/answer"
	"limnomap/api/ogc"
	"limnomap/api/route"
)

const (
	docsFile  = "/docs.html"  // shows the description of the API
	embedFile = "/embed.html" // the map, to be shown in frames of other pages

	// assets is the folder of the page's files whose names contain a hash of their content.
	assets = "assets/"
	// brotliSuffix ends the names of files that were compressed when the page was built, with more effort than this server
	// spends: they are smaller by a tenth.
	brotliSuffix = ".br"
)

// pageHandlers answer with the files of the page, its settings and the description of the API.
type pageHandlers struct {
	*common
	files   map[string]pageFile // by path below the root
	openAPI *answer.Body
	fixed   pageSettings // the settings that do not change
}

// A pageFile is one file. Its body is made when it is loaded or, of a file that is there only in compressed form, at the
// first request: the viewer of the interface is fourteen times the size of the page's own script, and most servers are
// never asked for it.
type pageFile struct {
	kind answer.Kind
	body func() (*answer.Body, error)
}

// newPageHandlers reads the page's files. They are few and small. Embedded files have no modification time, so that their
// entity tags can only come from their bytes.
func newPageHandlers(s *common) (*pageHandlers, error) {
	p := &pageHandlers{common: s, files: make(map[string]pageFile), fixed: pageSettings{
		Notice:    s.opts.Notice,
		Simulated: s.opts.Notice != "",
		MaxZoom:   s.opts.MaxZoom,
	}}
	if s.opts.Subscriptions != nil {
		p.fixed.PushKey = &s.opts.PushKey
	}
	if s.opts.BasemapURL != "" {
		p.fixed.Basemap = &basemap{s.opts.BasemapURL, s.opts.BasemapLabelsURL, s.opts.BasemapAttribution}
	}
	if err := p.addFiles(s.opts.Page); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	for _, required := range []string{"/index.html", embedFile, docsFile} {
		if _, ok := p.files[required]; !ok {
			return nil, fmt.Errorf("page: no %s among its %d files", required[1:], len(p.files))
		}
	}
	p.files["/"] = p.files["/index.html"]
	if err := p.addPlaces(s.opts.Places); err != nil {
		return nil, fmt.Errorf("places: %w", err)
	}

	for _, page := range []string{"table", "week", "lake", "sign", "error"} {
		if err := p.addStyle(page); err != nil {
			return nil, fmt.Errorf("%s: %w", page, err)
		}
	}
	script, err := fs.ReadFile(s.opts.Templates, "lake/lake.js")
	if err != nil {
		return nil, err
	}
	if err := p.add(s.opts.Templates, "lake.js", script); err != nil {
		return nil, err
	}
	p.openAPI, err = s.sender.Prepare(settingsKind, []byte(openAPIDocument))
	return p, err
}

// addStyle adds the style of a page that the server makes: what all these pages share, then its own.
func (p *pageHandlers) addStyle(page string) error {
	var style []byte
	for _, name := range []string{"pages/base.css", page + "/" + page + ".css"} {
		content, err := fs.ReadFile(p.opts.Templates, name)
		if err != nil {
			return err
		}
		style = append(style, content...)
	}
	return p.add(p.opts.Templates, page+".css", style)
}

// addPlaces adds the operator's gazetteer beside the files of the page, under a name that changes with it.
func (p *pageHandlers) addPlaces(places []byte) error {
	if places == nil {
		return nil
	}
	hash := sha256.Sum256(places)
	name := fmt.Sprintf("%splaces-%X.json", assets, hash[:4])
	p.fixed.Places = &name
	return p.add(p.opts.Page, name, places)
}

// addFiles adds all files except hidden ones.
func (p *pageHandlers) addFiles(files fs.FS) error {
	return fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
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
}

// add adds a file with that content.
func (p *pageHandlers) add(files fs.FS, name string, content []byte) error {
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
func (p *pageHandlers) addCompressed(files fs.FS, name string) error {
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
func (p *pageHandlers) prepare(files fs.FS, name string, kind answer.Kind, content []byte) (*answer.Body, error) {
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

// has reports whether there is a file at that path below the root. Two files have addresses of their own instead.
func (p *pageHandlers) has(path string) bool {
	_, ok := p.files[path]
	return ok && path != docsFile && path != embedFile
}

// send answers with a file.
func (p *pageHandlers) send(w http.ResponseWriter, r *http.Request, file pageFile) error {
	body, err := file.body()
	if err != nil {
		return err
	}
	return p.sender.SendBody(w, r, file.kind, body)
}

// pageSettings are what the page has to know before it can draw itself.
type pageSettings struct {
	Basemap         *basemap     `json:"basemap"`
	Notice          string       `json:"notice"`
	Simulated       bool         `json:"simulated"`
	Attribution     string       `json:"attribution"`      // without the notice
	AttributionHTML string       `json:"attribution_html"` // with links
	Contact         *pageContact `json:"contact"`          // nil if the operator names none
	Links           Links        `json:"links"`            // the texts are empty for none
	MaxZoom         int          `json:"max_zoom"`
	Version         string       `json:"version"`         // of data and renderer; empty before the first snapshot
	TotalLakes      int          `json:"total_lakes"`     // 0 before the first snapshot
	AsOf            string       `json:"as_of,omitempty"` // the day from which ages count, of an archive
	ChangesAt       *string      `json:"changes_at"`      // when the next official statement begins or ends; null if none is known
	PushKey         *string      `json:"push_key"`        // for notifications; null if this server sends none
	Embeddable      bool         `json:"embeddable"`      // whether pages of other sites may show /embed
	Places          *string      `json:"places"`          // the address of the operator's gazetteer; null for that of the page

	Forecast *pageForecast `json:"forecast"` // nil if there is none for today or later
}

// pageForecast is what the page has to know of the newest issue of the forecast.
type pageForecast struct {
	IssuedAt string `json:"issued_at"` // the day of issue
	Weeks    int    `json:"weeks"`     // ahead
	Version  string `json:"version"`   // of its tiles
}

type basemap struct {
	URL         string `json:"url"`
	LabelsURL   string `json:"labels_url"` // empty without a layer of labels
	Attribution string `json:"attribution"`
}

// file answers with a file of the page.
func (h *pageHandlers) file(w http.ResponseWriter, r *http.Request) error {
	return h.send(w, r, h.files[route.Values(r)[0]])
}

// docsPage answers with the page that shows /openapi.json.
func (h *pageHandlers) docsPage(w http.ResponseWriter, r *http.Request) error {
	return h.send(w, r, h.files[docsFile])
}

// openAPIDocument describes the API to programs. A test compares it with the answers.
//
//go:embed openapi.json
var openAPIDocument string

// description answers with the description of the API.
func (h *pageHandlers) description(w http.ResponseWriter, r *http.Request) error {
	return h.sender.SendBody(w, r, settingsKind, h.openAPI)
}

// settings answers with the page's settings.
func (h *pageHandlers) settings(w http.ResponseWriter, r *http.Request) error {
	settings, adjustable := h.fixed, h.adjustable()
	var credits []Credit
	settings.Embeddable, settings.Contact, settings.Links = adjustable.FrameAncestors.AllowOthers(), newPageContact(adjustable.Contact), adjustable.Links
	if p := h.current.Load(); p != nil {
		credits = h.credits(p.state)
		settings.Version, settings.TotalLakes = p.state.MapVersion, len(p.snap.Lakes)
		settings.AsOf = ogc.AsOf(p.snap)
		if next := p.snap.StatementsChangeAt(); !next.IsZero() {
			text := next.UTC().Format(time.RFC3339)
			settings.ChangesAt = &text
		}
		if f := p.snap.Forecasts; f != nil && p.snap.ForecastWeeksOver() < f.Issue.Weeks {
			settings.Forecast = &pageForecast{f.Issue.Issued.String(), f.Issue.Weeks, p.state.ForecastVersion}
		}
	}
	settings.Attribution, settings.AttributionHTML = h.pageAttribution(credits)
	return h.sender.SendJSON(w, r, settingsKind, settings)
}
