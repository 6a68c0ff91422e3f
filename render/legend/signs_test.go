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
	"limnomap/render"
	"limnomap/render/hashtest"
	"limnomap/render/symbol"
)

func TestGoldenSigns(t *testing.T) {
	for _, test := range []struct {
		name         string
		id           colormap.ID
		limits       colormap.Limits
		width, scale int
	}{
		{"signs_limno_160@2x", colormap.Default, who2003(), 160, 2},
		{"signs_limno_320", colormap.Default, who2003(), 320, 1},
		{"signs_limno_640@2x", colormap.Default, who2003(), 640, 2},
		{"signs_who2021_240", colormap.Default, who2021(), 240, 1},
		{"signs_viridis_320@2x", "viridis", who2003(), 320, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			body, err := PNG(newMap(t, test.id, test.limits), symbol.Signs(), test.width, test.scale)
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

// TestBytesOfSigns compares legends with signs with the hashes that are filed under render.Version.
func TestBytesOfSigns(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("SKIPPED: the hashes are those of amd64: anti-aliasing may differ in its last bit elsewhere")
	}
	var files []hashtest.File
	for _, id := range colormap.IDs() {
		m := newMap(t, id, who2003())
		for _, width := range []int{MinWidth, 320, 640} {
			svg, err := SVG(m, symbol.Signs(), width)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, hashtest.File{Name: fmt.Sprintf("%s/%d.svg", id, width), Bytes: svg})
			for _, scale := range []int{1, 2} {
				png, err := PNG(m, symbol.Signs(), width, scale)
				if err != nil {
					t.Fatal(err)
				}
				files = append(files, hashtest.File{Name: fmt.Sprintf("%s/%d@%dx.png", id, width, scale), Bytes: png})
			}
		}
	}
	hashtest.Check(t, "signs_v"+render.Version, files, *update)
}

// A legend without signs is the one of before: an empty list and nil are the same.
func TestNoSigns(t *testing.T) {
	m := newMap(t, colormap.Default, who2003())
	var first []byte
	for _, signs := range [][]symbol.Sign{nil, {}} {
		body, err := SVG(m, signs, 320)
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && !bytes.Equal(first, body) || bytes.Contains(body, []byte("<circle")) || bytes.Contains(body, []byte("Sign")) {
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
	discs         []box
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
				p.discs = append(p.discs, box{"circle", x - r, y - r, x + r, y + r})
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

// TestSignsStayInside draws legends with signs at many widths: nothing leaves the paper, no text overlaps another one or a sign, and the
// signs and their words are complete.
func TestSignsStayInside(t *testing.T) {
	for _, id := range []colormap.ID{colormap.Default, "viridis"} {
		m := newMap(t, id, who2021())
		for width := MinWidth; width <= MaxWidth; width += 5 {
			body, err := SVG(m, symbol.Signs(), width)
			if err != nil {
				t.Fatal(err)
			}
			p := parseSVG(t, body)
			for i, b := range append(p.texts, p.discs...) {
				if b.left < 6 || b.top < 6 || b.right > p.width-5 || b.bottom > p.height-6 {
					t.Fatalf("%s, width %d: %+v is near the edge of the paper, %v x %v", id, width, b, p.width, p.height)
				}
				for _, c := range p.texts[:min(i, len(p.texts))] {
					if b.overlaps(c) {
						t.Fatalf("%s, width %d: %+v overlaps %+v", id, width, b, c)
					}
				}
			}
			for _, sign := range symbol.Signs() {
				if !strings.Contains(p.words, sign.Label) {
					t.Fatalf("%s, width %d: %q lacks the words %q", id, width, p.words, sign.Label)
				}
				if !strings.Contains(p.desc, sign.Look+": "+sign.Label+".") {
					t.Fatalf("%s, width %d: the description %q lacks the sign %s", id, width, p.desc, sign.ID)
				}
			}
			wantDiscs := 0
			for _, sign := range symbol.Signs() {
				for _, s := range sign.ID.Shapes(signRadius, symbol.HasCasing(parseHex(m.Legend().Classes[0].Color))) {
					if s.Radius > 0 {
						wantDiscs++
					}
				}
			}
			if len(p.discs) != wantDiscs {
				t.Fatalf("%s, width %d: %d discs, want %d", id, width, len(p.discs), wantDiscs)
			}
		}
	}
}

// TestSignLayoutsStayInside lays out legends with signs at every width.
func TestSignLayoutsStayInside(t *testing.T) {
	f, err := newFonts()
	if err != nil {
		t.Fatal(err)
	}
	m := newMap(t, colormap.Default, who2003())
	for width := MinWidth; width <= MaxWidth; width++ {
		s, err := newLayout(m, symbol.Signs(), width, f)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range s.texts {
			left := p.x - p.anchor*f.width(p.text, p.size, p.bold)
			b := box{p.text, left, p.y - p.size, left + f.width(p.text, p.size, p.bold), p.y}
			if b.left < 0 || b.right > s.width || b.bottom > s.height {
				t.Fatalf("width %d: %+v is outside of the paper", width, b)
			}
			for _, part := range s.shapes {
				if r := max(part.Radius, part.Length); b.overlaps(box{"", part.x - r, part.y - r, part.x + r, part.y + r}) {
					t.Fatalf("width %d: %+v overlaps the sign at %v,%v", width, b, part.x, part.y)
				}
			}
			for _, q := range s.texts[:i] {
				left := q.x - q.anchor*f.width(q.text, q.size, q.bold)
				if c := (box{q.text, left, q.y - q.size, left + f.width(q.text, q.size, q.bold), q.y}); b.overlaps(c) {
					t.Fatalf("width %d: %+v overlaps %+v", width, b, c)
				}
			}
		}
	}
}

// TestBothFormatsHaveTheSameSigns looks for the colours of the SVG's discs at their places in the PNG, along the line from the middle
// to the top of each sign.
func TestBothFormatsHaveTheSameSigns(t *testing.T) {
	f, err := newFonts()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range colormap.IDs() {
		m := newMap(t, id, who2003())
		for _, width := range []int{MinWidth, 320, 640} {
			s, err := newLayout(m, symbol.Signs(), width, f)
			if err != nil {
				t.Fatal(err)
			}
			const scale = 4
			body, err := PNG(m, symbol.Signs(), width, scale)
			if err != nil {
				t.Fatal(err)
			}
			img := decode(t, body)
			for i, part := range s.shapes {
				outer := part.Radius
				inner := 0.0
				if i+1 < len(s.shapes) && s.shapes[i+1].x == part.x && s.shapes[i+1].y == part.y {
					inner = max(s.shapes[i+1].Radius, s.shapes[i+1].Width)
				}
				if outer == 0 {
					outer = part.Width
				}
				x, y := int(part.x*scale), int(math.Floor((part.y-(outer+inner)/2)*scale))
				if got := color.NRGBAModel.Convert(img.At(x, y)); got != part.fill {
					t.Errorf("%s, width %d: pixel %d,%d of shape %d is %v, want %v", id, width, x, y, i, got, part.fill)
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

// TestContrastOfSigns checks that neighbouring parts of a sign, and the sign and the paper, differ: WCAG asks for 3 to 1.
func TestContrastOfSigns(t *testing.T) {
	paper := color.NRGBA{0xff, 0xff, 0xff, 0xff}
	for _, id := range colormap.IDs() {
		value := parseHex(newMap(t, id, who2003()).Legend().Classes[0].Color)
		for _, sign := range symbol.Signs() {
			shapes := sign.ID.Shapes(signRadius, symbol.HasCasing(value))
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
