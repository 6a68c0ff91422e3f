package render

import (
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/paulmach/orb/maptile"

	"limnomap/data"
)

// sheetPlaces is how many places are looked up at once: neighbours, of which a tile shows most or none.
const sheetPlaces = 32

// sheets are the places of a layer made on another's plan, whose values are looked up where a tile shows them: of an
// animation each week is drawn once or a few times, and on few tiles. They are safe for concurrent use.
type sheets struct {
	plan   *plan
	values *values
	known  data.Values
	last   atomic.Pointer[look]

	paging sync.Once                            // makes places, which only tiles need that see too many
	places []atomic.Pointer[[sheetPlaces]place] // nil for those that were not looked up yet

	zooms []sheetZoom
	thin  func() []index
}

// A sheetZoom is what is drawn at a zoom that may be blurred.
type sheetZoom struct {
	blurred func() bool
	wide    index
}

// LayerOn makes the lakes of v ready to draw. They must be the very ones of the view that other is the layer of: it
// costs next to nothing then, and tiles look up what they show. The tiles are those of Layer, to the byte.
func (r *Renderer) LayerOn(other *Layer, v *data.View) *Layer {
	plan := other.plan()
	if plan.uneven {
		return r.Layer(v)
	}
	s := &sheets{plan: plan, values: r.values, known: v.Values()}
	l := &Layer{lakes: plan.lakes, memo: plan.memo, number: plan.layers.Add(1), plan: other.plan, sheets: s}
	l.lakes.sheets = s
	if plan.roomy > 0 {
		s.thin = sync.OnceValue(func() []index { return newThinned(s.whole(), plan.roomy) })
	}
	s.zooms = make([]sheetZoom, len(plan.crowds))
	for z := range s.zooms {
		s.zooms[z].blurred = sync.OnceValue(func() bool { return slices.ContainsFunc(plan.crowds[z], s.crowded) })
		s.zooms[z].wide = plan.lakes
		s.zooms[z].wide.sheets, s.zooms[z].wide.binned = s, &l.lakes
		s.zooms[z].wide.field = []tier{{places: plan.wide[z]}}
	}
	return l
}

// place returns the i-th place.
func (s *sheets) place(i int) *place {
	s.paging.Do(func() {
		s.places = make([]atomic.Pointer[[sheetPlaces]place], (len(s.plan.of)+sheetPlaces-1)/sheetPlaces)
	})
	sheet := s.places[i/sheetPlaces].Load()
	if sheet == nil {
		sheet = s.fill(i / sheetPlaces)
	}
	return &sheet[i%sheetPlaces]
}

// fill looks up a sheet. Several may do so at once, and find the same.
func (s *sheets) fill(k int) *[sheetPlaces]place {
	sheet := new([sheetPlaces]place)
	from := k * sheetPlaces
	to := min(from+sheetPlaces, len(s.plan.of))
	copy(sheet[:], s.plan.lakes.places[from:to])
	for i, lake := range s.plan.of[from:to] {
		sheet[i].set(s.known.Of(int(lake)), s.values)
	}
	ties := s.plan.ties
	for t := sort.Search(len(ties), func(t int) bool { return ties[t].to > from }); t < len(ties) && ties[t].from < to; t++ {
		var tied []place // one may go on in the next sheet
		for i := ties[t].from; i < ties[t].to; i++ {
			tied = append(tied, s.lookUp(i))
		}
		slices.SortFunc(tied, func(a, b place) int { return compare(&a, &b) })
		for i := max(ties[t].from, from); i < min(ties[t].to, to); i++ {
			sheet[i-from] = tied[i-ties[t].from]
		}
	}
	if !s.places[k].CompareAndSwap(nil, sheet) {
		return s.places[k].Load()
	}
	return sheet
}

// lookUp returns the i-th place of the plan with its value.
func (s *sheets) lookUp(i int) place {
	p := s.plan.lakes.places[i]
	p.set(s.known.Of(int(s.plan.of[i])), s.values)
	return p
}

// whole returns the index of all places with their values.
func (s *sheets) whole() *index {
	x := s.plan.lakes
	x.places = make([]place, len(s.plan.of))
	for i := range x.places {
		x.places[i] = *s.place(i)
	}
	return &x
}

// crowded reports whether more than maxStamped of some places have a value.
func (s *sheets) crowded(c span) bool {
	n := 0
	for i := c.from; i < c.to && n+c.to-i > maxStamped; i++ {
		if s.place(i).chlorophyll.Valid() {
			if n++; n > maxStamped {
				return true
			}
		}
	}
	return false
}

// forField is [Layer.forField]. Lakes are not binned beforehand, since few tiles of the layer will be drawn.
func (s *sheets) forField(l *Layer, z maptile.Zoom) *index {
	if int(z) < len(s.zooms) && s.zooms[z].blurred() {
		return &s.zooms[z].wide
	}
	return &l.lakes
}

// forMarkers is [Layer.forMarkers].
func (s *sheets) forMarkers(l *Layer, z maptile.Zoom) *index {
	if int(z) < s.plan.roomy {
		return &s.thin()[z]
	}
	return &l.lakes
}
