package api

import (
	"iter"
	"net/http"
	"unsafe"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/data"
	"limnomap/data/snapshot"
)

// A selection is a number of lakes of a snapshot, in one week.
type selection struct {
	view     *snapshot.View
	lakes    []int32 // in their order in the answer; nil: the first n
	n        int
	withData int // how many of them have a value
}

// A lakeFilter says which lakes of a view an answer is about.
type lakeFilter struct {
	view   *snapshot.View
	within data.Box
	risk   riskFilter
	all    bool // it lets all lakes pass
}

// filterOf returns the filter of a request, by box and by risk, in its week.
func (p *published) filterOf(w http.ResponseWriter, r *http.Request) (lakeFilter, error) {
	query := params.Of(r)
	f := lakeFilter{within: boxOf(&query), risk: riskFilterOf(&query)}
	f.all = f.risk.risk == data.RiskUnknown && f.within.Includes(p.bound)
	var err error
	f.view, err = p.viewFor(w, r, &query)
	return f, err
}

// selected returns the lakes that pass the filter.
func (f *lakeFilter) selected() selection {
	if f.all {
		return everything(f.view)
	}
	sel := selection{view: f.view}
	for i := range matching(f.view, f.within, f.risk) {
		sel.add(i)
	}
	return sel
}

// count returns how many lakes pass the filter. A client that asks for a few needs no turn: to look at a lake takes some 10 ns, to make its record a
// hundred times as long.
func (f lakeFilter) count() (n int) {
	if f.all {
		return len(f.view.Lakes)
	}
	for range matching(f.view, f.within, f.risk) {
		n++
	}
	return n
}

// everything returns all lakes of a view.
func everything(view *snapshot.View) selection {
	return selection{view: view, n: len(view.Lakes), withData: view.WithData}
}

// viewFor returns the map of the week of the request's date, or the current one. It must be called after all other
// parameters are read: its error lists everything that is wrong with them. It sets the header fields that say how old the data are.
func (p *published) viewFor(w http.ResponseWriter, r *http.Request, query *params.Params) (*snapshot.View, error) {
	week, dated := query.Week(p.snap)
	if err := query.Err(); err != nil {
		return nil, err
	}
	if !dated {
		return p.snap.Current, nil
	}
	view, release, err := p.weeks.get(r, p.snap, week)
	if err == nil {
		p.state.SetDates(w.Header(), data.Known(week))
		answer.InfoOf(r).OnRelease(release)
	}
	return view, err
}

// matching returns the lakes within b that pass the filter.
func matching(view *snapshot.View, b data.Box, risk riskFilter) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range view.Lakes {
			point := view.Lakes[i].Point
			if risk.passes(&view.States[i]) && b.Contains(point.Lon(), point.Lat()) && !yield(i) {
				return
			}
		}
	}
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
		Memory:  int64(cap(sel.lakes)) * int64(unsafe.Sizeof(sel.lakes[0])),
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
