package vector

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/mvt"
	"github.com/paulmach/orb/geojson"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
)

const (
	// Version changes with whatever makes the same lakes give other bytes.
	Version = "mvt1"
	// LayerName is the name of a tile's one layer.
	LayerName = "lakes"
	// specVersion is the major version of the specification, as layers tell it.
	specVersion = 2
	// gzipLevel is the library's own choice: the next three take twice the time for a hundredth of the bytes.
	gzipLevel = 6
)

// An Encoder writes tiles. It is safe for concurrent use.
type Encoder struct {
	scale  *colormap.Map
	colors [colormap.Steps]string // the scale's, as #rrggbb
	noData string
	zips   sync.Pool // of *gzip.Writer
}

// New returns an Encoder of the default colour map, fitted to limits, which must be ones that colormap.New takes.
func New(limits colormap.Limits) *Encoder {
	scale, err := colormap.New(colormap.Default, limits)
	if err != nil {
		panic(err) // the limits are a constant of some profile, and the name is colormap's own
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
	return e
}

// Encode returns the tile t of v, whose layer l is, compressed.
func (e *Encoder) Encode(l *Layer, v *data.View, t maptile.Tile) ([]byte, error) {
	hits := l.find(t)
	features := make([]*geojson.Feature, len(hits))
	for i, h := range hits {
		features[i] = &geojson.Feature{
			Geometry:   orb.Point{float64(h.x), float64(h.y)},
			Properties: e.properties(&v.Lakes[h.lake], &v.States[h.lake]),
		}
	}
	return e.marshal(features)
}

// Empty returns the tile without any lake, compressed. It has the layer, with nothing in it: what has no bytes at all is
// an error to Mapbox GL JS and to MapLibre before 4.0, even with status 200.
func (e *Encoder) Empty() ([]byte, error) { return e.marshal(nil) }

func (e *Encoder) marshal(features []*geojson.Feature) ([]byte, error) {
	plain, err := mvt.Marshal(mvt.Layers{{Name: LayerName, Version: specVersion, Extent: Extent, Features: features}})
	if err != nil {
		return nil, fmt.Errorf("encode %d lakes: %w", len(features), err)
	}
	z := e.zips.Get().(*gzip.Writer)
	defer e.zips.Put(z)
	var b bytes.Buffer
	z.Reset(&b)
	z.ModTime = time.Unix(0, 0) // which is how the header says that there is none
	if _, err := z.Write(plain); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	return b.Bytes(), nil
}

// properties returns what a tile tells of a lake. What is not known is left out, since the format has no null.
func (e *Encoder) properties(lake *data.Lake, state *data.State) geojson.Properties {
	p := geojson.Properties{
		"id":      string(lake.ID),
		"name":    lake.Name,
		"color":   e.noData,
		"trophic": state.Trophic.String(),
	}
	if c := state.Chlorophyll; c.Valid() {
		p["chl"] = c.Float()
		p["color"] = e.colors[e.scale.Index(c.Float())]
	}
	if state.Level >= 0 {
		p["who_level"] = uint64(state.Level)
	}
	if state.Risk != data.RiskUnknown {
		p["risk"] = state.Risk.String()
		p["measured_at"] = time.Unix(state.MeasuredAt, 0).UTC().Format(time.RFC3339)
	}
	return p
}

// maxPlain bounds what Unzip returns: MaxFeatures lakes whose texts are all as long as they may be, 1.1 kB each.
const maxPlain = 16 << 20

// Unzip returns a tile as it was before it was compressed, for those who cannot undo that.
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
