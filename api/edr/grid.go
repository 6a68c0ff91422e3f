package edr

import (
	"math"

	"limnomap/api/coordinates"
)

// A Lattice is the grid of which some records are pixels.
type Lattice struct {
	System *coordinates.System // along whose axes the columns and rows are; nil if they are not, or if it has no name
	// Origin has x and y of the centre of the pixel in column 0 and row 0. Those of the next column and row are a Step further.
	Origin, Step [2]float64
}

// maxSparse is how many cells a grid may have for each pixel in it: a lake is not a rectangle.
const maxSparse = 16

// addGrid writes the pixels of one day and source as a coverage: the rectangle around them, or, if that has too many cells or is oblique in the system that is
// asked for, their centres. They are never resampled.
func (a *writer[R]) addGrid(records []R) {
	l, column, row := a.Lattice(records[0])
	least, greatest := [2]int{column, row}, [2]int{column, row}
	for _, r := range records {
		_, column, row := a.Lattice(r)
		for i, n := range [2]int{column, row} {
			least[i], greatest[i] = min(least[i], n), max(greatest[i], n)
		}
	}
	width, height := greatest[0]-least[0]+1, greatest[1]-least[1]+1
	system := a.q.system
	if a.q.native {
		system = l.System
	}
	if l.System == nil || system.CRS != l.System.CRS || width*height > maxSparse*len(records) {
		a.addPoints(records)
		return
	}
	o := a.openCoverage(records[0], "Grid")
	unit := math.Pow10(system.Decimals())
	for i, name := range []string{"x", "y"} {
		at := func(n int) float64 { return math.Round((l.Origin[i]+l.Step[i]*float64(n))*unit) / unit }
		o = appendNumber(o.Open(name).Name("start"), at(least[i]))
		o = appendNumber(o.Name("stop"), at(greatest[i])).Int("num", greatest[i]-least[i]+1).Close("}")
	}
	o = appendReferences(a.appendDays(o, records[:1]).Close("}"), system).Close("}")
	cells := make([]int32, width*height) // which record; 0 for none
	for i, r := range records {
		_, column, row := a.Lattice(r)
		cells[(row-least[1])*width+column-least[0]] = int32(i + 1)
	}
	a.content = a.appendRanges(o, []string{"t", "y", "x"}, []int{1, height, width}, func(i int) (r R, ok bool) {
		if cells[i] == 0 {
			return r, false
		}
		return records[cells[i]-1], true
	})
}

// addPoints writes the pixels of one day and source as a coverage of their centres.
func (a *writer[R]) addPoints(records []R) {
	o := a.appendDays(a.openCoverage(records[0], "MultiPoint"), records[:1])
	o = o.Open("composite").Text("dataType", "tuple").Array("coordinates").Entry("x").Entry("y").Close("]").Array("values")
	for i, r := range records {
		if i > 0 {
			o = append(o, ',')
		}
		o = append(appendNumber(append(o, '['), a.axis(r, 0)), ',')
		o = append(appendNumber(o, a.axis(r, 1)), ']')
	}
	o = o.Close("]}}}")
	a.content = a.appendRanges(o, []string{"composite"}, []int{len(records)}, func(i int) (R, bool) { return records[i], true })
}
