package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"limnomap/data"
	"limnomap/data/pixels"
	"limnomap/data/snapshot"
	"limnomap/tiles"
)

// A spreadSource has pixels of the current value of de_by_clean, of which the half has a high risk.
type spreadSource struct {
	pixelSource
	current          data.Observation
	histories, asked int // how often for a history, and for the spreads of a lake
	err              error
}

func (s *spreadSource) History(ctx context.Context, id data.LakeID, q data.HistoryQuery) (data.Lake, []data.Observation, error) {
	s.histories++
	return s.fakeSource.History(ctx, id, q)
}

func (s *spreadSource) PixelState(context.Context) (data.PixelState, error) {
	return data.PixelState{Count: 1, Digest: 1}, nil
}

func (s *spreadSource) PixelSpreads(_ context.Context, _ data.Period, each func(data.LakeValue, *pixels.Spread) error) error {
	spread, err := halfHigh()
	if err != nil {
		return err
	}
	return each(data.LakeValue{Lake: s.current.LakeID, Date: s.current.Date, Chlorophyll: s.current.Chlorophyll}, spread)
}

func (s *spreadSource) LakeSpreads(_ context.Context, id data.LakeID, _ data.Period, each func(date data.Date, source, grid string, spread *pixels.Spread) error) error {
	s.asked++
	if id != s.current.LakeID || s.err != nil {
		return s.err
	}
	spread, err := halfHigh()
	if err != nil {
		return err
	}
	return each(s.current.Date, s.current.Source, "36000 18000 -180 0.01 0 90 0 -0.01 EPSG:4326", spread)
}

func halfHigh() (*pixels.Spread, error) {
	return pixels.UnpackSpread([]byte{10, 0, 0, 5, 0, 0, 0, 0, 0, 5})
}

// spreadServer returns a server that holds only the newest week of a spreadSource.
func spreadServer(t *testing.T, log *strings.Builder) (*Server, *spreadSource) {
	t.Helper()
	f := longSource(t)
	source := &spreadSource{pixelSource: pixelSource{fakeSource: f}}
	for _, o := range f.observations {
		if o.LakeID == "de_by_clean" && o.Type == data.Satellite && o.Chlorophyll.Valid() && o.Date >= source.current.Date {
			source.current = o
		}
	}
	opts := testOptions(t)
	opts.Historian, opts.Pixels, opts.Logger = source, source, slog.New(slog.NewTextHandler(log, nil))
	s := newServer(t, opts, nil)
	publishShort(t, s, source)
	return s, source
}

// Pixels that cannot be read leave out the shares of a history, and the log says why.
func TestHistoryWithoutItsPixels(t *testing.T) {
	var log strings.Builder
	s, source := spreadServer(t, &log)
	body := func() string { return get(t, s, http.StatusOK, historyURL+"de_by_clean").Body.String() }
	if got := body(); !strings.Contains(got, `"share_high":0.5`) || strings.Contains(log.String(), "pixels of") {
		t.Fatalf("the history is %s, the log %s", got, &log)
	}
	source.err = errors.New("disk on fire")
	if got := body(); strings.Contains(got, "share_high") || !strings.Contains(got, "2026-11-16") || !strings.Contains(log.String(), "pixels of de_by_clean") {
		t.Errorf("without pixels the history is %s, the log %s", got, &log)
	}
}

// The page of a lake asks once for its history and its pixels. Pixels that could not be read are asked for again.
func TestLakePageReadsOnce(t *testing.T) {
	var log strings.Builder
	s, source := spreadServer(t, &log)
	source.err = errors.New("disk on fire")
	if page, _ := lakePageOf(t, s, "de_by_clean"); !strings.Contains(page, `<path class="dots"`) || strings.Contains(page, "f=png") {
		t.Error("without pixels the page has no history, or a picture")
	}
	source.err = nil
	for range 3 {
		if page, text := lakePageOf(t, s, "de_by_clean"); !strings.Contains(page, "f=png") || !strings.Contains(text, "50 %") || !strings.Contains(page, `<path class="dots"`) {
			t.Errorf("the page is %s", text)
		}
	}
	if source.histories != 2 || source.asked != 2 {
		t.Errorf("the store was asked %d times for the history and %d times for pixels, want 2 each", source.histories, source.asked)
	}
}

// The sign to print has the picture of the pixels, if they can be read and the lake is not closed.
func TestSignShowsPixels(t *testing.T) {
	var log strings.Builder
	s, source := spreadServer(t, &log)
	sheet := func() string {
		t.Helper()
		return get(t, s, http.StatusOK, "/lakes/de_by_clean/sign?lang=en").Body.String()
	}
	const picture = `src="../../api/v1/bathing-lakes/pixels/de_by_clean?f=png&amp;date=2026-11-16"`
	source.err = errors.New("disk on fire")
	if got := sheet(); strings.Contains(got, "f=png") || !strings.Contains(got, "Measured on 16 November 2026") {
		t.Errorf("without pixels the sign is %s", got)
	}
	source.err = nil
	if got := sheet(); !strings.Contains(got, picture) || !strings.Contains(got, "50 % has low") || !strings.Contains(got, `<use href="#medium"/></svg> Medium risk`) {
		t.Errorf("the sign is %s", got)
	}
	if got := get(t, s, http.StatusOK, "/lakes/de_mv_high/sign?lang=en").Body.String(); strings.Contains(got, "f=png") {
		t.Error("the sign of a lake without pixels has a picture")
	}
	source.advisories = []data.Advisory{{ID: "a", LakeID: "de_by_clean", Kind: data.Closure, Cause: data.Bacteria, Issuer: "Amt", Issued: testNow(), ValidFrom: testNow().AddDate(0, 0, -1)}}
	publishShort(t, s, source)
	asked := source.asked
	if got := sheet(); strings.Contains(got, "f=png") || !strings.Contains(got, "Closed") || source.asked != asked {
		t.Errorf("the store is asked %d times for the sign of a closed lake, which is %s", source.asked-asked, got)
	}
}

// A preview whose pixels cannot be read has the waters, and is drawn again for the next one who asks.
func TestPreviewWithoutPixels(t *testing.T) {
	opts := testOptions(t)
	service, drawer := &pixelTiles{}, &countedPictures{}
	opts.Tiles, opts.Pictures = service, drawer
	opts.Styles = append(opts.Styles, tiles.Style{ID: "lakes"}, tiles.Style{ID: stylePixels})
	s := newServer(t, opts, testSource(t))
	for i, want := range []tiles.StyleID{"lakes", "lakes", stylePixels, stylePixels} {
		service.failure = []error{tiles.ErrPixels, tiles.ErrBusy, nil, nil}[i]
		get(t, s, http.StatusOK, "/lakes/de_mv_high/preview.png")
		if service.asked.Style != want || int(drawer.drawn.Load()) != min(i+1, 3) {
			t.Errorf("preview %d is of the style %s, and %d are drawn, want %s", i, service.asked.Style, drawer.drawn.Load(), want)
		}
	}
}

// pixelTiles are tiles of which those with the pixels of lakes fail while failure is not nil.
type pixelTiles struct {
	fakeTiles
	failure error
}

func (p *pixelTiles) Tile(ctx context.Context, v *snapshot.Values, req tiles.Request) (tiles.Tile, error) {
	if p.failure != nil && req.Style == stylePixels {
		return tiles.Tile{}, fmt.Errorf("tile: %w", p.failure)
	}
	return p.fakeTiles.Tile(ctx, v, req)
}
