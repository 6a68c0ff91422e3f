package symbol

import (
	"image/color"
	"math"
	"testing"

	"limnomap/colormap"
)

// TestShapes checks of each sign that every shape lies within the one before it and has another colour, and that the first has
// the radius that tiles reserve.
func TestShapes(t *testing.T) {
	for _, sign := range Signs() {
		if sign.Label == "" || sign.Look == "" {
			t.Errorf("sign %+v has no words", sign)
		}
		for _, casing := range []bool{false, true} {
			const radius = 5
			shapes := sign.ID.Shapes(radius, casing)
			if shapes[0].Radius != radius+RimPx {
				t.Errorf("%s: radius %v, want %v", sign.ID, shapes[0].Radius, radius+RimPx)
			}
			tones := make(map[Paint]bool)
			for i, s := range shapes {
				tones[s.Paint] = true
				if i == 0 {
					continue
				}
				below := shapes[i-1]
				if reach := max(s.Radius, math.Hypot(s.Length, s.Width)); reach <= 0 || reach >= below.Radius {
					t.Errorf("%s, casing %v: shape %d reaches %v, want less than %v", sign.ID, casing, i, reach, below.Radius)
				}
				if s.Paint == below.Paint {
					t.Errorf("%s, casing %v: shape %d is not visible on the one before it", sign.ID, casing, i)
				}
			}
			if !tones[Dark] || !tones[White] {
				t.Errorf("%s, casing %v: want dark and white parts", sign.ID, casing)
			}
			if got, want := tones[Value], sign.ID == Worse; got != want {
				t.Errorf("%s, casing %v: shows the value: %v, want %v", sign.ID, casing, got, want)
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
	SignID("open").Shapes(5, false)
}

func TestHasCasing(t *testing.T) {
	for c, want := range map[color.NRGBA]bool{
		DarkColor(): true, WhiteColor(): false, colormap.NoData(): false, {0, 0, 0, 0xff}: true, {0xff, 0xff, 0, 0xff}: false,
	} {
		if got := HasCasing(c); got != want {
			t.Errorf("HasCasing(%v) = %v, want %v", c, got, want)
		}
	}
}

func TestColor(t *testing.T) {
	value := color.NRGBA{1, 2, 3, 0xff}
	for p, want := range map[Paint]color.NRGBA{Value: value, Dark: DarkColor(), White: WhiteColor()} {
		if got := p.Color(value); got != want {
			t.Errorf("Color of paint %d = %v, want %v", p, got, want)
		}
	}
}
