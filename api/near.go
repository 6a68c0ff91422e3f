package api

import (
	"net/http"

	"github.com/paulmach/orb"

	"limnomap/api/answer"
	"limnomap/data/index"
)

const (
	// defaultRadius is a day's outing, in km, and maxRadius half the way around the globe: it takes in every lake.
	defaultRadius = 50
	maxRadius     = 20_016
	// defaultFound is what a list on a screen shows, and maxFound what a page of results needs.
	defaultFound = 10
	maxFound     = 1000
)

// near answers with the lakes around a place, the nearest first.
func (s *Server) near(w http.ResponseWriter, r *http.Request) error {
	p, err := s.published()
	if err != nil {
		return err
	}
	params := paramsOf(r)
	from := orb.Point{params.degrees("lon", 180), params.degrees("lat", 90)}
	radius, given := params.float("radius_km", 0, maxRadius)
	if !given {
		radius = defaultRadius
	}
	limit := params.integer("limit", 1, maxFound, defaultFound)
	view, err := p.viewFor(r, params)
	if err != nil {
		return err
	}
	found := p.lookup.places.Nearest(p.snap.Lakes, from, metresWithin(radius), limit)
	sel := selection{view: view}
	for _, n := range found {
		sel.add(n.Lake)
	}
	return s.sendFound(w, r, p, sel, func(b []byte, i int) []byte { return appendDistance(b, found[i]) })
}

// metresWithin returns the most metres that are printed as no more than that many km. A thousand times 1.001 is less
// than 1001 as computers reckon.
func metresWithin(km float64) int {
	metres := int(km * 1000)
	if kmOf(metres+1) <= km {
		metres++
	}
	return metres
}

func kmOf(metres int) float64 { return float64(metres) / 1000 }

// appendDistance appends the member of a record that tells how far a lake is, in km.
func appendDistance(b []byte, n index.Neighbour) []byte {
	b = append(b, `,"distance_km":`...)
	return appendFloat(b, kmOf(n.Metres))
}

// sendFound answers with the status envelope of the selection, in its order. What more appends is added to the record of
// its i-th lake; it may be nil.
func (s *Server) sendFound(w http.ResponseWriter, r *http.Request, p *published, sel selection, more func(b []byte, i int) []byte) error {
	list := s.statusList(p.snap, sel)
	if record := list.Append; more != nil {
		list.Append = func(b []byte, i int) []byte {
			b = record(b, i)
			return append(more(b[:len(b)-1], i), '}')
		}
	}
	return s.sender.Send(w, r, jsonKind, answer.Bytes(list.Bytes()))
}
