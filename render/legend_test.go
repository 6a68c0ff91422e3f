package render

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
)

var updateLegend = flag.Bool("update-legend", false, "rewrite the golden legends in testdata")

func legendMap(t testing.TB, id colormap.ID, limits colormap.Limits) *colormap.Map {
	t.Helper()
	m, err := colormap.New(id, limits)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func who2003() colormap.Limits {
	return colormap.Limits{Level1: 10, Level2: 50, Title: "WHO 2003"}
}

func who2021() colormap.Limits {
	return colormap.Limits{Level1: 12, Level2: 24, Above: true, Title: "WHO 2021"}
}

func TestLegendGolden(t *testing.T) {
	for _, test := range []struct {
		name         string
		id           colormap.ID
		limits       colormap.Limits
		width, scale int
	}{
		{"limno_160", colormap.Default, who2003(), 160, 1},
		{"limno_320@2x", colormap.Default, who2003(), 320, 2},
		{"limno_640", colormap.Default, who2003(), 640, 1},
		{"who2021_200", colormap.Default, who2021(), 200, 1},
		{"uba2015_320", colormap.Default, colormap.Limits{Level1: 15, Level2: 75, Title: "UBA 2015"}, 320, 1},
		{"viridis_320", "viridis", who2003(), 320, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			body, err := LegendPNG(legendMap(t, test.id, test.limits), test.width, test.scale)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", "legend_"+test.name+".png")
			if *updateLegend {
				if err := os.MkdirAll("testdata", 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, body, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			golden, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if msg := compareLegends(decodeLegend(t, body), decodeLegend(t, golden)); msg != "" {
				got := filepath.Join(t.ArtifactDir(), "got.png")
				if err := os.WriteFile(got, body, 0o644); err != nil {
					t.Error(err)
				}
				t.Errorf("%s: %s; see %s (-artifacts keeps it), rewrite with -update-legend", file, msg, got)
			}
		})
	}
}

func decodeLegend(t testing.TB, body []byte) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// compareLegends says where two pictures differ by more than 2 in a channel: floating point is fused on some CPUs.
func compareLegends(got, want image.Image) string {
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

// TestLegendStaysInside lays out every map at every width: nothing leaves the paper, no line of text meets another.
func TestLegendStaysInside(t *testing.T) {
	f, err := newLegendFonts()
	if err != nil {
		t.Fatal(err)
	}
	for _, limits := range []colormap.Limits{who2003(), who2021(), {Level1: 15, Level2: 75, Title: "UBA 2015"}} {
		m := legendMap(t, colormap.Default, limits)
		for width := MinLegendWidth; width <= MaxLegendWidth; width++ {
			s, err := newLegendScene(m, width, f)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range s.rects {
				if r.x < 0 || r.y < 0 || r.x+r.w > s.width || r.y+r.h > s.height || r.w <= 0 || r.h <= 0 {
					t.Fatalf("%s, width %d: rectangle %+v is empty or leaves the paper", limits.Title, width, r)
				}
			}
			for i, p := range s.texts {
				pw := f.width(p.text, p.size, p.bold)
				px := p.x - p.anchor*pw
				if px < 0 || px+pw > s.width || p.y > s.height {
					t.Fatalf("%s, width %d: %q leaves the paper", limits.Title, width, p.text)
				}
				for _, q := range s.texts[:i] {
					qw := f.width(q.text, q.size, q.bold)
					qx := q.x - q.anchor*qw
					if p.y-p.size < q.y && q.y-q.size < p.y && px < qx+qw && qx < px+pw {
						t.Fatalf("%s, width %d: %q meets %q", limits.Title, width, p.text, q.text)
					}
				}
			}
		}
	}
}

func TestLegendSizeErrors(t *testing.T) {
	m := legendMap(t, colormap.Default, who2003())
	for _, test := range []struct {
		width, scale int
		says         string
	}{
		{MinLegendWidth - 1, 1, "width 159: allowed are 160 to 1200 pixels"},
		{MaxLegendWidth + 1, 1, "width 1201: allowed are 160 to 1200 pixels"},
		{-1, 1, "width -1"},
		{320, 0, "scale 0: allowed are 1 to 4"},
		{320, 5, "scale 5: allowed are 1 to 4"},
	} {
		if _, err := LegendPNG(m, test.width, test.scale); !errors.Is(err, ErrLegendSize) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("LegendPNG(%d, %d) = %v, want %q", test.width, test.scale, err, test.says)
		}
		if test.scale != 1 {
			continue
		}
		if _, err := LegendSVG(m, test.width); !errors.Is(err, ErrLegendSize) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("LegendSVG(%d) = %v, want %q", test.width, err, test.says)
		}
	}
}

func TestLegendBytesAreStable(t *testing.T) {
	for _, id := range colormap.IDs() {
		var first []byte
		for range 2 {
			m := legendMap(t, id, who2003())
			p, err := LegendPNG(m, 320, 2)
			if err != nil {
				t.Fatal(err)
			}
			s, err := LegendSVG(m, 320)
			if err != nil {
				t.Fatal(err)
			}
			all := append(p, s...)
			if first != nil && !bytes.Equal(all, first) {
				t.Errorf("%s: two legends of one map differ", id)
			}
			first = all
		}
	}
}

// TestLegendBytesOfThisVersion compares legends with the hashes that are filed under Version.
func TestLegendBytesOfThisVersion(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("SKIPPED: the hashes are those of amd64: anti-aliasing may differ in its last bit elsewhere")
	}
	var files []hashtest.File
	for _, limits := range []colormap.Limits{who2003(), who2021(), {Level1: 15, Level2: 75, Title: "UBA 2015"}} {
		for _, id := range colormap.IDs() {
			m := legendMap(t, id, limits)
			for _, width := range []int{MinLegendWidth, 320, 640} {
				name := fmt.Sprintf("%s/%s/%d", id, strings.ReplaceAll(limits.Title, " ", ""), width)
				svg, err := LegendSVG(m, width)
				if err != nil {
					t.Fatal(err)
				}
				files = append(files, hashtest.File{Name: name + ".svg", Bytes: svg})
				for _, scale := range []int{1, 2} {
					png, err := LegendPNG(m, width, scale)
					if err != nil {
						t.Fatal(err)
					}
					files = append(files, hashtest.File{Name: fmt.Sprintf("%s@%dx.png", name, scale), Bytes: png})
				}
			}
		}
	}
	hashtest.Check(t, "legends_v"+Version, files, *updateLegend)
}

// TestLegendSVG reads the SVG as a browser and a screen reader would.
func TestLegendSVG(t *testing.T) {
	limits := who2021()
	limits.Title = `A & B <"2021">`
	m := legendMap(t, colormap.Default, limits)
	body, err := LegendSVG(m, 320)
	if err != nil {
		t.Fatal(err)
	}
	var words strings.Builder
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
			words.Write(token)
		case xml.StartElement:
			switch token.Name.Local {
			case "svg", "title", "desc", "g", "rect", "text":
			default:
				t.Errorf("element %s: want shapes and text alone", token.Name.Local)
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
		if !strings.Contains(words.String(), want) {
			t.Errorf("the legend does not say %q", want)
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
