package render

import (
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data/demo"
	"limnomap/data/snapshot"
	"limnomap/data/testsize"
)

// grounds are the backgrounds of tiles: a white map and a dark one, #2b2b2b.
var grounds = [...][3]float64{{255, 255, 255}, {0x2b, 0x2b, 0x2b}}

// TestQuality compares tiles with their references, where opacity is above a tenth. An eye sees the mean
// of four dithered pixels, so these are compared; the figures of single pixels are logged, too.
//
// At zoom 10 the field has seven levels, 0.135 apart, and the rim of a high disc is three times as opaque, up to 0.6: of four pixels whose mean level is right, one that is
// rounded down from 1.8 levels to 1 loses 0.3 of opacity on a dark map, and the others, at 0.6, gain nothing. Discs with a sigma of 3.36 had four such pixels in 10/544/330, with
// opacities of 0.15, 0.25, 0.21 and 0.34, which differed by 8.12.
func TestQuality(t *testing.T) {
	const (
		meanBound, largestBound = 1.5, 8.0 // CIE76
		psnrBound               = 43.0     // dB
	)
	m := newMap(t, colormap.Default, who2003())
	for _, source := range testsize.Cases(1, []struct {
		name string
		draw func(*testing.T) (*Layer, []maptile.Tile)
	}{
		{"demo", demoTiles},
		{"German sites", siteTiles},
		{"set of tiles", everyTenth},
	}) {
		for name, s := range map[string]spectrum{"32 colours": stepped(m), "no steps": smooth(m)} {
			t.Run(source.name+"/"+name, func(t *testing.T) {
				l, tiles := source.draw(t)
				var seen, single [MaxZoom + 1]difference
				var all difference
				for _, tile := range tiles {
					w := windowOf(tile, 1)
					pixels, ref := paintField(l, w), referenceOf(l, w)
					single[tile.Z].add(differenceOf(m, s, pixels, ref, w, 1))
					d := differenceOf(m, s, pixels, ref, w, 2)
					seen[tile.Z].add(d)
					all.add(d)
				}
				for z := range seen {
					d := &seen[z]
					if d.samples == 0 {
						continue
					}
					t.Logf("zoom %2d: %v", z, d)
					if single[z].samples > 0 {
						t.Logf("         %v, pixel by pixel", &single[z])
					}
					if d.largest >= largestBound {
						t.Errorf("zoom %d: %v, want a largest under %v", z, d, largestBound)
					}
				}
				t.Logf("together: %v", &all)
				if all.skipped > all.cells/20 {
					t.Errorf("together: rounding decides the class of %d cells, and not of %d", all.skipped, all.cells)
				}
				if all.mean() >= meanBound || all.psnr() < psnrBound {
					t.Errorf("together: %v, want a mean under %v and %v dB or more", &all, meanBound, psnrBound)
				}
			})
		}
	}
}

// demoTiles returns the demo of a fixed day and tiles of it.
func demoTiles(t *testing.T) (*Layer, []maptile.Tile) {
	s := demoSnapshot(t)
	var lakes []testLake
	for i, lake := range s.Lakes {
		if c := s.Current.States[i].Chlorophyll; c.Valid() {
			lakes = append(lakes, testLake{lon: lake.Point.Lon(), lat: lake.Point.Lat(), chl: c.Float(), areaKM2: lake.AreaKM2})
		}
	}
	return layerOf(lakes...), someTiles(lakes) // without outlines, which the reference does not have
}

func demoSnapshot(t *testing.T) *snapshot.Snapshot {
	t.Helper()
	noon := time.Date(2026, 8, 19, 12, 0, 0, 0, time.UTC)
	s, err := snapshot.Load(t.Context(), demo.New(func() time.Time { return noon }), &snapshot.Options{AsOf: snapshot.Newest})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func siteTiles(t *testing.T) (*Layer, []maptile.Tile) {
	lakes := bathingSites(t, 2010)
	return layerOf(lakes...), someTiles(lakes)
}

// someTiles returns a few tiles with lakes of each of the zooms 5 to 11, from all over the country.
func someTiles(lakes []testLake) (tiles []maptile.Tile) {
	const perZoom = 3
	for z := maptile.Zoom(5); z < waterZoom; z++ {
		all := tilesOver(lakes, z)
		for i := range min(perZoom, len(all)) {
			tiles = append(tiles, all[i*len(all)/min(perZoom, len(all))])
		}
	}
	return tiles
}

func everyTenth(t *testing.T) (*Layer, []maptile.Tile) {
	l, all := tileSet(t)
	var tiles []maptile.Tile
	for i := 0; i < len(all); i += 10 {
		tiles = append(tiles, all[i])
	}
	return l, tiles
}

// A difference is how much pictures differ from their references.
type difference struct {
	cells        int     // compared, each once over each ground
	skipped      int     // cells of which rounding may decide the class
	sum, largest float64 // CIE76 of these
	samples      int     // channels of all pixels over each ground, transparent ones too
	squares      float64 // of how much these differ
	tile         string  // where the largest difference lies
	row, column  int
}

// paintField draws the field without cores and waters.
func paintField(l *Layer, w window) []uint8 {
	h := renderer().styles[Heat]
	var m memory
	m.find(l, w, h, 0)
	pixels := make([]uint8, w.width*w.height)
	h.painter.(*heat).paintField(pixels, &m.scene, w, renderer().colors[colormap.Default].scale, &m)
	return pixels
}

func (d *difference) mean() float64 { return d.sum / float64(max(d.cells, 1)) }

func (d *difference) psnr() float64 {
	return 10 * math.Log10(0xff*0xff/max(d.squares/float64(d.samples), 1e-9))
}

func (d *difference) String() string {
	return fmt.Sprintf("CIE76 mean %.2f, largest %.2f (%s, pixel %d,%d); PSNR %.1f dB",
		d.mean(), d.largest, d.tile, d.column, d.row, d.psnr())
}

func (d *difference) add(o difference) {
	if o.largest > d.largest {
		d.largest, d.tile, d.row, d.column = o.largest, o.tile, o.row, o.column
	}
	d.cells += o.cells
	d.skipped += o.skipped
	d.sum += o.sum
	d.samples += o.samples
	d.squares += o.squares
}

// shadeOver draws a value with an opacity over ground. If it is high, the colour is mixed with white where it is more opaque than that.
func shadeOver(high bool, s spectrum, v, opacity float64, ground [3]float64) [3]float64 {
	c := s(v)
	if high && opacity > 0 {
		shown := max(opacity, min(3*opacity, 0.6))
		return over(over(c, opacity/shown, [3]float64{255, 255, 255}), shown, ground)
	}
	return over(c, opacity, ground)
}

// differenceOf returns the difference of a picture from its reference in the colours of s. A cell is so many pixels wide.
func differenceOf(m *colormap.Map, s spectrum, pixels []uint8, ref reference, w window, cell int) (d difference) {
	p := paletteOf(m.ID, Heat, w.zoom)
	top := 0 // the first colour of the highest class
	for classOf(m, top) != upperClasses {
		top++
	}
	shade := func(v, opacity float64, ground [3]float64) [3]float64 {
		return shadeOver(m.Index(v) >= top, s, v, opacity, ground)
	}
	for _, ground := range grounds {
		for row := 0; row < w.height; row += cell {
			for column := 0; column < w.width; column += cell {
				var got, want, below, above light
				var opacity float64
				unsure, skip := false, false
				for i := range cell * cell {
					at := (row+i/cell)*w.width + column + i%cell
					c := p[pixels[at]]
					skip = skip || ref.unsure[at]
					shown := over(channels(c), float64(c.A)/0xff, ground)
					opacity += ref.opacities[at] / float64(cell*cell)
					if !ref.unsure[at] {
						d.samples += len(shown)
					}
					if c.A == 0 && ref.opacities[at] == 0 {
						got.add(shown)
						want.add(shown)
						below.add(shown)
						above.add(shown)
						continue
					}
					v := max(ref.values[at], floor.Float())
					exact := shade(v, ref.opacities[at], ground)
					for j := range shown {
						if ref.unsure[at] {
							break
						}
						d.squares += (shown[j] - exact[j]) * (shown[j] - exact[j])
					}
					got.add(shown)
					want.add(exact)
					// Near a limit a cell of the table has values on both sides: the colours of both sides are correct.
					if m.Index(v*(1-nearLimit)) == m.Index(v*(1+nearLimit)) {
						below.add(exact)
						above.add(exact)
						continue
					}
					unsure = true
					below.add(shade(v*(1-nearLimit), ref.opacities[at], ground))
					above.add(shade(v*(1+nearLimit), ref.opacities[at], ground))
				}
				if opacity <= 0.1 {
					continue
				}
				if skip {
					d.skipped++
					continue
				}
				seen := got.lab()
				nearest := cie76(seen, want.lab())
				if unsure {
					nearest = min(nearest, cie76(seen, below.lab()), cie76(seen, above.lab()))
				}
				d.cells++
				d.sum += nearest
				if nearest > d.largest {
					d.largest, d.row, d.column = nearest, row, column
					d.tile = fmt.Sprintf("%d/%d/%d", w.zoom, w.left>>(tileBits+subBits), w.top>>(tileBits+subBits))
				}
			}
		}
	}
	return d
}

// nearLimit is the relative error of a pixel's value: the values of lakes and of pixels are rounded to the middles of cells.
const nearLimit = 0.003

// linearSteps is the number of entries of linearTable for each of 255 steps: its error is at most a hundredth of a CIE76.
const linearSteps = 64

// linearTable is a table of linear, which is called about ten million times.
var linearTable = sync.OnceValue(func() *[0xff*linearSteps + 1]float64 {
	var t [0xff*linearSteps + 1]float64
	for i := range t {
		t[i] = linear(float64(i) / linearSteps)
	}
	return &t
})

// A light is the sum of the light of pixels.
type light struct {
	r, g, b float64
	pixels  int
}

func (l *light) add(c [3]float64) {
	table := linearTable()
	at := func(v float64) float64 { return table[int(v*linearSteps+0.5)] }
	l.r, l.g, l.b = l.r+at(c[0]), l.g+at(c[1]), l.b+at(c[2])
	l.pixels++
}

// lab returns the colour of the pixels seen from afar.
func (l light) lab() lab {
	n := float64(l.pixels)
	return labOfLinear(l.r/n, l.g/n, l.b/n)
}
