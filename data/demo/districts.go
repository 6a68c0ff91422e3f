package demo

import (
	_ "embed"
	"encoding/csv"
	"strings"
)

// A district is a part of the world with lakes: an ellipse, densest in the middle, with a share of all lakes.
//
// The list replaces a map of the land, which would be megabytes. The positions and numbers are general knowledge in round
// figures, written by hand for this simulation: the glaciated shields of Canada and Scandinavia, the thaw lakes of the
// Arctic coasts, the plains of western Siberia, Tibet and Patagonia, and the flood plains of the great rivers. The sum of
// each country follows HydroLAKES (Messager et al. 2016, Nature Communications 7, 13603) in order of magnitude: three
// fifths of all lakes are in Canada, a sixth in Russia, a fourteenth in the United States. Near coasts some simulated lakes
// are in the sea.
type district struct {
	code        string // part of the ids of its lakes
	name        string
	lat, lon    float64 // of the centre, degrees
	long, short float64 // half-axes, km
	tilt        float64 // of the first half-axis, degrees from east towards north
	share       float64 // of all lakes, in parts of the sum over all districts
	median      float64 // mean chlorophyll-a of the median lake of 1 km² at its centre, µg/l; 0 is that of its neighbours
}

// districtsCSV has the lake districts, in the order of the fields. The first half-axis is not always the longer one: without a tilt it points east.
//
//go:embed districts.csv
var districtsCSV string

// continentsCSV has the land between the districts, which has few lakes: ellipses as wide as the coasts allow. Their chlorophyll is that of the
// districts around them.
//
//go:embed continents.csv
var continentsCSV string

// parseDistricts parses text in the form of districtsCSV. It panics if the text is invalid, which the tests exclude.
func parseDistricts(text string) (all []district) {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		panic(err)
	}
	for _, row := range rows[1:] {
		var n [7]float64
		for i := range n {
			n[i] = mustFloat(row[2+i])
		}
		all = append(all, district{row[0], row[1], n[0], n[1], n[2], n[3], n[4], n[5], n[6]})
	}
	return all
}
