package lakecard

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"

	"github.com/fogleman/gg"

	"limnomap/colormap"
	"limnomap/render/picture"
	"limnomap/render/symbol"
)

// The size of a preview in pixels, as social networks recommend it, and the side of the map in it.
const (
	PreviewWidth, PreviewHeight = 1200, 630
	MapSide                     = 400
)

// A Preview is the picture of a link to a lake's page.
type Preview struct {
	Product string // such as "Algae in lakes"
	Name    string
	ID      string // is shown if the fonts lack letters of the name
	Verdict string
	Also    string // below the verdict; may be empty
	Date    string // the same
	Limits  string // what no value says
	Notice  string // about simulated data; may be empty
	Credits string // whose data these are
	Mark    symbol.Mark
	Warned  bool
	Map     []PlacedTile
}

// A PlacedTile is a tile as PNG, and where its upper left corner is in the map.
type PlacedTile struct {
	X, Y int
	PNG  []byte
}

// Lengths of a preview in pixels.
const (
	previewPad   = 56.0
	textWidth    = PreviewWidth - MapSide - 3*previewPad
	symbolRadius = 46.0
	symbolWidth  = 150.0
	bandHeight   = 18.0 // the colour of the verdict at the top
	nameSize     = 76.0
	verdictSize  = 60.0
)

var (
	paper      = color.NRGBA{0xff, 0xff, 0xff, 0xff}
	quiet      = color.NRGBA{0x43, 0x51, 0x60, 0xff} // 7 to 1 on white
	water      = color.NRGBA{0xe9, 0xed, 0xf0, 0xff} // the ground of the map
	notice     = color.NRGBA{0xff, 0xf3, 0xc4, 0xff}
	noticeText = color.NRGBA{0x4a, 0x38, 0x00, 0xff}
)

// PNG returns the preview as PNG, with the classes in the colours of m.
func (p *Preview) PNG(m *colormap.Map) ([]byte, error) {
	fonts, err := picture.NewFonts()
	if err != nil {
		return nil, err
	}
	value := classColor(m, p.Mark.Class)
	d := &drawing{gg.NewContext(PreviewWidth, PreviewHeight), fonts}
	d.SetColor(paper)
	d.Clear()
	d.SetColor(groundOf(p.Mark, p.Warned, value))
	d.DrawRectangle(0, 0, PreviewWidth, bandHeight)
	d.Fill()
	if err := d.excerpt(p.Map); err != nil {
		return nil, err
	}

	y := d.line(p.Product, previewPad, 78, 30, textWidth, false, quiet)
	name := p.Name
	if !fonts.Covers(name) {
		name = p.ID
	}
	y = d.lines(name, previewPad, y+18, nameSize, nameSize/2, textWidth, 2, true, ink)
	y += 26
	below := d.lines(p.Verdict, previewPad+symbolWidth, y, verdictSize, verdictSize/2, textWidth-symbolWidth, 2, true, ink)
	for _, text := range []string{p.Also, p.Date} {
		if text != "" {
			below = d.lines(text, previewPad+symbolWidth, below+6, 36, 18, textWidth-symbolWidth, 1, false, ink)
		}
	}
	d.mark(p.Mark, previewPad+symbolRadius*1.4, y+max(below-y, 2*symbolRadius*1.4)/2, value)

	foot := PreviewHeight - previewPad
	d.line(p.Limits, previewPad, foot-34, 26, PreviewWidth-2*previewPad, true, ink)
	d.line(p.Credits, previewPad, foot, 22, PreviewWidth-2*previewPad, false, quiet)
	if p.Notice != "" {
		const height = 48.0
		top := previewPad - 8 + MapSide + 12
		d.SetColor(notice)
		d.DrawRectangle(PreviewWidth-previewPad-MapSide, top-6, MapSide, height)
		d.Fill()
		x := PreviewWidth - previewPad - MapSide + 12.0
		if width := MapSide - 24.0; d.fonts.Width(p.Notice, leastLine, true) <= width {
			d.line(p.Notice, x, top+26, 22, width, true, noticeText)
		} else {
			d.lines(p.Notice, x, top-5, leastLine, leastLine-4, width, 2, true, noticeText)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, d.Image()); err != nil {
		return nil, fmt.Errorf("preview of %s: %w", p.ID, err)
	}
	return b.Bytes(), nil
}

// leastLine is the size of the smallest text in one line, in pixels.
const leastLine = 18.0

// A drawing draws words, symbols and tiles.
type drawing struct {
	*gg.Context
	fonts *picture.Fonts
}

// line draws one line with its baseline at y: smaller if it is too wide, and cut if it is still too wide then. It returns y.
func (d *drawing) line(text string, x, y, size, width float64, bold bool, ink color.NRGBA) float64 {
	for size > leastLine && d.fonts.Width(text, size, bold) > width {
		size--
	}
	d.SetFontFace(d.fonts.Face(size, bold))
	d.SetColor(ink)
	d.DrawString(d.fonts.Cut(text, size, width, bold), x, y)
	return y
}

// lines draws text below y in at most that many lines, in smaller letters if it is too long. It returns where they end.
func (d *drawing) lines(text string, x, y, size, smallest, width float64, most int, bold bool, ink color.NRGBA) float64 {
	fits := func(lines []string) bool {
		if len(lines) > most {
			return false
		}
		for _, line := range lines {
			if d.fonts.Width(line, size, bold) > width {
				return false
			}
		}
		return true
	}
	lines := d.fonts.Wrap(text, size, width, bold)
	for size > smallest && !fits(lines) {
		size -= 2
		lines = d.fonts.Wrap(text, size, width, bold)
	}
	if len(lines) > most {
		lines = append(lines[:most-1], strings.Join(lines[most-1:], " "))
	}
	for _, line := range lines {
		y += size * 1.12
		d.SetFontFace(d.fonts.Face(size, bold))
		d.SetColor(ink)
		d.DrawString(d.fonts.Cut(line, size, width, bold), x, y-size*0.2)
	}
	return y
}

// mark draws a symbol around x, y.
func (d *drawing) mark(m symbol.Mark, x, y float64, value color.NRGBA) {
	// Lines and rims have the width of a marker of 8 pixels.
	const radius, scale = 8.0, symbolRadius / 8.0
	for _, s := range m.Shapes(radius) {
		s.AddTo(d.Context, x, y, scale)
		d.SetColor(s.Paint.Color(value))
		d.Fill()
	}
	for _, s := range m.Strokes() {
		d.SetColor(m.SignColor())
		if end := s.Points[0]; len(s.Points) == 2 { // gg draws no line that is shorter than a pixel
			d.DrawCircle(x+end[0]*symbolRadius, y+end[1]*symbolRadius, s.Width*symbolRadius/2)
			d.Fill()
		}
		for _, p := range s.Points {
			d.LineTo(x+p[0]*symbolRadius, y+p[1]*symbolRadius)
		}
		d.SetLineWidth(s.Width * symbolRadius)
		d.SetLineCapRound()
		d.SetLineJoinRound()
		d.Stroke()
	}
}

// excerpt draws the map at the upper right.
func (d *drawing) excerpt(tiles []PlacedTile) error {
	corner := image.Pt(PreviewWidth-int(previewPad)-MapSide, int(previewPad)-8)
	area := image.Rectangle{corner, corner.Add(image.Pt(MapSide, MapSide))}
	canvas := d.Image().(draw.Image) // gg would draw a tile through a transformation and a mask, at ten times the time
	draw.Draw(canvas, area, image.NewUniform(water), image.Point{}, draw.Src)
	for _, t := range tiles {
		tile, err := png.Decode(bytes.NewReader(t.PNG))
		if err != nil {
			return fmt.Errorf("tile: %w", err)
		}
		to := tile.Bounds().Add(corner.Add(image.Pt(t.X, t.Y))).Intersect(area)
		draw.Draw(canvas, to, tile, to.Min.Sub(corner).Sub(image.Pt(t.X, t.Y)), draw.Over)
	}
	d.DrawRectangle(float64(corner.X)+.5, float64(corner.Y)+.5, MapSide-1, MapSide-1)
	d.SetColor(edge)
	d.SetLineWidth(1)
	d.Stroke()
	return nil
}
