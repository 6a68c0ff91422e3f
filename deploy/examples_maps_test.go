package deploy

import (
	"fmt"
	"image"
	"image/color"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/paulmach/orb/maptile"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
	"limnomap/web/browsertest"
)

const (
	mapWidth, mapHeight = 400, 300 // small, since WebGL without a graphics card is slow
	// mapZoom is a zoom at which the tested lakes of the demo do not overlap others, and at which their discs are wider than the circles of the
	// examples: from zoom 9 on discs are smaller.
	mapZoom = 8
)

// mapBackground is the colour of limnomap.css and style.json where there is no lake.
var mapBackground = color.NRGBA{0xf2, 0xf3, 0xf0, 0xff}

// mapPages are the examples in a browser. A page has finished drawing when `drawn` is true after `watch`.
var mapPages = []mapPage{
	{
		name: "leaflet", library: "leaflet",
		move: `map.setView([lat, lon], zoom, {animate: false})`,
		drawn: `(() => {
			const tiles = [...document.querySelectorAll('img.leaflet-tile')].filter((tile) => tile.closest('.leaflet-tile-container').style.opacity !== '0')
			return tiles.length > 0 && tiles.every((tile) => tile.matches('.leaflet-tile-loaded') && tile.style.opacity === '1')
		})()`,
	},
	{
		name: "openlayers", library: "ol",
		move:  `map.getView().setCenter(ol.proj.fromLonLat([lon, lat])); map.getView().setZoom(zoom)`,
		watch: `window.drawn = false; map.once('rendercomplete', () => { window.drawn = true }); map.render()`,
		drawn: `window.drawn`,
	},
	{
		name: "maplibre", library: "maplibre-gl",
		// Its zoom refers to tiles of 512 pixels.
		move:  `map.jumpTo({center: [lon, lat], zoom: zoom - 1})`,
		watch: `window.drawn = false; map.once('idle', () => { window.drawn = true }); map.triggerRepaint()`,
		drawn: `window.drawn`,
		// The circle of a lake covers its pixel.
		offset: 5,
	},
}

// A mapPage is an example, with JavaScript that controls it.
type mapPage struct {
	name, library      string
	move, watch, drawn string // JavaScript
	offset             int    // CSS pixels east of a lake where the heat map is seen
}

// mapPolicy is a strict Content-Security-Policy with which the examples work.
const mapPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; worker-src 'self'; " +
	"img-src 'self' data: blob: http://127.0.0.1:*; connect-src 'self' http://127.0.0.1:*"

func TestExamplePolicyIsTheOneOfTheDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/clients.md")
	must(t, err)
	if want := "\n" + strings.ReplaceAll(mapPolicy, ":*", ":8080") + "\n"; !strings.Contains(string(page), want) {
		t.Errorf("docs/clients.md does not have the policy %s", want)
	}
}

// serveExamples serves the folder of examples and returns the address. The style names another server, since pages must use
// the one that limnomap.js names.
func serveExamples(t *testing.T) string {
	t.Helper()
	files := http.FileServer(http.Dir("examples"))
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", mapPolicy)
		if r.URL.Path == "/style.json" {
			style, err := os.ReadFile("examples/style.json")
			if err != nil {
				t.Error(err)
			}
			elsewhere := strings.ReplaceAll(string(style), "http://127.0.0.1:8080/", "https://lakes.example.org/elsewhere/")
			http.ServeContent(w, r, "style.json", time.Time{}, strings.NewReader(elsewhere))
			return
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(site.Close)
	return site.URL
}

// A mapView is a browser with an example open.
type mapView struct {
	*browsertest.Browser
	page   mapPage
	site   string // address of the pages
	server string
	others []string // addresses of all servers that pages have used
	scale  int
	drawn  map[string][]color.NRGBA // colours of the tiles at lakes, set by learn
	seen   int                      // number of problems already checked
	asked  int                      // number of requests already checked
}

// startMaps starts a browser for the examples. Without a graphics card Chromium draws WebGL with SwiftShader, which must be
// enabled since it is unsafe for unknown pages.
func startMaps(t *testing.T, site string) *mapView {
	t.Helper()
	v := &mapView{site: site, drawn: map[string][]color.NRGBA{}, Browser: browsertest.Start(t, "en",
		chromedp.Flag("use-angle", "swiftshader"), chromedp.Flag("enable-unsafe-swiftshader", true))}
	v.Prefer(t, "reduced-motion", "reduce")
	t.Log("Chromium: ", browsertest.Ask(t, v.Browser, chromedp.Evaluate[string](`navigator.userAgent`)))
	return v
}

// open opens an example on a screen with the given number of pixels per CSS pixel.
func (v *mapView) open(t *testing.T, page mapPage, server string, scale int) {
	t.Helper()
	v.page, v.server, v.scale = page, server, scale
	v.others = append(v.others, server)
	v.seen, v.asked = len(v.problems()), len(v.Requests())
	v.Do(t,
		chromedp.EmulateViewport(mapWidth, mapHeight, chromedp.EmulateScale(float64(scale))),
		chromedp.Navigate(v.address(page.name, server)),
		chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void import('./%s.js').then((module) => { window.map = module.map })`, page.name)),
		browsertest.Until(`!!window.map?.getContainer || !!window.map?.getTargetElement`))
}

// address returns the address of an example that shows a server.
func (v *mapView) address(page, server string) string {
	return fmt.Sprintf("%s/%s.html?server=%s", v.site, page, server)
}

// look moves the map and waits until it is drawn.
func (v *mapView) look(t *testing.T, lon, lat float64, zoom int) {
	t.Helper()
	v.move(t, lon, lat, zoom)
	v.settle(t)
}

// settle waits until the map is drawn.
func (v *mapView) settle(t *testing.T) {
	t.Helper()
	v.Do(t, chromedp.Evaluate[chromedp.Void](v.page.watch+`; void 0`), browsertest.Until(v.page.drawn))
}

func (v *mapView) move(t *testing.T, lon, lat float64, zoom int) {
	t.Helper()
	v.Do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{const lon = %v, lat = %v, zoom = %d; %s; void 0}`, lon, lat, zoom, v.page.move)))
}

// problems returns what went wrong on the pages. Two things are expected: requests to the origin of the server, and a warning
// of Chromium that reading a picture from WebGL is slow.
func (v *mapView) problems() []string {
	return slices.DeleteFunc(v.Problems(v.site), func(problem string) bool {
		if strings.HasPrefix(problem, "rendering: ") && strings.Contains(problem, "GPU stall due to ReadPixels") {
			return true
		}
		url, foreign := strings.CutPrefix(problem, "request to another origin: ")
		return foreign && slices.ContainsFunc(v.others, func(server string) bool { return strings.HasPrefix(url, server+"/") })
	})
}

// wantNoProblems fails the test for each problem since the page was opened.
func (v *mapView) wantNoProblems(t *testing.T) {
	t.Helper()
	for _, problem := range v.problems()[v.seen:] {
		t.Errorf("on the page: %s", problem)
	}
	if text := v.trouble(t); text != "" {
		t.Errorf("the page says %q", text)
	}
}

// trouble returns the message of the page about what it cannot show.
func (v *mapView) trouble(t *testing.T) string {
	t.Helper()
	return browsertest.Ask(t, v.Browser, chromedp.Evaluate[string](`document.querySelector('#trouble').hidden ? '' : document.querySelector('#trouble').innerText`))
}

// tileRequests returns the addresses of the tiles requested since the page was opened.
func (v *mapView) tileRequests() []string {
	return slices.DeleteFunc(v.Requests()[v.asked:], func(url string) bool {
		return !strings.Contains(url, "/api/v1/tiles/") || strings.Contains(url, ".json")
	})
}

// picture returns a screenshot.
func (v *mapView) picture(t *testing.T) image.Image {
	t.Helper()
	picture := decodePNG(t, browsertest.Ask(t, v.Browser, chromedp.CaptureScreenshot()))
	if got, want := picture.Bounds().Size(), (image.Point{mapWidth * v.scale, mapHeight * v.scale}); got != want {
		t.Fatalf("the screen is of %v, want %v", got, want)
	}
	return picture
}

// learn looks up the colours of the tile within a pixel of the screen near a lake, all of which the screen may show there, and fails the test
// unless they are the colour of the lake.
func (v *mapView) learn(t *testing.T, server string, page mapPage, lake exampleLake) []color.NRGBA {
	t.Helper()
	key := fmt.Sprint(lake.ID, page.offset)
	if colours, known := v.drawn[key]; known {
		return colours
	}
	const scale = 2
	tile, at := pixelOf(lake.Lon, lake.Lat, mapZoom, scale)
	picture := tilePicture(t, server, tile, "@2x")
	// The middle of the pixel of the screen whose edge is that far from the lake.
	x, y := at.X+scale*page.offset+scale/2, at.Y+scale/2
	var colours []color.NRGBA
	for dy := -scale; dy <= scale; dy++ {
		for dx := -scale; dx <= scale; dx++ {
			c := color.NRGBAModel.Convert(picture.At(x+dx, y+dy)).(color.NRGBA)
			if own := parseColour(t, lake.Color); c.A < 60 || !near(c, own, 12) {
				t.Fatalf("%s: near it its tile has %v, the API the colour %v", lake.ID, c, own)
			}
			colours = append(colours, c)
		}
	}
	v.drawn[key] = colours
	return colours
}

// shows reports whether the screen has one of these colours over the background near the middle, and what it has.
func (v *mapView) shows(t *testing.T, colours []color.NRGBA) (shown bool, got color.Color) {
	t.Helper()
	got = v.picture(t).At((mapWidth/2+v.page.offset)*v.scale, mapHeight/2*v.scale)
	return slices.ContainsFunc(colours, func(c color.NRGBA) bool { return near(got, over(c, mapBackground), 14) }), got
}

// wantLake fails the test unless the middle of the screen has the colour of the tile over the background.
func (v *mapView) wantLake(t *testing.T, lake exampleLake) {
	t.Helper()
	colours := v.learn(t, v.server, v.page, lake)
	if shown, got := v.shows(t, colours); !shown {
		t.Errorf("%s: the screen has %v, want one of %v over the background: its colour is %s", lake.ID, got, colours, lake.Color)
	}
}

// Each page shows the lakes correctly, also with a server that sheds load, refuses or fails.
func TestExampleMaps(t *testing.T) {
	t.Parallel()
	limnomaptest.NeedFolder(t, "examples/node_modules")
	limnomaptest.Need(t, "node")
	server := limnomaptest.Start(t, "--tile-rate", "0", "--api-rate", "0", "--attribution", mapAttribution)
	lakes := readLakes(t, server.Base)
	v := startMaps(t, serveExamples(t))
	for _, page := range testsize.Cases(1, mapPages) {
		t.Run(page.name, func(t *testing.T) {
			t.Logf("%s %s", page.library, libraryVersion(t, page.library))
			checkShown(t, v, page, server.Base, lakes)
			checkFaults(t, v, server.Base, lakes)
		})
	}
	if testsize.Long {
		t.Run("closed", func(t *testing.T) { checkClosed(t, v) })
		t.Run("bounded", func(t *testing.T) { checkBounded(t, v, server.Base) })
		t.Run("no WebGL", func(t *testing.T) { checkNoWebGL(t, v, server.Base) })
	}
}

// mapAttribution is text that no page may interpret as markup.
const mapAttribution = "<b>Office</b> of Lakes"

// checkShown checks a page on a normal screen and on a high-density one.
func checkShown(t *testing.T, v *mapView, page mapPage, server string, lakes []exampleLake) {
	t.Helper()
	v.open(t, page, server, 1)
	v.Do(t, browsertest.Until(`document.querySelector('#legend').naturalWidth > 0`),
		browsertest.Until(fmt.Sprintf(`document.body.innerText.includes(%q)`, "Simulated demo data, not measurements | "+mapAttribution)))
	wantWordOnUnknown(t, v)
	for _, risk := range []string{"low", "medium", "high"} {
		lake := loneliest(t, lakes, func(l exampleLake) bool { return l.Chl != nil && l.Risk == risk })
		v.look(t, lake.Lon, lake.Lat, mapZoom)
		v.wantLake(t, lake)
		if page.name == "maplibre" {
			v.wantCircle(t, lake)
		}
	}
	if page.name == "maplibre" {
		checkVectorLakes(t, v, lakes)
	}
	checkEmpty(t, v)
	checkDeepest(t, v, lakes[0])
	for _, url := range v.tileRequests() {
		if strings.Contains(url, "@2x") {
			t.Errorf("a screen of usual pixels asks for %s", url)
		}
	}
	v.wantNoProblems(t)
	checkRetina(t, v, server, lakes)
}

// The legend has a grey for lakes without a current value. A page with only the heat map says that they are missing.
func wantWordOnUnknown(t *testing.T, v *mapView) {
	t.Helper()
	const word = `document.body.innerText.includes('Lakes without a current value are not shown on this map, nor are official closures.')`
	if says := browsertest.Ask(t, v.Browser, chromedp.Evaluate[bool](word)); says == (v.page.name == "maplibre") {
		t.Errorf("the page says that lakes without a value are not shown: %t", says)
	}
}

// An area without lakes keeps the background.
func checkEmpty(t *testing.T, v *mapView) {
	t.Helper()
	v.look(t, -30, 40, 6)
	picture := v.picture(t)
	for _, at := range []image.Point{{mapWidth / 2, mapHeight / 2}, {mapWidth / 4, mapHeight / 2}, {mapWidth / 2, mapHeight / 3}} {
		if got := picture.At(at.X, at.Y); !near(got, mapBackground, 0) {
			t.Errorf("in the middle of the Atlantic the pixel %v is %v, want the background", at, got)
		}
	}
	if !slices.ContainsFunc(v.tileRequests(), func(url string) bool { return strings.Contains(url, "/tiles/6/26/24.") }) {
		t.Error("the tile there was not asked for")
	}
}

// Beyond the highest zoom of the server the page enlarges tiles and requests none.
func checkDeepest(t *testing.T, v *mapView, lake exampleLake) {
	t.Helper()
	before := len(v.tileRequests())
	v.look(t, lake.Lon, lake.Lat, 20)
	deepest := 0
	for _, url := range v.tileRequests()[before:] {
		var z int
		if _, err := fmt.Sscanf(url, v.server+"/api/v1/tiles/%d/", &z); err != nil {
			t.Fatalf("%s: %v", url, err)
		}
		deepest = max(deepest, z)
	}
	if deepest != 18 {
		t.Errorf("at zoom 20 the deepest tile asked for is of zoom %d, want 18", deepest)
	}
}

// A high-density screen gets tiles with more pixels.
func checkRetina(t *testing.T, v *mapView, server string, lakes []exampleLake) {
	t.Helper()
	v.open(t, v.page, server, 2)
	lake := loneliest(t, lakes, func(l exampleLake) bool { return l.Chl != nil && l.Risk == "medium" })
	v.look(t, lake.Lon, lake.Lat, mapZoom)
	v.wantLake(t, lake)
	tiles := 0
	for _, url := range v.tileRequests() {
		if strings.Contains(url, ".mvt") {
			continue
		}
		if tiles++; !strings.Contains(url, "@2x.png") {
			t.Errorf("a screen with small pixels asks for %s", url)
		}
	}
	if tiles == 0 {
		t.Error("no tile was asked for")
	}
	v.wantNoProblems(t)
}

// libraryVersion returns the version of a library that the examples use.
func libraryVersion(t *testing.T, name string) string {
	t.Helper()
	read := exec.CommandContext(t.Context(), "node", "-p", `require("./node_modules/"+process.argv[1]+"/package.json").version`, name)
	read.Dir = "examples"
	out, err := read.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// pixelOf returns the tile of a zoom that contains a point, and the pixel in that tile.
func pixelOf(lon, lat float64, zoom maptile.Zoom, scale int) (maptile.Tile, image.Point) {
	size := 256 * float64(scale)
	p := maptile.Fraction([2]float64{lon, lat}, zoom)
	tile := maptile.New(uint32(p[0]), uint32(p[1]), zoom)
	return tile, image.Point{int((p[0] - float64(tile.X)) * size), int((p[1] - float64(tile.Y)) * size)}
}

// tilePicture returns a tile of the map.
func tilePicture(t *testing.T, server string, tile maptile.Tile, ratio string) image.Image {
	t.Helper()
	resp, body := limnomaptest.Get(t, fmt.Sprintf("%s/api/v1/tiles/%d/%d/%d%s.png", server, tile.Z, tile.X, tile.Y, ratio))
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", resp.Request.URL, resp.Status)
	}
	return decodePNG(t, body)
}
