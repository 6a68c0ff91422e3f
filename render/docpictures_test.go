package render

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/render/legend"
	"limnomap/render/symbol"
)

var docs = flag.String("docs", "", "folder that the pictures of docs/heat-field.md are written to")

// mostDocBytes bounds the size of a picture in the documents.
const mostDocBytes = 60_000

// TestDocPictures checks that the pictures in docs/heat-field.md are what the renderer draws: `make pictures` draws them
// again.
func TestDocPictures(t *testing.T) {
	for name, picture := range map[string]func(*testing.T) image.Image{
		"heat-density": densityPicture,
		"heat-kernel":  kernelPicture,
		"heat-opacity": opacityPicture,
		"heat-seams":   seamsPicture,
		"heat-nodata":  noDataPicture,
		"heat-2x":      doublePicture,
		"heat-scale":   scalePicture,
		"heat-grounds": groundsPicture,

		"heat-forecast": forecastPicture,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := encodeSmall(t, picture(t))
			if len(got) > mostDocBytes {
				t.Errorf("%d bytes, want at most %d", len(got), mostDocBytes)
			}
			file := filepath.Join("..", "docs", name+".png")
			if *docs != "" {
				file = filepath.Join(*docs, name+".png")
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := differs(got, want); err != nil {
				t.Errorf("%s differs from what is drawn now (make pictures): %v", file, err)
			}
		})
	}
}

// TestDocFigures checks that docs/heat-field.md has the constants of the code.
func TestDocFigures(t *testing.T) {
	page, err := os.ReadFile("../docs/heat-field.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("between %.1f and %.1f pixels", size(smallest).sigma(0), size(lone).sigma(0)),
		fmt.Sprintf("from zoom %d on %.1f", loneZoom, size(lone).sigma(loneZoom)),
		fmt.Sprintf("max( min( %g·W₁, %g ), W₁ − %g )", mediumShare, mediumLoss, crowd-mediumLoss),
		fmt.Sprintf("W₃ − %g·( W₁ + W₂ )", highShare),
		fmt.Sprintf("max( 1 − V₂ / %g, 0 )²", mediumRim),
		fmt.Sprintf("max( 1 − V₃ / %g, 0 )²", highRim),
		fmt.Sprintf("max( 1 − %d·min( W₂, %g ) / W₁, %g )", steepness, mediumLoss, leastLeft),
		fmt.Sprintf("max( 1 − B / A, %g )", leastTied),
		fmt.Sprintf("%d or more lie in a square of %d pixels", crowdSites, 1<<crowdBits),
		fmt.Sprintf("closer than %g pixels share a disc", shared),
		fmt.Sprintf("half as opaque at %g of the distance", roomPart),
		fmt.Sprintf("at least %d pixels wide or high", glowing),
		fmt.Sprintf("a sigma of %g pixels", glowSigma),
		fmt.Sprintf("opacity = %g · min( 1, (1 − Π(1 − tᵢ)) / %g )", maxOpacity, saturated),
		fmt.Sprintf("1 − tᵢ = exp( −%g·gᵢ )", opacityGain),
		fmt.Sprintf("a σ up to %g pixels", math.Exp2(largest/4)),
		fmt.Sprintf("more than %d,%03d lakes", maxStamped/1000, maxStamped%1000),
		fmt.Sprintf("lines of %d pixels, %d apart", symbol.ForecastLine, symbol.ForecastHatching),
		fmt.Sprintf("within them the field has %g of its opacity", faintPart),
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/heat-field.md lacks %q", want)
		}
	}
}

// docTile is the tile that most pictures show. Distances in pixels do not depend on its position.
func docTile() maptile.Tile { return maptile.At(orb.Point{10, 51}, 6) }

// lakeAt is a lake at x, y in the pixels of a tile.
func lakeAt(tile maptile.Tile, x, y, chl float64) testLake {
	n := math.Exp2(float64(tile.Z))
	u, v := (float64(tile.X)+x/TileSize)/n, (float64(tile.Y)+y/TileSize)/n
	return testLake{lon: 360*u - 180, lat: math.Atan(math.Sinh(math.Pi*(1-2*v))) * 180 / math.Pi, chl: chl}
}

// bloom is a crowd of a hundred clean lakes, some single clean lakes, and one lake with a bloom.
func bloom() []testLake {
	tile := docTile()
	var lakes []testLake
	for i := range 100 {
		r, turn := 7.5*math.Sqrt(float64(i)+0.5), float64(i)*2.399963 // the golden angle: a sunflower's seeds
		lakes = append(lakes, lakeAt(tile, 100+r*math.Cos(turn), 110+r*math.Sin(turn), 1.5+1.5*math.Mod(float64(i)*0.618, 1)))
	}
	for _, at := range [][2]float64{{215, 60}, {228, 120}, {206, 176}, {50, 222}, {160, 226}} {
		lakes = append(lakes, lakeAt(tile, at[0], at[1], 2))
	}
	return append(lakes, lakeAt(tile, 196, 224, 90))
}

// densityPicture is the usual heat map, and ours.
func densityPicture(t *testing.T) image.Image {
	lakes := bloom()
	const sigma = 5.7 // so that neighbours overlap, as in most heat maps
	cover, _ := wideField(lakes, func(*site) float64 { return sigma })
	highest := slices.Max(cover) // as in most heat maps: relative to the densest point in view
	ramp := []color.NRGBA{{0, 0, 255, 255}, {0, 255, 255, 255}, {0, 255, 0, 255}, {255, 255, 0, 255}, {255, 0, 0, 255}}
	usual := image.NewNRGBA(image.Rect(0, 0, TileSize, TileSize))
	for i, sum := range cover {
		level := math.Round(40*sum/highest) / 40
		k := min(int(level*4), 3)
		c := ramp[k]
		part := level*4 - float64(k)
		mix := func(a, b uint8) uint8 { return uint8(float64(a) + part*(float64(b)-float64(a))) }
		c = color.NRGBA{mix(c.R, ramp[k+1].R), mix(c.G, ramp[k+1].G), mix(c.B, ramp[k+1].B), uint8(220 * min(1, 4*level))}
		usual.SetNRGBA(i%TileSize, i/TileSize, c)
	}
	return sideBySide(usual, tilePicture(t, lakes, docTile(), 1, Heat))
}

// kernelPicture is the mean of all classes, and the field.
func kernelPicture(t *testing.T) image.Image {
	lakes := append(bloom(), lakeAt(docTile(), 100, 110, 90)) // in the middle of the crowd, too
	m := newMap(t, colormap.Default, who2003())
	plain := image.NewNRGBA(image.Rect(0, 0, TileSize, TileSize))
	cover, values := wideField(lakes, func(s *site) float64 { return s.size(docTile().Z, false).sigma(docTile().Z) })
	for i, v := range values {
		if cover[i] > 0 {
			c := m.Color(v)
			c.A = shownOpacity(cover[i])
			plain.SetNRGBA(i%TileSize, i/TileSize, c)
		}
	}
	return sideBySide(plain, tilePicture(t, lakes, docTile(), 1, Heat))
}

// shownOpacity is the opacity of the package comment, in sixteen steps.
func shownOpacity(cover float64) uint8 {
	return uint8(255 * math.Round(16*0.86*min(1, (1-math.Exp(-4*cover))/saturated)) / 16)
}

// wideField is the sum of kernels, and their mean in µg/l, at each pixel of docTile.
func wideField(lakes []testLake, sigmaOf func(*site) float64) (cover, values []float64) {
	w := windowOf(docTile(), 1)
	cover, values = make([]float64, TileSize*TileSize), make([]float64, TileSize*TileSize)
	l := layerOf(lakes...)
	for site := range l.sites {
		p := &l.sites[site]
		sigma := sigmaOf(p)
		x := axisOf(int64(p.x>>(MaxZoom-w.zoom))-w.left, w.width, w, sigma)
		y := axisOf(int64(p.y>>(MaxZoom-w.zoom))-w.top, w.height, w, sigma)
		for i := range cover {
			g := x.at(i%TileSize) * y.at(i/TileSize)
			cover[i] += g
			values[i] += g * math.Log(l.value(site).Float())
		}
	}
	for i, sum := range cover {
		if sum > 0 {
			values[i] = math.Exp(values[i] / sum)
		}
	}
	return cover, values
}

// opacityPicture is one lake, two lakes, and a hundred at one point, on a chequered ground.
func opacityPicture(t *testing.T) image.Image {
	tile := docTile()
	one := []testLake{lakeAt(tile, 64, 64, 4)}
	two := []testLake{lakeAt(tile, 57, 64, 4), lakeAt(tile, 71, 64, 4)}
	var hundred []testLake
	for range 100 {
		hundred = append(hundred, one...)
	}
	var panels []image.Image
	for _, lakes := range [][]testLake{one, two, hundred} {
		panels = append(panels, enlarged(chequered(tilePicture(t, lakes, tile, 1, Heat), image.Rect(36, 36, 92, 92)), 3))
	}
	return sideBySide(panels...)
}

// seamsPicture is four tiles with gaps between them, and the same four without.
func seamsPicture(t *testing.T) image.Image {
	const shown = 110 // pixels of each tile around the corner where they meet
	tile := docTile()
	var lakes []testLake
	for i := range 180 {
		x, y := 300*math.Mod(float64(i)*0.7548776662, 1)-150, 300*math.Mod(float64(i)*0.5698402910, 1)-150
		lakes = append(lakes, lakeAt(tile, TileSize+x, TileSize+y, math.Exp(4.6*math.Mod(float64(i)*0.618, 1))))
	}
	apart := func(gap int) image.Image {
		canvas := image.NewNRGBA(image.Rect(0, 0, 2*shown+gap, 2*shown+gap))
		draw.Draw(canvas, canvas.Rect, image.White, image.Point{}, draw.Src)
		for i := range 4 {
			column, row := i%2, i/2
			one := tilePicture(t, lakes, maptile.New(tile.X+uint32(column), tile.Y+uint32(row), tile.Z), 1, Heat)
			from := image.Pt((1-column)*(TileSize-shown), (1-row)*(TileSize-shown))
			at := image.Pt(column*(shown+gap), row*(shown+gap))
			part := onPaper(one, image.Rectangle{from, from.Add(image.Pt(shown, shown))})
			draw.Draw(canvas, image.Rectangle{at, at.Add(image.Pt(shown, shown))}, part, image.Point{}, draw.Src)
		}
		return canvas
	}
	return sideBySide(apart(12), apart(0))
}

// noDataPicture is three lakes, of which the middle one has no value, in the three styles.
func noDataPicture(t *testing.T) image.Image {
	tile := maptile.At(orb.Point{10, 51}, 10)
	lakes := []testLake{lakeAt(tile, 40, 64, 3), lakeAt(tile, 88, 64, -1), lakeAt(tile, 136, 64, 70)}
	for i := range lakes {
		lakes[i].areaKM2 = 9
	}
	var panels []image.Image
	for _, style := range []StyleID{Heat, Dots, Lakes} {
		panels = append(panels, enlarged(onPaper(tilePicture(t, lakes, tile, 2, style), image.Rect(20, 68, 332, 188)), 1))
	}
	return above(panels...)
}

// doublePicture is a part of a tile, enlarged, and the same part at scale 2.
func doublePicture(t *testing.T) image.Image {
	lakes := bloom()
	part := image.Rect(150, 170, 246, 254)
	once := enlarged(onPaper(tilePicture(t, lakes, docTile(), 1, Dots), part), 4)
	twice := enlarged(onPaper(tilePicture(t, lakes, docTile(), 2, Dots), image.Rectangle{part.Min.Mul(2), part.Max.Mul(2)}), 2)
	return sideBySide(once, twice)
}

// scalePicture is the legend of the default colour map, and below it the colours of the others.
func scalePicture(t *testing.T) image.Image {
	const step = 13 // pixels
	words, err := legend.In(legend.English)
	if err != nil {
		t.Fatal(err)
	}
	scale, err := words.PNG(newMap(t, colormap.Default, who2003()), symbol.Look{}, colormap.Steps*step, 1)
	if err != nil {
		t.Fatal(err)
	}
	panels := []image.Image{decoded(t, scale)}
	for _, id := range colormap.IDs()[1:] {
		bar := image.NewNRGBA(image.Rect(0, 0, colormap.Steps*step, 20))
		for i, c := range newMap(t, id, who2003()).Table() {
			draw.Draw(bar, image.Rect(i*step, 0, (i+1)*step, 20), image.NewUniform(c), image.Point{}, draw.Src)
		}
		panels = append(panels, bar)
	}
	return above(panels...)
}

// groundsPicture is a country with lakes of all classes in the default colour map and in that which is next to it, on white, on a dark map, and as a grey print.
func groundsPicture(t *testing.T) image.Image {
	part := image.Rect(40, 100, 200, 220)
	l := layerOf(crowdedCountry()...)
	var rows []image.Image
	for _, id := range []colormap.ID{colormap.Default, "cividis"} {
		tile := decoded(t, mustRender(t, l, Spec{docTile(), 1, Heat, id, 0}))
		on := func(ground color.Color) *image.NRGBA {
			m := image.NewNRGBA(image.Rect(0, 0, part.Dx(), part.Dy()))
			draw.Draw(m, m.Rect, image.NewUniform(ground), image.Point{}, draw.Src)
			draw.Draw(m, m.Rect, tile, part.Min, draw.Over)
			return m
		}
		white := on(color.White)
		grey := image.NewGray(white.Rect)
		draw.Draw(grey, grey.Rect, white, image.Point{}, draw.Src)
		rows = append(rows, sideBySide(white, on(mapGrounds[1]), grey))
	}
	all := above(rows...).(*image.NRGBA)
	for i, c := range all.Pix { // with 16 steps of each colour the file is small
		all.Pix[i] = uint8((int(c) + 8) / 17 * 17)
	}
	return all
}

// forecastPicture is a map of values, a forecast of the same lakes, and a forecast by waters of three lakes, of which the middle one has none.
func forecastPicture(t *testing.T) image.Image {
	lakes := bloom()
	tile := maptile.At(orb.Point{10, 51}, 10)
	var waters []testShore
	for i, lake := range []testLake{lakeAt(tile, 45, 50, 4), lakeAt(tile, 45, 128, -1), lakeAt(tile, 45, 206, 30)} {
		waters = append(waters, testShore{lake, orb.MultiPolygon{{bay(lake.lon, lake.lat, 0.04, 100, float64(i))}}})
	}
	picture := func(l *Layer, tile maptile.Tile, style StyleID) image.Image {
		return decoded(t, mustRender(t, l, forecastSpec(tile, 1, style)))
	}
	return sideBySide(tilePicture(t, lakes, docTile(), 1, Heat), picture(chanceLayer(lakes...), docTile(), Heat),
		onPaper(picture(chanceLayerOfShores(t, waters...), tile, Lakes), image.Rect(0, 0, 90, TileSize)))
}

func tilePicture(t *testing.T, lakes []testLake, tile maptile.Tile, scale int, style StyleID) image.Image {
	t.Helper()
	return decoded(t, mustRender(t, layerOf(lakes...), Spec{tile, scale, style, colormap.Default, 0}))
}

func decoded(t *testing.T, b []byte) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// paper is an empty canvas in the colour of a light basemap.
func paper(width, height int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	draw.Draw(m, m.Rect, image.NewUniform(color.NRGBA{0xf2, 0xf1, 0xec, 0xff}), image.Point{}, draw.Src)
	return m
}

// onPaper is a part of an image on paper.
func onPaper(img image.Image, part image.Rectangle) image.Image {
	m := paper(part.Dx(), part.Dy())
	draw.Draw(m, m.Rect, img, part.Min, draw.Over)
	return m
}

// chequered is a part of an image on squares of two greys, which show its opacity.
func chequered(img image.Image, part image.Rectangle) image.Image {
	m := paper(part.Dx(), part.Dy())
	for y := range part.Dy() {
		for x := range part.Dx() {
			if (x/4+y/4)%2 == 0 {
				m.SetNRGBA(x, y, color.NRGBA{0xc4, 0xc4, 0xc4, 0xff})
			}
		}
	}
	draw.Draw(m, m.Rect, img, part.Min, draw.Over)
	return m
}

// enlarged shows each pixel as a square of that many pixels.
func enlarged(img image.Image, times int) image.Image {
	b := img.Bounds()
	m := image.NewNRGBA(image.Rect(0, 0, b.Dx()*times, b.Dy()*times))
	for y := range m.Rect.Dy() {
		for x := range m.Rect.Dx() {
			m.Set(x, y, img.At(b.Min.X+x/times, b.Min.Y+y/times))
		}
	}
	return m
}

// sideBySide places images on white from left to right; above does so from top to bottom.
func sideBySide(images ...image.Image) image.Image { return laid(image.Pt(1, 0), images) }
func above(images ...image.Image) image.Image      { return laid(image.Pt(0, 1), images) }

func laid(way image.Point, images []image.Image) image.Image {
	const gap = 12
	var size image.Point
	for _, img := range images {
		d := img.Bounds().Size()
		size = image.Pt(max(size.X+way.X*(d.X+gap), d.X), max(size.Y+way.Y*(d.Y+gap), d.Y))
	}
	size = size.Sub(way.Mul(gap))
	canvas := image.NewNRGBA(image.Rect(0, 0, size.X, size.Y))
	draw.Draw(canvas, canvas.Rect, image.White, image.Point{}, draw.Src)
	var at image.Point
	for _, img := range images {
		d := img.Bounds().Size()
		sheet := onPaper(img, img.Bounds())
		draw.Draw(canvas, image.Rectangle{at, at.Add(d)}, sheet, image.Point{}, draw.Src)
		at = at.Add(image.Pt(way.X*(d.X+gap), way.Y*(d.Y+gap)))
	}
	return canvas
}

// encodeSmall encodes with a palette if the colours fit.
func encodeSmall(t *testing.T, img image.Image) []byte {
	t.Helper()
	colours := make(map[color.NRGBA]bool)
	var palette color.Palette
	b := img.Bounds()
	for y := range b.Dy() {
		for x := range b.Dx() {
			c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
			if !colours[c] && len(colours) <= 256 {
				colours[c] = true
				palette = append(palette, c)
			}
		}
	}
	if len(palette) <= 256 {
		paletted := image.NewPaletted(b, palette)
		draw.Draw(paletted, b, img, b.Min, draw.Src)
		img = paletted
	}
	var buf bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&buf, img); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}
