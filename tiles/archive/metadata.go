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

// maxZoom keeps ids far below 2^53, the limit of exact integers in JavaScript readers of PMTiles.
const maxZoom = 24

// Metadata describes an archive. Empty texts are left out.
type Metadata struct {
	Name        string // required
	Description string
	Attribution string // may hold HTML
	Version     string // of the tiles, a semantic version such as 1.0.0

	// Bound contains all that the tiles show. West must be less than east: use the whole world for a map that crosses the
	// antimeridian.
	Bound            orb.Bound
	MinZoom, MaxZoom maptile.Zoom // tiles of other zooms are refused
	Center           orb.Point    // where a reader shows the map first, within Bound
	CenterZoom       maptile.Zoom

	// More are other texts by name.
	More map[string]string
}

// A text is one name and value of the metadata.
type text struct{ name, value string }

// texts returns all texts, always in the same order.
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

// reserved are the names to which the formats give a meaning.
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
		return fmt.Errorf("metadata: zooms %d to %d: the second must not be less, and %d is the largest", m.MinZoom, m.MaxZoom, maxZoom)
	}
	if m.CenterZoom < m.MinZoom || m.CenterZoom > m.MaxZoom {
		return fmt.Errorf("metadata: the zoom of the centre, %d, must be %d to %d", m.CenterZoom, m.MinZoom, m.MaxZoom)
	}
	world := orb.Bound{Min: orb.Point{-180, -90}, Max: orb.Point{180, 90}}
	if !(m.Bound.Left() < m.Bound.Right() && m.Bound.Bottom() < m.Bound.Top()) || // also if one is NaN
		!world.Contains(m.Bound.Min) || !world.Contains(m.Bound.Max) {
		return fmt.Errorf("metadata: the bound %s must be west, south, east, north in degrees, with west less than east and south less than north, and within the world", degrees(m.box()...))
	}
	if !(m.Bound.Contains(m.Center)) || math.IsNaN(m.Center.Lon()) || math.IsNaN(m.Center.Lat()) {
		return fmt.Errorf("metadata: the centre %s is not within the bound %s", degrees(m.Center[:]...), degrees(m.box()...))
	}
	for name := range m.More {
		if name == "" || slices.Contains(reserved, name) {
			return fmt.Errorf("metadata: a text may not be named %q; the formats use %s", name, strings.Join(reserved, ", "))
		}
	}
	return nil
}

// box returns the bound in the order of MBTiles and TileJSON: west, south, east, north.
func (m *Metadata) box() []float64 {
	return []float64{m.Bound.Left(), m.Bound.Bottom(), m.Bound.Right(), m.Bound.Top()}
}

// center returns the centre in the order of MBTiles and TileJSON: longitude, latitude, zoom.
func (m *Metadata) center() []float64 {
	return []float64{m.Center.Lon(), m.Center.Lat(), float64(m.CenterZoom)}
}

// degrees formats numbers as MBTiles does: separated by commas, and without exponents, which some readers do not accept.
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
