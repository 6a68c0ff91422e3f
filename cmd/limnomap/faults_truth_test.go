//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
	"golang.org/x/sync/errgroup"

	"limnomap/cmd/limnomap/limnomaptest"
)

// The tests of faults are named TestFault. They start limnomap as a process, do to it what befalls servers, and hold
// each of its answers against the truth: what a server without a cache answers for the same data.

// faultClients is how many clients ask at once: more than there are processors to draw, fewer than may wait.
const faultClients = 4

// faultLakes are lakes all over Germany, always the same.
func faultLakes() []orb.Point {
	random := rand.New(rand.NewPCG(1, 150))
	lakes := make([]orb.Point, 150)
	for i := range lakes {
		lakes[i] = orb.Point{6 + 9*random.Float64(), 47.5 + 7*random.Float64()}
	}
	return lakes
}

// faultDB makes a database of faultLakes. It is small so that a server of it starts quickly.
func faultDB(t testing.TB) string {
	t.Helper()
	var lakes, observations strings.Builder
	lakes.WriteString("id,name,lat,lon\n")
	observations.WriteString("lake_id,date,chl,data_type\n")
	random := rand.New(rand.NewPCG(2, 150))
	for i, p := range faultLakes() {
		fmt.Fprintf(&lakes, "de_%03d,See %d,%.5f,%.5f\n", i, i, p.Lat(), p.Lon())
		fmt.Fprintf(&observations, "de_%03d,2024-11-11,%.2f,satellite\n", i, 100*random.Float64())
	}
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	mustRun(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.csv", lakes.String()), "--db", db)
	mustRun(t, "import", "observations", limnomaptest.WriteFile(t, dir, "obs.csv", observations.String()), "--db", db)
	return db
}

// heatTiles returns the paths of n different heat maps of zoom 5 to 8 around lakes, in all colour maps and the scales,
// in random order. They have many bytes for the time that they take to draw.
func heatTiles(n int, scales ...string) []string {
	var paths []string
	for z := maptile.Zoom(5); z <= 8; z++ {
		for _, scale := range scales {
			paths = append(paths, lakeTiles(z, scale, "heat")...)
		}
	}
	rand.New(rand.NewPCG(3, 150)).Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	return paths[:n]
}

// dotTiles returns the paths of all tiles with a marker in them from zoom 10 on. They are the smallest tiles there are
// beside blank ones.
func dotTiles() []string {
	var paths []string
	for z := maptile.Zoom(10); z <= 18; z++ {
		paths = append(paths, lakeTiles(z, "", "dots")...)
	}
	return paths
}

// lakeTiles returns the paths of the tiles with a lake in them, in all colour maps.
func lakeTiles(z maptile.Zoom, scale, style string) []string {
	var paths []string
	for _, lake := range faultLakes() {
		for _, colormap := range []string{"limno", "viridis", "cividis", "algae"} {
			at := maptile.At(lake, z)
			paths = append(paths, fmt.Sprintf("/api/v1/tiles/%d/%d/%d%s.png?style=%s&colormap=%s", at.Z, at.X, at.Y, scale, style, colormap))
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// An answer is what a client sees of one.
type answer struct {
	status     int
	etag, body string
}

func (a answer) String() string {
	return fmt.Sprintf("%d, ETag %s, %d bytes", a.status, a.etag, len(a.body))
}

// wholeAnswer returns the answer to a GET, or an error unless the answer came whole.
func wholeAnswer(client *http.Client, url string) (answer, error) {
	resp, err := client.Get(url)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header.Get("ETag"), string(body)}, err
}

// newClient returns a client whose connections end with the test.
func newClient(t testing.TB) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: faultClients}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: time.Minute}
}

// A truth is what a server without a cache answers, by path.
type truth map[string]answer

func newTruth(t testing.TB, db string, paths []string) truth {
	t.Helper()
	p := startReady(t, faultFlags(db)...)
	answers := make([]answer, len(paths))
	client := newClient(t)
	var group errgroup.Group
	group.SetLimit(faultClients)
	for i, path := range paths {
		group.Go(func() (err error) {
			answers[i], err = wholeAnswer(client, p.base+path)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	p.kill(t)
	client.CloseIdleConnections()
	want := make(truth, len(paths))
	for i, a := range answers {
		if a.status != http.StatusOK || a.etag == "" || !strings.HasPrefix(a.body, "\x89PNG") {
			t.Fatalf("%s without a cache: %v", paths[i], a)
		}
		want[paths[i]] = a
	}
	return want
}

// faultFlags are those of a server that is asked as quickly as it can answer, and whose memory holds little, so that
// the disk is asked too. Without --cache-dir among more it has no disk cache.
func faultFlags(db string, more ...string) []string {
	return append([]string{"--db", db, "--tile-rate", "0", "--api-rate", "0", "--cache-memory", "1MiB", "--drain", "0s"}, more...)
}

// is reports whether the answer to path is the truth, and fails the test if it is not.
func (want truth) is(t testing.TB, path string, got answer) bool {
	t.Helper()
	if got != want[path] {
		t.Errorf("%s: %v, want %v", path, got, want[path])
	}
	return got == want[path]
}

// check asks p for those tiles, and fails for the first ones whose answer is none or not the truth.
func (want truth) check(t testing.TB, p *process, paths []string) {
	t.Helper()
	client := newClient(t)
	defer client.CloseIdleConnections() // one that was never used would delay the server's end by five seconds
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(faultClients)
	for _, path := range paths {
		group.Go(func() error {
			if ctx.Err() != nil {
				return nil // one has failed already
			}
			got, err := wholeAnswer(client, p.base+path)
			if err == nil && !want.is(t, path, got) {
				err = errors.New("not the truth")
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Errorf("%v\n%s", err, p.log)
	}
}

// hammer asks p for random tiles until ctx ends, and fails for each answer that is not the truth. It returns how many
// were, and an error as soon as there is no answer, as from a server that was killed.
func (want truth) hammer(ctx context.Context, t testing.TB, p *process) (right int64, err error) {
	t.Helper()
	paths := slices.Collect(maps.Keys(want))
	client := newClient(t)
	defer client.CloseIdleConnections()
	var count atomic.Int64
	var group errgroup.Group
	for range faultClients {
		group.Go(func() error {
			for ctx.Err() == nil {
				path := paths[rand.IntN(len(paths))]
				got, err := wholeAnswer(client, p.base+path)
				if err != nil {
					return err
				}
				if !want.is(t, path, got) {
					return nil // one of each client says enough
				}
				count.Add(1)
			}
			return nil
		})
	}
	err = group.Wait()
	return count.Load(), err
}
