package render

import (
	"math"

	"limnomap/colormap"
	"limnomap/data"
)

const (
	// floor is the smallest concentration that is drawn, 0.5 µg/l; smaller ones are drawn as floor. Zero means "below the
	// detection limit", which is about 1 µg/l for inland waters, and half of the limit is the usual substitute. With a
	// smaller one, a clean lake would outweigh a bloom near it.
	floor = data.Chlorophyll(50)
	// ceiling is the smallest concentration that has the last colour.
	ceiling = data.Chlorophyll(100_00)
)

// A logTable has the logarithms of concentrations that the field is computed with: ln(c/floor), at least 0. From floor to
// ceiling they are divided into valueCells cells of equal ratio, 1.0026 each, and each cell has one colour.
type logTable struct {
	perUnit float32           // cells per unit of the logarithm
	colours [valueCells]uint8 // by cell, as indices into the table of a colour map
	ofCells [valueCells]uint8 // the classes of cells
	scale   *colormap.Map
	classes classLimits
	logs    [ceiling]float32 // by concentration below ceiling
}

// upperClasses is the number of classes after the first.
const upperClasses = 2

// newLogTable returns the table for the colour maps with the limits of m: all change colours at the same concentrations.
func newLogTable(m *colormap.Map) *logTable {
	v := &logTable{perUnit: float32(valueCells / math.Log(ceiling.Float()/floor.Float())), scale: m, classes: newClassLimits(m)}
	for cell := range v.colours {
		v.colours[cell] = uint8(m.Index(floor.Float() * math.Exp(v.middle(cell))))
	}
	for c := range v.logs {
		v.logs[c] = v.newLog(data.Chlorophyll(c))
	}
	for cell, colour := range v.colours {
		for _, limit := range v.classes {
			if int(colour) >= m.Index(limit.Float()) {
				v.ofCells[cell]++
			}
		}
	}
	return v
}

// classOf returns the class of the concentration with that logarithm.
func (v *logTable) classOf(log float32) int { return int(v.ofCells[int(log*v.perUnit)]) }

// middle returns the logarithm in the middle of a cell.
func (v *logTable) middle(cell int) float64 { return (float64(cell) + 0.5) / float64(v.perUnit) }

// of returns the logarithm for c. Larger concentrations count as ceiling: all have the last colour, and a bloom of 1000 µg/l must not
// change more of the map than one of 100.
func (v *logTable) of(c data.Chlorophyll) float32 { return v.logs[min(c, ceiling-1)] }

// newLog computes the logarithm for c: that of the middle of its cell, where rounding cannot reach another cell. If the
// colour of the cell is not that of c, it is that of the next cell. So a lake's own pixel has the colour of its value, to
// the hundredth.
func (v *logTable) newLog(c data.Chlorophyll) float32 {
	log := math.Log(max(c, floor).Float() / floor.Float())
	cell := int(log * float64(v.perUnit))
	switch colour := uint8(v.scale.Index(c.Float())); {
	case v.colours[cell] < colour:
		cell++
	case v.colours[cell] > colour:
		cell--
	}
	return float32(v.middle(cell))
}
