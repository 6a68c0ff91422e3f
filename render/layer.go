package render

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"weak"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/paulmach/orb/maptile"

	"limnomap/data"
	"limnomap/data/snapshot"
)

const (
	// maxFingerprints bounds the fingerprints that a layer remembers: as many as there are tiles in memory by default. A
	// forgotten one costs a search for the lakes in reach, for which a tile in memory has to wait for its turn.
	maxFingerprints = 4 << 20 / fingerprintBytes
	// maxWeekFingerprints is the same for a layer made by LayerOn, of which there are many for few tiles each.
	maxWeekFingerprints = 128 << 10 / fingerprintBytes
	// chanceZooms is at how many zooms the lakes of a layer of probabilities are binned in advance. Binning 1.4 million lakes for one tile takes
	// 0.15 s at zoom 0, 15 ms at zoom 3 and 2 ms at zoom 4; the bins of all weeks of a forecast are held at once, and each zoom needs some four
	// times the memory of the one before.
	chanceZooms = 3
	// fingerprintBytes is the size of one, with the entry of the cache.
	fingerprintBytes = 240
)

// A Layer is the lakes of one week: a geometry, which the weeks of a snapshot share, and the values of the week, or probabilities in
// their place. It is safe for concurrent use.
type Layer struct {
	*geometry
	chances bool // whether values are of probabilities: the numbers of colormap.OfProbability
	logs    *logTable
	self    weak.Pointer[Layer]

	// A prepared layer has the values and marks of all sites; any other looks them up in week when they are drawn.
	prepared bool
	week     snapshot.Values
	values   []value                      // by site
	pixels   map[int]*LakePixels          // by lake, those that tiles show; nil if they are not known
	key      weak.Pointer[snapshot.State] // of values
	marked   marked

	blurred      []func() bool      // by zoom of dense: whether the field is blurred
	grids        []*grid            // by zoom, the lakes binned in advance; at other zooms they are binned for each tile
	cores        []*coreList        // likewise, the cores
	traced       [][]int32          // likewise, the binned sites that leave a trace
	thinned      func() []selection // by zoom below roomy: the sites with a marker
	thinnedSigns func() [][]int32   // by zoom below roomy: the sites with a sign
	dots, waters plan               // in the styles Dots and Lakes, of a layer of values that was prepared
	fingerprints *lru.Cache[fingerprintKey, remembered]
}

// Layer prepares the lakes of v for drawing.
func (r *Renderer) Layer(v *snapshot.Values) *Layer {
	return r.prepared(newGeometry(v.Lakes), v, inOrder)
}

// FirstLayer is Layer for a time without requests: it works on up to three goroutines, which end with it.
func (r *Renderer) FirstLayer(v *snapshot.Values) *Layer {
	return r.prepared(newGeometry(v.Lakes), v, atOnce)
}

// inOrder calls the parts of a work one after the other.
func inOrder(parts ...func()) {
	for _, part := range parts {
		part()
	}
}

// atOnce calls the parts of a work at the same time, and returns when all have. If one panics, so does atOnce: the caller can recover.
func atOnce(parts ...func()) {
	var all sync.WaitGroup
	panics := make(chan string, len(parts))
	for _, part := range parts {
		all.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					panics <- fmt.Sprintf("%v\n%s", p, debug.Stack())
				}
			}()
			part()
		})
	}
	all.Wait()
	if len(panics) > 0 {
		panic(<-panics)
	}
}

// prepared returns the layer of v with everything that speeds up drawing. It calls the parts of that work with run.
func (r *Renderer) prepared(g *geometry, v *snapshot.Values, run func(parts ...func())) *Layer {
	l := r.newLayer(g, v, maxFingerprints)
	l.prepare(l.allValues(), v.Key())
	if l.chances { // most of their tiles are of the style Heat
		l.bin()
		return l
	}
	l.thinned()
	l.thinnedSigns()
	run(
		l.bin,
		func() { l.dots = r.newPlan(l, r.styles[Dots]) },
		func() { l.waters = r.newPlan(l, r.styles[Lakes]) },
	)
	return l
}

// withPixels returns l with pixels.
func (l *Layer) withPixels(of map[int]*LakePixels) *Layer {
	c := *l
	c.self, c.pixels = weak.Make(&c), of
	return &c
}

// bin bins the lakes at the zooms at which that would take long for a tile.
func (l *Layer) bin() {
	zooms := min(int(l.roomy), len(l.dense))
	if l.chances {
		zooms = min(zooms, chanceZooms)
	}
	for z := range maptile.Zoom(len(l.dense)) {
		if blurred := l.blurred[z](); blurred && int(z) < zooms {
			l.grids = append(l.grids, newGrid(l, z))
			l.cores = append(l.cores, newCoreList(l, z))
			l.traced = append(l.traced, newTraced(l, z))
		}
	}
}

// LayerOn prepares the lakes of v for drawing with the geometry of other, whose values must be of the same Lakes. It costs
// next to nothing: values are looked up for the tiles that show them. If other was made by Layer and the lakes have the same
// values, and only other marks, the new layer shares what other has prepared. The tiles are those of Layer, to the byte.
// Probabilities are computed for all lakes, and some of them binned: there are few such layers, and each is used for many tiles.
func (r *Renderer) LayerOn(other *Layer, v *snapshot.Values) *Layer {
	if v.Chances() {
		return r.prepared(other.geometry, v, inOrder)
	}
	if other.hasValuesOf(v) {
		return r.markedAgain(other, v)
	}
	return r.newLayer(other.geometry, v, maxWeekFingerprints)
}

// Successor returns the same as Layer, and takes less time and memory: before is a layer of lakes in the same places (see [SamePlaces]).
func (r *Renderer) Successor(before *Layer, v *snapshot.Values) *Layer {
	if before.hasValuesOf(v) {
		return r.markedAgain(before, v)
	}
	return r.prepared(before.geometry, v, inOrder)
}

// hasValuesOf reports whether l is prepared and has the values of v.
func (l *Layer) hasValuesOf(v *snapshot.Values) bool {
	return l.prepared && l.key != (weak.Pointer[snapshot.State]{}) && l.key == v.Key()
}

// markedAgain returns a layer of v, whose values are those of other. It knows the fingerprints of tiles without signs.
func (r *Renderer) markedAgain(other *Layer, v *snapshot.Values) *Layer {
	l := r.newLayer(other.geometry, v, maxFingerprints)
	l.prepare(other.values, other.key)
	l.grids, l.cores, l.thinned, l.traced = other.grids, other.cores, other.thinned, other.traced
	for _, k := range other.fingerprints.Keys() { // the least recently used one first
		if e, ok := other.fingerprints.Peek(k); ok && r.styles[k.style].signs == nil {
			l.fingerprints.Add(k, e)
		}
	}
	l.thinnedSigns()
	l.waters = other.waters
	if l.dots = other.dots; !slices.Equal(l.marked.sites, other.marked.sites) { // a sign replaces a marker
		l.dots = r.newPlan(l, r.styles[Dots])
	}
	return l
}

// prepare makes l a prepared layer with these values, and with the marks of all lakes. After it, the states of a view may be released.
func (l *Layer) prepare(values []value, key weak.Pointer[snapshot.State]) {
	l.marked = l.allMarked()
	l.values, l.key, l.week, l.prepared = values, key, snapshot.Values{}, true
}

func (r *Renderer) newLayer(g *geometry, v *snapshot.Values, size int) *Layer {
	fingerprints, err := lru.New[fingerprintKey, remembered](size)
	if err != nil {
		panic(err) // only for a size that is not positive
	}
	l := &Layer{geometry: g, chances: v.Chances(), week: *v, fingerprints: fingerprints}
	l.logs = r.drawingOf(l).logs
	l.self = weak.Make(l)
	for _, d := range g.dense {
		l.blurred = append(l.blurred, sync.OnceValue(func() bool { return l.crowded(d.tiles, maxStamped) || l.crowded(d.cells, thinnedLakes-1) }))
	}
	l.thinned = sync.OnceValue(func() []selection { return newThinned(l, g.roomy) })
	l.thinnedSigns = sync.OnceValue(func() [][]int32 { return newThinnedSigns(l, g.roomy) })
	return l
}

// A value is a concentration and its logarithm, and whether it is old (see [snapshot.OldAfter]).
type value struct {
	data.Chlorophyll
	log float32
	old bool
}

// compare compares two values: of equal ones, one that is old is less.
func (v *value) compare(other *value) int {
	return compareValues(v.Chlorophyll, v.old, other.Chlorophyll, other.old)
}

func compareValues(a data.Chlorophyll, oldA bool, b data.Chlorophyll, oldB bool) int {
	switch {
	case a != b:
		return cmp.Compare(a, b)
	case oldA == oldB:
		return 0
	case oldA:
		return -1
	}
	return 1
}

// isHigh reports whether a value is of the highest class.
func (l *Layer) isHigh(v value) bool { return l.logs.classes.of(v.Chlorophyll) == upperClasses }

// value returns the value of a site.
func (l *Layer) value(site int) value {
	if l.prepared {
		return l.values[site]
	}
	if l.chances {
		return l.chance(site)
	}
	if c, old := l.week.Of(int(l.lakes[site])); c.Valid() {
		return value{c, l.logs.of(c), old}
	}
	return value{Chlorophyll: data.NoChlorophyll}
}

// valid reports whether a site has a value.
func (l *Layer) valid(site int) bool {
	v := l.value(site)
	return v.Valid()
}

// allValues returns the values by site.
func (l *Layer) allValues() []value {
	if l.prepared {
		return l.values
	}
	values := make([]value, len(l.sites))
	for i := range values {
		values[i] = l.value(i)
	}
	return values
}
