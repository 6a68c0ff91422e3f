package api

import (
	"context"
	"fmt"
	"net/http"

	"limnomap/api/lakepage"
	"limnomap/api/params"
	"limnomap/api/route"
	"limnomap/api/words"
	"limnomap/data"
)

// maxLakeReadings is how many readings are kept for pages: 7 MB. A page that many look at does not ask the store each time.
const maxLakeReadings = 256

// A lakeReading is what the page of a lake shows and the snapshot does not have.
type lakeReading struct {
	history []data.Observation // nil if it is in memory
	known   lakepage.Known
	inside  *lakepage.Inside
}

// A lakePageHandler answers with the page of one lake.
type lakePageHandler struct {
	*lakeHandlers
	pages *lakepage.Maker
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
	if err := h.addReading(r, p, lake, reader.Today); err != nil {
		if r.Context().Err() != nil {
			return err
		}
		h.errors.Log(r, err) // what the page says first is in memory
	}
	content, language, err := h.pages.Page(lake, reader)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Language", language)
	w.Header().Add("Vary", "Accept-Language")
	return h.sender.SendBytes(w, r, pageKind.PrivateIf(private), content)
}

// addReading adds the history that the page of a lake shows, from memory if all of it is there, what is known of all its values, and what
// the pixels of its current value say.
func (h *lakePageHandler) addReading(r *http.Request, p *published, lake *lakepage.Lake, today data.Date) error {
	i, q := lake.Index, lakepage.HistoryQuery(p.snap, today)
	shown, whole := p.snap.History(i, q)
	of, kept := p.readings.Get(i)
	if !kept {
		all, inside, err := h.read(r, p, i)
		if err != nil {
			if lake.Unread = !whole; whole {
				lake.History = shown
			}
			return err
		}
		of = &lakeReading{known: lakepage.KnownOf(all, p.snap.Profile, p.snap.AsOf.Last()), inside: inside}
		if !whole {
			for _, o := range all {
				if q.Period.Contains(o.Date) && len(of.history) < q.Limit {
					of.history = append(of.history, o)
				}
			}
		}
		if _, pixels := p.snap.Current.Shares(i); inside != nil || !pixels { // otherwise they are read again: they may have failed
			p.readings.Add(i, of)
		}
	}
	if !whole {
		shown = of.history
	}
	lake.History, lake.Known, lake.Inside = shown, of.known, of.inside
	return nil
}

// read returns all values of Lakes[i], and what the pixels of its current value say, nil without any. It asks the store in one turn, if at all.
func (h *lakePageHandler) read(r *http.Request, p *published, i int) (all []data.Observation, inside *lakepage.Inside, err error) {
	q := allOf(p.snap, data.TypesOf(data.Satellite, data.InSitu))
	all, whole := p.snap.History(i, q)
	current, pixels := p.snap.Current.Shares(i)
	if whole && !pixels {
		return all, nil, nil
	}
	id := p.snap.Lakes[i].ID
	err = h.askStore(r, errStore, func(ctx context.Context) (err error) {
		if !whole {
			if _, all, err = h.historyOf(ctx, id, q); err != nil {
				return fmt.Errorf("history of %s: %w", id, err)
			}
		}
		if pixels {
			date := p.snap.Current.States[i].Date
			for _, of := range h.sharesOf(ctx, r, p.snap, i, []data.Observation{{Date: date}}) {
				if of.PixelShares == current && of.metres > 0 {
					inside = &lakepage.Inside{Date: date, Shares: current, Metres: of.metres, Site: p.snap.Sites(i) != nil}
					for _, site := range clearerSites(p.snap, i) {
						inside.Clearer = append(inside.Clearer, words.NameOf(&p.snap.Lakes[site.lake]))
					}
				}
			}
		}
		return nil
	})
	return all, inside, err
}

// languageOf reads the language of a page. A form also sends fields that were left empty: they ask for nothing.
func languageOf(p *params.Params) string {
	if lang, ok := p.Text("lang"); ok && lang != "" {
		return params.OneOf(p, "lang", words.Languages)
	}
	return ""
}
