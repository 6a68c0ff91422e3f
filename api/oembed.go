package api

import (
	"encoding/xml"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"

	"limnomap/api/answer"
	"limnomap/api/middleware"
	"limnomap/api/params"
	"limnomap/data"
)

// The sizes of an embedded map in pixels: those of the code that the page's dialog gives, and the smallest in which it is usable.
const (
	embedWidth, embedHeight     = 600, 480
	leastEmbedWidth, leastEmbed = 300, 250
	previewWidth, previewHeight = 1200, 630
	maxEmbedSide                = 100_000
	oEmbedAge                   = 24 * 60 * 60 // seconds; without a date the map is always that of today
	pathOEmbed                  = "/oembed"
)

var (
	oEmbedJSONKind = answer.NewKind(answer.TypeJSON, answer.CacheMinute)
	oEmbedXMLKind  = answer.NewKind("text/xml; charset=utf-8", answer.CacheMinute) // as the specification says
)

// An oEmbed is an answer of the type rich of oEmbed 1.0, section 2.3.4.
type oEmbed struct {
	XMLName         xml.Name `json:"-" xml:"oembed"`
	Version         string   `json:"version" xml:"version"`
	Type            string   `json:"type" xml:"type"`
	Title           string   `json:"title" xml:"title"`
	ProviderName    string   `json:"provider_name" xml:"provider_name"`
	ProviderURL     string   `json:"provider_url" xml:"provider_url"`
	CacheAge        int      `json:"cache_age" xml:"cache_age"`
	ThumbnailURL    string   `json:"thumbnail_url,omitempty" xml:"thumbnail_url,omitempty"`
	ThumbnailWidth  int      `json:"thumbnail_width,omitempty" xml:"thumbnail_width,omitempty"`
	ThumbnailHeight int      `json:"thumbnail_height,omitempty" xml:"thumbnail_height,omitempty"`
	HTML            string   `json:"html" xml:"html"`
	Width           int      `json:"width" xml:"width"`
	Height          int      `json:"height" xml:"height"`
}

// oEmbed answers with the code that shows an address of this server in a page of another site.
func (h *signHandlers) oEmbed(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	format, given := query.Text("format")
	address, _ := query.Required("url")
	widest := query.Integer("maxwidth", 1, maxEmbedSide, maxEmbedSide)
	highest := query.Integer("maxheight", 1, maxEmbedSide, maxEmbedSide)
	if err := query.Err(); err != nil {
		return err
	}
	if given && format != "json" && format != "xml" {
		return &answer.Problem{Status: http.StatusNotImplemented, Detail: "The formats are json and xml."}
	}
	if !h.adjustable().FrameAncestors.AllowOthers() {
		return &answer.Problem{Status: http.StatusForbidden, Detail: "This server does not allow other sites to embed its map (--frame-ancestors)."}
	}
	base, private := h.base(w, r)
	shown, ok := h.embeddedMap(p, base, address)
	if !ok {
		return absent("url is no address of this server's map, of one of its lakes or of /embed, or the public address of this server is not known (--public-url).")
	}
	if widest < leastEmbedWidth || highest < leastEmbed {
		return absent(fmt.Sprintf("An embedded map needs at least %d x %d pixels.", leastEmbedWidth, leastEmbed))
	}
	w.Header().Add("Vary", "Accept-Language")
	reader := h.readerOf(r, p, shown.Get("lang"))
	product := h.signs.Product(reader)
	e := &oEmbed{
		Version: "1.0", Type: "rich", Title: product, ProviderName: product, ProviderURL: base + "/", CacheAge: oEmbedAge,
		Width: min(embedWidth, widest), Height: min(embedHeight, highest),
	}
	if id := data.LakeID(shown.Get("lake")); id != "" {
		lake, ok := p.snap.Index(id)
		if !ok {
			return data.ErrNoLake
		}
		e.Title = h.signs.Verdict(p.snap, lake, reader).Name + " · " + product
		if widest >= previewWidth && highest >= previewHeight { // section 2.3: a thumbnail obeys the limits too
			e.ThumbnailURL, e.ThumbnailWidth, e.ThumbnailHeight = base+pathOfLake(id)+"/preview.png", previewWidth, previewHeight
			if reader.Language != "" {
				e.ThumbnailURL += "?lang=" + reader.Language
			}
		}
	}
	frame := base + "/embed"
	if len(shown) > 0 {
		frame += "?" + shown.Encode()
	}
	e.HTML = fmt.Sprintf(`<iframe src="%s" title="%s" width="%d" height="%d" loading="lazy" allow="fullscreen" style="border:0;max-width:100%%"></iframe>`,
		html.EscapeString(frame), html.EscapeString(e.Title), e.Width, e.Height)
	if format != "xml" {
		return h.sender.SendJSON(w, r, oEmbedJSONKind.PrivateIf(private), e)
	}
	content, err := xml.Marshal(e)
	if err != nil {
		return fmt.Errorf("oEmbed of %q: %w", address, err)
	}
	return h.sender.SendBytes(w, r, oEmbedXMLKind.PrivateIf(private), append([]byte(xml.Header), content...))
}

// embeddedMap returns the query of /embed that shows what an address of this server shows: the map, a lake on it, the page of a lake, or
// /embed itself. It reports false for any other address.
func (h *signHandlers) embeddedMap(p *published, base, address string) (query url.Values, ok bool) {
	own, err := url.Parse(base)
	if err != nil || own.Host == "" {
		return nil, false
	}
	asked, err := url.Parse(address)
	if err != nil || asked.User != nil {
		return nil, false
	}
	if host, err := middleware.CanonicalHost(asked.Scheme, asked.Host); err != nil || !strings.EqualFold(host, own.Host) {
		return nil, false
	}
	path, below := strings.CutPrefix(asked.Path, own.Path)
	if !below {
		return nil, false
	}
	given := asked.Query()
	switch id, isLake := strings.CutPrefix(path, pathLakes); {
	case path == "/" || path == "":
		given.Del("date") // on another page it would look like the present week for years
		if fragment, err := url.ParseQuery(asked.Fragment); err == nil && fragment.Get("lake") != "" {
			given.Set("lake", fragment.Get("lake"))
		}
	case path == "/embed":
	case isLake && id != "" && !strings.Contains(id, "/"):
		given = url.Values{"lake": {id}, "lang": given["lang"]}
	default:
		return nil, false
	}
	shown := make(url.Values)
	for _, name := range []string{"lake", "bbox", "style", "colormap", "date", "lang"} {
		if value := given.Get(name); value != "" {
			shown.Set(name, value)
		}
	}
	checked := params.Of(&http.Request{URL: &url.URL{RawQuery: shown.Encode()}})
	h.checkEmbed(&checked)
	return shown, checked.Err() == nil
}
