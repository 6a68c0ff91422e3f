package api

import (
	"net/http"
	"net/url"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/api/route"
	"limnomap/api/sign"
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
}

// pathOfLake returns the path of a lake's own page, below the base path.
func pathOfLake(id data.LakeID) string { return pathLakes + url.PathEscape(string(id)) }

// lakeIn returns the index of the lake that the path of r names, and where the answer is shown. The answer depends on the reader's
// language, and the header of w says so.
func (h *signHandlers) lakeIn(w http.ResponseWriter, r *http.Request, p *published) (lake int, place sign.Place, err error) {
	query := params.Of(r)
	place.Language = languageOf(&query)
	if err := query.Err(); err != nil {
		return 0, place, err
	}
	lake, ok := p.snap.Index(data.LakeID(route.Values(r)[0]))
	if !ok {
		return 0, place, data.ErrNoLake
	}
	place.AcceptLanguage, place.Today, place.Notice = r.Header["Accept-Language"], data.DateOf(h.opts.Now()), h.opts.Notice
	w.Header().Add("Vary", "Accept-Language")
	return lake, place, nil
}

// badge answers with a small picture of a lake's name and verdict.
func (h *signHandlers) badge(w http.ResponseWriter, r *http.Request, p *published) error {
	answer.SetDocument(w, answer.ImageDocument)
	lake, place, err := h.lakeIn(w, r, p)
	if err != nil {
		return err
	}
	verdict := h.signs.Verdict(p.snap, lake, place)
	content, err := h.opts.Pictures.Badge(h.encoder.scale, verdict)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Language", verdict.Language)
	return h.sender.Send(w, r, badgeKind, answer.Bytes(content))
}

// sheet answers with the page of a lake that is printed as a sign.
func (h *signHandlers) sheet(w http.ResponseWriter, r *http.Request, p *published) error {
	lake, place, err := h.lakeIn(w, r, p)
	if err != nil {
		return err
	}
	base, private := h.base(w, r)
	contact := h.adjustable().Contact
	content, language, err := h.signs.Sheet(p.snap, lake, &sign.Sheet{
		Place:       place,
		LakePage:    base + pathOfLake(p.snap.Lakes[lake].ID),
		Attribution: h.sheetAttribution(p),
		Contact:     sign.Contact{Name: contact.Name, URL: contact.URL, Logo: contact.Logo.address()},
	})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Language", language)
	return h.sender.Send(w, r, pageKind.PrivateIf(private), answer.Bytes(content))
}

// sheetAttribution returns whose data a snapshot shows. It leaves out the notice, which the sheet shows by itself.
func (h *signHandlers) sheetAttribution(p *published) string {
	text, _ := h.pageAttribution(h.credits(p.state))
	return text
}
