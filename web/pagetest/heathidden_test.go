//go:build long

package pagetest

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"limnomap/web/browsertest"
)

// maxHeatHidden is the largest share of the heat that marks and labels may hide, at zooms up to 10, and maxOtherClass the largest share that they may
// hide with another class.
const maxHeatHidden, maxOtherClass = 0.15, 0.04

// heatHidden counts the pixels of the map's visible part where a tile of the heat map has an alpha above 0.1, those of them
// where the canvas of the marks has one above 0.5, and those of the latter where both have a class by their hues, but not the same. It sees what the
// page draws: it copies the tiles and the marks from where they lie on the screen.
const heatHidden = `(() => {
	const map = document.querySelector('#map').getBoundingClientRect();
	const alphas = (elements) => {
		const canvas = Object.assign(document.createElement('canvas'), {width: map.width, height: map.height});
		const context = canvas.getContext('2d', {willReadFrequently: true});
		for (const e of elements) {
			const {left, top, width, height} = e.getBoundingClientRect();
			context.drawImage(e, left - map.left, top - map.top, width, height);
		}
		return context.getImageData(0, 0, canvas.width, canvas.height).data;
	};
	const heat = alphas(document.querySelectorAll('.heatmap img'));
	const marks = alphas(document.querySelectorAll('.leaflet-marks-pane canvas'));
	const classOf = (pixels, i) => {
		const [r, g, b] = pixels.subarray(i - 3, i), most = Math.max(r, g, b), range = most - Math.min(r, g, b);
		if (range < 60) return undefined; // ink or paper
		return most === b ? 'low' : g - b > range / 3 ? 'medium' : 'high';
	};
	const found = {heat: 0, hidden: 0, other: 0};
	for (let i = 3; i < heat.length; i += 4) {
		if (heat[i] <= 25) continue;
		found.heat++;
		if (marks[i] <= 127) continue;
		found.hidden++;
		const [under, above] = [classOf(heat, i), classOf(marks, i)];
		if (under && above && under !== above) found.other++;
	}
	return found;
})()`

// watchLabels makes labels a list of the boxes that the page draws for labels, on the screen.
const watchLabels = `(() => {
	window.labels = [];
	const roundRect = CanvasRenderingContext2D.prototype.roundRect;
	CanvasRenderingContext2D.prototype.roundRect = function (x, y, width, height, ...radii) {
		const {a, e, f} = this.getTransform(), canvas = this.canvas.getBoundingClientRect();
		const left = canvas.left + x + e / a, top = canvas.top + y + f / a;
		labels.push({left, top, right: left + width, bottom: top + height});
		roundRect.call(this, x, y, width, height, ...radii);
	};
})()`

// misplacedLabels returns the boxes that cross the edge of the map, or overlap another label or a control.
const misplacedLabels = `(() => {
	const map = document.querySelector('#map').getBoundingClientRect();
	const controls = [...document.querySelectorAll('#controls, .leaflet-control')].map((e) => e.getBoundingClientRect());
	const overlap = (a, b) => a.left < b.right - 1 && a.right - 1 > b.left && a.top < b.bottom - 1 && a.bottom - 1 > b.top;
	return labels.filter((l, i) => l.left < map.left - 1 || l.top < map.top - 1 || l.right > map.right + 1 || l.bottom > map.bottom + 1
		|| [...controls, ...labels.slice(0, i)].some((other) => overlap(l, other)));
})()`

// sitesWithValues returns CSV files of the German bathing sites and of made-up values of yesterday: log-normal around 5 µg/l,
// with a standard deviation of 1 in the logarithm. Each call returns the same values.
func sitesWithValues(t *testing.T) (lakes, observations string) {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "data", "german_bathing_sites.csv")
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("SKIPPED: %s is absent, so how much of the heat is hidden was not measured", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	var sites, values strings.Builder
	sitesCSV := csv.NewWriter(&sites)
	sitesCSV.Write([]string{"id", "name", "lat", "lon", "region"})
	values.WriteString("lake_id,date,chl,data_type\n")
	yesterday := time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)
	n := 0
	for _, row := range rows[1:] {
		_, latErr := strconv.ParseFloat(row[2], 64)
		_, lonErr := strconv.ParseFloat(row[3], 64)
		if latErr != nil || lonErr != nil {
			continue // six sites have no position
		}
		n++
		sitesCSV.Write(row[:5])
		fmt.Fprintf(&values, "%s,%s,%.2f,satellite\n", row[0], yesterday, 5*math.Exp(random.NormFloat64()))
	}
	sitesCSV.Flush()
	if n < 2000 {
		t.Fatalf("%s has %d sites with a position, want 2,000 or more", path, n)
	}
	return sites.String(), values.String()
}

// The marks let the heat speak: at zooms up to 10 they hide at most 15 % of it, wherever the map is, and nowhere do they hide a class with another one. With -v the test
// prints the shares, of the place with the largest one.
func TestPageMarksLeaveTheHeatVisible(t *testing.T) {
	t.Parallel()
	type view struct{ zoom, places string }
	const (
		germany = "51.2/10.4"
		dense   = "52.4/13.5 47.9/11.5 51.2/10.4" // Berlin, Upper Bavaria and the middle
	)
	screens := []struct {
		name          string
		width, height int64
		views         []view
	}{
		{"1440x900", 1440, 900, []view{{"5", germany}, {"6", germany}, {"7", dense}, {"8", dense}, {"9", dense}, {"10", dense}}},
		{"390x844", 390, 844, []view{{"5", germany}, {"5.5", germany}, {"6", germany}, {"7.5", dense}, {"8.5", dense}, {"9.5", dense}}}, // half zooms exist only on phones
	}
	lakes, observations := sitesWithValues(t)
	db := filepath.Join(t.TempDir(), "lakes.db")
	importCSV(t, db, lakes, observations)
	base := startServer(t, "--db", db)
	for _, screen := range screens {
		b := startMap(t, "en-GB", base+"/#map=6/"+germany, screen.width, screen.height)
		b.Do(t, chromedp.Evaluate[chromedp.Void](watchLabels))
		for _, v := range screen.views {
			var largest, pixels, other float64
			for at := range strings.FieldsSeq(v.places) {
				found := countHidden(t, b, v.zoom, at)
				if found.Heat < 1000 {
					t.Errorf("%s, zoom %s, %s: %v pixels of heat, want a heat map", screen.name, v.zoom, at, found.Heat)
					continue
				}
				if share := found.Hidden / found.Heat; share >= largest {
					largest, pixels = share, found.Heat
				}
				other = max(other, found.Other/found.Heat)
			}
			t.Logf("%-8s  zoom %-3s  %4.1f %% of %6.0f pixels of heat hidden, %4.1f %% by another class", screen.name, v.zoom, 100*largest, pixels, 100*other)
			if largest > maxHeatHidden {
				t.Errorf("%s, zoom %s: marks hide %.1f %% of the heat, want at most %.0f %%", screen.name, v.zoom, 100*largest, 100*maxHeatHidden)
			}
			if other > maxOtherClass {
				t.Errorf("%s, zoom %s: marks hide %.1f %% of the heat with another class, want at most %.0f %%", screen.name, v.zoom, 100*other, 100*maxOtherClass)
			}
		}
		b.WantNoProblems(t, base)
	}
}

// countHidden moves the map and counts pixels of the heat.
func countHidden(t *testing.T, b *browsertest.Browser, zoom, at string) (found struct{ Heat, Hidden, Other float64 }) {
	t.Helper()
	b.Do(t, chromedp.Evaluate[chromedp.Void](`void (labels.length = 0)`))
	setHash(t, b, "#map="+zoom+"/"+at)
	b.Do(t, browsertest.Until(fmt.Sprintf(`(() => {
		const tiles = [...document.querySelectorAll('.heatmap img')];
		return tiles.length > 0 && tiles.every((i) => i.complete && i.src.includes('/tiles/' + Math.round(%s) + '/') && !i.matches('.missing'));
	})()`, zoom)))
	n := browsertest.Ask(t, b, chromedp.Evaluate[int](`labels.length`))
	if named := zoom == "9" || zoom == "10" || zoom == "9.5"; named != (n > 0) {
		t.Errorf("zoom %s, %s: %d labels, want some only from zoom 9", zoom, at, n)
	}
	if bad := browsertest.Ask(t, b, chromedp.Evaluate[[]any](misplacedLabels)); len(bad) > 0 {
		t.Errorf("zoom %s, %s: %d of %d labels cross the edge of the map or cover a control or a label: %v", zoom, at, len(bad), n, bad)
	}
	return browsertest.Ask(t, b, chromedp.Evaluate[struct{ Heat, Hidden, Other float64 }](heatHidden))
}
