package render

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"math"
	"strconv"

	"limnomap/colormap"
)

// LegendSVG draws m's legend as an SVG that is width pixels wide: text that can be read aloud, searched and scaled, no
// script and nothing from elsewhere. ErrLegendSize if width is out of range.
func LegendSVG(m *colormap.Map, width int) ([]byte, error) {
	// The reader's own font is not known. The layout goes by the Go fonts, and textLength makes any other keep to it.
	fonts, err := newLegendFonts()
	if err != nil {
		return nil, err
	}
	s, err := newLegendScene(m, width, fonts)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w, h := svgNumber(s.width), svgNumber(s.height)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" `+
		`aria-labelledby="legend-title legend-desc" font-family="system-ui, sans-serif">`+"\n", w, h, w, h)
	fmt.Fprintf(&b, "<title id=\"legend-title\">%s</title>\n", svgText(s.title))
	fmt.Fprintf(&b, "<desc id=\"legend-desc\">%s</desc>\n", svgText(s.desc))
	fmt.Fprintf(&b, `<rect x="0.5" y="0.5" width="%s" height="%s" rx="%s" %s stroke="%s" stroke-opacity="%s"/>`+"\n",
		svgNumber(s.width-1), svgNumber(s.height-1), svgNumber(legendRadius), svgFill(legendPaper()),
		colormap.Hex(legendEdge()), svgAlpha(legendEdge()))
	b.WriteString("<g shape-rendering=\"crispEdges\">\n")
	for _, r := range s.rects {
		fmt.Fprintf(&b, `<rect x="%s" y="%s" width="%s" height="%s" %s/>`+"\n",
			svgNumber(r.x), svgNumber(r.y), svgNumber(r.w), svgNumber(r.h), svgFill(r.fill))
	}
	b.WriteString("</g>\n")
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
			svgNumber(t.x), svgNumber(t.y), svgNumber(t.size), svgNumber(fonts.width(t.text, t.size, t.bold)),
			anchor, weight, svgFill(t.fill), svgText(t.text))
	}
	b.WriteString("</svg>\n")
	return b.Bytes(), nil
}

// svgNumber writes v to a hundredth of a pixel.
func svgNumber(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) }

// svgAlpha writes the opacity of c, 0 to 1.
func svgAlpha(c color.NRGBA) string { return svgNumber(float64(c.A) / 0xff) }

// svgFill writes the attributes that fill with c.
func svgFill(c color.NRGBA) string {
	fill := `fill="` + colormap.Hex(c) + `"`
	if c.A != 0xff {
		fill += ` fill-opacity="` + svgAlpha(c) + `"`
	}
	return fill
}

// svgText escapes text for XML.
func svgText(text string) string {
	var b bytes.Buffer
	// A bytes.Buffer takes every write, so there is no error to report.
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}
