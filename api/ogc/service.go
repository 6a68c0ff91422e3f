// Package ogc serves the map to clients of the Open Geospatial Consortium's standards: by WMTS 1.0.0 (OGC 07-057r7), by
// OGC API - Tiles (OGC 20-057), and as pictures by WMS 1.3.0 and 1.1.1.
//
// Both offer the same tiles as the addresses with z/x/y, as one layer. It has one tile matrix set, with a matrix for each zoom. A
// [Service] writes the documents that describe them and reads the requests; its [Options] say who sends the tiles.
//
// A Service is safe for concurrent use.
package ogc

import (
	"net/http"
	"sync/atomic"
	"time"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/tiles"
)

// A State is the published snapshot with what the documents say about it. It is immutable.
type State struct {
	Snapshot *snapshot.Snapshot
	// MapVersion and VectorVersion are the values of v= that make the address of a tile immutable.
	MapVersion, VectorVersion string
	ForecastVersion           string      // likewise, of tiles of the newest forecast; empty if there is none
	Bounds                    [4]float64  // west, south, east, north
	Center                    [2]float64  // longitude, latitude
	Zoom                      int         // at which the bounds about fill a screen
	Updated                   string      // when the data changed, as RFC 3339
	DateFields                http.Header // of answers about the current map, see SetDates
	Credits                   []Credit    // of the providers of the data
}

// A Credit is a line with which a provider of data wants to be named, and the address of a page about the data and their terms, or empty.
type Credit struct{ Text, URL string }

// A Tile is a request for a tile.
type Tile struct {
	tiles.Request // of a vector tile only the address
	Vector        bool
	Forecast      int       // a week of the newest forecast; 0 for a map of values
	Of            data.Risk // whose probability it shows
	State         *State
	Week          data.Week
	Dated         bool   // a week was given
	Version       string // the value of v=
}

// Options are what a Service needs.
type Options struct {
	// Current returns the present State, or an error before the first snapshot.
	Current func() (*State, error)
	// Base returns what addresses in an answer to r begin with, and whether only the client's own cache may store the answer. It
	// adds to the header of w what that depends on.
	Base func(w http.ResponseWriter, r *http.Request) (base string, private bool)
	// TrueFor returns how long what documents say about the tiles of a state will be true; zero if that is not known.
	TrueFor func(*State) time.Duration
	// Attribution returns whose data the map of a state shows.
	Attribution func(*State) string
	// SendTile answers r with a tile.
	SendTile func(w http.ResponseWriter, r *http.Request, t Tile) error

	// SendMap answers r with a picture of a part of the map, and SendInfo with what is at a pixel of it.
	SendMap  func(w http.ResponseWriter, r *http.Request, m Map) error
	SendInfo func(w http.ResponseWriter, r *http.Request, info Info) error
	// SendLegend answers r with the legend of a style as a picture.
	SendLegend func(w http.ResponseWriter, r *http.Request, style tiles.StyleID) error
	// LegendSize returns the width and the height of that picture in pixels.
	LegendSize func(style tiles.StyleID) (width, height int, err error)
	// Collections returns what the list of collections says about those of features, with addresses that begin with base.
	Collections func(base string) []any
	// ConformsTo are the conformance classes of features.
	ConformsTo []string
	// Page returns a description as a page for people.
	Page func(title string, content []byte) ([]byte, error)

	Sender        *answer.Sender
	Styles        []tiles.Style // the default first
	Default       tiles.Request // of all tiles but for their address
	Notice        string        // that the data are not real; empty for real data
	Caveat        string        // about warning levels
	MaxZoom       int
	MaxVectorZoom int // the largest zoom of vector tiles, if the map has it
	// The paths of the rest of the API.
	TilesPath, LegendPath, GeoJSONPath, OpenAPIPath, FeaturesPath, DocsPath string
}

// A Service answers requests of OGC's clients.
type Service struct {
	Options
	mapTiles, vectorTiles tileset
	lastCapabilities      atomic.Pointer[capabilitiesText]
}

// New returns a Service.
func New(opts Options) *Service {
	return &Service{
		Options: opts,
		mapTiles: tileset{
			title: layerTitle, dataType: "map", format: "png", mediaType: answer.TypePNG,
			list: pathMapSets, path: pathMapSet, tileJSON: opts.TilesPath + ".json", maxZoom: min(quadZoom, opts.MaxZoom),
		},
		vectorTiles: tileset{
			title: "Lakes as points", dataType: "vector", format: "mvt", mediaType: TypeVector, vector: true,
			list: pathVectorSets, path: pathVectorSet, tileJSON: opts.TilesPath + "/vector.json", maxZoom: min(opts.MaxVectorZoom, opts.MaxZoom),
			layers: []tilesetLayer{{ID: tiles.VectorLayer, DataType: "vector"}},
		},
	}
}

// TypeVector is the media type of vector tiles, as registered with IANA.
const TypeVector = "application/vnd.mapbox-vector-tile"

// currentTime is the word by which clients of WMTS ask for the current map (WMTS 1.0.0, table 8).
const currentTime = "current"

// currentTimes are all values of time= that mean the current map: the words of the standard, and what clients send without
// a week, such as QGIS, which leaves the variable of the template as it is. An error would be an empty map to them, which
// looks as if the lakes were clean.
var currentTimes = []string{currentTime, "default", "", "{" + timeName + "}"}

// Week returns the week that the parameter time names, which is how clients of WMTS fill in the dimension Time, and whether
// it names one.
func Week(p *params.Params, snap *snapshot.Snapshot) (week data.Week, ok bool) {
	return p.WeekOfTime("time", snap, currentTimes...)
}

// layerTitle is what clients show of the map in their lists of layers.
const layerTitle = "Chlorophyll-a of lakes"

// title returns a title for clients that show nothing else: it says that the data are not real if they are not.
func (s *Service) title(title string) string {
	if s.Notice == "" {
		return title
	}
	return title + " (" + s.Notice + ")"
}

// abstract returns what users have to know about the map, and whose data it shows.
func (s *Service) abstract(state *State) string {
	abstract := "Chlorophyll-a of lakes, in µg/l, measured by satellite or in samples, week by week. " +
		"The colour is the value; the opacity tells how near lakes are. Where nothing is drawn there is no current value, " +
		"which never means clean water. " + s.Caveat
	if newest := DataDate(state.Snapshot, state.Snapshot.Current.Week); newest != "" {
		abstract += " Newest measurement: " + newest + "."
	}
	if asOf := AsOf(state.Snapshot); asOf != "" {
		abstract += " Archive as of " + asOf + ": ages count from that day."
	}
	if attribution := s.Attribution(state); attribution != "" {
		abstract += " Data: " + attribution + "."
	}
	return abstract
}
