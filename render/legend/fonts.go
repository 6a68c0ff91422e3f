package legend

import (
	"fmt"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
)

// fonts are the Go fonts and their faces by size. A face has buffers, so fonts must not be used concurrently.
type fonts struct {
	regular, bold *opentype.Font
	faces         map[faceKey]font.Face
}

type faceKey struct {
	size float64
	bold bool
}

func newFonts() (*fonts, error) {
	regular, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, fmt.Errorf("font Go Regular: %w", err)
	}
	bold, err := opentype.Parse(gobold.TTF)
	if err != nil {
		return nil, fmt.Errorf("font Go Bold: %w", err)
	}
	return &fonts{regular: regular, bold: bold, faces: make(map[faceKey]font.Face)}, nil
}

// face returns the font at size pixels.
func (f *fonts) face(size float64, bold bool) font.Face {
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
		panic(fmt.Sprintf("legend: Go font at %v pixels: %v", size, err)) // it never fails for our sizes
	}
	f.faces[key] = face
	return face
}

// width returns how many pixels text takes.
func (f *fonts) width(text string, size float64, bold bool) float64 {
	return float64(font.MeasureString(f.face(size, bold), text)) / 64
}

// wrap breaks text into lines no wider than width.
func (f *fonts) wrap(text string, size, width float64) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		longer := strings.TrimSpace(line + " " + word)
		if line != "" && f.width(longer, size, false) > width {
			lines = append(lines, line)
			longer = word
		}
		line = longer
	}
	return append(lines, line)
}
