package render

import (
	"cmp"
	"slices"

	lru "github.com/hashicorp/golang-lru/v2"

	"limnomap/data"
)

// memoEntries bounds the fingerprints that a Layer remembers, 240 bytes each, 1 MB in all: the tiles of a country down
// to zoom 10 a few times over. One that was dropped costs a walk over the lakes in reach.
const memoEntries = 1 << 12

// A Layer is one view's lakes made ready to draw: projected and in spatial order. It is immutable, and safe for
// concurrent use.
type Layer struct {
	// codes are the places' Morton codes, ascending; places are in the same order.
	codes  []uint64
	places []place
	// widest is the largest ground size of all places.
	widest size
	// tiers are the places by how far their waters reach, the narrowest first.
	tiers []tier
	// memo holds fingerprints that were asked for.
	memo *lru.Cache[memoKey, memoEntry]
}

// A place is where a lake lies and what is known of it.
type place struct {
	x, y        uint32
	chlorophyll data.Chlorophyll
	log         uint32 // of the chlorophyll, see logOf
	ground      size   // at zoom 0
	radius      uint32 // of a round water of the lake's area, in world units
	shore       *shore // nil where the data have no outline
}

// newLayer returns the layer of v. Lakes beyond the map's northern and southern edge are left out: no lake lies there,
// and one moved to the edge would be a lake where there is none.
func newLayer(v *data.View) *Layer {
	// The size is a positive constant, the only thing that New checks.
	memo, err := lru.New[memoKey, memoEntry](memoEntries)
	if err != nil {
		panic(err)
	}
	l := &Layer{widest: -128, memo: memo}
	l.places = make([]place, 0, len(v.Lakes))
	for i, lake := range v.Lakes {
		x, y, ok := project(lake.Point)
		if !ok {
			continue
		}
		p := place{
			x: x, y: y, chlorophyll: data.NoChlorophyll,
			ground: groundSize(lake.AreaKM2, y), radius: discRadius(lake.AreaKM2, y), shore: newShore(lake.Outline, x, y),
		}
		if c := v.States[i].Chlorophyll; c.Valid() {
			p.chlorophyll, p.log = c, logOf(c)
		}
		l.widest = max(l.widest, p.ground)
		l.places = append(l.places, p)
	}
	slices.SortFunc(l.places, func(a, b place) int { return cmp.Compare(morton(a.x, a.y), morton(b.x, b.y)) })
	l.codes = make([]uint64, len(l.places))
	for i, p := range l.places {
		l.codes[i] = morton(p.x, p.y)
	}
	l.tiers = newTiers(l.places)
	return l
}
