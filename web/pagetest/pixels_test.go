//go:build long

package pagetest

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/ingest/satellite/satellitetest"
	"limnomap/web/browsertest"
)

// bloomingLake makes a database with a lake in which a bloom moves from the west to the east in six weeks, the last of them cloudy in one corner.
func bloomingLake(t *testing.T) (db string, dates []string) {
	t.Helper()
	const width, height, step = 60, 40, 1. / 360
	dir := t.TempDir()
	db = filepath.Join(dir, "lakes.db")
	var shore []string
	for i := range 49 {
		angle := float64(i%48) / 24 * math.Pi
		far := 1 + 0.12*math.Sin(3*angle) + 0.06*math.Cos(7*angle)
		shore = append(shore, fmt.Sprintf("[%f,%f]", 10+step*(30+26*far*math.Cos(angle)), 50-step*(20-15*far*math.Sin(angle))))
	}
	lakes := fmt.Sprintf(`{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"id":"bloom","name":"Wandersee"},"geometry":{"type":"Polygon","coordinates":[[%s]]}},
		{"type":"Feature","properties":{"id":"small","name":"Kleiner See"},"geometry":{"type":"Point","coordinates":[10.3,50.1]}}]}`, strings.Join(shore, ","))
	args := []string{"import", "rasters", "--db", db, "--keep-pixels", "20y"}
	for week := range 6 {
		f := satellitetest.TIFF{Width: width, Height: height, X0: 10, Y0: 50, Step: step, Unit: "mg m-3", NoData: "-9999"}
		for y := range height {
			for x := range width {
				dx, dy := float64(x)-(8+9*float64(week)), float64(y)-(14+2*float64(week))
				v := float32(4 + 130*math.Exp(-(dx*dx+2*dy*dy)/100))
				if week == 5 && x < 18 && y > 20 {
					v = -9999
				}
				f.Floats = append(f.Floats, v)
			}
		}
		date := time.Date(2026, 6, 2+7*week, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		dates = append(dates, date)
		args = append(args, limnomaptest.WriteFile(t, dir, "chl_"+date+".tif", string(f.Encode())))
	}
	limnomaptest.Run(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.geojson", lakes), "--db", db)
	limnomaptest.Run(t, args...)
	return db, dates
}

// The card shows the inside of a lake: the pixels of the week that is selected, and in words how much of it is affected. A lake without pixels has no such
// picture. The page of the lake has it too.
func TestPagePixels(t *testing.T) {
	t.Parallel()
	db, dates := bloomingLake(t)
	base := startServer(t, "--db", db, "--as-of", "2026-07-10")
	const (
		picture = `document.querySelector('#card .inside:not([hidden]) img')`
		loaded  = picture + `?.complete && ` + picture + `.naturalWidth === 640`
	)
	b := startBrowser(t, "en-GB")
	b.Prefer(t, "reduced-motion", "reduce")
	for _, screen := range []struct {
		name   string
		window chromedp.Action[chromedp.Void]
	}{
		{"phone", chromedp.EmulateViewport(390, 844, chromedp.EmulateScale(2), chromedp.EmulateMobile)},
		{"desk", chromedp.EmulateViewport(1440, 900)},
	} {
		for i, date := range dates {
			b.Do(t, screen.window, chromedp.Navigate("about:blank"), chromedp.Navigate(base+"/#lake=bloom&date="+date+"&map=12/49.945/10.083"),
				browsertest.Until(chartDrawn), browsertest.Until(loaded))
			browsertest.Want(t, b, picture+`.src.split('?')[1]`, "f=png&date="+date, "%s, week %d: the picture", screen.name, i)
			browsertest.Expect(t, b, picture+`.getBoundingClientRect().height > 100`, true, "%s: the picture is seen", screen.name)
			browsertest.WantText(t, b, chromedp.Evaluate[string](picture+`.nextElementSibling.textContent`), "the words below it", "Each square is 300 m", "Of the water that the satellite saw")
			b.Do(t, chromedp.Evaluate[chromedp.Void](picture+`.scrollIntoView({block: 'center'})`))
			savePicture(t, b, fmt.Sprintf("pixels-%s-%d", screen.name, i+1))
		}
		browsertest.Expect(t, b, `(`+picture+`.compareDocumentPosition(document.querySelector('#card details')) & Node.DOCUMENT_POSITION_FOLLOWING) > 0`, true, "%s: the picture comes before the numbers", screen.name)
		checkAccess(t, b, "the inside of a lake, "+screen.name)
	}
	b.Do(t, chromedp.Navigate("about:blank"), chromedp.Navigate(base+"/#lake=small"), browsertest.Until(`document.querySelector('#card h2')?.textContent === 'Kleiner See'`))
	browsertest.Expect(t, b, picture+` === null`, true, "the card of a lake without pixels has no picture of them")
	for _, language := range []string{"en", "de"} {
		b.Do(t, chromedp.Navigate(base+"/lakes/bloom?lang="+language), browsertest.Until(`document.querySelector('.inside img')?.naturalWidth === 640`),
			chromedp.Evaluate[chromedp.Void](`document.querySelector('.inside').scrollIntoView({block: 'center'})`))
		savePicture(t, b, "pixels-page-"+language)
	}
	// The sign to print has the picture, and is still one sheet with all of its text.
	b.Do(t, chromedp.Navigate(base+"/lakes/bloom/sign?lang=en"), browsertest.Until(`document.querySelector('.inside img')?.naturalWidth === 640`))
	checkAccess(t, b, "the sign with the inside of a lake")
	sheets, text, _ := printedSign(t, b, "pixels-sign")
	for _, want := range []string{"Each square is 300 m", "Low risk Medium risk High risk", "Measured on", "This sheet shows the state of that day", "neither scum", "Printed on"} {
		if sheets != 1 || !strings.Contains(text, want) {
			t.Errorf("%d sheets, want one, with %q: %q", sheets, want, text)
		}
	}
	b.WantNoProblems(t, base)
}
