package render

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"weak"

	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"

	"limnomap/colormap"
	"limnomap/render/palettepng"
)

func TestStyles(t *testing.T) {
	styles := Styles()
	if styles[0].ID != Heat {
		t.Errorf("the first style is %q, want %q", styles[0].ID, Heat)
	}
	for _, s := range styles {
		if _, ok := renderer().styles[s.ID]; !ok || s.Title == "" || s.Description == "" {
			t.Errorf("style %+v cannot be drawn or has no description", s)
		}
	}
	if len(styles) != len(renderer().styles) {
		t.Errorf("%d styles, want the %d that can be drawn", len(styles), len(renderer().styles))
	}
}

func TestRenderErrors(t *testing.T) {
	good := Spec{Tile: maptile.Tile{X: 33, Y: 21, Z: 6}, Scale: 1, Style: Heat, Colormap: colormap.Default}
	tests := []struct {
		name   string
		change func(*Spec)
		want   error
	}{
		{"no style", func(s *Spec) { s.Style = "" }, ErrUnknownStyle},
		{"unknown style", func(s *Spec) { s.Style = "Heat" }, ErrUnknownStyle},
		{"unknown colour map", func(s *Spec) { s.Colormap = "jet" }, colormap.ErrUnknown},
		{"scale 0", func(s *Spec) { s.Scale = 0 }, ErrOutOfRange},
		{"scale 3", func(s *Spec) { s.Scale = 3 }, ErrOutOfRange},
		{"column past the world", func(s *Spec) { s.Tile.X = 64 }, ErrOutOfRange},
		{"row past the world", func(s *Spec) { s.Tile.Y = 64 }, ErrOutOfRange},
		{"zoom past the last", func(s *Spec) { s.Tile.Z = MaxZoom + 1 }, ErrOutOfRange},
		{"zoom past shifting", func(s *Spec) { s.Tile.Z = 200 }, ErrOutOfRange},
	}
	l := layerOf(country()...)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := good
			tt.change(&s)
			if _, err := renderer().Render(l, s); !errors.Is(err, tt.want) {
				t.Errorf("Render(%+v) = %v, want %v", s, err, tt.want)
			}
			if fp, ok := renderer().Fingerprint(l, s); ok && tt.want != colormap.ErrUnknown {
				t.Errorf("Fingerprint(%+v) = %x, want none", s, fp)
			}
		})
	}
	if _, err := renderer().Render(l, good); err != nil {
		t.Errorf("Render(%+v) = %v", good, err)
	}
}

// TestSameLakesSameBytesConcurrently draws tiles concurrently from the same lakes in three orders: few lakes, many lakes that are binned and
// thinned, and lakes with outlines.
func TestSameLakesSameBytesConcurrently(t *testing.T) {
	few, many, shores := country(), manyLakes(0), lakeland()
	for _, set := range []struct {
		name   string
		lakes  []testLake
		layers []*Layer
	}{
		{"few", few, []*Layer{layerOf(few...), layerOf(reversed(few)...), layerOf(shuffled(few, 1)...)}},
		{"many", many, []*Layer{layerOf(many...), layerOf(reversed(many)...), layerOf(shuffled(many, 1)...)}},
		{"shores", places(shores), []*Layer{
			layerOfShores(t, shores...), layerOfShores(t, reversed(shores)...), layerOfShores(t, shuffled(shores, 1)...)}},
	} {
		t.Run(set.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s := Spec{
					Tile:     drawTile(t, set.lakes),
					Scale:    rapid.IntRange(1, 2).Draw(t, "scale"),
					Style:    rapid.SampledFrom([]StyleID{Heat, Dots, Lakes}).Draw(t, "style"),
					Colormap: rapid.SampledFrom(colormap.IDs()).Draw(t, "colormap"),
				}
				files := make([][]byte, rapid.IntRange(len(set.layers), 4).Draw(t, "goroutines"))
				var wg sync.WaitGroup
				for i := range files {
					wg.Go(func() { files[i], _ = renderer().Render(set.layers[i%len(set.layers)], s) })
				}
				wg.Wait()
				for i, f := range files {
					if len(f) == 0 || !bytes.Equal(f, files[0]) {
						t.Fatalf("%+v: render %d is %d bytes that differ from the first's %d", s, i, len(f), len(files[0]))
					}
				}
			})
		})
	}
}

func TestBlankIffNothingInReach(t *testing.T) {
	lakes := country()
	l := layerOf(lakes...)
	rapid.Check(t, func(t *rapid.T) {
		s := Spec{
			Tile: drawTile(t, lakes), Scale: rapid.IntRange(1, 2).Draw(t, "scale"),
			Style: rapid.SampledFrom([]StyleID{Heat, Dots, Lakes}).Draw(t, "style"), Colormap: colormap.Default,
		}
		_, notBlank := renderer().Fingerprint(l, s)
		b, err := renderer().Render(l, s)
		if err != nil {
			t.Fatal(err)
		}
		painted := false
		for _, v := range paint(l, windowOf(s.Tile, s.Scale), s.Style) {
			painted = painted || v != 0
		}
		if painted && !notBlank {
			t.Fatalf("%+v has pixels, but nothing is in reach", s)
		}
		if blank := bytes.Equal(b, Blank(s.Scale)); blank == painted {
			t.Fatalf("%+v: blank is %v, painted is %v", s, blank, painted)
		}
	})
}

func TestLayerWithoutLakes(t *testing.T) {
	for _, style := range []StyleID{Heat, Dots, Lakes} {
		s := Spec{Tile: maptile.Tile{}, Scale: 1, Style: style, Colormap: colormap.Default}
		if b := mustRender(t, layerOf(), s); !bytes.Equal(b, Blank(1)) {
			t.Errorf("%s without lakes is not the blank tile", style)
		}
	}
}

func TestSmallFiles(t *testing.T) {
	l := layerOf(testLake{lon: 13.4, lat: 52.5, chl: 30})
	for z := maptile.Zoom(0); z <= 18; z++ {
		s := Spec{Tile: maptile.At([2]float64{13.4, 52.5}, z), Scale: 1, Style: Heat, Colormap: colormap.Default}
		limit := 1400
		if z > 13 {
			limit = 3500 // a blob twice as wide and more, dithered, fills half of the tile
		}
		if n := len(mustRender(t, l, s)); n >= limit {
			t.Errorf("zoom %d: a tile with one blob is %d bytes, want less than %d", z, n, limit)
		}
	}
}

// TestMemoryIsBounded checks that reused memory is not much larger than common tiles need.
func TestMemoryIsBounded(t *testing.T) {
	r := renderer()
	// So large that they are stamped, however many they are.
	l := layerOf(slices.Repeat([]testLake{{lon: 13.4, lat: 52.5, chl: 5, areaKM2: 100}}, maxKept+1000)...)
	for style, p := range r.styles {
		w := windowOf(maptile.At([2]float64{13.4, 52.5}, 9), 1)
		m := &memory{encoder: palettepng.NewEncoder()}
		m.find(l, w, p, 0)
		m.hashed = m.scene.appendTo(m.hashed[:0])
		m.draw(p, r.colors[colormap.Default].scale, w)
		r.release(m)
		if cap(m.hits)+cap(m.scene.marks)+cap(m.field.splats)+cap(m.hashed) > 0 {
			t.Errorf("%s: kept are %d hits, %d marks, %d splats and %d hashed bytes", style,
				cap(m.hits), cap(m.scene.marks), cap(m.field.splats), cap(m.hashed))
		}
	}
}

// TestMemoryReleasesLayers checks that the memory of a tile does not keep its layer alive.
func TestMemoryReleasesLayers(t *testing.T) {
	r := New(who2003())
	for _, style := range Styles() {
		l := layerOfShores(t, lakeland()...)
		self := weak.Make(l)
		s := Spec{Tile: maptile.At([2]float64{13.4, 52.46}, 12), Scale: 1, Style: style.ID, Colormap: colormap.Default}
		if _, ok := r.Fingerprint(l, s); !ok {
			t.Fatalf("%s: the tile is blank", style.ID)
		}
		l = nil
		runtime.GC()
		if self.Value() != nil {
			t.Errorf("%s: the layer is still in memory", style.ID)
		}
	}
}

// A panickingPainter panics while it makes marks, once.
type panickingPainter struct {
	painter
	panics bool
}

func (p *panickingPainter) appendMarks(marks []mark, l *Layer, hits []hit, w window) []mark {
	if p.panics {
		p.panics = false
		panic("a mark too many")
	}
	return p.painter.appendMarks(marks, l, hits, w)
}

// TestSceneIsNotReusedAfterPanic makes a scene, panics in the next one, and asks for that one again: it must not be the first.
func TestSceneIsNotReusedAfterPanic(t *testing.T) {
	l := layerOf(country()...)
	p := &panickingPainter{painter: newDots()}
	dots := renderer().styles[Dots]
	panicking := *dots
	panicking.painter = p
	m := new(memory)
	here, there := windowOf(maptile.At([2]float64{11, 51}, 6), 1), windowOf(maptile.At([2]float64{9, 48}, 9), 1)
	m.find(l, here, &panicking, 0)
	p.panics = true
	func() {
		defer func() { _ = recover() }()
		m.find(l, there, &panicking, 0)
	}()
	m.find(l, there, &panicking, 0)
	want := new(memory)
	want.find(l, there, dots, 0)
	if len(want.scene.marks) == len(m.scene.marks) && slices.Equal(want.scene.marks, m.scene.marks) {
		return
	}
	t.Errorf("after a panic a scene has %d marks, want the %d of its own window", len(m.scene.marks), len(want.scene.marks))
}

// TestMarksAreNotReusedAfterPainting draws and then takes the fingerprint: painting reorders marks.
func TestMarksAreNotReusedAfterPainting(t *testing.T) {
	l := layerOf(country()...)
	for _, style := range Styles() {
		s := Spec{Tile: maptile.At([2]float64{11, 51}, 6), Scale: 1, Style: style.ID, Colormap: colormap.Default}
		want, _ := renderer().Fingerprint(layerOf(country()...), s)
		mustRender(t, l, s)
		if got, _ := renderer().Fingerprint(l, s); got != want {
			t.Errorf("%s: the fingerprint after drawing is %x, want %x", style.ID, got, want)
		}
	}
}
