package api

import (
	"net/http"

	"limnomap/api/answer"
	"limnomap/api/lakepage"
	"limnomap/api/params"
	"limnomap/api/route"
	"limnomap/api/words"
	"limnomap/data"
)

// maxLakeHistories is how many histories that came from the store are kept for pages: 5 MB, and 2 MB of what is known of their lakes. A page that many look at does not ask it each time.
const maxLakeHistories = 256

// A lakePageHandler answers with the page of one lake.
type lakePageHandler struct {
	*lakeHandlers
	pages  *lakepage.Maker
	errors *answer.Errors
}

// page answers with the page of one lake in HTML, made on this server: for readers without JavaScript, printers and search engines.
func (h *lakePageHandler) page(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	language := languageOf(&query)
	if err := query.Err(); err != nil {
		return err
	}
	i, ok := p.snap.Index(data.LakeID(route.Values(r)[0]))
	if !ok {
		return data.ErrNoLake
	}
	reader := h.readerOf(r, p, language)
	base, private := h.base(w, r)
	reader.Base = base
	lake := &lakepage.Lake{
		Snapshot: p.snap, Index: i,
		Neighbours: p.lookup.places.Nearest(p.snap.Lakes, p.snap.Lakes[i].Point, lakepage.NearMetres, lakepage.MaxNeighbours),
	}
	if l := h.ledgers.newest.Load(); l != nil {
		lake.Compared = l.compared(p.snap.Lakes[i].ID)
	}
	if err := h.addHistory(r, p, lake, reader.Today); err != nil {
		if r.Context().Err() != nil {
			return err
		}
		h.errors.Log(r, err) // what the page says first is in memory
	}
	lake.Inside = h.inside(r, p, i)
	content, language, err := h.pages.Page(lake, reader)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Language", language)
	w.Header().Add("Vary", "Accept-Language")
	return h.sender.SendBytes(w, r, pageKind.PrivateIf(private), content)
}

// inside returns what the pixels of the current value of a lake say, nil without any.
func (h *lakePageHandler) inside(r *http.Request, p *published, i int) *lakepage.Inside {
	shares, ok := p.snap.Current.Shares(i)
	if !ok {
		return nil
	}
	date := p.snap.Current.States[i].Date
	all, err := h.readShares(r, p.snap, p.snap.Lakes[i].ID, []data.Observation{{Date: date}})
	if err != nil {
		h.errors.Log(r, err)
		return nil
	}
	for _, of := range all {
		if of.PixelShares == shares && of.metres > 0 {
			inside := &lakepage.Inside{Date: date, Shares: shares, Metres: of.metres, Site: p.snap.Sites(i) != nil}
			for _, site := range clearerSites(p.snap, i) {
				inside.Clearer = append(inside.Clearer, words.NameOf(&p.snap.Lakes[site.lake]))
			}
			return inside
		}
	}
	return nil
}

// addHistory adds the history that the page of a lake shows, from memory if all of it is there, and what is known of all its values.
func (h *lakePageHandler) addHistory(r *http.Request, p *published, lake *lakepage.Lake, today data.Date) error {
	i, q := lake.Index, lakepage.HistoryQuery(p.snap, today)
	shown, whole := p.snap.History(i, q)
	if !whole {
		shown, whole = p.histories.Get(i)
	}
	known, isKnown := p.known.Get(i)
	if !whole || !isKnown {
		all, err := h.valuesOf(r, p, i)
		if err != nil {
			if lake.Unread = !whole; whole {
				lake.History = shown
			}
			return err
		}
		known = lakepage.KnownOf(all, p.snap.Profile, p.snap.AsOf.Last())
		p.known.Add(i, known)
		if !whole {
			shown = nil // a part
			for _, o := range all {
				if q.Period.Contains(o.Date) && len(shown) < q.Limit {
					shown = append(shown, o)
				}
			}
			p.histories.Add(i, shown)
		}
	}
	lake.History, lake.Known = shown, known
	return nil
}

// languageOf reads the language of a page. A form also sends fields that were left empty: they ask for nothing.
func languageOf(p *params.Params) string {
	if lang, ok := p.Text("lang"); ok && lang != "" {
		return params.OneOf(p, "lang", words.Languages)
	}
	return ""
}
