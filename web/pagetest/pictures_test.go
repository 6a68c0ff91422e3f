//go:build long

package pagetest

import (
	"bytes"
	"flag"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"limnomap/web/browsertest"
)

var picturesDir = flag.String("pictures", "", "folder that the README's pictures of the page are written to")

// maxPictureBytes bounds the pictures in the README.
const maxPictureBytes = 300_000

// The README's pictures show the page; `make pictures` takes them.
func TestPagePictures(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	base := startServer(t)
	for _, picture := range []struct {
		name, language, address string
		width, height           int64
		scale                   float64
		phone                   bool
	}{
		{name: "page", language: "en-GB", address: "/#map=6/51.2/10.4&lake=de_be_grosser_mueggelsee", width: 1000, height: 680, scale: 1},
		{name: "phone", language: "de", address: "/", width: 360, height: 740, scale: 1, phone: true},
	} {
		t.Run(picture.name, func(t *testing.T) {
			address := "docs/" + picture.name + ".png"
			if !strings.Contains(string(readme), "("+address+")") {
				t.Errorf("the README does not show %s", address)
			}
			if *picturesDir == "" {
				checkPicture(t, filepath.Join("..", "..", filepath.FromSlash(address)))
			}

			b := startBrowser(t, picture.language)
			b.Prefer(t, "reduced-motion", "reduce")
			viewport := []chromedp.EmulateViewportOption{chromedp.EmulateScale(picture.scale)}
			if picture.phone {
				viewport = append(viewport, chromedp.EmulateMobile, chromedp.EmulateTouch)
			}
			b.Do(t,
				chromedp.EmulateViewport(picture.width, picture.height, viewport...),
				chromedp.Navigate(base+picture.address),
				browsertest.Until(heatDrawn), browsertest.Until(firstLine+` !== ""`),
				browsertest.Until(`[...document.querySelectorAll('.heatmap img')].every((i) => i.complete)`),
			)
			if strings.Contains(picture.address, "lake=") {
				b.Do(t, browsertest.Until(`document.querySelector('#card svg path') !== null`))
			}
			b.Do(t, chromedp.Evaluate[chromedp.Void](`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`, chromedp.EvalAwaitPromise))
			file := filepath.Join(t.ArtifactDir(), picture.name+".png")
			if *picturesDir != "" {
				file = filepath.Join(*picturesDir, picture.name+".png")
			}
			if err := os.WriteFile(file, browsertest.Ask(t, b, chromedp.CaptureScreenshot()), 0o644); err != nil {
				t.Fatal(err)
			}
			checkPicture(t, file)
			b.WantNoProblems(t, base)
		})
	}
}

// checkPicture reports a file that is too large or shows no map.
func checkPicture(t *testing.T, file string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
		return
	}
	if len(content) > maxPictureBytes {
		t.Errorf("%s has %d bytes, want at most %d", file, len(content), maxPictureBytes)
	}
	img, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		t.Errorf("%s: %v", file, err)
		return
	}
	colours := make(map[[3]uint32]bool)
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y += 3 {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x += 3 {
			r, g, b, _ := img.At(x, y).RGBA()
			colours[[3]uint32{r, g, b}] = true
		}
	}
	if len(colours) < 200 {
		t.Errorf("%s has %d colours: it shows no heat map", file, len(colours))
	}
}
