package lakecard

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"strings"

	"limnomap/colormap"
	"limnomap/render/picture"
	"limnomap/render/symbol"
)

// A Badge is a small picture: a lake's name, and what is said about it.
type Badge struct {
	Language string // of the words, such as "de"
	Name     string
	Text     string // the verdict and its date
	Note     string // for screen readers: what the verdict cannot say
	Mark     symbol.Mark
	Warned   bool // by an authority: the ground is not that of the value, which may be low
}

// Lengths of a badge in pixels.
const (
	badgeHeight   = 24.0
	badgePad      = 8.0
	badgeText     = 12.0
	badgeBaseline = 16.0
	badgeMarker   = 5.6 // radius of the marker
	badgeSymbol   = 21.0
	badgeNameMax  = 240.0 // longer names are shortened
	badgeTextMax  = 600.0 // for the verdict, the reason and the day in each language
)

// The colours beside those of the classes. White or dark text has a contrast of 4.5 to 1 or more on each (WCAG 2.2, AA).
var (
	nameGround  = color.NRGBA{0x3b, 0x46, 0x50, 0xff}
	graveGround = color.NRGBA{0x16, 0x19, 0x1c, 0xff}
	noneGround  = color.NRGBA{0x66, 0x6f, 0x77, 0xff}
	oldGround   = color.NRGBA{0xe4, 0xe7, 0xea, 0xff}
	edge        = color.NRGBA{0x8a, 0x94, 0x9d, 0xff} // is seen on white and on black pages
	ink         = color.NRGBA{0x16, 0x19, 0x1c, 0xff}
)

// SVG returns the badge with the classes in the colours of m. Its text is real text, for screen readers and search; it has no script and
// loads nothing. It has grounds of its own, so that it is the same on light and dark pages.
func (b *Badge) SVG(m *colormap.Map) ([]byte, error) {
	fonts, err := picture.NewFonts()
	if err != nil {
		return nil, err
	}
	name := fonts.Cut(b.Name, badgeText, badgeNameMax, false)
	text := fonts.Cut(b.Text, badgeText, badgeTextMax, true)
	nameWidth, textWidth := fonts.Estimate(name, badgeText, false), fonts.Estimate(text, badgeText, true)
	left := math.Ceil(nameWidth + 2*badgePad)
	width := math.Ceil(left + badgePad/2 + badgeSymbol + badgePad/2 + textWidth + badgePad)
	value := classColor(m, b.Mark.Class)
	ground := groundOf(b.Mark, b.Warned, value)

	var out bytes.Buffer
	w, h := picture.Number(width), picture.Number(badgeHeight)
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" aria-labelledby="t d" xml:lang="%s" font-family="system-ui, sans-serif">`+"\n",
		w, h, w, h, picture.Escape(b.Language))
	fmt.Fprintf(&out, "<title id=\"t\">%s: %s</title>\n<desc id=\"d\">%s</desc>\n", picture.Escape(b.Name), picture.Escape(b.Text), picture.Escape(b.Note))
	fmt.Fprintf(&out, `<clipPath id="c"><rect width="%s" height="%s" rx="4"/></clipPath>`+"\n", w, h)
	fmt.Fprintf(&out, `<g clip-path="url(#c)"><rect width="%s" height="%s" %s/><rect x="%s" width="%s" height="%s" %s/></g>`+"\n",
		w, h, picture.Fill(nameGround), picture.Number(left), picture.Number(width-left), h, picture.Fill(ground))
	fmt.Fprintf(&out, `<rect x="0.5" y="0.5" width="%s" height="%s" rx="3.5" fill="none" stroke="%s"/>`+"\n", picture.Number(width-1), picture.Number(badgeHeight-1), colormap.Hex(edge))
	x, y := left+badgePad/2+badgeSymbol/2, badgeHeight/2
	for _, s := range b.Mark.Shapes(badgeMarker) {
		out.WriteString(picture.ShapeSVG(s, x, y, s.Paint.Color(value)) + "\n")
	}
	sign := b.Mark.SignColor()
	if b.Mark.Class == symbol.None { // its symbol is a ring, so that the sign is on the ground
		sign = inkOn(ground)
	}
	for _, s := range b.Mark.Strokes() {
		points := make([]string, len(s.Points))
		for i, p := range s.Points {
			points[i] = picture.Number(x+p[0]*badgeMarker) + "," + picture.Number(y+p[1]*badgeMarker)
		}
		fmt.Fprintf(&out, `<polyline points="%s" fill="none" stroke="%s" stroke-width="%s" stroke-linecap="round" stroke-linejoin="round"/>`+"\n",
			strings.Join(points, " "), colormap.Hex(sign), picture.Number(s.Width*badgeMarker))
	}
	// textLength stretches the font of the viewer, which is unknown, to the widths of the layout.
	line := func(x, length float64, weight string, fill color.NRGBA, text string) {
		fmt.Fprintf(&out, `<text x="%s" y="%s" font-size="%s"%s textLength="%s" lengthAdjust="spacingAndGlyphs" %s>%s</text>`+"\n",
			picture.Number(x), picture.Number(badgeBaseline), picture.Number(badgeText), weight, picture.Number(length), picture.Fill(fill), picture.Escape(text))
	}
	line(badgePad, nameWidth, "", symbol.WhiteColor(), name)
	line(left+badgePad+badgeSymbol, textWidth, ` font-weight="bold"`, inkOn(ground), text)
	out.WriteString("</svg>\n")
	return out.Bytes(), nil
}

// classColor returns the colour of a class.
func classColor(m *colormap.Map, c symbol.Class) color.NRGBA {
	if c == symbol.None {
		return colormap.NoData()
	}
	return m.ClassColor(int(c - symbol.Low))
}

// groundOf returns the ground of the verdict. That of an old value is the same for all classes: it must not look like a current one.
func groundOf(mark symbol.Mark, warned bool, value color.NRGBA) color.NRGBA {
	switch {
	case mark.Closed, warned:
		return graveGround
	case mark.Class == symbol.None:
		return noneGround
	case mark.Old:
		return oldGround
	}
	return value
}

// inkOn returns the colour of text on a ground: white or dark, whichever has the greater contrast.
func inkOn(ground color.NRGBA) color.NRGBA {
	if contrast(ground, symbol.WhiteColor()) > contrast(ground, ink) {
		return symbol.WhiteColor()
	}
	return ink
}

// contrast returns the contrast of two opaque colours (WCAG 2.2), from 1 to 21.
func contrast(a, b color.NRGBA) float64 {
	light, dark := luminance(a), luminance(b)
	if light < dark {
		light, dark = dark, light
	}
	return (light + 0.05) / (dark + 0.05)
}

func luminance(c color.NRGBA) float64 {
	linear := func(v uint8) float64 {
		if s := float64(v) / 0xff; s > 0.04045 {
			return math.Pow((s+0.055)/1.055, 2.4)
		} else {
			return s / 12.92
		}
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}
