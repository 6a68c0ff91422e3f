package tiles

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/render"
	"limnomap/tiles/disk"
)

// A countingRenderer is the real renderer, and counts its renders.
type countingRenderer struct {
	*render.Renderer
	mu    sync.Mutex // guards drawn
	drawn map[render.Spec]int
}

func newCountingRenderer() *countingRenderer {
	return &countingRenderer{Renderer: render.New(colormap.Limits{Level1: 10, Level2: 50}), drawn: make(map[render.Spec]int)}
}

func (r *countingRenderer) Render(l *render.Layer, s render.Spec) ([]byte, error) {
	r.mu.Lock()
	r.drawn[s]++
	r.mu.Unlock()
	return r.Renderer.Render(l, s)
}

// take returns the renders since the previous call.
func (r *countingRenderer) take() map[render.Spec]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	drawn := r.drawn
	r.drawn = make(map[render.Spec]int)
	return drawn
}

// A lakeDistrict is a source of lakes in rows and columns, each with one value.
type lakeDistrict struct {
	snapshot.NoForecasts
	snapshot.NoPixels
	revision int64
	values   []data.Chlorophyll
}

func (s *lakeDistrict) lake(i int) data.Lake {
	id := data.LakeID(fmt.Sprintf("lake_%02d", i))
	return data.Lake{ID: id, ExternalID: string(id), Name: string(id), Point: orb.Point{9 + 0.6*float64(i%7), 50 + 0.45*float64(i/7)}}
}

func (s *lakeDistrict) Revision(context.Context) (data.Revision, error) {
	return data.Revision{Number: s.revision}, nil
}

func (s *lakeDistrict) Scan(ctx context.Context, lake func(data.Lake) error, observation func(data.Observation) error) (data.Revision, error) {
	for i := range s.values {
		if err := lake(s.lake(i)); err != nil {
			return data.Revision{}, err
		}
	}
	for i, value := range s.values {
		o := data.Observation{LakeID: s.lake(i).ID, Date: data.DateOf(time.Date(2026, 7, 6, 0, 0, 0, 0, time.UTC)), Type: data.Satellite, Chlorophyll: value, CellDensity: data.NoCellDensity}
		if err := observation(o); err != nil {
			return data.Revision{}, err
		}
	}
	return s.Revision(ctx)
}

func (s *lakeDistrict) Advisories(ctx context.Context) ([]data.Advisory, data.Revision, error) {
	r, err := s.Revision(ctx)
	return nil, r, err
}

func (s *lakeDistrict) Past(context.Context, data.Period, func(data.Observation) error) (data.Revision, error) {
	panic("not used by the tests")
}

func (s *lakeDistrict) History(context.Context, data.LakeID, data.HistoryQuery) (data.Lake, []data.Observation, error) {
	return data.Lake{}, nil, data.ErrNoLake
}

// districtRequests returns requests for all tiles of the district and around it, in two styles.
func districtRequests() []Request {
	var requests []Request
	for zoom := maptile.Zoom(3); zoom <= 9; zoom++ {
		first, last := maptile.At(orb.Point{8, 54}, zoom), maptile.At(orb.Point{14, 49}, zoom)
		for x := first.X; x <= last.X; x++ {
			for y := first.Y; y <= last.Y; y++ {
				for _, style := range []StyleID{render.Heat, render.Dots} {
					requests = append(requests, Request{Tile: maptile.New(x, y, zoom), Scale: 1, Style: style, Colormap: colormap.Default})
				}
			}
		}
	}
	return requests
}

// TestRefreshDrawsOnlyChangedTiles loads a snapshot in which one lake of dozens has another value. The tiles that show that
// lake are drawn again, and all others keep their bytes and their ETag without a render. The same holds after a restart, from
// disk, and for the earlier snapshot.
func TestRefreshDrawsOnlyChangedTiles(t *testing.T) {
	const changed = 17
	district := &lakeDistrict{revision: 1}
	for i := range 42 {
		district.values = append(district.values, data.Chlorophyll(1_00+i*97))
	}
	load := func() *snapshot.View {
		snapshot, err := snapshot.Load(t.Context(), district, &snapshot.Options{AsOf: snapshot.Newest})
		mustDo(t, err)
		return snapshot.Current
	}
	before := load()
	district.revision, district.values[changed] = 2, 180_00
	after := load()

	reference := render.New(colormap.Limits{Level1: 10, Level2: 50})
	afterLayer := reference.Layer(after.Values())
	changedView := &snapshot.View{Week: after.Week, AsOf: after.AsOf, Lakes: after.Lakes[changed : changed+1], States: after.States[changed : changed+1], WithData: 1}
	onlyChanged := reference.Layer(changedView.Values())
	wantDrawn := make(map[render.Spec]int)
	for _, req := range districtRequests() {
		if _, reached := reference.Fingerprint(onlyChanged, req.spec()); reached {
			wantDrawn[req.spec()] = 1
		}
	}

	dir := t.TempDir()
	open := func() (*countingRenderer, *Service) {
		r := newCountingRenderer()
		return r, newTestService(t, r, diskOptions(t, dir))
	}
	ask := func(s *Service, v *snapshot.View) map[Request]Tile {
		got := make(map[Request]Tile)
		for _, req := range districtRequests() {
			got[req] = mustTile(t, s, v, req)
		}
		return got
	}

	r, s := open()
	old := ask(s, before)
	r.take()
	fresh := ask(s, after)
	if drawn := r.take(); !maps.Equal(drawn, wantDrawn) || len(drawn) == 0 || len(drawn) > len(old)/4 {
		t.Errorf("the refresh drew %d tiles of %d, want the %d that show the changed lake, each once", len(drawn), len(old), len(wantDrawn))
	}
	kept := 0
	for req, tile := range fresh {
		want, err := reference.Render(afterLayer, req.spec())
		mustDo(t, err)
		if !tile.Blank && !bytes.Equal(tile.Bytes, want) {
			t.Errorf("%v does not show the new data", req)
		}
		if wantDrawn[req.spec()] == 0 {
			kept++
			if !sameTile(tile, old[req]) {
				t.Errorf("%v changed, and does not show the changed lake", req)
			}
		}
	}
	center := Request{Tile: maptile.At(after.Lakes[changed].Point, 9), Scale: 1, Style: render.Heat, Colormap: colormap.Default}
	if kept == 0 || fresh[center].ETag == old[center].ETag {
		t.Errorf("%d tiles were kept, and the tile at the changed lake kept its ETag: %v", kept, fresh[center].ETag == old[center].ETag)
	}
	mustDo(t, s.Close())

	r, s = open() // after a restart
	for _, asked := range []struct {
		name string
		view *snapshot.View
		want map[Request]Tile
	}{{"new", load(), fresh}, {"earlier", before, old}} {
		for req, tile := range ask(s, asked.view) {
			if !sameTile(tile, asked.want[req]) {
				t.Errorf("%v of the %s snapshot is another tile after a restart", req, asked.name)
			}
		}
		if drawn := r.take(); len(drawn) > 0 {
			t.Errorf("after a restart %d tiles of the %s snapshot are drawn, want none", len(drawn), asked.name)
		}
	}
}

// TestTwoServicesShareADisk has two Services draw the same tiles at once. A third one must find all of them.
func TestTwoServicesShareADisk(t *testing.T) {
	district := &lakeDistrict{values: []data.Chlorophyll{3_00, 40_00, 170_00, 8_00}}
	snapshot, err := snapshot.Load(t.Context(), district, &snapshot.Options{AsOf: snapshot.Newest})
	mustDo(t, err)
	dir := t.TempDir()
	requests := districtRequests()
	var services [2]*Service
	for i := range services {
		services[i] = newTestService(t, newCountingRenderer(), diskOptions(t, dir))
	}
	var wg sync.WaitGroup
	for i, s := range services {
		wg.Go(func() {
			for j := range requests {
				if i == 1 { // in reverse order
					j = len(requests) - 1 - j
				}
				if _, err := s.Tile(context.Background(), snapshot.Current.Values(), requests[j]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, s := range services {
		mustDo(t, s.Close())
	}

	reference := render.New(colormap.Limits{Level1: 10, Level2: 50})
	layer := reference.Layer(snapshot.Current.Values())
	r := newCountingRenderer()
	s := newTestService(t, r, diskOptions(t, dir))
	shown := 0
	for _, req := range requests {
		got := mustTile(t, s, snapshot.Current, req)
		if got.Blank {
			continue
		}
		shown++
		want, err := reference.Render(layer, req.spec())
		mustDo(t, err)
		if !bytes.Equal(got.Bytes, want) {
			t.Errorf("%v does not show the data", req)
		}
	}
	if drawn := r.take(); len(drawn) > 0 || shown == 0 {
		t.Errorf("a third Service draws %d tiles of %d, want none", len(drawn), shown)
	}
	folder, err := disk.OpenFolder(dir)
	mustDo(t, err)
	defer folder.Close()
	if err := folder.Walk(t.Context(), func(e disk.Entry) error { return e.Verify() }); err != nil {
		t.Errorf("an entry of the disk cache: %v", err)
	}
}
