package pixels

import (
	"fmt"

	"github.com/paulmach/orb"

	"limnomap/data/raster/georef"
	"limnomap/data/raster/zonal"
)

// MaxPixels is the most pixels that are kept of a lake: 94 % of those of the Caspian Sea at 300 m, and all of every other lake at 100 m.
const MaxPixels = 1 << 22

// A Map is the pixels of a lake in one satellite file.
type Map struct {
	Grid georef.Grid
	// Mask has the pixels that count for the lake.
	Mask *zonal.Mask
	// Codes are those of the pixels of Mask, in its order.
	Codes []Code
}

// At returns the code of the pixel that contains a point, which is not ok if that is no pixel of the lake.
func (m *Map) At(p orb.Point) (code Code, ok bool) {
	return m.at(p, m.Grid.TurnOf(p[0]))
}

func (m *Map) at(p orb.Point, turn float64) (code Code, ok bool) {
	column, row, ok := m.Grid.Cell(p, turn)
	if !ok {
		return NoData, false
	}
	if i, ok := m.Mask.Index(column, row); ok {
		return m.Codes[i], true
	}
	if period := m.Grid.Period; period > 0 { // the mask may be a turn away
		at := m.Mask.Bounds().Min.X
		column = at + ((column-at)%period+period)%period
		if i, ok := m.Mask.Index(column, row); ok {
			return m.Codes[i], true
		}
	}
	return NoData, false
}

// Each calls yield for each pixel of the lake, in the order of Mask: its column and row in the grid, and its code.
func (m *Map) Each(yield func(x, y int, code Code)) {
	i := 0
	m.Mask.Each(func(y, x0, x1 int) {
		for x := x0; x < x1; x++ {
			yield(x, y, m.Codes[i])
			i++
		}
	})
}

// check returns an error if the parts of m do not fit each other.
func (m *Map) check() error {
	if len(m.Codes) != m.Mask.Count() {
		return fmt.Errorf("%d codes of %d pixels", len(m.Codes), m.Mask.Count())
	}
	for _, c := range m.Codes {
		if !c.valid() {
			return fmt.Errorf("code %d, want less than %d", c, int(firstValue)+len(values))
		}
	}
	return nil
}
