package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
)

const (
	// crowdCase is its name in -cases.
	crowdCase = "crowd"
	// crowdCommand runs this program as the crowd, in a separate process: crowd BASE CLIENTS ROUND.
	crowdCommand = "crowd"
	// probePause is the time between two hits, so that the client itself needs little of the machine.
	probePause = 2500 * time.Microsecond
)

// A crowd measures cache hits while many clients request tiles that must be drawn.
type crowd struct {
	ours     server
	clients  int
	duration time.Duration // of the hits without the crowd, and again with it
}

// A crowdRound has the latencies of hits without and with the crowd, and the rates of tiles drawn and refused for the crowd.
type crowdRound struct {
	idle, crowded  result
	drawn, refused float64 // a second
}

// measure runs the given number of rounds.
func (c crowd) measure(ctx context.Context, rounds int) (all []crowdRound, err error) {
	for round := range rounds {
		b, err := c.round(ctx, round)
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

func (c crowd) round(ctx context.Context, round int) (b crowdRound, err error) {
	if b.idle, err = c.probe(ctx); err != nil {
		return b, err
	}
	program, err := os.Executable()
	if err != nil {
		return b, err
	}
	crowding, disperse := context.WithCancel(ctx)
	cmd := exec.CommandContext(crowding, program, crowdCommand, c.ours.base, strconv.Itoa(c.clients), strconv.Itoa(round))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		disperse()
		return b, err
	}
	defer func() {
		disperse()
		if waited := cmd.Wait(); crowding.Err() == nil && err == nil {
			err = waited
		}
	}()
	drawn, refused, err := c.ours.tileCounts(ctx)
	for begun := drawn; err == nil && drawn < begun+float64(c.clients); { // until all clients have a tile
		time.Sleep(50 * time.Millisecond)
		drawn, refused, err = c.ours.tileCounts(ctx)
	}
	if err != nil {
		return b, err
	}
	start := time.Now()
	if b.crowded, err = c.probe(ctx); err != nil {
		return b, err
	}
	took := time.Since(start).Seconds()
	drawnThen, refusedThen, err := c.ours.tileCounts(ctx)
	b.drawn, b.refused = (drawnThen-drawn)/took, (refusedThen-refused)/took
	return b, err
}

// probe requests one tile from memory repeatedly on one connection, with pauses.
func (c crowd) probe(ctx context.Context) (r result, err error) {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	var times []time.Duration
	start := time.Now()
	for time.Since(start) < c.duration {
		sent := time.Now()
		if _, err := status(ctx, client, c.ours.base+tilePath, http.StatusOK); err != nil {
			return r, err
		}
		times = append(times, time.Since(sent))
		time.Sleep(probePause)
	}
	slices.Sort(times)
	r.perSecond = float64(len(times)) / time.Since(start).Seconds()
	r.p50, r.p99 = times[len(times)/2], times[len(times)*99/100]
	return r, nil
}

// status requests an address, reads the complete answer and returns its status, which must be an allowed one.
func status(ctx context.Context, client *http.Client, url string, allowed ...int) (int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	resp, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0, err
	}
	if !slices.Contains(allowed, resp.StatusCode) {
		return 0, fmt.Errorf("GET %s: %s", url, resp.Status)
	}
	return resp.StatusCode, nil
}

var (
	drawnTiles   = regexp.MustCompile(`(?m)^limnomap_tile_renders_total ([0-9.e+]+)$`)
	refusedTiles = regexp.MustCompile(`(?m)^limnomap_tile_shed_total ([0-9.e+]+)$`)
)

// tileCounts returns how many tiles the server has drawn and refused so far.
func (s server) tileCounts(ctx context.Context) (drawn, refused float64, err error) {
	_, metrics, err := fetch(ctx, s.base+"/metrics", nil)
	if err != nil {
		return 0, 0, err
	}
	for _, count := range []struct {
		line *regexp.Regexp
		into *float64
	}{{drawnTiles, &drawn}, {refusedTiles, &refused}} {
		m := count.line.FindSubmatch(metrics)
		if m == nil {
			return 0, 0, fmt.Errorf("%s/metrics has no line %v", s.base, count.line)
		}
		if *count.into, err = strconv.ParseFloat(string(m[1]), 64); err != nil {
			return 0, 0, err
		}
	}
	return drawn, refused, nil
}

// gather runs the crowd: each client requests new tiles one after the other until ctx ends.
func gather(ctx context.Context, base, clients, round string) error {
	n, err := strconv.Atoi(clients)
	if err != nil {
		return err
	}
	seed, err := strconv.ParseUint(round, 10, 64)
	if err != nil {
		return err
	}
	paths, err := coldPaths(ctx, base)
	if err != nil {
		return err
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n}}
	var next atomic.Int64
	var running sync.WaitGroup
	failed := make(chan error, n)
	for range n {
		running.Go(func() {
			for ctx.Err() == nil {
				path := paths[int(next.Add(1)-1)%len(paths)]
				// A refused tile is not requested again, as with a map library.
				if _, err := status(ctx, client, base+path, http.StatusOK, http.StatusServiceUnavailable); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	running.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return <-failed
}

// coldPaths returns the tiles around all lakes in all zooms, styles and sizes: so many that few are requested twice.
func coldPaths(ctx context.Context, base string) ([]string, error) {
	_, body, err := fetch(ctx, base+"/api/v1/bathing-lakes/geojson", nil)
	if err != nil {
		return nil, err
	}
	var lakes struct {
		Features []struct {
			Geometry struct{ Coordinates orb.Point }
		}
	}
	if err := json.Unmarshal(body, &lakes); err != nil {
		return nil, err
	}
	var paths []string
	for z := maptile.Zoom(7); z <= 14; z++ {
		seen := make(map[maptile.Tile]bool)
		for _, lake := range lakes.Features {
			t := maptile.At(lake.Geometry.Coordinates, z)
			if seen[t] {
				continue
			}
			seen[t] = true
			for _, colors := range []string{"limno", "viridis", "cividis", "algae"} {
				for _, style := range []string{"heat", "dots", "lakes"} {
					for _, scale := range []string{"", "@2x"} {
						paths = append(paths, fmt.Sprintf("/api/v1/tiles/%d/%d/%d%s.png?colormap=%s&style=%s", t.Z, t.X, t.Y, scale, colors, style))
					}
				}
			}
		}
	}
	if len(paths) == 0 {
		return nil, errors.New("there is no lake around which tiles could be asked for")
	}
	return paths, nil
}

// printCrowd prints the medians of the rounds.
func printCrowd(w io.Writer, clients int, rounds []crowdRound) error {
	p99 := func(of func(crowdRound) result) time.Duration {
		return medianOf(rounds, func(b crowdRound) time.Duration { return of(b).p99 })
	}
	p50 := func(of func(crowdRound) result) time.Duration {
		return medianOf(rounds, func(b crowdRound) time.Duration { return of(b).p50 })
	}
	idle, crowded := func(b crowdRound) result { return b.idle }, func(b crowdRound) result { return b.crowded }
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "a hit\tp50\tp99\tof idle\tdrawn/s\trefused/s\t")
	fmt.Fprintf(tw, "idle\t%v\t%v\t%.2f\t\t\t\n", p50(idle), p99(idle), 1.0)
	fmt.Fprintf(tw, "with %d clients\t%v\t%v\t%.2f\t%.0f\t%.0f\t\n", clients, p50(crowded), p99(crowded),
		medianOf(rounds, func(b crowdRound) float64 { return float64(b.crowded.p99) / float64(b.idle.p99) }),
		medianOf(rounds, func(b crowdRound) float64 { return b.drawn }),
		medianOf(rounds, func(b crowdRound) float64 { return b.refused }))
	return tw.Flush()
}
