package api

import (
	"errors"
	"net/http"

	"github.com/paulmach/orb"

	"limnomap/api/params"
	"limnomap/api/record"
	"limnomap/data"
	"limnomap/data/pixels"
	"limnomap/data/snapshot"
)

const (
	pathValue = "/api/v1/value"
	// maxPixelAge is how many days old the pixel of a place may be: as old as a current value is by default.
	maxPixelAge = 28
	// A lake without an outline is at a place if one of its pixels is: the nearest lakes are looked at, and how far they may be in metres. The water that
	// belongs to a point mostly is within a few kilometres of it.
	grownLakes, grownMetres = 3, 10_000
)

// value answers with what is known of a place: the lake there, its state in a week, and the pixel of the newest pass up to that week.
func (h *lakeHandlers) value(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	place := orb.Point{query.Degrees("lon", 180), query.Degrees("lat", 90)}
	view, err := p.viewFor(w, r, &query)
	if err != nil {
		return err
	}
	var lake int
	var found bool
	if err := h.searchLakes(r, p, func() { lake, found = lakeAt(p.snap, place) }); err != nil {
		return err
	}
	last := min(view.Week.Sunday(), p.snap.AsOf.Last())
	var pixel *cell
	if found {
		pixel, err = h.pixelAt(r, p, lake, place, last)
	} else {
		for _, n := range p.lookup.places.Nearest(p.snap.Lakes, place, grownMetres, grownLakes) {
			if p.snap.Lakes[n.Lake].Outline != "" {
				continue
			}
			if pixel, err = h.pixelAt(r, p, n.Lake, place, last); pixel != nil || err != nil {
				lake, found = n.Lake, pixel != nil
				break
			}
		}
	}
	if err != nil {
		return err
	}
	content := record.Object("{").Number("lat", place[1]).Number("lon", place[0])
	if content = content.Name("lake"); found {
		content = h.encoder.lake(view, lake).appendStatus(content)
	} else {
		content = append(content, "null"...)
	}
	if content = content.Name("pixel"); pixel != nil {
		content = pixelMembers.AppendObject(content, record.Member, pixel)
	} else {
		content = append(content, "null"...)
	}
	return h.sender.SendBytes(w, r, jsonKind, content.Close("}\n"))
}

// lakeAt returns the lake in whose outline a place is; of several the smallest, which is a part of the others.
func lakeAt(snap *snapshot.Snapshot, place orb.Point) (lake int, ok bool) {
	area := func(lake int) float64 { // of its bound, in square degrees
		b := snap.Lakes[lake].Outline.Bound()
		return (b.Right() - b.Left()) * (b.Top() - b.Bottom())
	}
	for i := range snap.Lakes {
		if o := snap.Lakes[i].Outline; o != "" && o.Contains(place) && (!ok || area(i) < area(lake)) {
			lake, ok = i, true
		}
	}
	return lake, ok
}

// pixelAt returns the pixel of a lake at a place, nil if there is none or none are kept.
func (h *lakeHandlers) pixelAt(r *http.Request, p *published, lake int, place orb.Point, last data.Date) (*cell, error) {
	o, packed, err := h.findPixels(r, p, lake, data.Period{First: last - maxPixelAge, Last: last})
	if errors.Is(err, errNoPixels) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var m *pixels.Map
	if err := h.sender.InTurn(r, packed.Count(), func() (err error) {
		m, err = unpack(o, packed)
		return err
	}); err != nil {
		return nil, err
	}
	column, row, code, ok := m.At(place)
	if !ok {
		return nil, nil
	}
	return &cell{of: o, profile: p.snap.Profile, column: column, row: row, code: code}, nil
}
