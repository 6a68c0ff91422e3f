package legend

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"limnomap/colormap"
	"limnomap/render/hashtest"
	"limnomap/render/symbol"
)

// markers and waters are the looks of the styles Dots and Lakes.
func markers() symbol.Look { return symbol.Look{Kind: symbol.Markers, Signs: symbol.Signs()} }

func waters() symbol.Look { return symbol.Look{Kind: symbol.Waters, Signs: symbol.Signs()} }

func TestGoldenSigns(t *testing.T) {
	for _, test := range []struct {
		name         string
		id           colormap.ID
		limits       colormap.Limits
		look         symbol.Look
		width, scale int
	}{
		{"markers_limno_160@2x", colormap.Default, who2003(), markers(), 160, 2},
		{"markers_limno_320", colormap.Default, who2003(), markers(), 320, 1},
		{"markers_limno_640@2x", colormap.Default, who2003(), markers(), 640, 2},
		{"markers_who2021_240", colormap.Default, who2021(), markers(), 240, 1},
		{"markers_viridis_320@2x", "viridis", who2003(), markers(), 320, 2},
		{"waters_limno_320@2x", colormap.Default, who2003(), waters(), 320, 2},
		{"waters_who2021_160", colormap.Default, who2021(), waters(), 160, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			body, err := PNG(newMap(t, test.id, test.limits), test.look, test.width, test.scale)
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

// TestBytesOfSigns compares legends with signs with the hashes that are filed under hashVersion.
func TestBytesOfSigns(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("SKIPPED: the hashes are those of amd64: anti-aliasing may differ in its last bit elsewhere")
	}
	var files []hashtest.File
	for _, id := range colormap.IDs() {
		m := newMap(t, id, who2003())
		for name, look := range map[string]symbol.Look{"markers": markers(), "waters": waters()} {
			for _, width := range []int{MinWidth, 320, 640} {
				svg, err := SVG(m, look, width)
				if err != nil {
					t.Fatal(err)
				}
				files = append(files, hashtest.File{Name: fmt.Sprintf("%s/%s/%d.svg", id, name, width), Bytes: svg})
				for _, scale := range []int{1, 2} {
					png, err := PNG(m, look, width, scale)
					if err != nil {
						t.Fatal(err)
					}
					files = append(files, hashtest.File{Name: fmt.Sprintf("%s/%s/%d@%dx.png", id, name, width, scale), Bytes: png})
				}
			}
		}
	}
	hashtest.Check(t, "signs_v"+hashVersion, files, *update)
}

// A legend without symbols has none: an empty list of signs and nil are the same.
func TestNoSigns(t *testing.T) {
	m := newMap(t, colormap.Default, who2003())
	var first []byte
	for _, signs := range [][]symbol.Sign{nil, {}} {
		body, err := SVG(m, symbol.Look{Signs: signs}, 320)
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && !bytes.Equal(first, body) || bytes.Contains(body, []byte("<circle")) || bytes.Contains(body, []byte("<polygon")) || bytes.Contains(body, []byte("Sign")) {
			t.Errorf("the legend of %v is %s, want one without signs", signs, body)
		}
		first = body
	}
}

// A box is the part of a picture that an element covers.
type box struct {
	name                     string
	left, top, right, bottom float64
}

func (b box) overlaps(c box) bool {
	return b.left < c.right && c.left < b.right && b.top < c.bottom && c.top < b.bottom
}

// parsed is what a picture shows.
type parsed struct {
	width, height float64
	texts         []box
	symbols       []box
	words, desc   string // words are those of all texts, with spaces between them
}

// parseSVG reads an SVG. It must be well-formed, and have shapes and texts only.
func parseSVG(t testing.TB, body []byte) parsed {
	t.Helper()
	var p parsed
	var words []string
	var open []string
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
			switch {
			case len(open) == 0:
			case open[len(open)-1] == "text":
				words = append(words, string(token))
				p.texts[len(p.texts)-1].name = string(token)
			case open[len(open)-1] == "desc":
				p.desc += string(token)
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.StartElement:
			open = append(open, token.Name.Local)
			attributes := make(map[string]string)
			for _, a := range token.Attr {
				attributes[a.Name.Local] = a.Value
			}
			value := func(name string) float64 {
				v, err := strconv.ParseFloat(attributes[name], 64)
				if err != nil {
					t.Fatalf("%s of %v: %v", name, token, err)
				}
				return v
			}
			switch token.Name.Local {
			case "svg":
				p.width, p.height = value("width"), value("height")
			case "circle":
				x, y, r := value("cx"), value("cy"), value("r")
				if attributes["fill"] == "none" {
					r += value("stroke-width") / 2
				}
				p.symbols = append(p.symbols, box{"circle", x - r, y - r, x + r, y + r})
			case "polygon":
				b := box{"polygon", math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
				for _, point := range strings.Fields(attributes["points"]) {
					var x, y float64
					if _, err := fmt.Sscanf(point, "%f,%f", &x, &y); err != nil {
						t.Fatalf("point %q: %v", point, err)
					}
					b.left, b.top, b.right, b.bottom = min(b.left, x), min(b.top, y), max(b.right, x), max(b.bottom, y)
				}
				p.symbols = append(p.symbols, b)
			case "text":
				left, y, size, length := value("x"), value("y"), value("font-size"), value("textLength")
				switch attributes["text-anchor"] {
				case "middle":
					left -= length / 2
				case "end":
					left -= length
				}
				// Ascenders of the Go fonts are about 0.8 of the size above the baseline, descenders 0.2 below it.
				p.texts = append(p.texts, box{"", left, y - 0.8*size, left + length, y + 0.2*size})
			case "title", "desc", "g", "rect":
			default:
				t.Errorf("element %s: want only shapes and text", token.Name.Local)
			}
		}
	}
	p.words = strings.Join(words, " ")
	return p
}

// TestSymbolsStayInside draws legends with symbols at many widths: nothing leaves the paper, no text overlaps another one or a symbol,
// and the symbols and their words are complete.
func TestSymbolsStayInside(t *testing.T) {
	for name, look := range map[string]symbol.Look{"markers": markers(), "waters": waters()} {
		m := newMap(t, colormap.Default, who2021())
		l := m.Legend()
		for width := MinWidth; width <= MaxWidth; width += 5 {
			body, err := SVG(m, look, width)
			if err != nil {
				t.Fatal(err)
			}
			p := parseSVG(t, body)
			for i, b := range append(p.texts, p.symbols...) {
				if b.left < 6 || b.top < 6 || b.right > p.width-5 || b.bottom > p.height-6 {
					t.Fatalf("%s, width %d: %+v is near the edge of the paper, %v x %v", name, width, b, p.width, p.height)
				}
				for _, c := range p.texts[:min(i, len(p.texts))] {
					if b.overlaps(c) {
						t.Fatalf("%s, width %d: %+v overlaps %+v", name, width, b, c)
					}
				}
			}
			for _, word := range append([]string{symbol.OldLabel, l.NoData.Label}, symbol.Signs()[0].Label, symbol.Signs()[1].Label) {
				if !strings.Contains(p.words, word) {
					t.Fatalf("%s, width %d: %q lacks the words %q", name, width, p.words, word)
				}
			}
			for _, words := range []string{
				symbol.Signs()[0].Look + ": " + symbol.Signs()[0].Label + ".", symbol.Signs()[1].Look + ": " + symbol.Signs()[1].Label + ".",
				symbol.OldLabel + ".", map[string]string{"markers": "Grey ring: no data.", "waters": "Grey and hatched: no data."}[name],
			} {
				if !strings.Contains(p.desc, words) {
					t.Fatalf("%s, width %d: the description %q lacks %q", name, width, p.desc, words)
				}
			}
		}
	}
}

// luminanceContrast is the contrast of WCAG 2.2.
func luminanceContrast(a, b color.NRGBA) float64 {
	p, q := colormap.Luminance(a), colormap.Luminance(b)
	return (max(p, q) + 0.05) / (min(p, q) + 0.05)
}

// TestContrastOfSigns checks that neighbouring parts of a sign, and the sign and the paper, differ: WCAG asks for 3 to 1. The value is on
// a line that is as dark as the text, around every value.
func TestContrastOfSigns(t *testing.T) {
	paper := color.NRGBA{0xff, 0xff, 0xff, 0xff}
	for _, id := range colormap.IDs() {
		value := parseHex(newMap(t, id, who2003()).Legend().Classes[0].Color)
		for _, sign := range symbol.Signs() {
			shapes := sign.ID.Shapes(symbol.Medium, markerRadius)
			visible := shapes[0].Paint.Color(value)
			if sign.ID == symbol.Closed {
				visible = shapes[1].Paint.Color(value) // its white ring is for dark maps
			}
			if got := luminanceContrast(visible, paper); got < 3 {
				t.Errorf("%s: the contrast of %s and the paper is %.1f, want 3 or more", id, sign.ID, got)
			}
			for i, s := range shapes[1:] {
				a, b := shapes[i].Paint.Color(value), s.Paint.Color(value)
				// The value is next to a line that separates it from both.
				if got := luminanceContrast(a, b); got < 3 && s.Paint != symbol.Value {
					t.Errorf("%s: the contrast of parts %d and %d of %s is %.1f, want 3 or more", id, i, i+1, sign.ID, got)
				}
			}
		}
	}
	if got := luminanceContrast(inkColor(), paper); got < 7 {
		t.Errorf("the contrast of the text of signs is %.1f, want 7 or more", got)
	}
}
