package picture

import (
	"fmt"
	"sort"
	"strings"
	"unicode"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/text/width"
)

// Fonts are the Go fonts and their faces by size. A face has buffers, so Fonts must not be used concurrently.
type Fonts struct {
	regular, bold *opentype.Font
	faces         map[faceKey]font.Face
}

type faceKey struct {
	size float64
	bold bool
}

// NewFonts returns the Go fonts.
func NewFonts() (*Fonts, error) {
	regular, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, fmt.Errorf("font Go Regular: %w", err)
	}
	bold, err := opentype.Parse(gobold.TTF)
	if err != nil {
		return nil, fmt.Errorf("font Go Bold: %w", err)
	}
	return &Fonts{regular: regular, bold: bold, faces: make(map[faceKey]font.Face)}, nil
}

// Face returns the font at size pixels.
func (f *Fonts) Face(size float64, bold bool) font.Face {
	key := faceKey{size, bold}
	if face, ok := f.faces[key]; ok {
		return face
	}
	parsed := f.regular
	if bold {
		parsed = f.bold
	}
	// 72 dots per inch makes a point a pixel.
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		panic(fmt.Sprintf("picture: Go font at %v pixels: %v", size, err)) // it never fails for our sizes
	}
	f.faces[key] = face
	return face
}

// Width returns how many pixels text takes.
func (f *Fonts) Width(text string, size float64, bold bool) float64 {
	return float64(font.MeasureString(f.Face(size, bold), text)) / 64
}

// Wrap breaks text into lines no wider than width, except for single words.
func (f *Fonts) Wrap(text string, size, width float64, bold bool) []string {
	var lines []string
	line := ""
	for word := range strings.SplitSeq(text, " ") { // not at spaces that do not break
		longer := strings.TrimSpace(line + " " + word)
		if line != "" && f.Width(longer, size, bold) > width {
			lines = append(lines, line)
			longer = word
		}
		line = longer
	}
	return append(lines, line)
}

// Covers reports whether both fonts have a glyph for each character of text. Those without one would be drawn as boxes.
func (f *Fonts) Covers(text string) bool {
	var b sfnt.Buffer
	for _, r := range text {
		for _, parsed := range []*opentype.Font{f.regular, f.bold} {
			if glyph, err := parsed.GlyphIndex(&b, r); err != nil || glyph == 0 {
				return false
			}
		}
	}
	return true
}

// Estimate returns about how many pixels text takes in the font of a viewer, also if the Go fonts lack its characters.
func (f *Fonts) Estimate(text string, size float64, bold bool) float64 {
	if f.Covers(text) {
		return f.Width(text, size, bold)
	}
	total := 0.0
	for _, r := range text {
		switch {
		case f.Covers(string(r)):
			total += f.Width(string(r), size, bold)
		case unicode.Is(unicode.Mn, r): // is drawn over the letter before it
		case width.LookupRune(r).Kind() == width.EastAsianWide || width.LookupRune(r).Kind() == width.EastAsianFullwidth:
			total += size
		default:
			total += 0.6 * size
		}
	}
	return total
}

// Cut returns text, shortened if it is wider than limit.
func (f *Fonts) Cut(text string, size, limit float64, bold bool) string {
	if f.Estimate(text, size, bold) <= limit {
		return text
	}
	runes := []rune(text)
	// The longest beginning that fits.
	n := sort.Search(len(runes), func(n int) bool { return f.Estimate(string(runes[:n+1])+"…", size, bold) > limit })
	return strings.TrimRight(string(runes[:n]), " ") + "…"
}
