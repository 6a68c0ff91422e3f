package demo

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/outline"
)

//go:generate go run gshhg/generate.go

// shoresJSON has the surveyed shores of some of the lakes: polygons in GeoJSON (WGS 84), whose ids are those of the lakes. They
// are from GSHHG, under its licence; see gshhg/COPYRIGHT.
//
//go:embed gshhg/lakes.geojson
var shoresJSON []byte

// A shore is the polygon of a lake: its outer ring and its islands.
type shore struct {
	ID       data.LakeID
	Geometry struct{ Coordinates orb.Polygon }
}

// parseShores parses text in the form of shoresJSON. It panics if the text is invalid, which the tests exclude.
func parseShores(text []byte) []shore {
	var collection struct{ Features []shore }
	if err := json.Unmarshal(text, &collection); err != nil {
		panic(fmt.Sprintf("lakes.geojson: %v", err))
	}
	return collection.Features
}

// addOutlines sets the outlines of the lakes that shores has. The others keep none: an outline is never made up from an area.
func addOutlines(lakes []listedLake, shores []shore) {
	polygons := make(map[data.LakeID]orb.Polygon, len(shores))
	for _, s := range shores {
		polygons[s.ID] = s.Geometry.Coordinates
	}
	for i := range lakes {
		polygon, found := polygons[lakes[i].ID]
		if !found {
			continue
		}
		shore, err := outline.New(orb.MultiPolygon{polygon})
		if err != nil {
			panic(fmt.Sprintf("lakes.geojson: %s: %v", lakes[i].ID, err))
		}
		lakes[i].Outline = shore
	}
}
