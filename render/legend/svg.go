package legend

import (
	"bytes"
	"fmt"

	"limnomap/colormap"
	"limnomap/render/picture"
	"limnomap/render/symbol"
)

// SVG draws the legend of m and of symbols with that look as an SVG that is width pixels wide. Its text is real text, for screen readers and search; it
// has no script and loads nothing. It returns ErrSize if width is out of range.
func (w *Words) SVG(m *colormap.Map, look symbol.Look, width int) ([]byte, error) {
	// The font of the viewer is unknown. The layout is made with the Go fonts, and textLength stretches any other font to it.
	fonts, err := picture.NewFonts()
	if err != nil {
		return nil, err
	}
	s, err := w.newLayout(m, look, width, fonts)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	language := ""
	if w.language != English {
		language = ` lang="` + w.language + `"`
	}
	x, y := picture.Number(s.width), picture.Number(s.height)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" `+
		`aria-labelledby="legend-title legend-desc" font-family="system-ui, sans-serif"%s>`+"\n", x, y, x, y, language)
	fmt.Fprintf(&b, "<title id=\"legend-title\">%s</title>\n", picture.Escape(s.title))
	fmt.Fprintf(&b, "<desc id=\"legend-desc\">%s</desc>\n", picture.Escape(s.desc))
	fmt.Fprintf(&b, `<rect x="0.5" y="0.5" width="%s" height="%s" rx="%s" %s stroke="%s" stroke-opacity="%s"/>`+"\n",
		picture.Number(s.width-1), picture.Number(s.height-1), picture.Number(cornerRadius), picture.Fill(paperColor()),
		colormap.Hex(edgeColor()), picture.Alpha(edgeColor()))
	b.WriteString("<g shape-rendering=\"crispEdges\">\n")
	for _, r := range s.rects {
		fmt.Fprintf(&b, `<rect x="%s" y="%s" width="%s" height="%s" %s/>`+"\n",
			picture.Number(r.x), picture.Number(r.y), picture.Number(r.w), picture.Number(r.h), picture.Fill(r.fill))
	}
	b.WriteString("</g>\n")
	for _, part := range s.shapes {
		b.WriteString(picture.ShapeSVG(part.Shape, part.x, part.y, part.fill) + "\n")
	}
	for _, t := range s.texts {
		anchor, weight := "", ""
		switch t.anchor {
		case 0.5:
			anchor = ` text-anchor="middle"`
		case 1:
			anchor = ` text-anchor="end"`
		}
		if t.bold {
			weight = ` font-weight="bold"`
		}
		fmt.Fprintf(&b, `<text x="%s" y="%s" font-size="%s" textLength="%s" lengthAdjust="spacingAndGlyphs"%s%s %s>%s</text>`+"\n",
			picture.Number(t.x), picture.Number(t.y), picture.Number(t.size), picture.Number(fonts.Width(t.text, t.size, t.bold)),
			anchor, weight, picture.Fill(t.fill), picture.Escape(t.text))
	}
	b.WriteString("</svg>\n")
	return b.Bytes(), nil
}
