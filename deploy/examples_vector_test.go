package deploy

import (
	"encoding/json"
	"fmt"
	"image/color"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

// wantCircle fails the test unless the lake in the middle of the screen is a circle in the legend colour of its risk, or grey
// without a value, whatever its last risk was.
func (v *mapView) wantCircle(t *testing.T, lake exampleLake) {
	t.Helper()
	var legend struct {
		Classes []struct{ Risk, Color string }
		NoData  struct{ Color string } `json:"no_data"`
	}
	limnomaptest.GetJSON(t, v.server+"/api/v1/legend.json", &legend)
	want := legend.NoData.Color
	for _, class := range legend.Classes {
		if lake.Chl != nil && class.Risk == lake.Risk {
			want = class.Color
		}
	}
	got := color.NRGBAModel.Convert(v.picture(t).At(mapWidth/2*v.scale, mapHeight/2*v.scale)).(color.NRGBA)
	if !near(got, parseColour(t, want), 2) {
		t.Errorf("%s, risk %s, value %t, is a circle of %v, want %s", lake.ID, lake.Risk, lake.Chl != nil, got, want)
	}
}

// checkVectorLakes checks that the page has all lakes, and what their popups say.
func checkVectorLakes(t *testing.T, v *mapView, lakes []exampleLake) {
	t.Helper()
	v.look(t, 10.6, 51, 4)
	browsertest.Want(t, v.Browser, `new Set(map.queryRenderedFeatures({layers: ['lakes']}).map((lake) => lake.properties.id)).size`, len(lakes), "the number of lakes on the map")
	checkPopups(t, v, lakes)
}

func checkPopups(t *testing.T, v *mapView, lakes []exampleLake) {
	t.Helper()
	known := loneliest(t, lakes, func(l exampleLake) bool { return l.Chl != nil && l.Risk == "high" })
	// A lake that must not look clean: its last value was low, but is too old.
	unknown := loneliest(t, lakes, func(l exampleLake) bool { return l.Chl == nil && l.Risk == "low" })
	for _, lake := range []exampleLake{known, unknown} {
		v.look(t, lake.Lon, lake.Lat, mapZoom)
		v.wantCircle(t, lake)
		v.Do(t, chromedp.MouseClickXY(mapWidth/2, mapHeight/2), browsertest.Until(`!!document.querySelector('.maplibregl-popup-content')`))
		text := browsertest.Ask(t, v.Browser, chromedp.Evaluate[string](`document.querySelector('.maplibregl-popup-content').innerText`))
		days := int(time.Since(*lake.MeasuredAt).Hours() / 24) // a day may have passed meanwhile
		age := fmt.Sprintf("easured on %s, %d days ago", lake.MeasuredAt.Format(time.DateOnly), days)
		want := "No current value. The last, m" + age + ", was one of low risk."
		if lake.Chl != nil {
			want = fmt.Sprintf("%v µg/l chlorophyll-a, high risk. M%s.", *lake.Chl, age)
		}
		if !strings.Contains(text, lake.Name) || !strings.Contains(text, want) {
			t.Errorf("the popup says %q, want %q and %q", text, lake.Name, want)
		}
		v.Do(t, chromedp.Click(".maplibregl-popup-close-button"))
	}
}

// checkClosed checks that the vector map shows a closure in place of a value or of none, and names the statement of a lake in its popup.
func checkClosed(t *testing.T, v *mapView) {
	t.Helper()
	server := limnomaptest.Start(t, "--db", makeScriptLakes(t), "--tile-rate", "0", "--api-rate", "0")
	v.open(t, mapPages[slices.IndexFunc(mapPages, func(p mapPage) bool { return p.name == "maplibre" })], server.Base, 1)
	lakes := readLakes(t, server.Base)
	for id, want := range map[string]struct{ color, text string }{
		"zero":  {closedColor, "Closed for bathing by an official statement."},
		"never": {closedColor, "Closed for bathing by an official statement."},
		"0012":  {"#bb143d", "Official statement: warning."},
	} {
		lake := lakes[slices.IndexFunc(lakes, func(l exampleLake) bool { return l.ID == id })]
		v.look(t, lake.Lon, lake.Lat, mapZoom)
		if got := v.picture(t).At(mapWidth/2, mapHeight/2); !near(got, parseColour(t, want.color), 2) {
			t.Errorf("%s is a circle of %v, want %s", id, got, want.color)
		}
		v.Do(t, chromedp.MouseClickXY(mapWidth/2, mapHeight/2), browsertest.Until(`!!document.querySelector('.maplibregl-popup-content')`))
		if text := browsertest.Ask(t, v.Browser, chromedp.Evaluate[string](`document.querySelector('.maplibregl-popup-content').innerText`)); !strings.Contains(text, want.text) {
			t.Errorf("the popup of %s says %q, want %q", id, text, want.text)
		}
		v.Do(t, chromedp.Click(".maplibregl-popup-close-button"))
	}
	v.wantNoProblems(t)
}

// closedColor is the colour of a closed lake: that of its sign on tiles.
const closedColor = "#263238"

// The style follows the specification and has the colours of the legend. A closure outranks every colour and is drawn above the rest;
// the colour of a lake uses the risk only if there is a value.
func TestExampleStyleIsValid(t *testing.T) {
	t.Parallel()
	limnomaptest.NeedFolder(t, "examples/node_modules")
	limnomaptest.Need(t, "node")
	t.Logf("@maplibre/maplibre-gl-style-spec %s", libraryVersion(t, "@maplibre/maplibre-gl-style-spec"))
	const program = `
import { readFileSync } from 'node:fs'
import { createExpression, validateStyleMin } from '@maplibre/maplibre-gl-style-spec'
const style = JSON.parse(readFileSync('style.json', 'utf8'))
const wrong = JSON.parse(JSON.stringify(style))
wrong.layers[1].source = 'elsewhere' // a validator must report this
const layer = style.layers.find(({ id }) => id === 'lakes')
const of = (expression, properties) => createExpression(expression, 'lakes').value.evaluate({ zoom: 8 }, { type: 1, properties })
const lakes = JSON.parse(process.argv[1]).map((properties) => ({
  color: of(layer.paint['circle-color'], properties),
  rim: of(layer.paint['circle-stroke-color'], properties),
  order: of(layer.layout['circle-sort-key'], properties),
}))
console.log(JSON.stringify({ errors: validateStyleMin(style).map((e) => e.message), alert: validateStyleMin(wrong).length > 0, lakes }))`
	tests := []struct {
		properties, color, rim string
		order                  float64
	}{
		{`{"advisory": "closure", "chl": 2, "risk": "low"}`, closedColor, "#ffffff", 4},
		{`{"advisory": "closure", "chl": 90, "risk": "high"}`, closedColor, "#ffffff", 4},
		{`{"advisory": "closure", "risk": "low", "stale": true}`, closedColor, "#ffffff", 4},
		{`{"advisory": "closure"}`, closedColor, "#ffffff", 4},
		{`{"advisory": "warning", "chl": 2, "risk": "low"}`, "#4ad4ff", "#1b2633", 1},
		{`{"advisory": "", "chl": 2, "risk": "low"}`, "#4ad4ff", "#1b2633", 1},
		{`{"chl": 20, "risk": "medium"}`, "#d89326", "#1b2633", 2},
		{`{"advisory": "", "chl": 90, "risk": "high"}`, "#bb143d", "#1b2633", 3},
		{`{"advisory": "", "risk": "low", "stale": true}`, "#9aa0a6", "#1b2633", 0},
		{`{"advisory": ""}`, "#9aa0a6", "#1b2633", 0},
	}
	var properties []string
	for _, test := range tests {
		properties = append(properties, test.properties)
	}
	validate := exec.CommandContext(t.Context(), "node", "--input-type=module", "-e", program, "["+strings.Join(properties, ",")+"]")
	validate.Dir = "examples"
	out, err := validate.Output()
	if err != nil {
		t.Fatal(err)
	}
	var verdict struct {
		Errors []string
		Alert  bool
		Lakes  []struct {
			Color, Rim string
			Order      float64
		}
	}
	if err := json.Unmarshal(out, &verdict); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(verdict.Errors) > 0 || !verdict.Alert {
		t.Errorf("style.json: %q; the validator finds a wrong one: %t", verdict.Errors, verdict.Alert)
	}
	for i, test := range tests {
		if got := verdict.Lakes[i]; got.Color != test.color || got.Rim != test.rim || got.Order != test.order {
			t.Errorf("a lake with %s is %s in %s, order %v, want %s in %s, order %v", test.properties, got.Color, got.Rim, got.Order, test.color, test.rim, test.order)
		}
	}
}
