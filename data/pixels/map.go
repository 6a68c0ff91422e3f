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

// At returns the pixel that contains a point, and its code. It is not ok if that is no pixel of the lake.
func (m *Map) At(p orb.Point) (column, row int, code Code, ok bool) {
	column, row, ok = m.Grid.Cell(p, m.Grid.TurnOf(p[0]))
	if !ok {
		return 0, 0, NoData, false
	}
	i, ok := m.Mask.Index(column, row)
	if period := m.Grid.Period; !ok && period > 0 { // the mask may be a turn away
		first := m.Mask.Bounds().Min.X
		column = first + ((column-first)%period+period)%period
		i, ok = m.Mask.Index(column, row)
	}
	if !ok {
		return 0, 0, NoData, false
	}
	return column, row, m.Codes[i], true
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
