package render

import (
	"bytes"
	"fmt"
	"image/png"
	"math"

	"github.com/fogleman/gg"

	"limnomap/colormap"
)

// LegendPNG draws m's legend as a PNG that is width × scale pixels wide. ErrLegendSize if either is out of range.
func LegendPNG(m *colormap.Map, width, scale int) ([]byte, error) {
	if scale < 1 || scale > MaxLegendScale {
		return nil, fmt.Errorf("%w: scale %d: allowed are 1 to %d", ErrLegendSize, scale, MaxLegendScale)
	}
	fonts, err := newLegendFonts()
	if err != nil {
		return nil, err
	}
	scene, err := newLegendScene(m, width, fonts)
	if err != nil {
		return nil, err
	}
	// Everything is multiplied here: under gg's own matrix glyphs are drawn small and enlarged.
	k := float64(scale)
	dc := gg.NewContext(int(scene.width*k), int(scene.height*k))
	// Half a line inwards, so that the edge is not cut in two.
	dc.DrawRoundedRectangle(k/2, k/2, scene.width*k-k, scene.height*k-k, legendRadius*k)
	dc.SetColor(legendPaper())
	dc.FillPreserve()
	dc.SetColor(legendEdge())
	dc.SetLineWidth(k)
	dc.Stroke()
	for _, r := range scene.rects {
		dc.DrawRectangle(r.x*k, r.y*k, r.w*k, r.h*k)
		dc.SetColor(r.fill)
		dc.Fill()
	}
	for _, t := range scene.texts {
		dc.SetFontFace(fonts.face(t.size*k, t.bold))
		dc.SetColor(t.fill)
		x := t.x*k - t.anchor*fonts.width(t.text, t.size*k, t.bold)
		dc.DrawString(t.text, x, math.Round(t.y*k))
	}
	var b bytes.Buffer
	if err := png.Encode(&b, dc.Image()); err != nil {
		return nil, fmt.Errorf("legend of %s: %w", m.ID, err)
	}
	return b.Bytes(), nil
}
