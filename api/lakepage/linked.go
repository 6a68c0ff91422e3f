package lakepage

import (
	"math"
	"strings"

	"limnomap/api/words"
	"limnomap/data"
	"limnomap/data/snapshot"
)

// linked is what the page tells search engines: JSON-LD with the vocabulary of schema.org.
type linked struct {
	Context string `json:"@context"`
	Graph   []any  `json:"@graph"`
}

type linkedLake struct {
	Type      string        `json:"@type"`
	ID        string        `json:"@id"`
	Name      string        `json:"name"`
	URL       string        `json:"url,omitempty"`
	Geo       linkedGeo     `json:"geo"`
	Contained *linkedRegion `json:"containedInPlace,omitempty"`
}

type linkedGeo struct {
	Type      string  `json:"@type"`
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
}

type linkedRegion struct {
	Type string `json:"@type"`
	Name string `json:"name"`
}

type linkedObservation struct {
	Type     string   `json:"@type"`
	About    linkedID `json:"observationAbout"`
	Date     string   `json:"observationDate"`
	Property string   `json:"measuredProperty"`
	Value    float64  `json:"value"`
	Unit     string   `json:"unitText"`
}

type linkedID struct {
	ID string `json:"@id"`
}

// newLinked returns the lake of a page, and its current value as an observation on a date. It says nothing about the risk, which search
// engines would show without its date, and has no simulated value.
func newLinked(lake *data.Lake, state *snapshot.State, p *page, w *words.Page[ownWords]) linked {
	about := linkedLake{
		Type: "LakeBodyOfWater", ID: "#lake", Name: p.Name,
		Geo: linkedGeo{"GeoCoordinates", degrees(lake.Point.Lat()), degrees(lake.Point.Lon())},
	}
	if p.Public != nil {
		about.URL, _, _ = strings.Cut(p.Self, "?")
		about.ID = about.URL + "#lake"
	}
	if p.Region != "" {
		about.Contained = &linkedRegion{"AdministrativeArea", p.Region}
	}
	l := linked{Context: "https://schema.org", Graph: []any{about}}
	if state.Chlorophyll.Valid() && p.Notice == "" {
		l.Graph = append(l.Graph, linkedObservation{
			Type: "Observation", About: linkedID{about.ID}, Date: p.Day, Property: w.Common.Chlorophyll, Value: state.Chlorophyll.Float(), Unit: "µg/l",
		})
	}
	return l
}

// degrees rounds to metres.
func degrees(v float64) float64 { return math.Round(v*1e5) / 1e5 }
