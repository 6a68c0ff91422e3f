package main

import (
	"go/build"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "limnomap/"

// mayImport lists for each package which of our packages it may import. This is the architecture: a package imports only the
// packages that it is built from, and no import points back.
var mayImport = map[string][]string{
	"data":                      {"data/forecast", "data/linetext", "data/canonical", "data/outline", "data/pixels"},
	"data/outline":              {}, // shapes, which know no lake
	"data/canonical":            {}, // a hash of values, for anyone
	"data/snapshot":             {"data", "data/canonical", "data/forecast", "data/pixels"},
	"data/apikey":               {},
	"data/store":                {"data", "data/apikey", "data/clock", "data/diskspace", "data/events/eventfeed", "data/forecast", "data/events/hook", "data/events/push", "data/linetext", "data/snapshot", "data/outline", "data/pixels", "data/raster/georef"},
	"data/statistics":           {"data"},
	"data/sampling":             {"data/forecast"},
	"data/accuracy":             {"data"},
	"data/fold":                 {},
	"data/clock":                {"data"}, // the time: what it is used for is not its business
	"data/diskspace":            {},       // the room of a disk, which knows no data
	"data/inorder":              {},       // work on many goroutines, which knows no data
	"data/ingest":               {"data", "data/store", "data/swimguide", "data/fold", "data/linetext", "data/snapshot", "data/outline"},
	"data/demo":                 {"data", "data/apikey", "data/forecast", "data/forecast/forecaster", "data/inorder", "data/snapshot", "data/outline"},
	"data/index":                {"data", "data/fold"},
	"data/swimguide":            {"data"},
	"data/gazetteer":            {"data/linetext"},
	"data/ingest/satellite":     {"data", "data/raster/crs", "data/raster/netcdf", "data/raster/tiff", "data/raster/zonal", "data/raster/georef", "data/pixels", "data/outline"},
	"data/ingest/refresh":       {"data", "data/fetchguard", "data/store", "data/ingest", "data/ingest/rangefile", "data/ingest/satellite", "data/diskspace", "data/linetext"},
	"data/raster/tiff":          {"data/raster/blockread", "data/raster/inflate", "data/raster/number"}, // a format, for anyone
	"data/raster/hdf5":          {"data/raster/blockread", "data/raster/inflate", "data/raster/number"}, // a format, for anyone
	"data/raster/blockread":     {},                                                                     // bytes, for anyone
	"data/raster/inflate":       {},                                                                     // a codec, for anyone
	"data/raster/number":        {},                                                                     // numbers, for anyone
	"data/raster/netcdf":        {"data/raster/hdf5", "data/raster/number"},
	"data/raster/crs":           {},                                       // formulas, for anyone
	"data/raster/zonal":         {},                                       // pixels of polygons, for anyone
	"data/raster/georef":        {"data/raster/crs", "data/raster/zonal"}, // where pixels are, for anyone
	"data/pixels":               {"data/raster/georef", "data/raster/zonal"},
	"data/events/eventlog":      {"data", "data/clock", "data/snapshot"},
	"data/events/eventfeed":     {"data"},
	"data/events/push":          {"data"},
	"data/events/push/notify":   {"data", "data/events/hook/delivery", "data/events/push", "data/snapshot"},
	"data/events/hook":          {"data", "data/events/eventfeed"},
	"data/events/hook/delivery": {"data", "data/events/eventfeed", "data/fetchguard", "data/events/hook"},
	"data/forecast/forecaster":  {"data", "data/forecast", "data/forecast/backtest", "data/inorder"},
	"data/forecast":             {"data/forecast/exact"},
	"data/forecast/exact":       {}, // functions of numbers, for anyone
	"data/forecast/backtest":    {"data/forecast", "data/forecast/exact"},
	"data/ingest/rangefile":     {"data/fetchguard"}, // bytes over HTTP: only to know what the guard refused
	"colormap":                  {},
	"render":                    {"render/palettepng", "render/picture", "render/symbol", "colormap", "data", "data/snapshot", "data/outline", "data/pixels"},
	"render/legend":             {"render/picture", "render/symbol", "colormap"},
	"render/lakecard":           {"render/picture", "render/symbol", "colormap"},
	"render/picture":            {"render/symbol", "colormap"},
	"render/symbol":             {"colormap"},
	"render/vector":             {"render", "colormap", "data", "data/snapshot"},
	"tiles":                     {"render", "render/vector", "colormap", "data", "data/inorder", "tiles/admission", "tiles/hilbert", "data/snapshot", "data/pixels"}, // not tiles/disk: it asks for a Disk by an interface
	"tiles/archive":             {"tiles/hilbert", "data/diskspace"},
	"tiles/mosaic":              {"data/raster/crs", "render/palettepng"},
	"tiles/disk":                {"data/diskspace"}, // bytes under keys: it knows neither tiles nor pixels

	"tiles/hilbert":    {},
	"tiles/admission":  {"tiles/background"}, // shares of memory and work, which know no tile
	"tiles/background": {},
	"data/linetext":    {}, // texts from outside, which knows no data
	"data/fetchguard":  {}, // addresses, which knows no data

	// Not render: the API does not know how a pixel is drawn.
	"api": {"api/answer", "api/atom", "api/auth", "api/cap", "api/desk", "api/errorpage", "api/joinwrites", "api/lakepage", "api/middleware", "api/ogc", "api/pages", "api/params", "api/ratelimit", "api/record", "api/route", "api/sign", "api/table", "api/weekpage", "api/words", "tiles", "colormap", "data", "tiles/admission", "tiles/background", "data/apikey", "data/events/eventfeed", "data/index", "data/events/push", "data/swimguide", "data/snapshot", "data/pixels", "data/statistics", "api/coordinates", "api/cql2", "api/features", "tiles/mosaic", "api/edr", "data/accuracy", "data/raster/georef", "data/forecast", "data/sampling"},

	// These packages of api do not know its Server. The others use api/answer, so it knows none of them.
	"api/answer":          {"tiles/admission"},
	"api/auth":            {"api/answer", "data/apikey"},
	"api/atom":            {}, // a format, for anyone
	"api/cap":             {"api/atom", "data"},
	"api/connections":     {"api/answer", "tiles/admission"},
	"api/desk":            {"api/answer", "api/auth", "api/pages", "api/sign", "api/words", "colormap", "data", "data/apikey", "data/index", "data/linetext", "data/snapshot"},
	"api/cql2":            {"data/raster/crs"}, // a language, for anyone
	"api/coordinates":     {"data/raster/crs"}, // systems by their names, for anyone
	"api/features":        {"api/answer", "api/coordinates", "api/cql2", "api/params", "api/record"},
	"api/edr":             {"api/answer", "api/coordinates", "api/cql2", "api/features", "api/params", "api/record"},
	"api/errorpage":       {"api/pages", "api/words"},
	"api/joinwrites":      {},
	"api/lakepage":        {"api/pages", "api/words", "colormap", "data", "data/index", "data/linetext", "data/snapshot", "data/statistics"},
	"api/middleware":      {"api/answer", "tiles/admission"},
	"api/ogc":             {"api/coordinates", "tiles/mosaic", "api/answer", "api/params", "api/route", "data", "tiles", "data/snapshot"},
	"api/pages":           {"api/words", "data"},
	"api/params":          {"api/answer", "data", "tiles", "data/snapshot"},
	"api/ratelimit":       {"api/answer", "tiles/admission"},
	"api/ratelimit/quota": {}, // ratelimit uses it by an interface of its own
	"api/record":          {"data"},
	"api/route":           {"api/answer"},
	"api/sign":            {"api/pages", "api/words", "colormap", "data", "data/linetext", "data/snapshot"},
	"api/weekpage":        {"api/pages", "api/words", "colormap", "data", "data/linetext", "data/snapshot", "data/statistics"},
	"api/table":           {"api/pages", "api/words", "colormap", "data", "data/index", "data/linetext", "data/snapshot"},
	"api/words":           {"colormap", "data", "data/linetext", "data/snapshot"},

	"web": {},

	"api/apitest":                         {},                // only tests import it
	"api/words/wordstest":                 {"api/words"},     // only tests import it
	"data/events/push/pushtest":           {},                // only tests import it
	"data/store/storetest":                {"data/store"},    // only tests import it
	"data/store/wiretest":                 {},                // only tests import it
	"data/ingest/satellite/satellitetest": {},                // only tests import it
	"data/forecast/forecasttest":          {"data/forecast"}, // only tests import it
	"api/ratelimit/quota/redistest":       {"data/testsize"}, // only tests import it

	"data/testsize":             {},                                             // only tests import it
	"cmd/limnomap/limnomaptest": {"data/events/push/pushtest", "data/testsize"}, // only tests import it: it runs the program from outside
	"render/palettepng":         {},                                             // an encoder, which knows no tile
	"cmd/limnomap/attacktest":   {},                                             // tests only
	"cmd/limnomap/faulttest":    {},                                             // tests only
	"render/hashtest":           {},                                             // only tests import it
	"render/vector/mvttest":     {},                                             // only tests import it
	"web/browsertest":           {"data/testsize"},                              // only tests import it
	"web/pagetest":              {},                                             // tests only, as are deploy and docs
	"deploy":                    {},
	"docs":                      {},

	"cmd/limnomap/config": {"data/apikey", "data/linetext"}, // for the prefix of keys, and to escape texts; it knows no command

	"cmd/benchhttp": {}, // limnomap is compared with it
	"cmd/limnomap":  {"cmd/limnomap/config", "api", "api/auth", "api/connections", "api/desk", "api/joinwrites", "api/middleware", "api/ratelimit", "api/ratelimit/quota", "api/sign", "api/words", "tiles", "tiles/archive", "tiles/disk", "render", "render/lakecard", "render/legend", "render/symbol", "render/vector", "colormap", "data", "tiles/admission", "tiles/background", "data/apikey", "data/clock", "data/diskspace", "data/events/eventfeed", "data/events/eventlog", "data/gazetteer", "data/events/hook", "data/events/hook/delivery", "data/events/push", "data/events/push/notify", "data/index", "data/store", "data/forecast", "data/forecast/backtest", "data/forecast/forecaster", "data/ingest", "data/demo", "data/ingest/refresh", "data/ingest/satellite", "web", "data/snapshot", "data/linetext", "data/pixels", "data/accuracy"},
}

// mustNotKnow lists the outside packages that would give a package knowledge it must not have. A pattern that ends in
// a slash forbids the whole tree.
var mustNotKnow = []struct {
	pkg     string // "" for all
	imports []string
	reason  string
}{
	{"", []string{"C"}, "one static binary, without cgo"},
	{"", []string{"github.com/paulmach/orb/geojson", "github.com/paulmach/orb/encoding/mvt"}, "they link a MongoDB driver into the binary"},
	{"", []string{"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"}, "it links gRPC into the binary"},
	{"data", []string{"net/http", "image", "image/", "github.com/prometheus/", "go.opentelemetry.io/", "database/sql"}, "data knows no tiles, pixels, HTTP, metrics or traces, and no database"},
	{"data/store", []string{"net/http", "image", "github.com/prometheus/", "go.opentelemetry.io/"}, "the store knows no HTTP, pixels, metrics or traces: cmd puts spans around it"},
	{"data/ingest", []string{"net/http", "database/sql", "os"}, "an importer reads from a reader and writes to a store"},
	{"data/swimguide", []string{"net/http", "database/sql", "os"}, "a format: it reads bytes"},
	{"data/gazetteer", []string{"net/http", "database/sql", "os"}, "a format: it reads bytes"},
	{"data/ingest/refresh", []string{"database/sql", "image", "github.com/prometheus/", "go.opentelemetry.io/"}, "a refresh reads files and URLs, and writes to a store"},
	{"data/ingest/rangefile", []string{"os", "database/sql", "github.com/prometheus/", "go.opentelemetry.io/"}, "bytes of a URL: no files, metrics or traces"},
	{"data/raster/crs", []string{"net/http", "os", "image", "image/"}, "coordinates are pure functions: no files, HTTP or pictures"},
	{"data/raster/tiff", []string{"net/http", "os", "image/"}, "a reader of bytes: it knows no files, no HTTP and no pictures"},
	{"data/raster/blockread", []string{"net/http", "os", "image", "image/"}, "it reads bytes for the formats and knows none of them"},
	{"data/raster/inflate", []string{"net/http", "os", "image", "image/"}, "a decompressor: it knows bytes only"},
	{"data/raster/number", []string{"net/http", "os", "io", "image", "image/"}, "it knows numbers only"},
	{"data/raster/hdf5", []string{"net/http", "os", "image", "image/"}, "a reader of bytes: it knows no files, no HTTP and no pictures"},
	{"data/raster/netcdf", []string{"net/http", "os", "image", "image/"}, "a reader of bytes: it knows no files, no HTTP and no pictures"},
	{"data/raster/zonal", []string{"net/http", "os", "io", "image/"}, "it computes: it knows no bytes, no HTTP and no pictures"},
	{"data/forecast/exact", []string{"net/http", "os", "io", "time"}, "functions of numbers only"},
	{"data/forecast/backtest", []string{"net/http", "os", "io", "math/rand", "math/rand/v2"}, "scores are pure functions of the values: no files or HTTP"},
	{"data/forecast", []string{"net/http", "os", "io", "time", "math/rand", "math/rand/v2", "math/cmplx"}, "the model is a pure function of the values: no files, HTTP, clock or chance"},
	{"colormap", []string{"image", "image/draw", "image/png", "github.com/fogleman/gg", "net/http", "github.com/paulmach/"}, "colormap turns a value into a colour and knows no image or map"},
	{"render", []string{"net/http", "os", "time", "github.com/prometheus/", "go.opentelemetry.io/"}, "render is a pure function: no HTTP, caches, files or clock"},
	{"render/legend", []string{"net/http", "os", "time", "github.com/prometheus/", "go.opentelemetry.io/"}, "a legend is a pure function of its colour map: no HTTP, files or clock"},
	{"render/lakecard", []string{"net/http", "os", "time", "github.com/paulmach/", "github.com/prometheus/"}, "a picture is a pure function of what it says: no HTTP, files, clock or maps"},
	{"render/picture", []string{"net/http", "os", "time", "github.com/paulmach/"}, "fonts and SVG: no HTTP, files, clock or maps"},
	{"render/symbol", []string{"net/http", "os", "time", "github.com/paulmach/"}, "a symbol is shapes and colours: no tiles, files or clock"},
	{"render/palettepng", []string{"net/http", "os", "time", "github.com/paulmach/"}, "an encoder knows no tiles, files or clock"},
	{"render/vector", []string{"net/http", "os", "github.com/prometheus/", "go.opentelemetry.io/"}, "a vector tile is a pure function of its lakes: no HTTP, caches or files"},
	{"tiles", []string{"net/http", "github.com/gorilla/", "os"}, "tiles knows no requests, headers or clients, and no files"},
	{"tiles/disk", []string{"net/http", "image", "github.com/paulmach/", "go.opentelemetry.io/"}, "the disk cache keeps bytes: no HTTP, pixels or maps"},
	{"tiles/archive", []string{"net/http", "time", "github.com/prometheus/"}, "the bytes of an archive depend only on its tiles and metadata"},
	{"api", []string{"github.com/fogleman/gg", "image/png", "image/draw", "database/sql", "os", "github.com/gomodule/"}, "api knows neither how a pixel is drawn nor where files lie"},
	{"api/answer", []string{"github.com/paulmach/", "github.com/gorilla/", "github.com/prometheus/", "go.opentelemetry.io/", "os", "image", "image/"}, "answers are bytes: no lakes, tiles, routes or metrics"},
	{"api/middleware", []string{"github.com/gorilla/", "os", "go.opentelemetry.io/otel/sdk/", "go.opentelemetry.io/otel"}, "middleware knows no routes and no files"},
	{"api/auth", []string{"database/sql", "github.com/gorilla/", "os"}, "keys come from a store that auth knows only by an interface"},
	{"api/atom", []string{"net/http", "os", "github.com/prometheus/"}, "a feed is bytes: no requests, files or metrics"},
	{"api/cap", []string{"net/http", "os", "github.com/prometheus/"}, "a message is a pure function of its statement: no requests, files or metrics"},
	{"api/ratelimit", []string{"github.com/gomodule/", "github.com/gorilla/", "os"}, "shared buckets are behind an interface"},
	{"api/ratelimit/quota", []string{"net/http", "os", "github.com/prometheus/"}, "a bucket knows no requests; ratelimit has the metrics"},
	{"api/errorpage", []string{"net/http", "os", "github.com/prometheus/"}, "the page of an error knows no requests"},
	{"api/lakepage", []string{"net/http", "os", "github.com/prometheus/"}, "the page of a lake knows no requests"},
	{"api/sign", []string{"net/http", "os", "image/png", "github.com/fogleman/gg", "github.com/prometheus/"}, "a sign knows no requests, and not how a picture is drawn"},
	{"api/pages", []string{"net/http", "os", "github.com/prometheus/"}, "a page knows no requests"},
	{"api/record", []string{"net/http", "os", "github.com/prometheus/"}, "a record is bytes: no requests, files or metrics"},
	{"api/table", []string{"net/http", "os", "github.com/prometheus/"}, "the table knows no requests"},
	{"api/words", []string{"net/http", "os", "html/template", "github.com/prometheus/"}, "words are texts: no requests, files or markup"},
	{"web", []string{"net/http"}, "web is files, no logic"},
	{"cmd/limnomap/config", []string{"net/http", "database/sql", "github.com/prometheus/", "image"}, "settings know no server, no database and no metrics"},

	// Packages that start spans use the interface of OpenTelemetry, go.opentelemetry.io/otel/trace: it is small, and an interface
	// of our own would only repeat its many options.
	{"tiles", []string{"go.opentelemetry.io/otel/sdk/", "go.opentelemetry.io/otel/exporters/", "go.opentelemetry.io/otel"}, "cmd decides where spans are sent: no SDK, no exporter, and no global state"},
	{"api", []string{"go.opentelemetry.io/otel/sdk/", "go.opentelemetry.io/otel/exporters/", "go.opentelemetry.io/otel"}, "cmd decides where spans are sent: no SDK, no exporter, and no global state"},
}

func TestImportDirections(t *testing.T) {
	root := filepath.Join("..", "..")
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); name == "node_modules" || name == "testdata" || strings.HasPrefix(name, ".") && path != root {
			return fs.SkipDir
		}
		p, err := build.ImportDir(path, 0)
		if _, none := err.(*build.NoGoError); none {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(rel)
		seen++
		checkImports(t, pkg, p.Imports)
		return nil
	})
	mustDo(t, err)
	if seen != len(mayImport) {
		t.Errorf("found %d packages, the table has %d: every package needs its row", seen, len(mayImport))
	}
}

func checkImports(t *testing.T, pkg string, imports []string) {
	allowed, ok := mayImport[pkg]
	if !ok {
		t.Errorf("%s has no row in mayImport", pkg)
	}
	for _, imp := range imports {
		if ours, ok := strings.CutPrefix(imp, module); ok && !slices.Contains(allowed, ours) {
			t.Errorf("%s imports %s; it may import only %v", pkg, ours, allowed)
		}
		for _, rule := range mustNotKnow {
			if rule.pkg != "" && rule.pkg != pkg {
				continue
			}
			for _, forbidden := range rule.imports {
				if imp == forbidden || strings.HasSuffix(forbidden, "/") && strings.HasPrefix(imp, forbidden) {
					t.Errorf("%s imports %s: %s", pkg, imp, rule.reason)
				}
			}
		}
	}
}
