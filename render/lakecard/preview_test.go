package lakecard

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/colormap"
	"limnomap/render/symbol"
)

// tile returns a tile of one colour.
func tile(t testing.TB, c color.Color) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 512, 512))
	draw.Draw(m, image.Rect(100, 100, 412, 412), image.NewUniform(c), image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func previews(t testing.TB) map[string]*Preview {
	const limits, credits = "A satellite sees neither scum on the shore nor bacteria.", "European Union's Copernicus Land Monitoring Service information"
	return map[string]*Preview{
		"medium": {Product: "Algae in lakes", Name: "Großer Müggelsee", ID: "de_be", Verdict: "Medium risk", Date: "Measured on 23 November 2026", Limits: limits, Credits: credits,
			Mark: symbol.Mark{Class: symbol.Medium}, Map: []PlacedTile{{-56, -56, tile(t, color.NRGBA{0xf2, 0xb1, 0x34, 0xff})}}},
		"long": {Product: "Algen in Seen", Name: strings.TrimSpace(strings.Repeat("Jezioro Żółwińskie Třeboňské ", 7)), ID: "pl", Verdict: "Amtliche Warnung", Also: "Hohes Risiko (Zellzahl)",
			Date: "Gemessen am 23. November 2026", Limits: strings.Repeat(limits+" ", 3), Credits: strings.Repeat(credits+" | ", 5), Mark: symbol.Mark{Class: symbol.High, Worse: true}, Warned: true},
		"closed": {Product: "Algae in lakes", Name: strings.Repeat("Donaudampfschifffahrt", 8), ID: "de_x", Verdict: "Closed", Also: "until further notice", Date: "As of 23 November 2026", Limits: limits, Mark: symbol.Mark{Closed: true}},
		"old": {Product: "Algae in lakes", Name: "琵琶湖", ID: "jp_biwa", Verdict: "Low risk", Date: "old value from 3 November 2026", Limits: limits, Credits: credits, Notice: "Simulated demo data, not measurements",
			Mark: symbol.Mark{Class: symbol.Low, Old: true}},
		"none": {Product: "Algae in lakes", Name: "Wolkensee", ID: "de_y", Verdict: "No current value", Also: "never measured", Date: "As of 23 November 2026", Limits: limits, Credits: credits},
	}
}

func TestGoldenPreviews(t *testing.T) {
	for name, preview := range previews(t) {
		content, err := preview.PNG(who2003(t, colormap.Default))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", "preview_"+name+".png")
		if *update {
			if err := os.WriteFile(path, content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got, want := decoded(t, content), decoded(t, file)
		if got.Bounds() != image.Rect(0, 0, PreviewWidth, PreviewHeight) || got.Bounds() != want.Bounds() {
			t.Fatalf("%s: the preview is %v, the golden one %v, want %d x %d", name, got.Bounds(), want.Bounds(), PreviewWidth, PreviewHeight)
		}
		if n := different(got, want); n > 0 {
			saved := filepath.Join(t.ArtifactDir(), name+".png")
			if err := os.WriteFile(saved, content, 0o644); err != nil {
				t.Fatal(err)
			}
			t.Errorf("%s: %d pixels differ from %s (go test ./render/lakecard -args -update); see %s", name, n, path, saved)
		}
	}
}

func decoded(t *testing.T, content []byte) image.Image {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// different returns how many pixels differ by more than 2 in a channel: floating point is fused on some CPUs.
func different(a, b image.Image) (n int) {
	near := func(v, w uint32) bool { return max(v, w)-min(v, w) <= 2*0x101 }
	for y := range PreviewHeight {
		for x := range PreviewWidth {
			r1, g1, b1, a1 := a.At(x, y).RGBA()
			r2, g2, b2, a2 := b.At(x, y).RGBA()
			if !near(r1, r2) || !near(g1, g2) || !near(b1, b2) || !near(a1, a2) {
				n++
			}
		}
	}
	return n
}

// A tile that is no PNG is an error, not a map without algae.
func TestPreviewWithABrokenTile(t *testing.T) {
	p := &Preview{Name: "See", Map: []PlacedTile{{0, 0, []byte("\x89PNG")}}}
	if _, err := p.PNG(who2003(t, colormap.Default)); err == nil {
		t.Error("a preview is drawn without a tile that cannot be read")
	}
}
