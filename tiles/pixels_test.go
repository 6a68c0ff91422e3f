package tiles

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/pixels"
	"limnomap/data/raster/crs"
	"limnomap/data/raster/georef"
	"limnomap/data/raster/zonal"
	"limnomap/data/snapshot"
	"limnomap/render"
	"limnomap/tiles/admission"
)

// A fakePixels has pixels of all lakes, in whose west all have one value and in whose east another.
type fakePixels struct {
	t    *testing.T
	gate chan struct{} // if not nil, each read takes one value from it

	mu      sync.Mutex // guards what follows
	east    float64
	err     error
	damaged bool
	none    bool
	read    []data.LakeValue // so far
}

func (p *fakePixels) PixelsOf(ctx context.Context, values []data.LakeValue) ([]pixels.Packed, error) {
	if p.gate != nil {
		<-p.gate
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read = append(p.read, values...)
	found := make([]pixels.Packed, len(values))
	for i, v := range values {
		if p.none {
			continue
		}
		var n int
		if _, err := fmt.Sscanf(string(v.Lake), "lake_%d", &n); err != nil {
			return nil, err
		}
		found[i] = packedAround(p.t, lakeAt(n), 5, p.east)
		if p.damaged {
			found[i].Codes = found[i].Codes[:3]
		}
	}
	return found, p.err
}

// reads returns how many values were read since the last call.
func (p *fakePixels) reads() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.read)
	p.read = nil
	return n
}

func (p *fakePixels) set(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

func lakeAt(n int) orb.Point { return orb.Point{11 + 0.3*float64(n), 48} }

// packedAround returns pixels of 1/360 degrees around a point.
func packedAround(t *testing.T, at orb.Point, west, east float64) pixels.Packed {
	t.Helper()
	system, err := crs.FromEPSG(4326)
	if err != nil {
		t.Fatal(err)
	}
	g, err := georef.New(360*360, 180*360, [6]float64{-180, 1. / 360, 0, 90, 0, -1. / 360}, system)
	if err != nil {
		t.Fatal(err)
	}
	center, _ := g.PixelOf(at, 0)
	m := &pixels.Map{Grid: g}
	if m.Mask, err = zonal.NewDisc(center, 8, 8); err != nil {
		t.Fatal(err)
	}
	m.Mask.Each(func(y, x0, x1 int) {
		for x := x0; x < x1; x++ {
			chl := west
			if float64(x) > center[0] {
				chl = east
			}
			m.Codes = append(m.Codes, pixels.CodeOf(chl))
		}
	})
	return pixels.NewPacker().Pack(m)
}

// pixelView returns the view of n lakes, of a snapshot with pixels in that state.
func pixelView(n int, state data.PixelState) *snapshot.View {
	v := &snapshot.View{AsOf: 20_000, Pixels: state}
	for i := range n {
		v.Lakes = append(v.Lakes, data.Lake{ID: data.LakeID(fmt.Sprintf("lake_%03d", i)), Point: lakeAt(i), AreaKM2: 12})
		v.States = append(v.States, snapshot.State{Chlorophyll: 700, Date: 19_998})
	}
	return v
}

func pixelService(t *testing.T, p Pixels, log *slog.Logger) *Service {
	t.Helper()
	limits := data.Profiles()[0]
	s, err := New(render.New(colormap.Limits{Level1: limits.Limits[0].Float(), Level2: limits.Limits[1].Float()}), &Options{Pixels: p, Logger: log, Variant: "who2003"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func pixelRequest(z maptile.Zoom, style StyleID) Request {
	return Request{Tile: maptile.At(lakeAt(0), z), Scale: 1, Style: style, Colormap: colormap.Default}
}

func TestTilesOfPixels(t *testing.T) {
	source := &fakePixels{t: t, east: 80}
	s := pixelService(t, source, nil)
	v := pixelView(3, data.PixelState{Count: 3, Digest: 1})
	for _, test := range []struct {
		z     maptile.Zoom
		style StyleID
		reads int
	}{
		{8, render.Pixels, 0}, {10, render.Heat, 0}, {12, render.Lakes, 0}, {12, render.Dots, 0},
		{13, render.Pixels, 1}, {13, render.Pixels, 0}, {14, render.Pixels, 0}, {11, render.Heat, 0}, {9, render.Pixels, 1},
	} {
		tile := mustTile(t, s, v, pixelRequest(test.z, test.style))
		if got := source.reads(); got != test.reads {
			t.Errorf("%s at zoom %d: the pixels of %d lakes are read, want %d", test.style, test.z, got, test.reads)
		}
		plain := mustTile(t, s, v, pixelRequest(test.z, render.Lakes))
		if test.style == render.Pixels && bytes.Equal(tile.Bytes, plain.Bytes) != (test.z == 8) {
			t.Errorf("zoom %d: the tile with pixels is that of the waters: %t", test.z, test.z != 8)
		}
	}

	// Pixels that are replaced have another state, and another tile; a lake that has none any more is drawn as a water.
	req := pixelRequest(13, render.Pixels)
	before := mustTile(t, s, v, req)
	source.set(func() { source.east = 20 })
	if again := mustTile(t, s, v, req); again.ETag != before.ETag {
		t.Error("other pixels of the same snapshot are shown")
	}
	after := mustTile(t, s, pixelView(3, data.PixelState{Count: 3, Digest: 2}), req)
	if after.ETag == before.ETag {
		t.Error("other pixels have the same tile")
	}
	source.set(func() { source.none = true })
	if none := mustTile(t, s, pixelView(3, data.PixelState{Count: 1, Digest: 3}), req); !bytes.Equal(none.Bytes, mustTile(t, s, v, pixelRequest(13, render.Lakes)).Bytes) {
		t.Error("a lake whose pixels were removed is not drawn as a water")
	}
	source.reads()
	mustTile(t, s, pixelView(3, data.PixelState{}), req)
	if n := source.reads(); n > 0 {
		t.Errorf("the pixels of %d lakes are read of a snapshot without any", n)
	}
}

// partOf returns the part of the map that a tile shows at scale 1.
func partOf(t maptile.Tile) render.Part {
	corner := image.Pt(int(t.X), int(t.Y)).Mul(256)
	return render.Part{Min: corner, Max: corner.Add(image.Pt(256, 256))}
}

// A part of the map has the pixels of its tile, with those of lakes.
func TestPaintedPartsAreTiles(t *testing.T) {
	source := &fakePixels{t: t, east: 80}
	s := pixelService(t, source, nil)
	v := pixelView(3, data.PixelState{Count: 3, Digest: 1})
	for _, req := range []Request{pixelRequest(13, render.Pixels), pixelRequest(11, render.Heat), pixelRequest(6, render.Heat), pixelRequest(6, render.Dots)} {
		got, err := s.Paint(t.Context(), v.Values(), req, partOf(req.Tile))
		mustDo(t, err)
		want, err := png.Decode(bytes.NewReader(mustTile(t, s, v, req).Bytes))
		mustDo(t, err)
		if len(got.Pixels) != 256*256 || got.Width != 256 {
			t.Fatalf("%v: %d pixels", req, len(got.Pixels))
		}
		for i, p := range got.Pixels {
			if c := color.NRGBAModel.Convert(want.At(i%256, i/256)); got.Palette[p] != c && (got.Palette[p].A > 0 || c.(color.NRGBA).A > 0) {
				t.Fatalf("%v: pixel %d, %d is %v, of the tile %v", req, i%256, i/256, got.Palette[p], c)
			}
		}
	}
	if got, err := s.Paint(t.Context(), v.Values(), pixelRequest(13, render.Pixels), image.Rect(0, 0, 9, 9)); err != nil || got.Pixels != nil {
		t.Errorf("where nothing is there are %d pixels, %v", len(got.Pixels), err)
	}
	source.set(func() { source.err = errors.New("no database") })
	if _, err := s.Paint(t.Context(), pixelView(3, data.PixelState{Count: 3, Digest: 2}).Values(), pixelRequest(13, render.Pixels), partOf(maptile.At(lakeAt(0), 13))); !errors.Is(err, ErrPixels) {
		t.Errorf("pixels that cannot be read: %v", err)
	}
	wrong := pixelRequest(13, "jet")
	if _, err := s.Paint(t.Context(), v.Values(), wrong, image.Rect(0, 0, 9, 9)); !errors.Is(err, render.ErrUnknownStyle) {
		t.Errorf("an unknown style: %v", err)
	}
	broken := newTestService(t, &fakeRenderer{panic: true}, nil)
	if _, err := broken.Paint(t.Context(), v.Values(), testRequest(1), image.Rect(0, 0, 9, 9)); err == nil {
		t.Error("a renderer that panics gives no error")
	}
	mustDo(t, s.Close())
	if _, err := s.Paint(t.Context(), v.Values(), pixelRequest(13, render.Pixels), image.Rect(0, 0, 9, 9)); !errors.Is(err, ErrBusy) {
		t.Errorf("a closed service: %v", err)
	}
}

// TestPixelsThatCannotBeRead checks that no tile is drawn without the pixels that it should show, and that the next one is drawn.
func TestPixelsThatCannotBeRead(t *testing.T) {
	source := &fakePixels{t: t, east: 80, err: errors.New("no database")}
	s := pixelService(t, source, nil)
	v := pixelView(1, data.PixelState{Count: 1, Digest: 1})
	for _, style := range []StyleID{render.Pixels, render.Heat} {
		if _, err := s.Tile(t.Context(), v.Values(), pixelRequest(13, style)); !errors.Is(err, ErrPixels) || !errors.Is(err, source.err) {
			t.Errorf("%s: the error is %v", style, err)
		}
	}
	mustTile(t, s, v, pixelRequest(13, render.Lakes))
	source.set(func() { source.err = nil })
	if bytes.Equal(mustTile(t, s, v, pixelRequest(13, render.Pixels)).Bytes, mustTile(t, s, v, pixelRequest(13, render.Lakes)).Bytes) {
		t.Error("the tile has no pixels after they could be read again")
	}
}

func TestDamagedPixelsAreNotDrawn(t *testing.T) {
	var log bytes.Buffer
	source := &fakePixels{t: t, east: 80, damaged: true}
	s := pixelService(t, source, slog.New(slog.NewTextHandler(&log, nil)))
	v := pixelView(1, data.PixelState{Count: 1, Digest: 1})
	if !bytes.Equal(mustTile(t, s, v, pixelRequest(13, render.Pixels)).Bytes, mustTile(t, s, v, pixelRequest(13, render.Lakes)).Bytes) {
		t.Error("damaged pixels are drawn")
	}
	if !strings.Contains(log.String(), "lake=lake_000") {
		t.Errorf("the log has %q", log.String())
	}
}

// TestPixelsInMemoryAreBounded decodes those of more lakes than fit.
func TestPixelsInMemoryAreBounded(t *testing.T) {
	p, err := render.NewLakePixels(packedAround(t, lakeAt(0), 5, 80), lakeAt(0))
	if err != nil {
		t.Fatal(err)
	}
	c := newPixelCache(10 * pixelBytes(p))
	for i := range 100 {
		c.put(pixelKey{value: data.LakeValue{Date: data.Date(i)}}, p)
		c.put(pixelKey{value: data.LakeValue{Date: data.Date(i)}}, p)
		if c.bytes > c.budget || c.bytes != int64(c.lru.Len())*pixelBytes(p) {
			t.Fatalf("%d entries of %d bytes count as %d of %d", c.lru.Len(), pixelBytes(p), c.bytes, c.budget)
		}
	}
	if c.lru.Len() != 10 {
		t.Errorf("%d entries are held", c.lru.Len())
	}
	newPixelCache(1).put(pixelKey{}, nil) // larger than all
}

// TestPixelsOfTilesAreInABudget draws a tile whose pixels do not fit, as they are stored or decoded, and one whose pixels fit.
func TestPixelsOfTilesAreInABudget(t *testing.T) {
	packed := packedAround(t, lakeAt(0), 5, 80)
	decoded, err := render.NewLakePixels(packed, lakeAt(0))
	if err != nil {
		t.Fatal(err)
	}
	stored := (&tilePixels{packed: []pixels.Packed{packed}}).bytes()
	for _, total := range []int64{stored - 1, stored + decoded.Bytes() - 1, stored + decoded.Bytes()} {
		s := pixelService(t, &fakePixels{t: t, east: 80}, nil)
		s.options.Memory = admission.NewBudget(total)
		tile, err := s.Tile(t.Context(), pixelView(1, data.PixelState{Count: 1, Digest: 1}).Values(), pixelRequest(13, render.Pixels))
		if fits := total == stored+decoded.Bytes(); fits && (err != nil || tile.Blank) || !fits && !errors.Is(err, ErrBusy) {
			t.Errorf("with %d bytes for %d and %d, the error is %v", total, stored, decoded.Bytes(), err)
		}
		if used := s.options.Memory.Used(); used != 0 {
			t.Errorf("with %d bytes, %d are held in the end", total, used)
		}
	}
}

// A client that may hold no more does not take a tile from another one that waits for it too: whether the memory is for what is read, or for what is decoded.
func TestRefusedClientTakesNoTileFromAnother(t *testing.T) {
	packed := packedAround(t, lakeAt(0), 5, 80)
	stored := (&tilePixels{packed: []pixels.Packed{packed}}).bytes()
	for _, left := range []int64{0, stored} {
		synctest.Test(t, func(t *testing.T) {
			source := &fakePixels{t: t, east: 80, gate: make(chan struct{})}
			s := pixelService(t, source, nil)
			s.options.Client = clientOfContext
			const total = 1 << 20
			s.options.Memory = admission.NewBudget(total)
			other, err := s.options.Memory.Hold(clientOfContext(as(t, 9)), 2) // so that no one may take all
			mustDo(t, err)
			greedy, err := s.options.Memory.Hold(clientOfContext(as(t, 1)), total/2-1-left)
			mustDo(t, err)
			v := pixelView(1, data.PixelState{Count: 1, Digest: 1})
			ask := func(client byte) <-chan error {
				answer := make(chan error, 1)
				go func() {
					_, err := s.Tile(as(t, client), v.Values(), pixelRequest(13, render.Pixels))
					answer <- err
				}()
				synctest.Wait()
				return answer
			}
			first, same, second, third := ask(1), ask(1), ask(2), ask(3)
			close(source.gate)
			for name, answer := range map[string]<-chan error{"first": first, "second of it": same} {
				if err := <-answer; !errors.Is(err, ErrBusy) {
					t.Errorf("with %d bytes left, the %s has %v, want ErrBusy", left, name, err)
				}
			}
			mustDo(t, <-second, <-third)
			other.Release()
			greedy.Release()
			if used := s.options.Memory.Used(); used != 0 {
				t.Errorf("%d bytes are held in the end", used)
			}
			mustDo(t, s.Close())
		})
	}
}

// A pixelWalker waits at the gate for the lakes of each tile, too.
type pixelWalker struct{ *walker }

func (w pixelWalker) PixelLakes(_ *render.Layer, spec render.Spec, _ render.Part) []int {
	w.walk(spec)
	return nil
}

// A client with many tiles of pixels to draw does not delay another one that wants the last of them.
func TestOneClientWithPixelsDoesNotDelayAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := pixelWalker{newWalker()}
		s := newTestService(t, r, &Options{Renders: 1, Client: clientOfContext, Pixels: &fakePixels{t: t}})
		v := pixelView(1, data.PixelState{Count: 1, Digest: 1})
		const crowd = 100
		answers := make(chan error, crowd)
		ask := func(client byte, x uint32, answer chan<- error) {
			go func() {
				_, err := s.Tile(as(t, client), v.Values(), Request{Tile: maptile.New(x, 0, 13), Scale: 1, Style: render.Pixels, Colormap: colormap.Default})
				answer <- err
			}()
			synctest.Wait()
		}
		for x := range uint32(crowd) {
			ask(1, x, answers)
		}
		shared := make(chan error, 1)
		ask(3, crowd-1, shared)
		for range 5 { // a tile has two turns
			r.gate <- struct{}{}
			time.Sleep(2 * time.Millisecond)
			synctest.Wait()
		}
		select {
		case err := <-shared:
			mustDo(t, err)
		default:
			t.Error("the tile of another client is not among the first")
		}
		close(r.gate)
		for range crowd {
			mustDo(t, <-answers)
		}
	})
}

// A keptTiles is a Store in memory.
type keptTiles struct {
	mu   sync.Mutex
	sums map[[sha256.Size]byte][]byte
}

func (k *keptTiles) Has(sum [sha256.Size]byte) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.sums[sum] != nil, nil
}

func (k *keptTiles) Put(_ context.Context, key, body []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sums[sha256.Sum256(key)] = body
	return nil
}

// TestPlotsHavePixels draws a pyramid: its tiles are those that are served, and a warmed one has their keys.
func TestPlotsHavePixels(t *testing.T) {
	source := &fakePixels{t: t, east: 80}
	s := pixelService(t, source, nil)
	v := pixelView(2, data.PixelState{Count: 2, Digest: 1})
	pyramid := Pyramid{MinZoom: 8, MaxZoom: 12, Bound: World(), Scale: 1, Style: render.Pixels, Colormap: colormap.Default}
	plot, err := s.Plot(t.Context(), v.Values(), pyramid)
	if err != nil {
		t.Fatal(err)
	}
	drawn, shown := 0, 0
	kept := &keptTiles{sums: make(map[[sha256.Size]byte][]byte)}
	if _, err := plot.Warm(t.Context(), kept, func() {}); err != nil {
		t.Fatal(err)
	}
	var bodies [][]byte
	for _, body := range kept.sums {
		bodies = append(bodies, body)
	}
	err = plot.Draw(t.Context(), func(tile maptile.Tile, content []byte) error {
		if drawn++; content == nil {
			return nil
		}
		shown++
		served := mustTile(t, s, v, pyramid.request(tile))
		if !bytes.Equal(served.Bytes, content) {
			t.Errorf("the tile %v of the plot is another one", tile)
		}
		if !slices.ContainsFunc(bodies, func(b []byte) bool { return bytes.Equal(b, content) }) {
			t.Errorf("the tile %v was not warmed", tile)
		}
		return nil
	})
	if err != nil || shown < 10 {
		t.Errorf("%d of %d tiles show something, %v", shown, drawn, err)
	}
	again, err := plot.Warm(t.Context(), kept, func() {})
	if err != nil || again.Drawn > 0 || again.Found == 0 {
		t.Errorf("warmed again: %+v, %v", again, err)
	}
	source.set(func() { source.err = errors.New("no database") })
	other, err := pixelService(t, source, nil).Plot(t.Context(), v.Values(), pyramid)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Draw(t.Context(), func(maptile.Tile, []byte) error { return nil }); !errors.Is(err, ErrPixels) {
		t.Errorf("without pixels the error is %v", err)
	}
}
