//go:build long

package pagetest

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"limnomap/data/testsize"
	"limnomap/web/browsertest"
)

// catchDownloads keeps the picture that a page offers as a download, instead of saving it.
const catchDownloads = `{
	const {click} = HTMLAnchorElement.prototype, {createObjectURL} = URL;
	HTMLAnchorElement.prototype.click = function () {
		if (this.download) window.savedName = this.download;
		else click.call(this);
	};
	URL.createObjectURL = (blob) => {
		const reader = new FileReader();
		reader.onload = () => { window.savedData = reader.result.split(',')[1] };
		reader.readAsDataURL(blob);
		return createObjectURL(blob);
	};
}`

// savedPicture returns the picture that the page saved, and its file's name.
func savedPicture(t *testing.T, b *browsertest.Browser) (string, image.Image) {
	t.Helper()
	b.Do(t, browsertest.Until(`window.savedName !== undefined && window.savedData !== undefined`))
	name := browsertest.Ask(t, b, chromedp.Evaluate[string](`window.savedName`))
	content, err := base64.StdEncoding.DecodeString(browsertest.Ask(t, b, chromedp.Evaluate[string](`window.savedData`)))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(t.ArtifactDir(), name), content, 0o644); err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	b.Do(t, chromedp.Evaluate[chromedp.Void](`delete window.savedName, delete window.savedData`))
	return name, picture
}

// coloursOf counts the colours of a picture between two heights, given in parts of its own.
func coloursOf(picture image.Image, from, to float64) int {
	r := picture.Bounds()
	colours := make(map[[3]uint32]bool)
	for y := int(from * float64(r.Dy())); y < int(to*float64(r.Dy())); y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			red, green, blue, _ := picture.At(x, y).RGBA()
			colours[[3]uint32{red, green, blue}] = true
		}
	}
	return len(colours)
}

// The map and the chart are saved as pictures, with the heat map, the marks and all lines, on light and dark pages.
func TestPagePicturesToSave(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	for _, scheme := range testsize.Cases(1, []string{"light", "dark"}) {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			b := startBrowser(t, "en-GB")
			b.Prefer(t, "color-scheme", scheme)
			b.Do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/#lake=de_be_grosser_mueggelsee&map=8/52.4/13.6"), browsertest.Until(heatDrawn), browsertest.Until(chartDrawn),
				chromedp.Evaluate[chromedp.Void](catchDownloads))

			b.Do(t, press("Save chart as picture"))
			name, chart := savedPicture(t, b)
			day := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.querySelector('#card time').dateTime.slice(0, 10)`))
			if want := "limnomap-de_be_grosser_mueggelsee-" + day + ".png"; name != want {
				t.Errorf("the chart is saved as %s, want %s", name, want)
			}
			if size := chart.Bounds().Size(); size.X != 2*(520+32) || size.Y < 900 {
				t.Errorf("the picture of the chart is %v", size)
			}
			if n := coloursOf(chart, .2, .8); n < 50 {
				t.Errorf("the picture of the chart has %d colours", n)
			}
			b.Do(t, browsertest.Until(fmt.Sprintf(`document.querySelector('#toast p').textContent === 'The picture %s is saved.'`, name)))

			b.Do(t, chromedp.Click("#share-open"), chromedp.WaitVisible("#share [name=picture]"), chromedp.Click("#share [name=picture]"))
			name, picture := savedPicture(t, b)
			if !strings.HasPrefix(name, "limnomap-map-de_be_grosser_mueggelsee-20") {
				t.Errorf("the map is saved as %s", name)
			}
			width := browsertest.Ask(t, b, chromedp.Evaluate[int](`document.querySelector('#map').clientWidth`))
			if size := picture.Bounds().Size(); size.X != 2*(width+32) || size.Y < 2*500 {
				t.Errorf("the picture of the map is %v, of a map %d pixels wide", size, width)
			}
			if n := coloursOf(picture, .2, .6); n < 500 {
				t.Errorf("the picture of the map has %d colours: it shows no heat map", n)
			}
			b.Do(t, browsertest.Until(fmt.Sprintf(`document.querySelector('#share [role=status]').textContent.includes(%q)`, name)))
			wantNoProblems(t, b, base)
		})
	}
}
