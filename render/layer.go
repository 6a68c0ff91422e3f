package render

import (
	"cmp"
	"math"
	"slices"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"limnomap/data"
)

// memoEntries bounds the fingerprints that a Layer remembers, or all those on one plan, 240 bytes each, 1 MB in all: the
// tiles of a country down to zoom 10 a few times over. One that was dropped costs a walk over the lakes in reach.
const memoEntries = 1 << 12

// A Layer is one view's lakes made ready to draw: projected and in spatial order. It is immutable, and safe for
// concurrent use.
type Layer struct {
	lakes index
	// blurred are the lakes by zoom, at those zooms where they are so many that the value field is not stamped.
	blurred []index
	// thinned are the lakes by zoom, at those zooms where many lie in one pixel.
	thinned []index
	// memo holds fingerprints that were asked for.
	memo *lru.Cache[memoKey, memoEntry]
	// number tells the layers that share a memo apart.
	number uint64
	// plan returns what layers of the same lakes share.
	plan func() *plan
	// sheets has the lakes' values if this layer was made on another's plan, and then decides about blurred and thinned.
	sheets *sheets
}

// An index is places in spatial order.
type index struct {
	// sheets has the places, if it is not nil; places then have no values.
	sheets *sheets
	// codes are the places' Morton codes, ascending; places are in the same order.
	codes  []uint64
	places []place
	// widest is the largest ground size of all places.
	widest size
	// binned has further lakes, which are not stamped but binned and blurred: those of its places whose blobs are of the
	// smallest size. It is nil where none are.
	binned *index
	// grid is these lakes, binned beforehand. It is nil where they are not.
	grid *grid
	// field are the places that the value field stamps; nil stands for all.
	field []tier
	// tiers are the places by how far their waters reach, the narrowest first. They are nil where waters are not drawn.
	tiers []tier
}

// A place is where a lake lies and what is known of it.
type place struct {
	x, y        uint32
	chlorophyll data.Chlorophyll
	log         float32 // of the chlorophyll, see values
	ground      size    // at zoom 0
	radius      uint32  // of a round water of the lake's area, in world units
	shore       *shore  // nil where the data have no outline
}

// newLayer returns the layer of v. Lakes beyond the map's northern and southern edge are left out: no lake lies there,
// and one moved to the edge would be a lake where there is none.
func newLayer(v *data.View, values *values) *Layer {
	places := make([]place, 0, len(v.Lakes))
	lakes := make([]int32, 0, len(v.Lakes))
	known := v.Values()
	for i, lake := range v.Lakes {
		x, y, ok := project(lake.Point)
		if !ok {
			continue
		}
		p := place{
			x: x, y: y, chlorophyll: data.NoChlorophyll,
			ground: groundSize(lake.AreaKM2, y), radius: discRadius(lake.AreaKM2, y), shore: newShore(lake.Outline, x, y),
		}
		p.set(known.Of(i), values)
		places, lakes = append(places, p), append(lakes, int32(i))
	}
	l := &Layer{memo: newMemo()}
	var order []int32
	l.lakes, order = newIndex(places)
	for i, at := range order {
		order[i] = lakes[at]
	}
	l.plan = sync.OnceValue(func() *plan { return newPlan(&l.lakes, order) })
	l.lakes.tiers = newTiers(l.lakes.places)
	stamped, roomy := l.lakes.firstStamped(), l.lakes.firstRoomy()
	l.blurred, l.thinned = newBlurred(&l.lakes, stamped, min(roomy, stamped)), newThinned(&l.lakes, roomy)
	return l
}

// set makes c what is known of p.
func (p *place) set(c data.Chlorophyll, values *values) {
	p.chlorophyll, p.log = data.NoChlorophyll, 0
	if c.Valid() {
		p.chlorophyll, p.log = c, values.logOf(c)
	}
}

func newMemo() *lru.Cache[memoKey, memoEntry] {
	// The size is a positive constant, the only thing that New checks.
	memo, err := lru.New[memoKey, memoEntry](memoEntries)
	if err != nil {
		panic(err)
	}
	return memo
}

// newIndex puts places in order: by where they lie, and those in one place by what is known of them, so that the order
// of the input makes no difference. It returns which of them each was, too.
func newIndex(places []place) (_ index, order []int32) {
	type key struct {
		code uint64
		at   int32
	}
	keys := make([]key, len(places))
	for i, p := range places {
		keys[i] = key{morton(p.x, p.y), int32(i)}
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.code != b.code {
			return cmp.Compare(a.code, b.code)
		}
		return compare(&places[a.at], &places[b.at])
	})
	x := index{places: make([]place, len(places)), codes: make([]uint64, len(places)), widest: math.MinInt8}
	order = make([]int32, len(places))
	for i, k := range keys {
		x.places[i], x.codes[i], order[i] = places[k.at], k.code, k.at
		x.widest = max(x.widest, x.places[i].ground)
	}
	return x, order
}

// place returns the i-th place.
func (x *index) place(i int) *place {
	if x.sheets != nil {
		return x.sheets.place(i)
	}
	return &x.places[i]
}

// compare puts places in the order of an index.
func compare(a, b *place) int {
	return cmp.Or(
		cmp.Compare(morton(a.x, a.y), morton(b.x, b.y)),
		cmp.Compare(a.chlorophyll, b.chlorophyll),
		cmp.Compare(a.ground, b.ground),
		cmp.Compare(a.radius, b.radius),
		cmp.Compare(a.shore.id(), b.shore.id()),
	)
}
