//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A sighting is what an answer tells of the data that it was made of: a kind of sign, and the sign.
type sighting struct{ kind, sign string }

const (
	byValue   = "value"   // of all lakes
	byVersion = "version" // in the tiles' addresses
	byHistory = "history" // the value of a lake, from the database itself
)

// loadTile shows several lakes.
const loadTile = "/api/v1/tiles/6/33/21.png"

// TestFaultImportDuringLoad imports again and again while clients ask for everything there is. Each answer is wholly of
// one import, and no client is ever thrown back to an earlier one.
func TestFaultImportDuringLoad(t *testing.T) {
	t.Parallel()
	values := []float64{2, 8, 45}
	if inFull() {
		values = append(values, 20, 70, 1, 5, 15, 30, 60, 3, 99)
	}
	db := newUniformDB(t, 600, values[0])
	p := startReady(t, "--db", db.path, "--api-rate", "0", "--tile-rate", "0", "--key-rate", "0", "--cache-dir", t.TempDir())

	signs := make(map[sighting]int) // of each import, learnt while nothing changes
	learn := func(round int) {
		client := newImportClient(t, p, db.key)
		for _, ask := range client.questions() {
			s, err := ask()
			if err != nil {
				t.Fatal(err)
			}
			if before, ok := signs[s]; ok && before != round {
				t.Fatalf("%v is a sign of the imports %d and %d, want it to tell them apart", s, before, round)
			}
			signs[s] = round
		}
	}
	learn(0)

	var stop atomic.Bool
	var clients sync.WaitGroup
	seen := make([][]sighting, 4)
	for i := range seen {
		client := newImportClient(t, p, db.key)
		clients.Go(func() { // ends with stop, or at the first wrong answer
			for questions := client.questions(); !stop.Load(); {
				for _, ask := range questions {
					s, err := ask()
					if err != nil {
						t.Errorf("client %d: %v", i, err)
						return
					}
					seen[i] = append(seen[i], s)
				}
				if err := client.monitor(); err != nil {
					t.Errorf("client %d: %v", i, err)
					return
				}
			}
		})
	}
	for round, value := range values[1:] {
		mustExec(t, "import", "observations", writeValues(t, t.TempDir(), 600, value), "--db", db.path)
		awaitShown(t, p, reloadTime, value)
		learn(round + 1)
	}
	stop.Store(true)
	clients.Wait()

	answers, met := 0, make(map[int]bool)
	for i, sightings := range seen {
		newest := map[bool]int{} // of histories, which know of an import before the snapshot does, and of all others
		for n, s := range sightings {
			round, known := signs[s]
			history := s.kind == byHistory
			if !known || round < newest[history] {
				t.Errorf("client %d, answer %d is %v, import %d (known: %v), want one import as a whole, and none before %d", i, n, s, round, known, newest[history])
				break
			}
			newest[history] = round
			met[round] = true
		}
		answers += len(sightings)
	}
	t.Logf("%d answers of %d imports", answers, len(met))
	if len(met) < len(values) {
		t.Errorf("the clients met %d imports, want all %d", len(met), len(values))
	}
	fresh := newImportClient(t, startReady(t, "--db", db.path, "--api-rate", "0", "--tile-rate", "0"), db.key)
	for _, ask := range fresh.questions() {
		if s, err := ask(); err != nil || signs[s] != len(values)-1 {
			t.Errorf("a server that knows nothing of the past answers %v, %v, want a sign of the last import", s, err)
		}
	}
	wantQuietEnd(t, p)
}

// An importClient asks one server for all kinds of answers over one connection, and checks each for being of one piece.
type importClient struct {
	http      *http.Client
	base, key string
	etags     map[string]string // the body's hash, by path and entity tag
}

func newImportClient(t testing.TB, p *process, key string) *importClient {
	transport := &http.Transport{MaxConnsPerHost: 1}
	t.Cleanup(transport.CloseIdleConnections)
	return &importClient{
		http:  &http.Client{Transport: transport, Timeout: reloadTime},
		base:  p.base,
		key:   key,
		etags: make(map[string]string),
	}
}

type question func() (sighting, error)

func (c *importClient) questions() []question {
	value := func(path string, of func([]byte) (float64, error)) question {
		return c.question(path, func(body []byte) (sighting, error) {
			v, err := of(body)
			return sighting{byValue, fmt.Sprint(v)}, err
		})
	}
	return []question{
		value("/api/v1/bathing-lakes/status", oneValue),
		value("/api/v1/bathing-lakes/status?min_lat=50&max_lat=53", oneValue),
		value("/api/v1/bathing-lakes/geojson", oneFeatureValue),
		c.question(loadTile, func(body []byte) (sighting, error) {
			return sighting{loadTile, hashOf(body)}, nil
		}),
		c.question("/api/v1/tiles.json", versionOf),
		c.question(historyPath, historyValue),
	}
}

// monitor asks for a page of the monitored lakes, which no import of values changes.
func (c *importClient) monitor() error {
	a, err := c.fetch("/api/v1/monitor/lakes?limit=500&offset=200")
	if err != nil {
		return err
	}
	var page struct {
		Total int
		Lakes []json.RawMessage
	}
	if err := json.Unmarshal([]byte(a.body), &page); err != nil {
		return err
	}
	if page.Total != 600 || len(page.Lakes) != 400 {
		return fmt.Errorf("a page of %d lakes of %d, want 400 of 600", len(page.Lakes), page.Total)
	}
	return nil
}

// question asks for a path, and of what comes back for its sign.
func (c *importClient) question(path string, sign func([]byte) (sighting, error)) question {
	return func() (sighting, error) {
		a, err := c.fetch(path)
		if err != nil {
			return sighting{}, err
		}
		s, err := sign([]byte(a.body))
		if err != nil {
			return s, fmt.Errorf("%s: %w", path, err)
		}
		return s, nil
	}
}

// fetch returns the whole answer to a GET, which must be a 200 whose ETag no other content had.
func (c *importClient) fetch(path string) (answer, error) {
	req, err := http.NewRequest(http.MethodGet, c.base+path, nil)
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("X-API-Key", c.key)
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	a := answer{resp.StatusCode, resp.Header.Get("ETag"), string(body)}
	if err != nil {
		return a, fmt.Errorf("%s: %v: %w", path, a, err)
	}
	if a.status != http.StatusOK || a.etag == "" {
		return a, fmt.Errorf("%s: %v, want 200 with an ETag", path, a)
	}
	hash := hashOf(body)
	if before, ok := c.etags[path+a.etag]; ok && before != hash {
		return a, fmt.Errorf("%s: two contents with the ETag %s", path, a.etag)
	}
	c.etags[path+a.etag] = hash
	return a, nil
}

func hashOf(b []byte) string {
	h := fnv.New128a()
	h.Write(b)
	return fmt.Sprintf("%x", h.Sum(nil))
}

// oneFeatureValue is [oneValue] of GeoJSON.
func oneFeatureValue(body []byte) (float64, error) {
	var collection struct {
		Features []struct {
			Properties struct {
				ID  string
				Chl *float64
			}
		}
	}
	if err := json.Unmarshal(body, &collection); err != nil {
		return 0, err
	}
	if len(collection.Features) != 600 || collection.Features[0].Properties.Chl == nil {
		return 0, fmt.Errorf("%d features, want 600 with values", len(collection.Features))
	}
	first := *collection.Features[0].Properties.Chl
	for _, f := range collection.Features {
		if f.Properties.Chl == nil || *f.Properties.Chl != first {
			return 0, fmt.Errorf("feature %s has %v, the first %v", f.Properties.ID, f.Properties.Chl, first)
		}
	}
	return first, nil
}

var tileVersion = regexp.MustCompile(`[?&]v=([^&"]+)`)

func versionOf(body []byte) (sighting, error) {
	m := tileVersion.FindSubmatch(body)
	if m == nil {
		return sighting{}, fmt.Errorf("no v= in %s", body)
	}
	return sighting{byVersion, string(m[1])}, nil
}

// historyValue is [oneValue] of a history.
func historyValue(body []byte) (sighting, error) {
	var history struct {
		History []struct{ Chl *float64 }
	}
	if err := json.Unmarshal(body, &history); err != nil {
		return sighting{}, err
	}
	var signs []string
	for _, o := range history.History {
		if o.Chl == nil {
			return sighting{}, errors.New("an observation without a value")
		}
		signs = append(signs, fmt.Sprint(*o.Chl))
	}
	if len(signs) != 10 || strings.Count(strings.Join(signs, " ")+" ", signs[0]+" ") < 10 {
		return sighting{}, fmt.Errorf("the values %v, want ten times the same", signs)
	}
	return sighting{byHistory, signs[0]}, nil
}
