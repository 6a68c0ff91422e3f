// Package pagetest tests the page with the real limnomap and a real Chromium.
//
// Tests run in parallel. They share the servers whose data they do not change, and one Chromium per language; each test has its
// own cookies, cache and service worker.
package pagetest

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
	"limnomap/web"
	"limnomap/web/browsertest"
)

// maxParallel is how many tests run at once.
const maxParallel = 4

func TestMain(m *testing.M) {
	limnomaptest.Parallel(maxParallel)
	limnomaptest.Main(m, browsertest.Close)
}

// startServer returns the address of a server without a slash at the end. Tests with the same args share a server. It has no
// rate limits, because all tests have one address.
func startServer(t testing.TB, args ...string) string {
	t.Helper()
	return limnomaptest.Shared(t, append([]string{"--admin-listen=", "--api-rate", "0", "--tile-rate", "0"}, args...)...).Base
}

// startOwnServer is startServer for a test that changes the data of the server, or needs its default rate limits.
func startOwnServer(t testing.TB, args ...string) string {
	t.Helper()
	return limnomaptest.Start(t, append([]string{"--admin-listen="}, args...)...).Base
}

// A database is made by the first test that needs it.
type database struct {
	once       sync.Once
	path       string
	statements sync.Once // imports official statements
}

// importedOnce returns the path of a database with the rows of two CSV files, which it imports in the first call.
func (d *database) importedOnce(t testing.TB, lakes, observations string) string {
	t.Helper()
	d.once.Do(func() {
		dir, err := os.MkdirTemp(limnomaptest.Folder(t), "")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "lakes.db")
		importCSV(t, path, lakes, observations)
		d.path = path
	})
	if d.path == "" {
		t.Fatal("another test could not make the database")
	}
	return d.path
}

// importCSV imports lakes and observations into a database.
func importCSV(t testing.TB, db, lakes, observations string) {
	t.Helper()
	dir := filepath.Dir(db)
	limnomaptest.Run(t, "import", "lakes", "--db", db, limnomaptest.WriteFile(t, dir, "lakes.csv", lakes))
	limnomaptest.Run(t, "import", "observations", "--db", db, limnomaptest.WriteFile(t, dir, "observations.csv", observations))
}

// needPage skips the test if the page has not been built.
func needPage(t testing.TB) {
	t.Helper()
	if !web.Built(web.FS()) {
		testsize.LeaveOut(t, "web/dist is not built (make web)")
	}
}

// startBrowser opens an empty page in a browser with a language.
func startBrowser(t testing.TB, language string) *browsertest.Browser {
	t.Helper()
	needPage(t)
	return browsertest.Start(t, language)
}

// openPage opens an address in a window of a usual size, and takes steps there.
func openPage(t testing.TB, language, url string, steps ...chromedp.Action[chromedp.Void]) *browsertest.Browser {
	t.Helper()
	b := startBrowser(t, language)
	b.Do(t, append([]chromedp.Action[chromedp.Void]{chromedp.EmulateViewport(1280, 800), chromedp.Navigate(url)}, steps...)...)
	return b
}

// heatDrawn is true when a tile of the heat map has strongly coloured pixels.
const heatDrawn = `[...document.querySelectorAll('.heatmap img.leaflet-tile-loaded')].some(img => {
	const canvas = Object.assign(document.createElement('canvas'), {width: 128, height: 128});
	const context = canvas.getContext('2d', {willReadFrequently: true});
	context.drawImage(img, 0, 0, canvas.width, canvas.height);
	return context.getImageData(0, 0, canvas.width, canvas.height).data.some((v, i) => i % 4 === 3 && v > 100);
})`
