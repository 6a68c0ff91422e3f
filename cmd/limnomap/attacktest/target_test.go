//go:build linux

package attacktest

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/cmd/limnomap/limnomaptest"
)

const (
	// targetWeeks is how many weeks the target has with values of all lakes, and floodWeeks how many more have one value.
	targetWeeks, floodWeeks = 8, 280
	// memoryLimit is what a server sets in a cgroup of 1 GB, and mayPeak 70 % of 1 GB, the most that it may use then.
	memoryLimit = "921MiB"
	mayPeak     = 700e6
	statusPath  = "/api/v1/bathing-lakes/status"
	geojsonPath = "/api/v1/bathing-lakes/geojson"
	statsPath   = "/api/v1/bathing-lakes/stats"
	monitorPath = "/api/v1/monitor/lakes"
)

// lastWeek is the last day of the simulated lakes. The weeks of a flood are before it.
var lastWeek = time.Date(2025, 8, 25, 0, 0, 0, 0, time.UTC)

// A target is the attacked server with its lakes.
type target struct {
	*limnomaptest.Server
	db       string
	key      string
	closures *watchProcess
	hanging  []string    // hosts of push services that never answer
	lakes    []string    // ids
	at       []orb.Point // where the lakes are
}

// newTarget makes a database with that many simulated lakes and starts a server with default limits, or those in args, which the watch follows.
func newTarget(t *testing.T, lakes int, args ...string) *target {
	t.Helper()
	s := newDatabase(t, lakes)
	s.key = strings.TrimSpace(limnomaptest.Run(t, "keys", "create", "--name", "attacker", "--db", s.db))
	s.launch(t, args...)
	return s
}

// launch starts the watch and the server of a database.
func (s *target) launch(t *testing.T, args ...string) {
	t.Helper()
	s.closures = startWatch(t, s.db)
	s.Server = limnomaptest.LaunchWithEnv(t, append(s.closures.Env, "GOMEMLIMIT="+memoryLimit), append(s.closures.Args, args...)...)
	s.AwaitReady(t)
	s.closures.follow(t, s.Base)
}

// newDatabase imports that many simulated lakes into a database without a server.
func newDatabase(t *testing.T, lakes int) *target {
	t.Helper()
	dir := t.TempDir()
	files := filepath.Join(dir, "lakes.csv") + "," + filepath.Join(dir, "obs.csv")
	s := &target{db: filepath.Join(dir, "lakes.db")}
	limnomaptest.Run(t, "demo", "--lakes", strconv.Itoa(lakes), "--weeks", strconv.Itoa(targetWeeks), "--out", files)
	s.readLakes(t, filepath.Join(dir, "lakes.csv"))
	var more strings.Builder
	more.WriteString("lake_id,date,chl,data_type\n")
	for week := range floodWeeks {
		fmt.Fprintf(&more, "%s,%s,%d,satellite\n", s.lakes[0], weekBefore(targetWeeks+week), 1+week%90)
	}
	old := limnomaptest.WriteFile(t, dir, "old.csv", more.String())
	limnomaptest.Run(t, "import", "lakes", filepath.Join(dir, "lakes.csv"), "--db", s.db)
	limnomaptest.Run(t, "import", "observations", filepath.Join(dir, "obs.csv"), "--db", s.db)
	limnomaptest.Run(t, "import", "observations", old, "--db", s.db)
	return s
}

func (s *target) readLakes(t *testing.T, name string) {
	t.Helper()
	file, err := os.Open(name)
	must(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	must(t, err)
	for _, row := range rows[1:] {
		lat, err := strconv.ParseFloat(row[2], 64)
		must(t, err)
		lon, err := strconv.ParseFloat(row[3], 64)
		must(t, err)
		s.lakes, s.at = append(s.lakes, row[0]), append(s.at, orb.Point{lon, lat})
	}
}

// weekBefore returns the Monday that many weeks before the newest.
func weekBefore(n int) string { return lastWeek.AddDate(0, 0, -7*n).Format(time.DateOnly) }

// tile returns the path of the tile of that zoom that shows a lake.
func (s *target) tile(lake int, zoom maptile.Zoom, suffix string) string {
	at := maptile.At(s.at[lake%len(s.at)], zoom)
	return fmt.Sprintf("/api/v1/tiles/%d/%d/%d%s", at.Z, at.X, at.Y, suffix)
}

// tiles returns the paths of n different tiles that show a lake, always the same ones.
func (s *target) tiles(n int, seed uint64, lowest, highest maptile.Zoom, suffix string) []string {
	random := rand.New(rand.NewPCG(seed, 16))
	known := make(map[string]bool, n)
	var paths []string
	for tries := 0; len(paths) < n && tries < 20*n; tries++ {
		zoom := lowest + maptile.Zoom(random.IntN(int(highest-lowest)+1))
		if path := s.tile(random.IntN(len(s.at)), zoom, suffix); !known[path] {
			known[path] = true
			paths = append(paths, path)
		}
	}
	return paths
}

// makeEvents imports other values of n lakes, and waits until the log of events tells them.
func (s *target) makeEvents(t *testing.T, n int) {
	t.Helper()
	var rows strings.Builder
	rows.WriteString("lake_id,date,chl,data_type\n")
	for _, id := range s.lakes[:min(n, len(s.lakes))] {
		fmt.Fprintf(&rows, "%s,%s,120,satellite\n", id, weekBefore(0))
	}
	limnomaptest.Run(t, "import", "observations", limnomaptest.WriteFile(t, t.TempDir(), "changed.csv", rows.String()), "--db", s.db, "--force")
	limnomaptest.Within(t, patience, "the log tells the changes", func() bool {
		var page struct{ Newest int }
		time.Sleep(time.Second) // the open endpoints have a rate
		limnomaptest.GetJSON(t, s.Base+eventsPath, &page)
		return page.Newest > n/2
	})
}
