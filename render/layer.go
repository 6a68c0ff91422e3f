package render

import (
	"sync"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/paulmach/orb/maptile"

	"limnomap/data"
)

const (
	// maxFingerprints bounds the fingerprints that a layer remembers, 240 bytes each, 1 MB in all: the tiles of a country
	// down to zoom 10 a few times over. A forgotten one costs a search for the lakes in reach.
	maxFingerprints = 1 << 12
	// maxWeekFingerprints is the same for a layer made by LayerOn, of which there are many for few tiles each.
	maxWeekFingerprints = 1 << 9
)

// A Layer is the lakes of one week: a geometry, which the weeks of a snapshot share, and the values of the week. It is
// safe for concurrent use.
type Layer struct {
	*geometry
	week *weekValues
	logs *logTable

	blurred      []func() bool      // by zoom of dense: whether the field is blurred
	grids        []*grid            // by zoom, the lakes binned in advance; at other zooms they are binned for each tile
	thinned      func() []selection // by zoom below roomy: what has a marker
	fingerprints *lru.Cache[fingerprintKey, remembered]
}

// Layer prepares the lakes of v for drawing.
func (r *Renderer) Layer(v *data.View) *Layer {
	l := r.newLayer(newGeometry(v.Lakes), v, maxFingerprints)
	l.week.fillAll()
	for z := range maptile.Zoom(min(int(l.roomy), len(l.dense))) {
		if l.blurred[z]() {
			l.grids = append(l.grids, newGrid(l, z))
		}
	}
	l.thinned()
	return l
}

// LayerOn prepares the lakes of v for drawing with the geometry of other, whose view must have the same Lakes. It costs
// next to nothing: values are looked up for the tiles that show them. The tiles are those of Layer, to the byte.
func (r *Renderer) LayerOn(other *Layer, v *data.View) *Layer {
	return r.newLayer(other.geometry, v, maxWeekFingerprints)
}

func (r *Renderer) newLayer(g *geometry, v *data.View, size int) *Layer {
	fingerprints, err := lru.New[fingerprintKey, remembered](size)
	if err != nil {
		panic(err) // only for a size that is not positive
	}
	l := &Layer{geometry: g, week: newWeekValues(g, v), logs: r.logs, fingerprints: fingerprints}
	for _, d := range g.dense {
		l.blurred = append(l.blurred, sync.OnceValue(func() bool { return l.crowded(d.crowds) }))
	}
	l.thinned = sync.OnceValue(func() []selection { return newThinned(l, g.roomy) })
	return l
}

// valueChunk is how many values are looked up at once: those of neighbours, most of which are shown together.
const valueChunk = 32

// weekValues are the values of a week by site. They are looked up when they are first needed: of an animation, each week
// is drawn once or a few times, and on few tiles.
type weekValues struct {
	values data.Values
	lakes  []int32 // of the geometry
	chunks []atomic.Pointer[[valueChunk]data.Chlorophyll]
}

func newWeekValues(g *geometry, v *data.View) *weekValues {
	n := (len(g.sites) + valueChunk - 1) / valueChunk
	return &weekValues{values: v.Values(), lakes: g.lakes, chunks: make([]atomic.Pointer[[valueChunk]data.Chlorophyll], n)}
}

// of returns the value of a site.
func (w *weekValues) of(site int) data.Chlorophyll {
	chunk := w.chunks[site/valueChunk].Load()
	if chunk == nil {
		chunk = new([valueChunk]data.Chlorophyll)
		w.fill(site/valueChunk, chunk)
	}
	return chunk[site%valueChunk]
}

// fill looks up chunk k. Concurrent calls are harmless: they find the same values.
func (w *weekValues) fill(k int, chunk *[valueChunk]data.Chlorophyll) {
	from := k * valueChunk
	for i, lake := range w.lakes[from:min(from+valueChunk, len(w.lakes))] {
		chunk[i] = data.NoChlorophyll
		if c := w.values.Of(int(lake)); c.Valid() {
			chunk[i] = c
		}
	}
	w.chunks[k].Store(chunk)
}

// fillAll looks up all values and releases the view's.
func (w *weekValues) fillAll() {
	all := make([][valueChunk]data.Chlorophyll, len(w.chunks))
	for k := range all {
		w.fill(k, &all[k])
	}
	w.values = data.Values{}
}
