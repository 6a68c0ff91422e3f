package api

import (
	"net/http"

	"limnomap/api/answer"
	"limnomap/data"
)

// A selection is lakes of a snapshot, as they stood in one week.
type selection struct {
	view     *data.View
	lakes    []int32 // in the order in which they are to be shown; nil: the first n
	n        int
	withData int // how many of them have a value
}

// selected returns the lakes that the box and the risk of a request leave, as they stood in the week that it names.
func (p *published) selected(r *http.Request) (selection, error) {
	params := paramsOf(r)
	within, _ := params.box()
	risk := params.risk()
	view, err := p.viewFor(r, params)
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

// viewFor returns the map as it stood in the week that holds the request's date, or now. It is the last to read the
// parameters: if any of them was wrong, the error tells all that was.
func (p *published) viewFor(r *http.Request, params *params) (*data.View, error) {
	week, dated := params.week(p.snap)
	if err := params.err(); err != nil {
		return nil, err
	}
	return p.view(r.Context(), week, dated)
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

// whole reports whether the selection is all lakes, as they stand now.
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
