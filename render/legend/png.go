package legend

import (
	"bytes"
	"fmt"
	"image/png"
	"math"

	"github.com/fogleman/gg"

	"limnomap/colormap"
	"limnomap/render/picture"
	"limnomap/render/symbol"
)

// PNG draws the legend of m and of symbols with that look as a PNG that is width × scale pixels wide. It returns ErrSize
// if either is out of range.
func (w *Words) PNG(m *colormap.Map, look symbol.Look, width, scale int) ([]byte, error) {
	if scale < 1 || scale > MaxScale {
		return nil, fmt.Errorf("%w: scale %d: allowed are 1 to %d", ErrSize, scale, MaxScale)
	}
	fonts, err := picture.NewFonts()
	if err != nil {
		return nil, err
	}
	layout, err := w.newLayout(m, look, width, fonts)
	if err != nil {
		return nil, err
	}
	// Lengths are scaled here, not by the matrix of gg, which would draw small glyphs and enlarge them.
	k := float64(scale)
	dc := gg.NewContext(int(layout.width*k), int(layout.height*k))
	// Half a line inside, so that the picture holds all of the edge.
	dc.DrawRoundedRectangle(k/2, k/2, layout.width*k-k, layout.height*k-k, cornerRadius*k)
	dc.SetColor(paperColor())
	dc.FillPreserve()
	dc.SetColor(edgeColor())
	dc.SetLineWidth(k)
	dc.Stroke()
	for _, r := range layout.rects {
		dc.DrawRectangle(r.x*k, r.y*k, r.w*k, r.h*k)
		dc.SetColor(r.fill)
		dc.Fill()
	}
	for _, part := range layout.shapes {
		part.AddTo(dc, part.x*k, part.y*k, k)
		dc.SetColor(part.fill)
		dc.Fill()
	}
	for _, t := range layout.texts {
		dc.SetFontFace(fonts.Face(t.size*k, t.bold))
		dc.SetColor(t.fill)
		x := t.x*k - t.anchor*fonts.Width(t.text, t.size*k, t.bold)
		dc.DrawString(t.text, x, math.Round(t.y*k))
	}
	var b bytes.Buffer
	if err := png.Encode(&b, dc.Image()); err != nil {
		return nil, fmt.Errorf("legend of %s: %w", m.ID, err)
	}
	return b.Bytes(), nil
}
