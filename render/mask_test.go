package render

import (
	"testing"

	"pgregory.net/rapid"
)

// newTestMask returns an empty mask of a window of that many pixels, and the window.
func newTestMask(width, height, scale int) (*mask, window) {
	w := window{zoom: 12, scale: scale, left: 1 << 12, top: 1 << 12, width: width, height: height}
	var m mask
	m.reset(w, rectangle{0, 0, int64(width), int64(height)})
	return &m, w
}

// TestMaskFillsByTheEvenOddRule compares rings of any shape, which cross themselves and each other, with a test of each
// sample.
func TestMaskFillsByTheEvenOddRule(t *testing.T) {
	type point struct{ x, y int64 }
	rapid.Check(t, func(t *rapid.T) {
		m, w := newTestMask(rapid.IntRange(1, 40).Draw(t, "width"), rapid.IntRange(1, 20).Draw(t, "height"), rapid.IntRange(1, 2).Draw(t, "scale"))
		far := rapid.SampledFrom([]int64{50, 1000, maxExtent}).Draw(t, "far")
		number := rapid.OneOf(rapid.Int64Range(-50, 400), rapid.Int64Range(-far, far))
		s := samplingOf(w)
		type segment struct{ a, b point }
		var all []segment
		for range rapid.IntRange(1, 3).Draw(t, "rings") {
			ring := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) point {
				return point{number.Draw(t, "x"), number.Draw(t, "y")}
			}), 3, 8).Draw(t, "ring")
			for i, a := range ring {
				b := ring[(i+1)%len(ring)]
				all = append(all, segment{a, b})
				m.segment(a.x, a.y, b.x, b.y, s)
			}
		}
		m.count()
		for row := range int64(m.height) {
			for column := range int64(m.words * wordPixels) {
				want := uint8(0)
				for i := range int64(whole) {
					x := (column*samples+i%samples)<<s.shift + s.first
					y := (row*samples+i/samples)<<s.shift + s.first
					inside := false
					for _, l := range all {
						a, b := l.a, l.b
						if a.y > b.y {
							a, b = b, a
						}
						// West of the sample or through it, by the sign of the area of the three points.
						if a.y <= y && y < b.y && (b.x-a.x)*(y-a.y) <= (x-a.x)*(b.y-a.y) {
							inside = !inside
						}
					}
					if inside {
						want++
					}
				}
				at := (row+int64(m.edge))*int64(m.words+2)*wordPixels + wordPixels + column
				if got := m.cover[at]; got != want {
					t.Fatalf("pixel %d,%d has %d samples in the water, want %d", column, row, got, want)
				}
			}
		}
	})
}

// TestWidthOfLines draws a square and checks a row and a diagonal through its corner. At scale 1 the rim outside of the water is a pixel
// wide, and the line on its edge half a pixel.
func TestWidthOfLines(t *testing.T) {
	const (
		rim  = rimEntry + quarters - 1
		half = fillEntry + 1 // of a pixel is filling
		fill = fillEntry + quarters - 1
	)
	tests := []struct {
		name       string
		scale      int
		west, east int64 // of the water, in units
		want       []uint8
	}{
		{"on the grid", 1, 32, 80, []uint8{0, rim, half, fill, half, rim, 0}},
		{"half a pixel east of it", 1, 40, 88, []uint8{0, rimEntry + 1, fillEntry, half + 1, half + 1, fillEntry, rimEntry + 1, 0}},
		{"a quarter of a pixel wide", 1, 36, 40, []uint8{0, rimEntry, toneEntry + 2, rimEntry, 0}},
		{"half a pixel wide", 1, 34, 42, []uint8{0, rimEntry + 1, fillEntry, rimEntry + 1, 0}},
		{"scale 2", 2, 24, 56, []uint8{0, rim, rim, fillEntry, fill, fill, fillEntry, rim, rim, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, w := newTestMask(len(tt.want), len(tt.want), tt.scale)
			s, margin := samplingOf(w), int64(tt.scale)*w.step() // the mask begins that far outside of the window
			for _, turned := range []bool{false, true} {
				m.reset(w, rectangle{0, 0, int64(len(tt.want)), int64(len(tt.want))})
				corners := [][2]int64{{tt.west, 0}, {tt.east, 0}, {tt.east, 400}, {tt.west, 400}}
				for i, a := range corners {
					b := corners[(i+1)%len(corners)]
					if turned {
						m.segment(a[1]-100, a[0]+margin, b[1]-100, b[0]+margin, s)
					} else {
						m.segment(a[0]+margin, a[1]-100, b[0]+margin, b[1]-100, s)
					}
				}
				dst := make([]uint8, len(tt.want)*len(tt.want))
				m.paint(dst, w, &hardInks.values[0][0])
				for i, want := range tt.want {
					at := len(tt.want)*2 + i
					if turned {
						at = i*len(tt.want) + 2
					}
					if dst[at] != want {
						t.Errorf("turned: %v, pixel %d is %d, want %d", turned, i, dst[at], want)
					}
				}
			}
		})
	}
}
