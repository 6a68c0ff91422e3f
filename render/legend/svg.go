package legend

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"

	"limnomap/colormap"
	"limnomap/render/symbol"
)

// SVG draws the legend of m and of symbols with that look as an SVG that is width pixels wide. Its text is real text, for screen readers and search; it
// has no script and loads nothing. It returns ErrSize if width is out of range.
func SVG(m *colormap.Map, look symbol.Look, width int) ([]byte, error) {
	// The font of the viewer is unknown. The layout is made with the Go fonts, and textLength stretches any other font to it.
	fonts, err := newFonts()
	if err != nil {
		return nil, err
	}
	s, err := newLayout(m, look, width, fonts)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w, h := number(s.width), number(s.height)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" `+
		`aria-labelledby="legend-title legend-desc" font-family="system-ui, sans-serif">`+"\n", w, h, w, h)
	fmt.Fprintf(&b, "<title id=\"legend-title\">%s</title>\n", escape(s.title))
	fmt.Fprintf(&b, "<desc id=\"legend-desc\">%s</desc>\n", escape(s.desc))
	fmt.Fprintf(&b, `<rect x="0.5" y="0.5" width="%s" height="%s" rx="%s" %s stroke="%s" stroke-opacity="%s"/>`+"\n",
		number(s.width-1), number(s.height-1), number(cornerRadius), fillAttributes(paperColor()),
		colormap.Hex(edgeColor()), alpha(edgeColor()))
	b.WriteString("<g shape-rendering=\"crispEdges\">\n")
	for _, r := range s.rects {
		fmt.Fprintf(&b, `<rect x="%s" y="%s" width="%s" height="%s" %s/>`+"\n",
			number(r.x), number(r.y), number(r.w), number(r.h), fillAttributes(r.fill))
	}
	b.WriteString("</g>\n")
	for _, part := range s.shapes {
		switch {
		case part.Corners != nil:
			points := make([]string, 0, len(part.Corners))
			for _, p := range part.Corners {
				points = append(points, number(part.x+p[0])+","+number(part.y+p[1]))
			}
			fmt.Fprintf(&b, `<polygon points="%s" %s/>`+"\n", strings.Join(points, " "), fillAttributes(part.fill))
		case part.Inner > 0:
			// A ring is a circle whose line is as wide as the ring.
			fmt.Fprintf(&b, `<circle cx="%s" cy="%s" r="%s" fill="none" stroke="%s" stroke-width="%s"/>`+"\n", number(part.x), number(part.y),
				number((part.Radius+part.Inner)/2), colormap.Hex(part.fill), number(part.Radius-part.Inner))
		default:
			fmt.Fprintf(&b, `<circle cx="%s" cy="%s" r="%s" %s/>`+"\n", number(part.x), number(part.y), number(part.Radius), fillAttributes(part.fill))
		}
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
			number(t.x), number(t.y), number(t.size), number(fonts.width(t.text, t.size, t.bold)),
			anchor, weight, fillAttributes(t.fill), escape(t.text))
	}
	b.WriteString("</svg>\n")
	return b.Bytes(), nil
}

// number formats v, rounded to a hundredth of a pixel.
func number(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) }

// alpha formats the opacity of c, from 0 to 1.
func alpha(c color.NRGBA) string { return number(float64(c.A) / 0xff) }

// fillAttributes returns the attributes that fill with c.
func fillAttributes(c color.NRGBA) string {
	fill := `fill="` + colormap.Hex(c) + `"`
	if c.A != 0xff {
		fill += ` fill-opacity="` + alpha(c) + `"`
	}
	return fill
}

// escape escapes text for XML.
func escape(text string) string {
	var b bytes.Buffer
	// Writing to a bytes.Buffer never fails.
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}
