package vector

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/snapshot"
)

const (
	// Version changes whenever the same lakes would give other bytes.
	Version = "mvt4"
	// LayerName is the name of the only layer of a tile.
	LayerName = "lakes"
	// gzipLevel is the library's default: levels 7 to 9 take twice the time and save a hundredth of the bytes.
	gzipLevel = 6
)

// An Encoder writes tiles. It is safe for concurrent use.
type Encoder struct {
	scale  *colormap.Map
	colors [colormap.Steps]string // of scale, as #rrggbb
	noData string
	zips   sync.Pool // of *gzip.Writer
	layers sync.Pool // of *layerWriter
}

// New returns an Encoder with the default colour map, fitted to limits, which colormap.New must accept.
func New(limits colormap.Limits) *Encoder {
	scale, err := colormap.New(colormap.Default, limits)
	if err != nil {
		panic(err) // the limits are those of a profile, and the name is a constant
	}
	e := &Encoder{scale: scale, noData: colormap.Hex(colormap.NoData())}
	for i, c := range scale.Table() {
		e.colors[i] = colormap.Hex(c)
	}
	e.zips.New = func() any {
		z, err := gzip.NewWriterLevel(nil, gzipLevel)
		if err != nil {
			panic(err) // the level is a constant
		}
		return z
	}
	e.layers.New = func() any { return new(layerWriter) }
	return e
}

// Encode returns the tile t of v, compressed. l must be the layer of v.
func (e *Encoder) Encode(l *Layer, v *snapshot.View, t maptile.Tile) ([]byte, error) {
	w := e.layers.Get().(*layerWriter)
	defer e.layers.Put(w)
	w.reset()
	for _, h := range l.find(t) {
		e.addProperties(w, v, int(h.lake))
		w.point(h.x, h.y)
	}
	return e.compressed(w.tile())
}

// Empty returns the tile without any lake, compressed. It has the layer without features, because Mapbox GL JS, and
// MapLibre before 4.0, take a body of no bytes for an error, even with status 200.
func (e *Encoder) Empty() ([]byte, error) { return e.compressed(new(layerWriter).tile()) }

func (e *Encoder) compressed(tile []byte) ([]byte, error) {
	z := e.zips.Get().(*gzip.Writer)
	defer e.zips.Put(z)
	var b bytes.Buffer
	z.Reset(&b)
	z.ModTime = time.Unix(0, 0) // no time in the header
	if _, err := z.Write(tile); err != nil {
		return nil, fmt.Errorf("compress vector tile: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("compress vector tile: %w", err)
	}
	return b.Bytes(), nil
}

// addProperties adds the properties of v.Lakes[i] in alphabetical order. The format has no null: unknown values are omitted.
func (e *Encoder) addProperties(w *layerWriter, v *snapshot.View, i int) {
	lake, state := &v.Lakes[i], &v.States[i]
	w.text("advisory", v.Advisories.Kind(i).String())
	if state.BelowLimit {
		w.boolean("below_limit", true)
	}
	if by := state.CellOrigin(); by != data.NoCells {
		w.text("cell_density_by", by.String())
	}
	color := e.noData
	if c := state.Chlorophyll; c.Valid() {
		w.number("chl", c.Float())
		color = e.colors[e.scale.Index(c.Float())]
	}
	w.text("color", color)
	w.text("id", string(lake.ID))
	if state.Risk != data.RiskUnknown {
		w.text("measured_at", time.Unix(state.MeasuredAt(), 0).UTC().Format(time.RFC3339))
		w.text("measured_by", state.MeasuredBy.String())
	}
	w.text("name", lake.Name)
	shares, ok := v.Shares(i)
	if ok {
		w.number("p90", shares.P90.Float())
	}
	if state.Risk != data.RiskUnknown {
		w.text("risk", state.Risk.String())
	}
	if ok {
		w.number("share_high", shares.Risks[data.RiskHigh].Float())
	}
	w.boolean("stale", state.Stale())
	w.text("trophic", state.Trophic.String())
	if state.Level >= 0 {
		w.integer("who_level", uint64(state.Level))
	}
}

// maxPlain bounds what Unzip returns: MaxFeatures lakes with the longest allowed texts, 1.1 kB each.
const maxPlain = 16 << 20

// Unzip returns a tile without compression, for clients that do not accept gzip.
func Unzip(tile []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(tile))
	if err != nil {
		return nil, fmt.Errorf("uncompress: %w", err)
	}
	plain, err := io.ReadAll(io.LimitReader(z, maxPlain+1))
	if err != nil {
		return nil, fmt.Errorf("uncompress: %w", err)
	}
	if len(plain) > maxPlain {
		return nil, fmt.Errorf("uncompress: more than %d bytes", maxPlain)
	}
	return plain, nil
}
