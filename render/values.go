package render

import (
	"math"

	"limnomap/colormap"
	"limnomap/data"
)

const (
	// floor is the concentration that smaller ones, zero among them, are drawn as: 0.5 µg/l. Zero stands for "below
	// detection", which is about 1 µg/l for inland waters, and half of the limit is the usual substitute. A smaller
	// one would let a clean lake outweigh a bloom beside it.
	floor = data.Chlorophyll(50)
	// ceiling is the concentration from which on all have one colour.
	ceiling = data.Chlorophyll(100_00)
)

// values are the logarithms that stand for concentrations in the field: ln(c/floor), at least 0. Those from
// floor to ceiling are cut into valueCells cells of equal ratio, 1.0026 each, of which each has one colour.
type values struct {
	perUnit float32           // how many cells there are to a unit of the logarithm
	colours [valueCells]uint8 // of a cell, as indices into the table of a colour map
	of      *colormap.Map
	logs    [ceiling]float32 // of the concentrations below ceiling: most there are, and a week's map asks for many
}

// newValues returns the values for the colour maps that are fitted to the limits of m, which all change their colour
// at the same concentrations.
func newValues(m *colormap.Map) *values {
	v := &values{perUnit: float32(valueCells / math.Log(ceiling.Float()/floor.Float())), of: m}
	for cell := range v.colours {
		v.colours[cell] = uint8(m.Index(floor.Float() * math.Exp(v.middle(cell))))
	}
	for c := range v.logs {
		v.logs[c] = v.newLog(data.Chlorophyll(c))
	}
	return v
}

// middle returns the logarithm in the middle of a cell.
func (v *values) middle(cell int) float64 { return (float64(cell) + 0.5) / float64(v.perUnit) }

// logOf returns the logarithm that stands for c.
func (v *values) logOf(c data.Chlorophyll) float32 {
	if c < ceiling {
		return v.logs[c]
	}
	return v.newLog(c)
}

// newLog works out what logOf returns. It is that of the middle of a cell, away from where rounding could make
// it another's, and of the next cell where c's own has another colour than c: so a lake's own pixel has the colour of
// its value, to the hundredth.
func (v *values) newLog(c data.Chlorophyll) float32 {
	log := math.Log(max(c, floor).Float() / floor.Float())
	cell := int(log * float64(v.perUnit))
	if cell >= valueCells {
		return float32(log) // the highest colour, whatever its cell
	}
	switch colour := uint8(v.of.Index(c.Float())); {
	case v.colours[cell] < colour:
		cell++
	case v.colours[cell] > colour:
		cell--
	}
	return float32(v.middle(cell))
}
