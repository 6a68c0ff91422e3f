package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/render"
	"limnomap/tiles"
)

const tileURL = "/api/v1/tiles/6/33/21.png"

// tileServer returns a server and its fake tiles.
func tileServer(t *testing.T) (*Server, *fakeTiles) {
	t.Helper()
	opts := testOptions(t)
	service := &fakeTiles{}
	opts.Tiles = service
	return newServer(t, opts, testSource(t)), service
}

func TestTileAddresses(t *testing.T) {
	s, service := tileServer(t)
	for _, test := range []struct {
		path  string
		want  maptile.Tile
		scale int
	}{
		{"0/0/0.png", maptile.New(0, 0, 0), 1},
		{"6/33/21.png", maptile.New(33, 21, 6), 1},
		{"6/33/21@2x.png", maptile.New(33, 21, 6), 2},
		{"6/33/21%402x.png", maptile.New(33, 21, 6), 2},
		{"18/262143/262143.png", maptile.New(262143, 262143, 18), 1},
	} {
		w := get(t, s, http.StatusOK, "/api/v1/tiles/"+test.path)
		if service.asked.Tile != test.want || service.asked.Scale != test.scale {
			t.Errorf("%s asks for %+v, want %v at scale %d", test.path, service.asked, test.want, test.scale)
		}
		if got := w.Header().Get("Content-Type"); got != "image/png" {
			t.Errorf("Content-Type = %q", got)
		}
	}
	for _, path := range []string{
		"19/0/0.png", "32/0/0.png", "4294967296/0/0.png", "6/64/0.png", "6/0/64.png", "-1/0/0.png", "6/33/21@3x.png", "6/33/21@2x@2x.png", "6/33/@2x.png",
		"6/3_3/21.png", "6/33/21.0.png", "6/33/21.jpg", "6/33/21.PNG", "6/33/21", "6/33/.png", "6/33/21.png/", "6/33.png", "6/٣/21.png", "0x6/0/0.png", "6%2F33/21.png",
	} {
		w := do(s, http.MethodGet, "/api/v1/tiles/"+strings.ReplaceAll(path, " ", "%20"))
		if w.Code != http.StatusNotFound {
			t.Errorf("%s = %d, want 404", path, w.Code)
			continue
		}
		wantProblem(t, w, http.StatusNotFound)
	}
}

// No byte of a tile's path may be percent-encoded, but for the @ of "@2x", nor may numbers have leading zeros or signs: a cache in
// front of the server would keep the same tile once for each spelling.
func TestTilesHaveOneSpelling(t *testing.T) {
	s, _ := tileServer(t)
	for _, target := range []string{tileURL, strings.Replace(tileURL, ".png", "@2x.png", 1), vectorURL, ogcTileURL, ogcVectorURL} {
		get(t, s, http.StatusOK, target)
		spelling := func(other string, status int) {
			if w := do(s, http.MethodGet, other); w.Code != status {
				t.Errorf("%s = %d, want %d", other, w.Code, status)
			}
		}
		for i := 1; i < len(target); i++ {
			status := http.StatusNotFound
			if target[i] == '@' {
				status = http.StatusOK
			}
			for _, format := range []string{"%s%%%02x%s", "%s%%%02X%s"} {
				spelling(fmt.Sprintf(format, target[:i], target[i], target[i+1:]), status)
			}
			if target[i-1] == '/' && target[i] >= '0' && target[i] <= '9' {
				for _, sign := range []string{"0", "+", "-", "%2B", "%20"} {
					spelling(target[:i]+sign+target[i:], http.StatusNotFound)
				}
			}
		}
	}
}

func TestTileStyleAndColormap(t *testing.T) {
	s, service := tileServer(t)
	get(t, s, http.StatusOK, tileURL)
	if service.asked.Style != "heat" || service.asked.Colormap != colormap.Default {
		t.Errorf("without parameters asks for %+v, want the defaults", service.asked)
	}
	get(t, s, http.StatusOK, tileURL+"?style=dots&colormap=viridis")
	if service.asked.Style != "dots" || service.asked.Colormap != "viridis" {
		t.Errorf("asks for %+v, want dots in viridis", service.asked)
	}
	for query, parameters := range map[string][]string{
		"style=jet": {"style"}, "colormap=jet": {"colormap"}, "style=": {"style"},
		"style=heat&style=heat": {"style"}, "style=x&colormap=y": {"style", "colormap"}, "v=1&v=2": {"v"},
	} {
		wantProblem(t, do(s, http.MethodGet, tileURL+"?"+query), http.StatusBadRequest, parameters...)
	}
	body := do(s, http.MethodGet, tileURL+"?style=jet&colormap=jet").Body.String()
	for _, name := range []string{"heat, dots", "viridis"} {
		if !strings.Contains(body, name) {
			t.Errorf("problem = %s, want it to list %s", body, name)
		}
	}
}

func TestTileFilter(t *testing.T) {
	s, service := tileServer(t)
	for query, want := range map[string]tiles.Filter{
		"style=dots": 0, "style=dots&risk=high": render.ShowHigh, "risk=low,closed&style=dots": render.ShowLow | render.ShowClosed,
		"style=dots&risk=closed,low,low": render.ShowLow | render.ShowClosed, "style=dots&risk=none%2Cmedium": render.ShowNone | render.ShowMedium,
		"style=dots&risk=closed,high,medium,low,none": 0,
	} {
		w := get(t, s, http.StatusOK, tileURL+"?"+query)
		if service.asked.Filter != want || w.Header().Get("Cache-Control") != cacheTile {
			t.Errorf("%s asks for %+v, cached as %q, want filter %05b, cached as %q", query, service.asked, w.Header().Get("Cache-Control"), want, cacheTile)
		}
	}
	for query, parameters := range map[string][]string{
		"style=dots&risk=": {"risk"}, "style=dots&risk=High": {"risk"}, "style=dots&risk=low,": {"risk"}, "style=dots&risk=low;high": {"risk"},
		"style=dots&risk=low&risk=low": {"risk"}, "risk=low": {"risk"}, "style=heat&risk=closed,high,medium,low,none": {"risk"},
		"style=dots&risk=unknown&colormap=jet": {"colormap", "risk"}, "style=dots&risk=%zz": {"risk"},
	} {
		wantProblem(t, do(s, http.MethodGet, tileURL+"?"+query), http.StatusBadRequest, parameters...)
	}
	for query, want := range map[string]string{
		"style=dots&risk=unknown": "closed, high, medium, low, none", "style=heat&risk=low": "not for the style heat, which shows all lakes; only for dots",
	} {
		if body := do(s, http.MethodGet, tileURL+"?"+query).Body.String(); !strings.Contains(body, want) {
			t.Errorf("problem of %s = %s, want it to name %s", query, body, want)
		}
	}
	// A vector tile has all lakes, like one without the parameter.
	get(t, s, http.StatusOK, strings.TrimSuffix(tileURL, "png")+"mvt?risk=low")
}

func TestTileDate(t *testing.T) {
	s, service := tileServer(t)
	get(t, s, http.StatusOK, tileURL)
	newest := service.week
	for date, want := range map[string]string{
		"2026-11-16": "2026-W47", "2026-11-22": "2026-W47", "2026-11-15": "2026-W46",
		"2026-08-03": "2026-W32", "2026-08-09": "2026-W32", "2026-09-01": "2026-W36",
	} {
		get(t, s, http.StatusOK, tileURL+"?date="+date)
		if got := service.week.String(); got != want {
			t.Errorf("date=%s asks for week %s, want %s", date, got, want)
		}
	}
	if newest.String() != "2026-W47" {
		t.Errorf("without date= asks for week %s, want the newest, 2026-W47", newest)
	}
	for _, date := range []string{"2026-08-02", "2026-11-23", "2026-13-01", "2026-02-30", "yesterday", "", "2026-11-16T00:00:00Z", "0000-00-00"} {
		w := do(s, http.MethodGet, tileURL+"?date="+date)
		wantProblem(t, w, http.StatusBadRequest, "date")
		if got := w.Body.String(); !strings.Contains(got, "2026-08-03") || !strings.Contains(got, "2026-11-22") {
			t.Errorf("problem = %s, want it to name the range", got)
		}
	}
}

func TestTileCaching(t *testing.T) {
	s, _ := tileServer(t)
	current := s.common.current.Load().state.MapVersion
	for query, want := range map[string]string{
		"":              "public, max-age=300, stale-while-revalidate=86400",
		"?v=older":      "public, max-age=300, stale-while-revalidate=86400",
		"?v=":           "public, max-age=300, stale-while-revalidate=86400",
		"?v=" + current: "public, max-age=31536000, immutable",
		"?v=" + current + "&style=dots&date=2026-11-16": "public, max-age=31536000, immutable",
	} {
		if got := get(t, s, http.StatusOK, tileURL+query).Header().Get("Cache-Control"); got != want {
			t.Errorf("Cache-Control of %q = %q, want %q", query, got, want)
		}
	}
	if got := get(t, s, http.StatusOK, tileURL).Header().Get("ETag"); got != `"7e57"` {
		t.Errorf("ETag = %s, want the tile's own", got)
	}
}

func TestTileFaults(t *testing.T) {
	for name, test := range map[string]struct {
		err        error
		status     int
		retryAfter string
	}{
		"busy":         {tiles.ErrBusy, http.StatusServiceUnavailable, "1"},
		"too slow":     {context.DeadlineExceeded, http.StatusServiceUnavailable, "5"},
		"out of range": {tiles.ErrOutOfRange, http.StatusNotFound, ""},
		"broken":       {errors.New("secret"), http.StatusInternalServerError, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, service := tileServer(t)
			service.err = test.err
			w := do(s, http.MethodGet, tileURL)
			wantProblem(t, w, test.status)
			if got := w.Header().Get("Retry-After"); got != test.retryAfter {
				t.Errorf("Retry-After = %q, want %q", got, test.retryAfter)
			}
			if test.status == http.StatusInternalServerError {
				wantHidden(t, w)
			}
		})
	}
}

func TestAClientThatLeftIsNoError(t *testing.T) {
	var log bytes.Buffer
	opts := testOptions(t)
	opts.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	service := &fakeTiles{}
	opts.Tiles = service
	s := newServer(t, opts, testSource(t))
	ctx, leave := context.WithCancel(context.Background())
	service.leave = leave
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, tileURL, nil).WithContext(ctx))
	if log.Len() > 0 {
		t.Errorf("logged: %s", log.String())
	}
	if w.Body.Len() > 0 {
		t.Errorf("wrote %q for a client that left", w.Body)
	}
}

func TestDates(t *testing.T) {
	body := object(t, get(t, testServer(t), http.StatusOK, "/api/v1/bathing-lakes/dates"))
	weeks := body["weeks"].([]any)
	var previous data.Date
	for _, w := range weeks {
		w := w.(map[string]any)
		d := date(t, w["date"].(string))
		if d != d.Week().Monday() || d.Week().String() != w["week"] || d <= previous {
			t.Errorf("week = %v, want the Mondays in order", w)
		}
		previous = d
	}
	last := weeks[len(weeks)-1].(map[string]any)
	if len(weeks) != 4 || last["week"] != "2026-W47" || last["lakes_with_data"] != 6.0 {
		t.Errorf("%d weeks end with %v, want 4 up to 2026-W47 with 6 lakes", len(weeks), last)
	}
}
