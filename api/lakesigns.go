package api

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"limnomap/api/answer"
	"limnomap/api/lakepage"
	"limnomap/api/pages"
	"limnomap/api/params"
	"limnomap/api/route"
	"limnomap/api/sign"
	"limnomap/api/words"
	"limnomap/colormap"
	"limnomap/data"
)

// pathLakes is the folder of the lakes' own pages.
const pathLakes = "/lakes/"

var badgeKind = answer.NewKind(answer.TypeSVG, answer.CacheMinute)

// Pictures draws pictures of one lake with the classes in the colours of m.
type Pictures interface {
	Badge(m *colormap.Map, v *sign.Verdict) ([]byte, error)
	Preview(m *colormap.Map, p *PreviewPicture) ([]byte, error)
}

// signHandlers answer with what is printed and embedded of one lake.
type signHandlers struct {
	*common
	signs    *sign.Signs
	previews *previews
	lakePage *lakePageHandler
}

// pathOfLake returns the path of a lake's own page, below the base path.
func pathOfLake(id data.LakeID) string { return pathLakes + url.PathEscape(string(id)) }

// lakeIn returns the index of the lake that the path of r names, and who sees the answer. The answer depends on the reader's
// language, and the header of w says so.
func (h *signHandlers) lakeIn(w http.ResponseWriter, r *http.Request, p *published) (lake int, reader *pages.Reader, err error) {
	query := params.Of(r)
	language := languageOf(&query)
	if err := query.Err(); err != nil {
		return 0, nil, err
	}
	lake, ok := p.snap.Index(data.LakeID(route.Values(r)[0]))
	if !ok {
		return 0, nil, data.ErrNoLake
	}
	w.Header().Add("Vary", "Accept-Language")
	return lake, h.readerOf(r, p, language), nil
}

// badge answers with a small picture of a lake's name and verdict.
func (h *signHandlers) badge(w http.ResponseWriter, r *http.Request, p *published) error {
	answer.SetDocument(w, answer.ImageDocument)
	lake, reader, err := h.lakeIn(w, r, p)
	if err != nil {
		return err
	}
	verdict := h.signs.Verdict(p.snap, lake, reader)
	content, err := h.opts.Pictures.Badge(h.encoder.scale, verdict)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Language", verdict.Language)
	return h.sender.SendBytes(w, r, badgeKind, content)
}

// sheet answers with the page of a lake that is printed as a sign.
func (h *signHandlers) sheet(w http.ResponseWriter, r *http.Request, p *published) error {
	lake, reader, err := h.lakeIn(w, r, p)
	if err != nil {
		return err
	}
	base, private := h.base(w, r)
	reader.Base, reader.Attribution = base, h.sheetAttribution(p)
	content, language, err := h.signs.Sheet(p.snap, lake, h.insideOf(r, p, lake, reader), reader)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Language", language)
	return h.sender.SendBytes(w, r, pageKind.PrivateIf(private), content)
}

// signWait is how long a sign waits for the store: all but its picture is in memory.
const signWait = 2 * time.Second

// insideOf returns the picture of the pixels of a lake, nil without any, and for a closed lake, which nothing should seem to open.
func (h *signHandlers) insideOf(r *http.Request, p *published, i int, reader *pages.Reader) *pages.Figure {
	if _, ok := p.snap.Current.Shares(i); !ok || words.ClassOf(p.snap.Current, i) == words.Closed {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), signWait)
	defer cancel()
	lake := &lakepage.Lake{Snapshot: p.snap, Index: i}
	if err := h.lakePage.addReading(r.WithContext(ctx), p, lake, reader.Today); err != nil {
		h.errors.Log(r, err)
	}
	if lake.Inside == nil {
		return nil
	}
	inside := *lake.Inside
	inside.Clearer = nil // they are others when the sheet is read
	return h.lakePage.pages.Figure(&inside, url.PathEscape(string(p.snap.Lakes[i].ID)), "../../", reader)
}

// sheetAttribution returns whose data a snapshot shows. It leaves out the notice, which the sheet shows by itself.
func (h *signHandlers) sheetAttribution(p *published) string {
	text, _ := h.pageAttribution(h.credits(p.state))
	return text
}
