package picture

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

// ShapeSVG returns a shape at x, y as an element of SVG.
func ShapeSVG(s symbol.Shape, x, y float64, fill color.NRGBA) string {
	switch {
	case s.Corners != nil:
		points := make([]string, 0, len(s.Corners))
		for _, p := range s.Corners {
			points = append(points, Number(x+p[0])+","+Number(y+p[1]))
		}
		return fmt.Sprintf(`<polygon points="%s" %s/>`, strings.Join(points, " "), Fill(fill))
	case s.Inner > 0:
		// A ring is a circle whose line is as wide as the ring.
		return fmt.Sprintf(`<circle cx="%s" cy="%s" r="%s" fill="none" stroke="%s" stroke-width="%s"/>`, Number(x), Number(y),
			Number((s.Radius+s.Inner)/2), colormap.Hex(fill), Number(s.Radius-s.Inner))
	}
	return fmt.Sprintf(`<circle cx="%s" cy="%s" r="%s" %s/>`, Number(x), Number(y), Number(s.Radius), Fill(fill))
}

// Number formats v, rounded to a hundredth of a pixel.
func Number(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) }

// Alpha formats the opacity of c, from 0 to 1.
func Alpha(c color.NRGBA) string { return Number(float64(c.A) / 0xff) }

// Fill returns the attributes that fill with c.
func Fill(c color.NRGBA) string {
	fill := `fill="` + colormap.Hex(c) + `"`
	if c.A != 0xff {
		fill += ` fill-opacity="` + Alpha(c) + `"`
	}
	return fill
}

// Escape escapes text for XML.
func Escape(text string) string {
	var b bytes.Buffer
	// Writing to a bytes.Buffer never fails.
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}
