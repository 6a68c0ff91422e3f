package colormap

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"strings"
)

var (
	// ErrUnknown is returned for the name of a colour map that does not exist.
	ErrUnknown = errors.New("unknown colour map")
	// ErrLimits is returned for limits that do not divide the scale into three classes.
	ErrLimits = errors.New("limits do not fit the scale")
)

// An ID names a colour map, such as "viridis".
type ID string

// Default is the map whose hues change at the limits of the classification.
const Default ID = "limno"

// Limits are the chlorophyll-a values in µg/l at which level 1 and level 2 begin.
type Limits struct {
	Level1, Level2 float64
	Above          bool   // a level begins above its limit, not at it
	Title          string // the source of the limits for the legend, such as "WHO 2003"; may be empty

	// What the source says at each level: from how many cells/ml levels 1 and 2 begin, or zero; and its own words for levels 1 to 3, or none.
	Cells [2]float64
	Words [3]string
}

// Steps is the number of colours of a Map. The 256 palette entries of a tile are shared among them and the opacities of the
// renderer.
const Steps = 32

// NoData returns #9aa0a6, the colour of a lake without a current value. No other colour is grey.
func NoData() color.NRGBA { return color.NRGBA{0x9a, 0xa0, 0xa6, 0xff} }

// A Map is a logarithmic scale of Steps colours. It is immutable.
type Map struct {
	ID    ID
	Title string
	// Min and Max are the ends of the scale in µg/l, beyond which the end colours hold.
	Min, Max float64
	limits   Limits
	high     bool // of a map of probabilities: it shows that of Level2
	scale    scale
	bands    []int // the first step of each class that a legend names, and Steps
	table    [Steps]color.NRGBA
}

// IDs returns the names of the colour maps, the default first.
func IDs() []ID {
	var ids []ID
	for _, r := range ramps() {
		ids = append(ids, r.id)
	}
	return ids
}

// New returns the colour map of that name, fitted to the limits. It returns ErrUnknown if there is none, and ErrLimits if a
// class does not fit on the scale.
func New(id ID, limits Limits) (*Map, error) {
	for _, r := range ramps() {
		if r.id != id {
			continue
		}
		s, err := newScale(limits)
		if err != nil {
			return nil, err
		}
		return &Map{ID: id, Title: r.title, Min: scaleMin, Max: scaleMax, limits: limits, scale: s, bands: s.first[:], table: r.table(s)}, nil
	}
	var names []string
	for _, id := range IDs() {
		names = append(names, string(id))
	}
	return nil, fmt.Errorf("%w %q: allowed are %s", ErrUnknown, id, strings.Join(names, ", "))
}

// Index returns the index of the colour for chl µg/l. It returns -1 if chl is not a value (NaN, infinite or negative), so
// that using it as an index panics instead of showing a clean lake.
func (m *Map) Index(chl float64) int {
	if !(chl >= 0) || math.IsInf(chl, 1) {
		return -1
	}
	// The last step whose threshold is at most chl. Step 0 has no threshold.
	low, high := 0, Steps
	for high-low > 1 {
		middle := int(uint(low+high) / 2)
		if chl >= m.scale.thresholds[middle] {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// Threshold returns the smallest value in µg/l whose index is i, for 1 <= i < Steps. Where a level begins above its limit,
// the threshold is half a hundredth above the limit, between two values that can be stored.
func (m *Map) Threshold(i int) float64 {
	if i < 1 || i >= Steps {
		panic(fmt.Sprintf("colormap: threshold of step %d: allowed are 1 to %d", i, Steps-1))
	}
	return m.scale.thresholds[i]
}

// Limits returns the limits that m is fitted to.
func (m *Map) Limits() Limits { return m.limits }

// Table returns the colours, lowest value first, all opaque.
func (m *Map) Table() [Steps]color.NRGBA { return m.table }

// Bands returns the colours of each class that the legend names, lowest value first.
func (m *Map) Bands() (bands [][]color.NRGBA) {
	for i, first := range m.bands[:len(m.bands)-1] {
		bands = append(bands, m.table[first:m.bands[i+1]])
	}
	return bands
}

// Color returns the colour of chl µg/l: Table()[Index(chl)], or NoData if chl is not a value.
func (m *Map) Color(chl float64) color.NRGBA {
	if i := m.Index(chl); i >= 0 {
		return m.table[i]
	}
	return NoData()
}

// Hex returns c as #rrggbb, without its alpha.
func Hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
