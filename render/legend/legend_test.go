package legend

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"limnomap/colormap"
	"limnomap/render/hashtest"
	"limnomap/render/picture"
	"limnomap/render/symbol"
)

var update = flag.Bool("update", false, "rewrite the golden legends in testdata, and add missing hashes")

func newMap(t testing.TB, id colormap.ID, limits colormap.Limits) *colormap.Map {
	t.Helper()
	if id == colormap.Forecast {
		return colormap.NewForecast(limits)
	}
	m, err := colormap.New(id, limits)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// PNG draws a legend in English, as [Words.PNG] does.
func PNG(m *colormap.Map, look symbol.Look, width, scale int) ([]byte, error) {
	w, err := In(English)
	if err != nil {
		return nil, err
	}
	return w.PNG(m, look, width, scale)
}

// SVG draws a legend in English, as [Words.SVG] does.
func SVG(m *colormap.Map, look symbol.Look, width int) ([]byte, error) {
	w, err := In(English)
	if err != nil {
		return nil, err
	}
	return w.SVG(m, look, width)
}

func who2003() colormap.Limits {
	return colormap.Limits{
		Level1: 10, Level2: 50, Title: "WHO 2003", Cells: [2]float64{20_000, 100_000},
		Words: [3]string{"relatively low probability of adverse health effects", "moderate probability of adverse health effects", "high probability of adverse health effects"},
	}
}

func who2021() colormap.Limits {
	return colormap.Limits{Level1: 12, Level2: 24, Above: true, Title: "WHO 2021"}
}

func TestGolden(t *testing.T) {
	for _, test := range []struct {
		name         string
		id           colormap.ID
		limits       colormap.Limits
		width, scale int
	}{
		{"forecast_320@2x", colormap.Forecast, who2003(), 320, 2},
		{"forecast_160", colormap.Forecast, who2021(), 160, 1},
		{"limno_160", colormap.Default, who2003(), 160, 1},
		{"limno_320@2x", colormap.Default, who2003(), 320, 2},
		{"limno_640", colormap.Default, who2003(), 640, 1},
		{"who2021_200", colormap.Default, who2021(), 200, 1},
		{"uba2015_320", colormap.Default, colormap.Limits{Level1: 15, Level2: 75, Title: "UBA 2015"}, 320, 1},
		{"viridis_320", "viridis", who2003(), 320, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			body, err := PNG(newMap(t, test.id, test.limits), symbol.Look{}, test.width, test.scale)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", test.name+".png")
			if *update {
				if err := os.WriteFile(file, body, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			golden, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if difference := compare(decode(t, body), decode(t, golden)); difference != "" {
				got := filepath.Join(t.ArtifactDir(), "got.png")
				if err := os.WriteFile(got, body, 0o644); err != nil {
					t.Error(err)
				}
				t.Errorf("%s: %s; see %s (-artifacts keeps it), -update rewrites it", file, difference, got)
			}
		})
	}
}

func decode(t testing.TB, body []byte) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// compare tells where two pictures differ by more than 2 in a channel: some CPUs fuse floating-point operations.
func compare(got, want image.Image) string {
	if got.Bounds() != want.Bounds() {
		return fmt.Sprintf("size %v, want %v", got.Bounds(), want.Bounds())
	}
	near := func(a, b uint8) bool { return max(a, b)-min(a, b) <= 2 }
	for y := range got.Bounds().Dy() {
		for x := range got.Bounds().Dx() {
			g := color.RGBAModel.Convert(got.At(x, y)).(color.RGBA)
			w := color.RGBAModel.Convert(want.At(x, y)).(color.RGBA)
			if !near(g.R, w.R) || !near(g.G, w.G) || !near(g.B, w.B) || !near(g.A, w.A) {
				return fmt.Sprintf("pixel %d,%d is %v, want %v", x, y, g, w)
			}
		}
	}
	return ""
}

// TestStaysInside lays out the legends of all profiles at every width: nothing leaves the paper, and no texts overlap.
func TestStaysInside(t *testing.T) {
	f, err := picture.NewFonts()
	if err != nil {
		t.Fatal(err)
	}
	for _, limits := range []colormap.Limits{who2003(), who2021(), {Level1: 15, Level2: 75, Title: "UBA 2015"}, {Level1: 12.5, Level2: 62.5, Title: "UBA 2015"}} {
		for _, test := range []struct {
			m    *colormap.Map
			look symbol.Look
		}{
			{newMap(t, colormap.Default, limits), symbol.Look{}},
			{newMap(t, colormap.Default, limits), markers()},
			{colormap.NewForecast(limits), symbol.Look{}},
			{colormap.NewForecast(limits), symbol.Look{Kind: symbol.Waters}},
		} {
			for _, language := range languages(t) {
				w := wordsIn(t, language)
				step := 1
				if language != English {
					step = 7 // the columns and lines change at other widths in each language
				}
				for width := MinWidth; width <= MaxWidth; width += step {
					s, err := w.newLayout(test.m, test.look, width, f)
					if err != nil {
						t.Fatal(err)
					}
					checkInside(t, s, f, fmt.Sprintf("%s, %s, %s, width %d", language, test.m.ID, limits.Title, width))
				}
			}
		}
	}
}

// checkInside checks that no rectangle and no text leaves the paper, and that no two texts overlap.
func checkInside(t *testing.T, s *layout, f *picture.Fonts, name string) {
	t.Helper()
	for _, r := range s.rects {
		if r.x < 0 || r.y < 0 || r.x+r.w > s.width || r.y+r.h > s.height || r.w <= 0 || r.h <= 0 {
			t.Fatalf("%s: rectangle %+v is empty or outside of the paper", name, r)
		}
	}
	for i, p := range s.texts {
		pw := f.Width(p.text, p.size, p.bold)
		px := p.x - p.anchor*pw
		if px < 0 || px+pw > s.width || p.y > s.height {
			t.Fatalf("%s: %q is outside of the paper", name, p.text)
		}
		for _, q := range s.texts[:i] {
			qw := f.Width(q.text, q.size, q.bold)
			qx := q.x - q.anchor*qw
			if p.y-p.size < q.y && q.y-q.size < p.y && px < qx+qw && qx < px+pw {
				t.Fatalf("%s: %q overlaps %q", name, p.text, q.text)
			}
		}
	}
}

func TestErrSize(t *testing.T) {
	m := newMap(t, colormap.Default, who2003())
	for _, test := range []struct {
		width, scale int
		message      string
	}{
		{MinWidth - 1, 1, "width 159: allowed are 160 to 1200 pixels"},
		{MaxWidth + 1, 1, "width 1201: allowed are 160 to 1200 pixels"},
		{-1, 1, "width -1"},
		{320, 0, "scale 0: allowed are 1 to 4"},
		{320, 5, "scale 5: allowed are 1 to 4"},
	} {
		if _, err := PNG(m, symbol.Look{}, test.width, test.scale); !errors.Is(err, ErrSize) || !strings.Contains(err.Error(), test.message) {
			t.Errorf("PNG(%d, %d) = %v, want %q", test.width, test.scale, err, test.message)
		}
		if test.scale != 1 {
			continue
		}
		if _, err := SVG(m, symbol.Look{}, test.width); !errors.Is(err, ErrSize) || !strings.Contains(err.Error(), test.message) {
			t.Errorf("SVG(%d) = %v, want %q", test.width, err, test.message)
		}
	}
}

// hashVersion is that of the bytes of legends. It changes with any of them, and with render.Version if the renderer does: tiles are kept on disk
// under that one, and legends are not.
const hashVersion = "8"

// TestBytesOfThisVersion compares legends with the hashes that are filed under hashVersion.
func TestBytesOfThisVersion(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("SKIPPED: the hashes are those of amd64: anti-aliasing may differ in its last bit elsewhere")
	}
	var files []hashtest.File
	for _, limits := range []colormap.Limits{who2003(), who2021(), {Level1: 15, Level2: 75, Title: "UBA 2015"}} {
		for _, id := range colormap.IDs() {
			m := newMap(t, id, limits)
			for _, width := range []int{MinWidth, 320, 640} {
				name := fmt.Sprintf("%s/%s/%d", id, strings.ReplaceAll(limits.Title, " ", ""), width)
				svg, err := SVG(m, symbol.Look{}, width)
				if err != nil {
					t.Fatal(err)
				}
				files = append(files, hashtest.File{Name: name + ".svg", Bytes: svg})
				for _, scale := range []int{1, 2} {
					png, err := PNG(m, symbol.Look{}, width, scale)
					if err != nil {
						t.Fatal(err)
					}
					files = append(files, hashtest.File{Name: fmt.Sprintf("%s@%dx.png", name, scale), Bytes: png})
				}
			}
		}
	}
	hashtest.Check(t, "v"+hashVersion, files, *update)
}

// TestSVG parses the SVG and checks its elements, texts and colours.
func TestSVG(t *testing.T) {
	limits := who2021()
	limits.Title = `A & B <"2021">`
	m := newMap(t, colormap.Default, limits)
	body, err := SVG(m, symbol.Look{}, 320)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	fills := make(map[string]bool)
	for d := xml.NewDecoder(bytes.NewReader(body)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v in %s", err, body)
		}
		switch token := token.(type) {
		case xml.CharData:
			text.Write(token)
		case xml.StartElement:
			switch token.Name.Local {
			case "svg", "title", "desc", "g", "rect", "text":
			default:
				t.Errorf("element %s: want only shapes and text", token.Name.Local)
			}
			for _, a := range token.Attr {
				if a.Name.Local == "fill" {
					fills[a.Value] = true
				}
			}
		}
	}
	for _, want := range []string{"Chlorophyll-a, µg/l", "low risk", "medium risk", "high risk", "12 or less",
		"above 12, up to 24", "above 24", "no data", limits.Title, "cyanobacteria"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the legend lacks the text %q", want)
		}
	}
	for i, c := range m.Table() {
		if !fills[colormap.Hex(c)] {
			t.Errorf("color %d, %s, is not shown", i, colormap.Hex(c))
		}
	}
	if !fills[colormap.Hex(colormap.NoData())] {
		t.Error("the color of no data is not shown")
	}
}

// languages returns those of the files of words.
func languages(t testing.TB) (all []string) {
	t.Helper()
	entries, err := files.ReadDir("words")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, strings.TrimSuffix(e.Name(), ".json"))
	}
	return all
}

func english(t testing.TB) *Words { return wordsIn(t, English) }

func wordsIn(t testing.TB, language string) *Words {
	t.Helper()
	w, err := In(language)
	if err != nil {
		t.Fatal(err)
	}
	return w
}
