package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
)

// The tiles of a view of a phone, with those that a map requests around it.
const viewColumns, viewRows = 5, 8

// variants are as many ways to draw a tile. One that was not used before makes all tiles cold.
var variants = func() (all []string) {
	for _, style := range []string{"heat", "dots", "lakes"} {
		for _, ramp := range []string{"limno", "viridis", "cividis", "algae"} {
			all = append(all, "?style="+style+"&colormap="+ramp)
		}
	}
	return all
}()

// viewPaths returns the paths of the tiles of view n over Germany.
func viewPaths(zoom maptile.Zoom, n int, variant string) (paths []string) {
	// The centres are spread evenly (see make_lakes in .ci/bench-http).
	part := func(x float64) float64 { return x - math.Floor(x) }
	centre := maptile.At(orb.Point{8 + 5*part(float64(n)*0.75487767), 48.5 + 5*part(float64(n)*0.56984029)}, zoom)
	for row := range uint32(viewRows) {
		for column := range uint32(viewColumns) {
			paths = append(paths, fmt.Sprintf("/api/v1/tiles/%d/%d/%d.png%s", zoom, centre.X+column-viewColumns/2, centre.Y+row-viewRows/2, variant))
		}
	}
	return paths
}

// A viewer is a browser with one HTTP/2 connection.
type viewer struct {
	*http.Client
	base string
}

func newViewer(base string) viewer {
	return viewer{&http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}, Timeout: 5 * time.Minute}, base}
}

// view requests the tiles of a view at once, and returns the time until the last one is there.
func (v viewer) view(paths []string) (time.Duration, error) {
	began := time.Now()
	errs := make(chan error, len(paths))
	for _, path := range paths {
		go func() { errs <- v.get(path) }() // ends with the answer
	}
	var failed error
	for range paths {
		if err := <-errs; err != nil {
			failed = err
		}
	}
	return time.Since(began), failed
}

// get requests a path, again after a refusal as Retry-After says.
func (v viewer) get(path string) error {
	for {
		resp, err := v.Get(v.base + path)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		wait, refused := strconv.Atoi(resp.Header.Get("Retry-After"))
		switch {
		case err != nil:
			return err
		case resp.StatusCode == http.StatusServiceUnavailable && refused == nil:
			time.Sleep(time.Duration(wait) * time.Second)
		case resp.StatusCode != http.StatusOK || resp.ProtoMajor != 2:
			return fmt.Errorf("%s: %s by %s, want 200 by HTTP/2", path, resp.Status, resp.Proto)
		default:
			return nil
		}
	}
}

// measureViews prints for each view: the zoom, the number of clients at once, cold or cached, and the milliseconds until its last tile. Its server
// has just started: no tile of it is cached.
func measureViews(base string) error {
	const clients = 16
	viewers := make([]viewer, clients)
	for i := range viewers {
		viewers[i] = newViewer(base)
		if err := viewers[i].get("/api/v1/styles"); err != nil { // opens the connection: a page has one
			return err
		}
	}
	show := func(zoom maptile.Zoom, clients int, state string, took time.Duration) {
		fmt.Println(zoom, clients, state, strconv.FormatFloat(float64(took)/float64(time.Millisecond), 'f', 2, 64))
	}
	for _, zoom := range []maptile.Zoom{6, 8, 10} {
		for i, variant := range variants[1:] {
			for _, state := range []string{"cold", "cached"} {
				took, err := viewers[0].view(viewPaths(zoom, i, variant))
				if err != nil {
					return err
				}
				show(zoom, 1, state, took)
			}
		}
		for _, state := range []string{"cold", "cached"} {
			times, errs := make([]time.Duration, clients), make([]error, clients)
			var group sync.WaitGroup
			for i, v := range viewers {
				group.Go(func() { times[i], errs[i] = v.view(viewPaths(zoom, i, variants[0])) })
			}
			group.Wait()
			for i := range viewers {
				if errs[i] != nil {
					return errs[i]
				}
				show(zoom, clients, state, times[i])
			}
		}
	}
	return nil
}

func viewMain() {
	if err := measureViews(os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "benchhttp:", err)
		os.Exit(1)
	}
}
