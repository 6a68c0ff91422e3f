package api

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/outline"
	"limnomap/tiles"
)

// countedPictures counts the previews that are drawn, and how many at once.
type countedPictures struct {
	fakePictures
	drawn, drawing, together atomic.Int32
}

func (c *countedPictures) Preview(m *colormap.Map, p *PreviewPicture) ([]byte, error) {
	c.drawn.Add(1)
	if n := c.drawing.Add(1); n > c.together.Load() {
		c.together.Store(n)
	}
	time.Sleep(time.Millisecond)
	defer c.drawing.Add(-1)
	return c.fakePictures.Preview(m, p)
}

func TestPreviews(t *testing.T) {
	opts := testOptions(t)
	drawer := &countedPictures{}
	opts.Pictures = drawer
	clock := testNow()
	opts.Now = func() time.Time { return clock }
	s := newServer(t, opts, advisorySource(t))
	for target, want := range map[string]string{
		"/lakes/de_mv_high/preview.png":          "limno Müritz|Do not swim · High risk · 16 November 2026|Measured on 16 November 2026|Example Agency||",
		"/lakes/de_mv_high/preview.png?lang=de":  "limno Müritz|Nicht baden · Hohes Risiko · 16. November 2026|Gemessen am 16. November 2026|",
		"/lakes/de_by_clean/preview.png":         "|Closed: do not swim · until further notice|As of 20 November 2026|",
		"/lakes/de_mv_never/preview.png":         "|No current value: look before you swim · never measured|As of 20 November 2026|",
		"/lakes/fj_east/preview.png?lang=en":     "limno Ostsee auf Taveuni|Swimming looks fine · Low risk · 16 November 2026|",
		"/lakes/de_mv_stale/preview.png?lang=en": "|No current value: look before you swim · old value from 3 August 2026|Last measured on 3 August 2026|",
	} {
		w := get(t, s, http.StatusOK, target)
		if h := w.Header(); !strings.Contains(w.Body.String(), want) || h.Get("Content-Type") != "image/png" || !strings.HasPrefix(h.Get("Cache-Control"), "public, max-age=60") || h.Get("Content-Language") == "" {
			t.Errorf("%s is %q with %v, want %q", target, w.Body, h, want)
		}
		get(t, s, http.StatusNotModified, target, "If-None-Match", w.Header().Get("ETag"))
	}
	if got := drawer.drawn.Load(); got != 6 {
		t.Errorf("%d previews were drawn for 6", got)
	}
	clock = clock.AddDate(0, 0, 20) // the value is old now
	if err := s.Publish(snapshotAt(t, advisorySource(t), clock)); err != nil {
		t.Fatal(err)
	}
	if body := get(t, s, http.StatusOK, "/lakes/de_mv_high/preview.png").Body.String(); !strings.Contains(body, "old value from 16 November") {
		t.Errorf("three weeks later the preview is %q", body)
	}
	changed := opts.Adjustable
	changed.Attribution = "Another Agency"
	s.Adjust(changed)
	if body := get(t, s, http.StatusOK, "/lakes/de_mv_high/preview.png").Body.String(); !strings.Contains(body, "Another Agency") {
		t.Errorf("with another attribution the preview is %q", body)
	}
	wantProblem(t, do(s, http.MethodGet, "/lakes/nowhere/preview.png"), http.StatusNotFound)
	wantProblem(t, do(s, http.MethodGet, "/lakes/de_mv_high/preview.png?lang=x"), http.StatusBadRequest, "lang")
}

// A crowd gets each preview drawn once, and one at a time.
func TestPreviewsOneAtATime(t *testing.T) {
	opts := testOptions(t)
	drawer := &countedPictures{}
	opts.Pictures = drawer
	opts.APIRate = 0
	s := newServer(t, opts, testSource(t))
	lakes := []string{"de_by_clean", "de_by_medium", "de_mv_high", "de_mv_never"}
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			if w := do(s, http.MethodGet, "/lakes/"+lakes[i%len(lakes)]+"/preview.png"); w.Code != http.StatusOK {
				t.Errorf("%d: %s", w.Code, w.Body)
			}
		})
	}
	all.Wait()
	if drawn, together := drawer.drawn.Load(), drawer.together.Load(); drawn != int32(len(lakes)) || together != 1 {
		t.Errorf("%d previews were drawn, %d at once, want %d, one at a time", drawn, together, len(lakes))
	}
}

// A tile that cannot be drawn now makes no preview that lacks it.
func TestPreviewWithoutTiles(t *testing.T) {
	opts := testOptions(t)
	opts.Tiles = &fakeTiles{err: tiles.ErrBusy}
	wantProblem(t, do(newServer(t, opts, testSource(t)), http.MethodGet, "/lakes/de_mv_high/preview.png"), http.StatusServiceUnavailable)
}

// The map of a preview has the lake in its middle, at the edges of the world too.
func TestMapAround(t *testing.T) {
	s := testServer(t)
	h := s.handlers.signs
	p, err := s.common.published()
	if err != nil {
		t.Fatal(err)
	}
	for _, point := range []orb.Point{{0, 0}, {11.5, 48}, {179.999, 60}, {-179.999, -60}, {13, 85.05}, {13, -85.05}, {180, 89.9}, {-180, -89.9}} {
		lake := &data.Lake{ID: "a", Point: point}
		excerpt, err := h.mapAround(t.Context(), p, lake, previewStyles[0])
		if err != nil || len(excerpt) == 0 || len(excerpt) > 4 {
			t.Errorf("%v: %d tiles, %v", point, len(excerpt), err)
		}
		seen := make(map[string]bool)
		for _, tile := range excerpt {
			if tile.X <= -tilePixels || tile.X >= PreviewMapSide || tile.Y <= -tilePixels || tile.Y >= PreviewMapSide || seen[fmt.Sprint(tile.X, tile.Y)] {
				t.Errorf("%v: a tile at %d, %d", point, tile.X, tile.Y)
			}
			seen[fmt.Sprint(tile.X, tile.Y)] = true
		}
	}
}

func TestPreviewZoom(t *testing.T) {
	square := func(side float64) outline.Outline {
		shore, err := outline.New(orb.MultiPolygon{{{{13, 52}, {13 + side, 52}, {13 + side, 52 + side/2}, {13, 52 + side/2}, {13, 52}}}})
		if err != nil {
			t.Fatal(err)
		}
		return shore
	}
	for _, tt := range []struct {
		outline outline.Outline
		highest int
		want    int
	}{{"", 18, 10}, {"", 5, 5}, {square(0.001), 18, 13}, {square(0.1), 18, 10}, {square(20), 18, 6}} {
		if got := previewZoom(&data.Lake{Outline: tt.outline}, tt.highest); int(got) != tt.want {
			t.Errorf("previewZoom = %d, want %d", got, tt.want)
		}
	}
}
