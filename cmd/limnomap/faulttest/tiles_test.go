package faulttest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/paulmach/orb/maptile"
	"golang.org/x/sync/errgroup"

	"limnomap/cmd/limnomap/limnomaptest"
)

// loadClients is how many clients send requests at once: more than there are processors to draw, fewer than may queue.
const loadClients = 4

// heatTiles returns the paths of n different heat maps of zoom 5 to 8 around lakes, in all colour maps and the given
// scales, in random order. Such tiles have many bytes for the time it takes to draw them.
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

// lakeTiles returns the paths of the tiles with a lake in them, in all colour maps.
func lakeTiles(z maptile.Zoom, scale, style string) []string {
	var paths []string
	for _, lake := range germanLakes() {
		for _, colormap := range []string{"limno", "viridis", "cividis", "algae"} {
			at := maptile.At(lake, z)
			paths = append(paths, fmt.Sprintf("/api/v1/tiles/%d/%d/%d%s.png?style=%s&colormap=%s", at.Z, at.X, at.Y, scale, style, colormap))
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// An answer is what a test compares of an HTTP response.
type answer struct {
	status     int
	etag, body string
}

func (a answer) String() string {
	return fmt.Sprintf("%d, ETag %s, %d bytes", a.status, a.etag, len(a.body))
}

// get returns the complete answer to a GET request.
func get(client *http.Client, url string) (answer, error) {
	resp, err := client.Get(url)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header.Get("ETag"), string(body)}, err
}

// newClient returns a client whose connections are closed when the test ends.
func newClient(t testing.TB) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: loadClients}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

// serverFlags are the flags of a server without rate limits whose memory cache is so small that the disk cache is used.
func serverFlags(db string, more ...string) []string {
	return append([]string{"--db", db, "--tile-rate", "0", "--api-rate", "0", "--cache-memory", "1MiB", "--drain", "0s"}, more...)
}

// expectedTiles are the right answers, by path: those of a server without a disk cache.
type expectedTiles map[string]answer

func newExpectedTiles(t testing.TB, db string, paths []string) expectedTiles {
	t.Helper()
	s := start(t, serverFlags(db)...)
	answers := make([]answer, len(paths))
	client := newClient(t)
	var group errgroup.Group
	group.SetLimit(loadClients)
	for i, path := range paths {
		group.Go(func() (err error) {
			answers[i], err = get(client, s.Base+path)
			return err
		})
	}
	must(t, group.Wait())
	s.Kill()
	want := make(expectedTiles, len(paths))
	for i, a := range answers {
		if a.status != http.StatusOK || a.etag == "" || !strings.HasPrefix(a.body, "\x89PNG") {
			t.Fatalf("%s without a cache: %v", paths[i], a)
		}
		want[paths[i]] = a
	}
	return want
}

// matches reports whether got is the right answer to path, and fails the test if it is not.
func (want expectedTiles) matches(t testing.TB, path string, got answer) bool {
	t.Helper()
	if got != want[path] {
		t.Errorf("%s: %v, want %v", path, got, want[path])
	}
	return got == want[path]
}

// check requests the tiles, and fails the test if one is missing or wrong.
func (want expectedTiles) check(t testing.TB, s *limnomaptest.Server, paths []string) {
	t.Helper()
	client := newClient(t)
	defer client.CloseIdleConnections() // an unused connection would delay the end of the server by five seconds
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(loadClients)
	for _, path := range paths {
		group.Go(func() error {
			if ctx.Err() != nil {
				return nil // another request has failed
			}
			got, err := get(client, s.Base+path)
			if err == nil && !want.matches(t, path, got) {
				err = errors.New("wrong tile")
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Errorf("%v\n%s", err, s.Log)
	}
}

// load requests random tiles until ctx ends, and fails the test for each wrong answer. It returns the number of right
// answers, and an error as soon as a request has no answer, as when the server is killed.
func (want expectedTiles) load(ctx context.Context, t testing.TB, s *limnomaptest.Server) (right int64, err error) {
	t.Helper()
	paths := slices.Collect(maps.Keys(want))
	client := newClient(t)
	defer client.CloseIdleConnections()
	var count atomic.Int64
	var group errgroup.Group
	for range loadClients {
		group.Go(func() error {
			for ctx.Err() == nil {
				path := paths[rand.IntN(len(paths))]
				got, err := get(client, s.Base+path)
				if err != nil {
					return err
				}
				if !want.matches(t, path, got) {
					return nil // one message per client is enough
				}
				count.Add(1)
			}
			return nil
		})
	}
	err = group.Wait()
	return count.Load(), err
}
