package faulttest

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"limnomap/cmd/limnomap/limnomaptest"
)

// uniformLakes is how many lakes a uniform database holds, unless a test needs more.
const uniformLakes = 200

const statusPath = "/api/v1/bathing-lakes/status"

// answerTime is the time limit of a request. It does not measure speed. A server that a bad client blocks answers nobody
// else before its WriteTimeout of one minute, so this is shorter.
const answerTime = 45 * time.Second

// requestClient opens a new connection for each request.
var requestClient = http.Client{Timeout: answerTime, Transport: &http.Transport{DisableKeepAlives: true}}

// A template is a finished database that tests copy, since an import takes much longer than a copy.
type template struct {
	content []byte
	key     string // an API key that the database knows
}

var templates = struct {
	sync.Mutex
	byName map[string]template // guarded by the mutex
}{byName: make(map[string]template)}

// copyTemplate copies the template of that name to path and returns its API key. fill makes the template if it does not
// exist yet.
func copyTemplate(t testing.TB, name, path string, fill func(db string)) (key string) {
	t.Helper()
	templates.Lock()
	defer templates.Unlock()
	made, ok := templates.byName[name]
	if !ok {
		db := filepath.Join(t.TempDir(), "template.db")
		fill(db)
		made.key = strings.TrimSpace(limnomaptest.Run(t, "keys", "create", "--name", "test", "--db", db))
		if log, err := os.Stat(db + "-wal"); err == nil && log.Size() > 0 {
			t.Fatalf("%s is not empty: a copy of the database alone is not complete", log.Name())
		}
		var err error
		made.content, err = os.ReadFile(db)
		must(t, err)
		templates.byName[name] = made
	}
	must(t, os.WriteFile(path, made.content, 0o644))
	return made.key
}

// germanLakes returns 150 points all over Germany, always the same.
func germanLakes() []orb.Point {
	random := rand.New(rand.NewPCG(1, 150))
	lakes := make([]orb.Point, 150)
	for i := range lakes {
		lakes[i] = orb.Point{6 + 9*random.Float64(), 47.5 + 7*random.Float64()}
	}
	return lakes
}

// newGermanDB returns a database of germanLakes, with one week of different values.
func newGermanDB(t testing.TB) string {
	t.Helper()
	db := filepath.Join(t.TempDir(), "lakes.db")
	copyTemplate(t, "german lakes", db, func(db string) {
		var lakes, observations strings.Builder
		lakes.WriteString("id,name,lat,lon\n")
		observations.WriteString("lake_id,date,chl,data_type\n")
		random := rand.New(rand.NewPCG(2, 150))
		for i, p := range germanLakes() {
			fmt.Fprintf(&lakes, "de_%03d,See %d,%.5f,%.5f\n", i, i, p.Lat(), p.Lon())
			fmt.Fprintf(&observations, "de_%03d,2024-11-11,%.2f,satellite\n", i, 100*random.Float64())
		}
		dir := t.TempDir()
		importFile(t, "lakes", limnomaptest.WriteFile(t, dir, "lakes.csv", lakes.String()), db)
		importFile(t, "observations", limnomaptest.WriteFile(t, dir, "obs.csv", observations.String()), db)
	})
	return db
}

// A uniformDB is a database in which all lakes have the same value. An answer that mixes two imports is easy to see.
type uniformDB struct {
	path          string
	lakes, values string // the tables it was imported from
	key           string // an API key that it accepts
}

func newUniformDB(t testing.TB, lakes int, chl float64) uniformDB {
	t.Helper()
	dir := t.TempDir()
	db := uniformDB{
		path:   filepath.Join(dir, "lakes.db"),
		lakes:  writeLakes(t, dir, lakes),
		values: writeValues(t, dir, lakes, chl),
	}
	db.key = copyTemplate(t, fmt.Sprintf("%d lakes of %v", lakes, chl), db.path, func(path string) {
		importFile(t, "lakes", db.lakes, path)
		importFile(t, "observations", db.values, path)
	})
	return db
}

// writeLakes writes a table of n lakes all over Germany, and returns its name.
func writeLakes(t testing.TB, dir string, n int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("id,name,lat,lon\n")
	for i := range n {
		fmt.Fprintf(&b, "lake_%d,See %d,%.4f,%.4f\n", i, i, 47.5+float64(i%50)*0.14, 6+float64(i/50)*8/float64(1+n/50))
	}
	return limnomaptest.WriteFile(t, dir, "lakes.csv", b.String())
}

// writeValues writes a table of ten weeks of observations of n lakes, all with the same value, and returns its name.
func writeValues(t testing.TB, dir string, n int, chl float64) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("lake_id,date,chl,data_type\n")
	for i := range n {
		for week := range 10 {
			date := time.Date(2024, 9, 2+7*week, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
			fmt.Fprintf(&b, "lake_%d,%s,%v,satellite\n", i, date, chl)
		}
	}
	return limnomaptest.WriteFile(t, dir, fmt.Sprintf("values-%v.csv", chl), b.String())
}

// importFile imports lakes or observations.
func importFile(t testing.TB, kind, file, db string) {
	t.Helper()
	args := []string{"import", kind, file, "--db", db}
	if kind == "observations" {
		args = append(args, "--force") // all lakes may get one value
	}
	limnomaptest.Run(t, args...)
}

// importValue gives all uniformLakes the same value.
func importValue(t testing.TB, db string, chl float64) {
	t.Helper()
	importFile(t, "observations", writeValues(t, t.TempDir(), uniformLakes, chl), db)
}

// uniformValue returns the value that all lakes of a status document have, or an error that describes the difference.
func uniformValue(body []byte) (float64, error) {
	var status limnomaptest.Status
	if err := json.Unmarshal(body, &status); err != nil {
		return 0, err
	}
	if n := len(status.Lakes); n == 0 || n != status.TotalLakes || n != status.LakesWithData {
		return 0, fmt.Errorf("%d records of %d lakes, %d with data, want the same number of each", n, status.TotalLakes, status.LakesWithData)
	}
	first := status.Lakes[0].Chl
	for _, l := range status.Lakes {
		if l.Chl == nil || *l.Chl != *first {
			return 0, fmt.Errorf("lake %s has %v, the first lake %v", l.ID, l.Chl, *first)
		}
	}
	return *first, nil
}

// shownValue returns the value that all lakes of a server have.
func shownValue(s *limnomaptest.Server) (float64, error) {
	resp, err := requestClient.Get(s.Base + statusPath)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	return uniformValue(body)
}

func wantValue(t testing.TB, s *limnomaptest.Server, want float64) {
	t.Helper()
	if got, err := shownValue(s); err != nil || got != want {
		t.Errorf("the server shows %v, %v, want %v", got, err, want)
	}
}

func awaitValue(t testing.TB, s *limnomaptest.Server, want float64) {
	t.Helper()
	limnomaptest.Within(t, patience, fmt.Sprintf("the server shows %v", want), func() bool {
		got, err := shownValue(s)
		return err == nil && got == want
	})
}

// wantAnswers checks that the server answers requests of all kinds.
func wantAnswers(t testing.TB, s *limnomaptest.Server) {
	t.Helper()
	for _, path := range []string{statusPath, "/api/v1/bathing-lakes/geojson", "/api/v1/tiles/6/33/21.png", "/readyz", "/"} {
		resp, err := requestClient.Get(s.Base + path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s, %v, want a complete 200", path, resp.Status, err)
		}
		resp.Body.Close()
	}
}
