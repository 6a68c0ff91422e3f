//go:build unix && long

package faulttest

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

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
)

// A trait of an answer shows from which import it was made.
type trait struct{ kind, value string }

const (
	valueTrait   = "value"   // of all lakes
	versionTrait = "version" // in the addresses of the tiles
	historyTrait = "history" // the values of one lake, from the database
)

// loadTile shows several lakes.
const loadTile = "/api/v1/tiles/6/33/21.png"

// loadLakes is how many lakes the database of a loadClient has.
const loadLakes = 600

// TestImportUnderLoad imports several times while clients send requests of all kinds. Each answer belongs to exactly one
// import, and no client ever gets an older import than before.
func TestImportUnderLoad(t *testing.T) {
	t.Parallel()
	values := []float64{2, 8, 45}
	if testsize.Long {
		values = append(values, 20, 70, 1, 5, 15, 30, 60, 3, 99)
	}
	db := newUniformDB(t, loadLakes, values[0])
	s := start(t, "--db", db.path, "--api-rate", "0", "--tile-rate", "0", "--key-rate", "0", "--cache-dir", t.TempDir())

	importOf := make(map[trait]int) // collected while nothing changes
	collectTraits := func(round int) {
		client := newLoadClient(t, s, db.key)
		for _, ask := range client.requests() {
			tr, err := ask()
			must(t, err)
			if before, ok := importOf[tr]; ok && before != round {
				t.Fatalf("%v is a trait of the imports %d and %d, want different traits", tr, before, round)
			}
			importOf[tr] = round
		}
	}
	collectTraits(0)

	var stop atomic.Bool
	var clients sync.WaitGroup
	seen := make([][]trait, 4)
	for i := range seen {
		client := newLoadClient(t, s, db.key)
		clients.Go(func() { // ends with stop, or at the first wrong answer
			for requests := client.requests(); !stop.Load(); {
				for _, ask := range requests {
					tr, err := ask()
					if err != nil {
						t.Errorf("client %d: %v", i, err)
						return
					}
					seen[i] = append(seen[i], tr)
				}
				if err := client.monitor(); err != nil {
					t.Errorf("client %d: %v", i, err)
					return
				}
			}
		})
	}
	for round, value := range values[1:] {
		importFile(t, "observations", writeValues(t, t.TempDir(), loadLakes, value), db.path)
		awaitValue(t, s, value)
		collectTraits(round + 1)
	}
	stop.Store(true)
	clients.Wait()

	answers, imports := 0, make(map[int]bool)
	for i, traits := range seen {
		newest := map[bool]int{} // of histories, which show an import earlier than the snapshot does, and of all others
		for n, tr := range traits {
			round, known := importOf[tr]
			history := tr.kind == historyTrait
			if !known || round < newest[history] {
				t.Errorf("client %d, answer %d is %v, import %d (known: %v), want a complete import, not older than %d", i, n, tr, round, known, newest[history])
				break
			}
			newest[history] = round
			imports[round] = true
		}
		answers += len(traits)
	}
	t.Logf("%d answers of %d imports", answers, len(imports))
	if len(imports) < len(values) {
		t.Errorf("the clients saw %d imports, want all %d", len(imports), len(values))
	}
	fresh := newLoadClient(t, start(t, "--db", db.path, "--api-rate", "0", "--tile-rate", "0"), db.key)
	for _, ask := range fresh.requests() {
		if tr, err := ask(); err != nil || importOf[tr] != len(values)-1 {
			t.Errorf("a new server answers %v, %v, want a trait of the last import", tr, err)
		}
	}
	stopCleanly(t, s)
}

// A loadClient requests all kinds of answers over one connection, and checks that each is consistent in itself.
type loadClient struct {
	http      *http.Client
	base, key string
	etags     map[string]string // hash of the body, by path and ETag
}

func newLoadClient(t testing.TB, s *limnomaptest.Server, key string) *loadClient {
	transport := &http.Transport{MaxConnsPerHost: 1}
	t.Cleanup(transport.CloseIdleConnections)
	return &loadClient{
		http:  &http.Client{Transport: transport, Timeout: patience},
		base:  s.Base,
		key:   key,
		etags: make(map[string]string),
	}
}

// A traitRequest sends a request and returns the trait of the answer.
type traitRequest func() (trait, error)

func (c *loadClient) requests() []traitRequest {
	value := func(path string, of func([]byte) (float64, error)) traitRequest {
		return c.request(path, func(body []byte) (trait, error) {
			v, err := of(body)
			return trait{valueTrait, fmt.Sprint(v)}, err
		})
	}
	return []traitRequest{
		value(statusPath, uniformValue),
		value(statusPath+"?min_lat=50&max_lat=53", uniformValue),
		value("/api/v1/bathing-lakes/geojson", uniformFeatureValue),
		c.request(loadTile, func(body []byte) (trait, error) {
			return trait{loadTile, hashOf(body)}, nil
		}),
		c.request("/api/v1/tiles.json", tilesVersion),
		c.request(historyPath, historyValue),
	}
}

// monitor requests a part of the monitored lakes, which no import of values changes.
func (c *loadClient) monitor() error {
	a, err := c.fetch("/api/v1/monitor/lakes?limit=500&offset=200")
	if err != nil {
		return err
	}
	var list struct {
		Total int
		Lakes []json.RawMessage
	}
	if err := json.Unmarshal([]byte(a.body), &list); err != nil {
		return err
	}
	if list.Total != loadLakes || len(list.Lakes) != loadLakes-200 {
		return fmt.Errorf("%d lakes of %d, want %d of %d", len(list.Lakes), list.Total, loadLakes-200, loadLakes)
	}
	return nil
}

// request returns a request for path; traitOf finds the trait in the body of the answer.
func (c *loadClient) request(path string, traitOf func(body []byte) (trait, error)) traitRequest {
	return func() (trait, error) {
		a, err := c.fetch(path)
		if err != nil {
			return trait{}, err
		}
		tr, err := traitOf([]byte(a.body))
		if err != nil {
			return tr, fmt.Errorf("%s: %w", path, err)
		}
		return tr, nil
	}
}

// fetch returns the complete answer to a GET request. It must be a 200, and its ETag must not have named other content.
func (c *loadClient) fetch(path string) (answer, error) {
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

// uniformFeatureValue is [uniformValue] for GeoJSON.
func uniformFeatureValue(body []byte) (float64, error) {
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
	if len(collection.Features) != loadLakes || collection.Features[0].Properties.Chl == nil {
		return 0, fmt.Errorf("%d features, want %d with values", len(collection.Features), loadLakes)
	}
	first := *collection.Features[0].Properties.Chl
	for _, f := range collection.Features {
		if f.Properties.Chl == nil || *f.Properties.Chl != first {
			return 0, fmt.Errorf("feature %s has %v, the first %v", f.Properties.ID, f.Properties.Chl, first)
		}
	}
	return first, nil
}

var versionParameter = regexp.MustCompile(`[?&]v=([^&"]+)`)

func tilesVersion(body []byte) (trait, error) {
	m := versionParameter.FindSubmatch(body)
	if m == nil {
		return trait{}, fmt.Errorf("no v= in %s", body)
	}
	return trait{versionTrait, string(m[1])}, nil
}

// historyValue is [uniformValue] for a history.
func historyValue(body []byte) (trait, error) {
	var history struct {
		History []struct{ Chl *float64 }
	}
	if err := json.Unmarshal(body, &history); err != nil {
		return trait{}, err
	}
	var values []string
	for _, o := range history.History {
		if o.Chl == nil {
			return trait{}, errors.New("an observation without a value")
		}
		values = append(values, fmt.Sprint(*o.Chl))
	}
	if len(values) != 10 || strings.Count(strings.Join(values, " ")+" ", values[0]+" ") < 10 {
		return trait{}, fmt.Errorf("the values %v, want ten times the same", values)
	}
	return trait{historyTrait, values[0]}, nil
}
