package archive

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
)

// maxZoom keeps ids far below 2^53, which is how far JavaScript readers of PMTiles can count.
const maxZoom = 24

// Metadata is what an archive says of itself. Empty texts are left out.
type Metadata struct {
	Name        string // required
	Description string
	Attribution string // may hold HTML
	Version     string // of the tiles, a semantic version such as 1.0.0

	// Bound holds everything that is shown. West is less than east: where it must not be, give the whole world.
	Bound            orb.Bound
	MinZoom, MaxZoom maptile.Zoom // tiles of other zooms are refused
	Center           orb.Point    // where a reader begins to look, within Bound
	CenterZoom       maptile.Zoom

	// More are further texts by name.
	More map[string]string
}

// A text is one name and value of the metadata.
type text struct{ name, value string }

// texts returns what is said in words, in an order that is always the same.
func (m *Metadata) texts() []text {
	all := []text{{"name", m.Name}, {"type", "overlay"}}
	for _, t := range []text{{"description", m.Description}, {"attribution", m.Attribution}, {"version", m.Version}} {
		if t.value != "" {
			all = append(all, t)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.More)) {
		all = append(all, text{name, m.More[name]})
	}
	return all
}

// reserved are the names that the formats give a meaning of their own.
var reserved = []string{
	"name", "type", "description", "attribution", "version", // texts above
	"format", "bounds", "center", "minzoom", "maxzoom", "scheme", "json", // MBTiles
	"tilejson", "tiles", "vector_layers", // TileJSON
}

func (m *Metadata) check() error {
	if m.Name == "" {
		return fmt.Errorf("metadata: the name is empty; MBTiles requires one")
	}
	if m.MinZoom > m.MaxZoom || m.MaxZoom > maxZoom {
		return fmt.Errorf("metadata: zooms %d to %d: they must rise, and %d is the largest", m.MinZoom, m.MaxZoom, maxZoom)
	}
	if m.CenterZoom < m.MinZoom || m.CenterZoom > m.MaxZoom {
		return fmt.Errorf("metadata: the centre's zoom %d is not from %d to %d", m.CenterZoom, m.MinZoom, m.MaxZoom)
	}
	world := orb.Bound{Min: orb.Point{-180, -90}, Max: orb.Point{180, 90}}
	if !(m.Bound.Left() < m.Bound.Right() && m.Bound.Bottom() < m.Bound.Top()) || // also if one is NaN
		!world.Contains(m.Bound.Min) || !world.Contains(m.Bound.Max) {
		return fmt.Errorf("metadata: the bound %s is not west, south, east, north in degrees, rising and within the world", degrees(m.box()...))
	}
	if !(m.Bound.Contains(m.Center)) || math.IsNaN(m.Center.Lon()) || math.IsNaN(m.Center.Lat()) {
		return fmt.Errorf("metadata: the centre %s is not within the bound %s", degrees(m.Center[:]...), degrees(m.box()...))
	}
	for name := range m.More {
		if name == "" || slices.Contains(reserved, name) {
			return fmt.Errorf("metadata: a further text may not be called %q; the archive itself uses %s", name, strings.Join(reserved, ", "))
		}
	}
	return nil
}

// box returns the bound as MBTiles and TileJSON have it: west, south, east, north.
func (m *Metadata) box() []float64 {
	return []float64{m.Bound.Left(), m.Bound.Bottom(), m.Bound.Right(), m.Bound.Top()}
}

// center returns the centre as MBTiles and TileJSON have it: longitude, latitude, zoom.
func (m *Metadata) center() []float64 {
	return []float64{m.Center.Lon(), m.Center.Lat(), float64(m.CenterZoom)}
}

// degrees writes numbers as MBTiles does, separated by commas and never with an exponent, which some readers miss.
func degrees(numbers ...float64) string {
	var b []byte
	for i, n := range numbers {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, n, 'f', -1, 64)
	}
	return string(b)
}
