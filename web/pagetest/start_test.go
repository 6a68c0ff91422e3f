// Package pagetest tests the page as its readers have it: the real limnomap in a real Chromium.
package pagetest

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web"
	"limnomap/web/browsertest"
)

func TestMain(m *testing.M) { limnomaptest.Main(m) }

// startServer starts limnomap serve, with its metrics beside the page, and returns its address without the slash at the end.
func startServer(t testing.TB, args ...string) string {
	t.Helper()
	return limnomaptest.Start(t, append([]string{"--admin-listen="}, args...)...).Base
}

// startBrowser starts a browser in that language, if there is a built page to look at.
func startBrowser(t testing.TB, language string) *browsertest.Browser {
	t.Helper()
	if !web.Built(web.FS()) {
		const missing = "web/dist is not built (make web)"
		if os.Getenv("CI") != "" {
			t.Fatal(missing)
		}
		t.Skip("LEFT OUT: " + missing)
	}
	return browsertest.Start(t, language)
}

// heatDrawn holds when a heat tile is there that has strongly coloured pixels.
const heatDrawn = `[...document.querySelectorAll('.heat img.leaflet-tile-loaded')].some(img => {
	const canvas = Object.assign(document.createElement('canvas'), {width: img.naturalWidth, height: img.naturalHeight});
	const context = canvas.getContext('2d');
	context.drawImage(img, 0, 0);
	return context.getImageData(0, 0, canvas.width, canvas.height).data.some((v, i) => i % 4 === 3 && v > 100);
})`

// shownColours gives the colours of the lake whose card is open and that the list names first: of their
// symbols, which are paled where a value is old.
const shownColours = `(() => {
	const probe = document.body.appendChild(document.createElement('i'));
	const colour = (s) => {
		probe.style.color = document.querySelector(s + ' .symbol').style.getPropertyValue('--colour');
		return getComputedStyle(probe).color;
	};
	return {card: colour('#card .risk'), list: colour('#find li')};
})()`

// startWorldFront starts a server before base that says that it has more lakes than a phone can hold.
func startWorldFront(t *testing.T, base string) string {
	return limnomaptest.Front(t, base, func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/page.json") {
			return false
		}
		var settings map[string]any
		limnomaptest.GetJSON(t, base+"/page.json", &settings)
		settings["total_lakes"] = 1_400_000
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(settings); err != nil {
			t.Error(err)
		}
		return true
	}, nil)
}
