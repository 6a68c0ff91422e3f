package symbol

import (
	"fmt"
	"image/color"
	"math"
	"testing"

	"limnomap/colormap"
)

// widest returns how far s reaches from the lake in a direction, 0 to 1 of a circle.
func (s Shape) widest(direction float64) float64 {
	sin, cos := math.Sincos(2 * math.Pi * direction)
	reach := s.Radius
	for _, p := range s.Corners {
		reach = max(reach, p[0]*cos+p[1]*sin)
	}
	return reach
}

// checkCovered checks that each shape lies within the one before it, so that lines remain, and has another colour.
func checkCovered(t *testing.T, name string, shapes []Shape) {
	t.Helper()
	for i, s := range shapes[1:] {
		below := shapes[i]
		for direction := 0.0; direction < 1; direction += 1.0 / 64 {
			if got, least := s.widest(direction), below.widest(direction); got <= 0 || got > least-0.49 {
				t.Errorf("%s: shape %d reaches %.2f in direction %.2f, want half a pixel less than %.2f", name, i+1, got, direction, least)
			}
		}
		if s.Paint == below.Paint {
			t.Errorf("%s: shape %d is not visible on the one before it", name, i+1)
		}
	}
}

// radii are some radii of markers.
var radii = []float64{1.5, 2.5, 4, 6}

func TestMarkers(t *testing.T) {
	for _, radius := range radii {
		width := make(map[Class]float64)
		for _, c := range Classes() {
			name := fmt.Sprintf("class %d of radius %v", c, radius)
			shapes := c.Shapes(radius)
			checkCovered(t, name, shapes)
			if shapes[0].Paint != White {
				t.Errorf("%s: the outermost line has paint %d, want white", name, shapes[0].Paint)
			}
			for direction := 0.0; direction < 1; direction += 0.25 {
				if got := shapes[0].widest(direction); got > Reach(radius) {
					t.Errorf("%s reaches %.2f, more than %.2f", name, got, Reach(radius))
				}
			}
			if c == None {
				if s := shapes[1]; s.Paint != Grey || s.Inner <= 0 || shapes[0].Inner >= s.Inner {
					t.Errorf("%s: shapes %+v are no grey ring within white", name, shapes)
				}
				continue
			}
			value := shapes[len(shapes)-1]
			width[c] = value.widest(0)
			if shapes[1].Paint != Dark || value.Paint != Value {
				t.Errorf("%s: shapes %+v, want a dark line around the value", name, shapes)
			}
			if old := c.OldShapes(radius); len(old) != len(shapes) || old[1].Paint != Dark || old[2].Paint != Pale {
				t.Errorf("%s: old shapes %+v, want the same with a pale value", name, old)
			}
		}
		if width[Low] >= width[Medium] || width[Low] >= width[High] {
			t.Errorf("radius %v: the widths of the classes are %v, want the worse ones larger than low", radius, width)
		}
	}
}

// TestSigns checks of each sign that the first shape has the radius that tiles reserve.
func TestSigns(t *testing.T) {
	for _, sign := range Signs() {
		if sign.Label == "" || sign.Look == "" {
			t.Errorf("sign %+v has no words", sign)
		}
		for _, radius := range radii {
			for _, c := range []Class{Medium, High} {
				name := fmt.Sprintf("%s of class %d and radius %v", sign.ID, c, radius)
				shapes := sign.ID.Shapes(c, radius)
				if shapes[0].Radius != radius+RimPx {
					t.Errorf("%s: radius %v, want %v", name, shapes[0].Radius, radius+RimPx)
				}
				tones := make(map[Paint]bool)
				for i, s := range shapes {
					tones[s.Paint] = true
					if i == 0 {
						continue
					}
					// Round shapes first, and within them the others.
					if below := shapes[i-1]; below.Corners == nil && s.reach() > below.Radius || s.Paint == below.Paint {
						t.Errorf("%s: shape %d reaches %v, want %v at most and another paint", name, i, s.reach(), below.Radius)
					}
				}
				if !tones[Dark] || !tones[White] {
					t.Errorf("%s: want dark and white parts", name)
				}
				if got, want := tones[Value], sign.ID == Worse; got != want {
					t.Errorf("%s: shows the value: %v, want %v", name, got, want)
				}
			}
		}
	}
}

func TestUnknownSignPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Shapes of an unknown sign did not panic")
		}
	}()
	SignID("open").Shapes(High, 5)
}

func TestColor(t *testing.T) {
	value := color.NRGBA{1, 2, 3, 0xff}
	for p, want := range map[Paint]color.NRGBA{Value: value, Dark: DarkColor(), White: WhiteColor(), Grey: colormap.NoData(),
		Pale: {140, 141, 141, 0xff}} {
		if got := p.Color(value); got != want {
			t.Errorf("Color of paint %d = %v, want %v", p, got, want)
		}
	}
}

// A very small disc in a crowd has no dark line: it would mix with most of its pixels. A larger one, and the worst class, have one.
func TestCrowdedShapesHaveNoLineIfSmall(t *testing.T) {
	for _, test := range []struct {
		class Class
		end   float64
		dark  bool
	}{{Low, 1, false}, {Medium, 2.4, false}, {Low, 2.6, true}, {Medium, 3, true}, {High, 1, true}} {
		dark := false
		for _, s := range test.class.CrowdedShapes(CrowdedRadius(test.end)) {
			dark = dark || s.Paint == Dark
		}
		if dark != test.dark {
			t.Errorf("class %d, %v pixels to its end: a dark line %t, want %t", test.class, test.end, dark, test.dark)
		}
	}
}
