package data

// CellDensity returns a source's own density in cells/ml, or otherwise that which follows from the chlorophyll. It is NoCellDensity if there is
// neither, or if the chlorophyll is only known to be below a limit of detection: no density is made up of half the limit.
func CellDensity(c Chlorophyll, own float64, belowLimit bool) float64 {
	if own >= 0 {
		return own
	}
	if belowLimit {
		return NoCellDensity
	}
	return DerivedCellDensity(c)
}

// DerivedCellDensity returns the cell density (cells/ml) that follows from c; NoCellDensity for a gap.
func DerivedCellDensity(c Chlorophyll) float64 {
	if !c.Valid() {
		return NoCellDensity
	}
	// Integer arithmetic first, so that 0.07 µg/l gives 140 and not 140.00000000000003.
	return float64(int64(c) * cellsPerMicrogram / 100)
}

// A CellOrigin says where a cell density is from.
type CellOrigin uint8

const (
	NoCells CellOrigin = iota // "": there is no density
	Counted                   // "counted": cells of a sample, as a laboratory counted them
	Index                     // "index": an index of cyanobacteria, as the product of a satellite has it
	Derived                   // "derived": computed from the chlorophyll
)

var cellOriginNames = [...]string{"", "counted", "index", "derived"}

func (o CellOrigin) String() string { return cellOriginNames[o] }

// CellOriginOf returns the origin of the density of an observation of a type: own is the source's own one.
func CellOriginOf(t DataType, own, density float64) CellOrigin {
	switch {
	case density < 0:
		return NoCells
	case own < 0:
		return Derived
	case t == InSitu:
		return Counted
	}
	return Index
}
