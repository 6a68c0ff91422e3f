package api

import (
	"net/http"

	"github.com/paulmach/orb"

	"limnomap/api/params"
	"limnomap/api/record"
	"limnomap/data/index"
)

const (
	// defaultRadius is the range of a day trip, in km, and maxRadius half the way around the globe: it includes every lake.
	defaultRadius = 50
	maxRadius     = 20_016
	// defaultFound is what a list on a screen shows, and maxFound what a long list of results needs.
	defaultFound = 10
	maxFound     = 1000
)

// near answers with the lakes around a point, the nearest first.
func (h *lakeHandlers) near(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	from := orb.Point{query.Degrees("lon", 180), query.Degrees("lat", 90)}
	radius, given := query.Float("radius_km", 0, maxRadius)
	if !given {
		radius = defaultRadius
	}
	limit := query.Integer("limit", 1, maxFound, defaultFound)
	view, err := p.viewFor(w, r, &query)
	if err != nil {
		return err
	}
	var found []index.Neighbour
	if err := h.searchLakes(r, p, func() { found = p.lookup.places.Nearest(p.snap.Lakes, from, metresWithin(radius), limit) }); err != nil {
		return err
	}
	sel := selection{view: view}
	for _, n := range found {
		sel.add(n.Lake)
	}
	return h.sendFound(w, r, p, sel, func(b []byte, i int) []byte { return appendDistance(b, found[i]) })
}

// searchLakes calls search, which goes through all lakes: at once if it is quick, otherwise when it is the client's turn.
func (h *lakeHandlers) searchLakes(r *http.Request, p *published, search func()) error {
	n := len(p.snap.Lakes)
	if n <= quickLakes {
		search()
		return nil
	}
	return h.sender.InTurn(r, n, func() error {
		search()
		return nil
	})
}

// metresWithin returns the largest number of metres that is printed as at most that many km. In floating point a thousand
// times 1.001 is less than 1001.
func metresWithin(km float64) int {
	metres := int(km * 1000)
	if kmOf(metres+1) <= km {
		metres++
	}
	return metres
}

func kmOf(metres int) float64 { return float64(metres) / 1000 }

// appendDistance appends the member of a record with the distance of a lake, in km.
func appendDistance(b []byte, n index.Neighbour) []byte {
	return record.Object(b).Number("distance_km", kmOf(n.Metres))
}

// sendFound answers with the status envelope of the selection, in its order. What more appends is added to the record of
// its i-th lake; it may be nil.
func (h *lakeHandlers) sendFound(w http.ResponseWriter, r *http.Request, p *published, sel selection, more func(b []byte, i int) []byte) error {
	list := h.encoder.statusList(p.snap, sel)
	if appendRecord := list.Append; more != nil {
		list.Append = func(b []byte, i int) []byte {
			b = appendRecord(b, i)
			return append(more(b[:len(b)-1], i), '}')
		}
	}
	return h.sender.SendBytes(w, r, jsonKind, list.Bytes())
}
