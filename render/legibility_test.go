package render

import (
	"image/color"
	"math"
	"testing"

	"limnomap/colormap"
	"limnomap/render/palettepng"
)

// visions are matrices on linear sRGB: normal vision, and without green cones (Machado, Oliveira and Fernandes 2009, IEEE
// TVCG 15(6), severity 1.0), the most frequent of the strong deficiencies.
var visions = map[string][3][3]float64{
	"normal": {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"deuteranopia": {
		{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
}

// TestClassesAreLegible draws every colour of the maps with a hue for each class at full opacity over several basemaps, and checks
// that none can be mistaken for one of another class, with normal and with deficient colour vision.
func TestClassesAreLegible(t *testing.T) {
	for _, id := range []colormap.ID{colormap.Default} {
		t.Run(string(id), func(t *testing.T) { testClassesAreLegible(t, id) })
	}
}

func testClassesAreLegible(t *testing.T, id colormap.ID) {
	// Ten just noticeable differences.
	const smallest = 23.0
	m, p := newMap(t, id, who2003()), heatPalette(newMap(t, id, who2003()))
	full := newShading(m, &fullRange).entries[levels-1]
	for name, ground := range map[string]color.NRGBA{
		"white":              {255, 255, 255, 255},
		"dark grey":          {0x2b, 0x2b, 0x2b, 255},
		"forest, from air":   {0x2e, 0x3d, 0x22, 255},
		"meadow, from air":   {0x6b, 0x7d, 0x45, 255},
		"ploughed, from air": {0x8a, 0x76, 0x57, 255},
	} {
		for vision, matrix := range visions {
			least := math.Inf(1)
			for i := range full {
				for j := range i {
					if classOf(m, i) == classOf(m, j) {
						continue
					}
					a, b := seenBy(matrix, p[full[i]], ground), seenBy(matrix, p[full[j]], ground)
					d := cie76(a, b)
					least = min(least, d)
					if d < smallest {
						t.Errorf("over %s, %s: colours %d and %d of different classes differ by %.1f, want %v or more",
							name, vision, i, j, d, smallest)
					}
				}
			}
			t.Logf("over %s, %s: classes differ by %.1f or more", name, vision, least)
		}
	}
}

// seenBy returns how c over ground looks.
func seenBy(matrix [3][3]float64, c, ground color.NRGBA) lab {
	shown := over(channels(c), float64(c.A)/0xff, channels(ground))
	var seen [3]float64
	for i, row := range matrix {
		for j, weight := range row {
			seen[i] += weight * linear(shown[j])
		}
		seen[i] = min(max(seen[i], 0), 1)
	}
	return labOfLinear(seen[0], seen[1], seen[2])
}

// TestHighIsSeenOnDark checks the fading edges of the highest class: on white they look as if they were of its colours, and on a dark map some of them have a
// contrast of 3 (WCAG 2.2, 1.4.11), and none looks like one of another class or like no data.
func TestHighIsSeenOnDark(t *testing.T) {
	m := newMap(t, colormap.Default, who2003())
	table, normal, dark := m.Table(), visions["normal"], mapGrounds[1]
	contrast := func(c color.NRGBA) float64 {
		y := func(of lab) float64 { return math.Pow((of.l+16)/116, 3) + 0.05 }
		return y(seenBy(normal, c, dark)) / y(labOf(dark))
	}
	white, least, apart := 0.0, math.Inf(1), math.Inf(1)
	for i, c := range table {
		if classOf(m, i) < upperClasses {
			continue
		}
		most := 0.0
		for level := 1; level <= levels; level++ {
			rim := shadesOf(table[i:i+1], true, fullRange.of(level), 1)[0]
			c.A = uint8(math.Round(0xff * fullRange.of(level)))
			white = max(white, cie76(seenBy(normal, rim, whiteColor), seenBy(normal, c, whiteColor)))
			most = max(most, contrast(rim))
			if contrast(rim) < 3 {
				continue
			}
			other := colormap.NoData()
			for j := range table {
				for below := 1; below <= levels; below++ {
					other.A = uint8(math.Round(0xff * traceOpacity))
					if classOf(m, j) < upperClasses {
						other = shadesOf(table[j:j+1], false, fullRange.of(below), 1)[0]
					}
					apart = min(apart, cie76(seenBy(normal, rim, dark), seenBy(normal, other, dark)))
				}
			}
		}
		least = min(least, most)
	}
	t.Logf("edges differ by at most %.1f on white; on dark they have a contrast of %.1f or more, and differ by %.1f or more from other lakes", white, least, apart)
	forecast := colormap.NewForecast(who2003())
	chances := newShading(forecast, &fullRange)
	var p palettepng.Palette
	chances.addTo(&p, forecast, 1)
	for i := range forecast.Table() {
		rim := 0.0
		for level := range levels {
			rim = max(rim, contrast(p[chances.entries[level][i]]))
		}
		if highest := classOf(forecast, i) == upperClasses; highest && rim < 2 {
			t.Errorf("on dark the edge of probability colour %d has a contrast of %.1f, want 2: it is one of the highest class", i, rim)
		}
	}
	if white > 1.5 || least < 3 || apart < 10 {
		t.Errorf("edges differ by %.1f on white, want at most 1.5; on dark they have a contrast of %.1f and differ by %.1f from other lakes, want 3 and 10", white, least, apart)
	}
}
