package demo

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"github.com/paulmach/orb"

	"limnomap/data"
)

// lakesCSV lists the lakes in ascending order of id. The first five columns and the area are described in [data.Lake];
// mean_chl is the mean chlorophyll-a of the simulation in µg/l, empty if it is to be drawn.
//
//go:embed lakes.csv
var lakesCSV string

const lakesHeader = "id,name,lat,lon,region,area_km2,mean_chl"

// A listedLake is a row of lakes.csv.
type listedLake struct {
	data.Lake
	mean float64 // µg/l; 0 if the list has none
}

// parseLakes parses text in the form of lakesCSV. It panics if the text is invalid, which the tests exclude.
func parseLakes(text string) []listedLake {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		panic(fmt.Sprintf("lakes.csv: %v", err))
	}
	if len(rows) == 0 || strings.Join(rows[0], ",") != lakesHeader {
		panic(fmt.Sprintf("lakes.csv: the header is not %q", lakesHeader))
	}
	lakes := make([]listedLake, 0, len(rows)-1)
	for _, row := range rows[1:] {
		mean := 0.0
		if row[6] != "" {
			mean = mustFloat(row[6])
		}
		lakes = append(lakes, listedLake{
			Lake: data.Lake{
				ID:         data.LakeID(row[0]),
				ExternalID: row[0],
				Name:       row[1],
				Point:      orb.Point{mustFloat(row[3]), mustFloat(row[2])},
				Region:     row[4],
				AreaKM2:    mustFloat(row[5]),
			},
			mean: mean,
		})
	}
	return lakes
}

func mustFloat(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(fmt.Sprintf("a number of a table: %v", err))
	}
	return f
}
