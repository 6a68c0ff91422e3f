package api

import (
	"net/http"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/data"
)

// A selection is a number of lakes of a snapshot, in one week.
type selection struct {
	view     *data.View
	lakes    []int32 // in their order in the answer; nil: the first n
	n        int
	withData int // how many of them have a value
}

// selected returns the lakes that pass the filters of a request, by box and by risk, in its week.
func (p *published) selected(r *http.Request) (selection, error) {
	query := params.Of(r)
	within, risk := boxOf(&query), riskOf(&query)
	view, err := p.viewFor(r, &query)
	if err != nil {
		return selection{}, err
	}
	if within == wholeWorld && risk == data.RiskUnknown {
		return everything(view), nil
	}
	return matching(view, within, risk), nil
}

// everything returns all lakes of a view.
func everything(view *data.View) selection {
	return selection{view: view, n: len(view.Lakes), withData: view.WithData}
}

// viewFor returns the map of the week of the request's date, or the current one. It must be called after all other
// parameters are read: its error lists everything that is wrong with them.
func (p *published) viewFor(r *http.Request, query *params.Params) (*data.View, error) {
	week, dated := query.Week(p.snap)
	if err := query.Err(); err != nil {
		return nil, err
	}
	if !dated {
		return p.snap.Current, nil
	}
	return p.snap.View(r.Context(), week)
}

// matching returns the lakes within b, and at that risk unless it is RiskUnknown.
func matching(view *data.View, b box, risk data.Risk) selection {
	sel := selection{view: view}
	for i := range view.Lakes {
		point, state := view.Lakes[i].Point, &view.States[i]
		if risk != data.RiskUnknown && state.Risk != risk || !b.contains(point.Lon(), point.Lat()) {
			continue
		}
		sel.add(i)
	}
	return sel
}

// whole reports whether the selection is all lakes of the current map.
func (sel *selection) whole(snap *data.Snapshot) bool {
	return sel.view == snap.Current && sel.n == len(snap.Lakes)
}

// lake returns the index in the snapshot of the i-th lake of the selection.
func (sel *selection) lake(i int) int {
	if sel.lakes == nil {
		return i
	}
	return int(sel.lakes[i])
}

// list returns a list of the selected lakes, as record appends each.
func (sel *selection) list(head []byte, record func(b []byte, lake int) []byte, between, tail string) answer.List {
	return answer.List{
		Head:    head,
		Append:  func(b []byte, i int) []byte { return record(b, sel.lake(i)) },
		Between: between,
		Tail:    tail,
		Len:     sel.n,
	}
}

// add adds a lake to the selection.
func (sel *selection) add(lake int) {
	sel.lakes = append(sel.lakes, int32(lake))
	sel.n++
	if sel.view.States[lake].Chlorophyll.Valid() {
		sel.withData++
	}
}
