//go:build unix

package faulttest

import (
	"bufio"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/events/push/pushtest"
)

// The ways in which a closure becomes known.
const (
	wayPage    = "page"
	wayStatus  = "status"
	wayFeed    = "feed"
	wayStream  = "stream"
	wayWebhook = "webhook"
	wayPush    = "push"
	wayTile    = "tile"   // a PNG with the sign of closed lakes
	wayVector  = "vector" // a vector tile
)

var ways = []string{wayPage, wayStatus, wayFeed, wayStream, wayWebhook, wayPush, wayTile, wayVector}

// A closedLake is a closure of one lake.
type closedLake struct{ id, lake, name, tile string }

// closureOf returns the closure of lake i. Each lake has a tile of its own at zoom 8.
func closureOf(i int) closedLake {
	at := maptile.At(orb.Point{lonOf(i), 48}, 8)
	return closedLake{fmt.Sprint("closure-", i), fmt.Sprint("lake_", i), fmt.Sprint("Lake ", i), fmt.Sprintf("/api/v1/tiles/%d/%d/%d", at.Z, at.X, at.Y)}
}

func lonOf(lake int) float64 { return 0.5 + 3*float64(lake) }

// readers follow a server on each way, and note when they know of a closure.
type readers struct {
	base    string // the address of the server, also after it was started again
	client  *http.Client
	hook    *httptest.Server
	service *httptest.Server

	mu       sync.Mutex
	awaited  []closedLake
	known    map[string]map[string]time.Time // by closure and way
	browsers map[string]*pushtest.Browser    // by the path of the endpoint
	told     map[string]map[string]bool      // by closure: the paths of the endpoints that got it
	hooked   map[int64]bool                  // the numbers of the events that the webhook got
	order    []int64                         // the same, as they came first
	streamed map[int64]bool                  // the numbers of the events that the stream sent
	blank    string                          // a tile without any lake
}

// newReaders starts the receivers of webhooks and of notifications.
func newReaders(t *testing.T, base string) *readers {
	t.Helper()
	r := &readers{base: base, client: newClient(t), known: make(map[string]map[string]time.Time), browsers: make(map[string]*pushtest.Browser),
		told: make(map[string]map[string]bool), hooked: make(map[int64]bool), streamed: make(map[int64]bool)}
	r.client.Timeout = 20 * time.Second // a server that hangs is asked again
	r.hook = httptest.NewServer(http.HandlerFunc(r.takeHook))
	t.Cleanup(r.hook.Close)
	r.service = httptest.NewTLSServer(http.HandlerFunc(r.takePush))
	t.Cleanup(r.service.Close)
	return r
}

// follow asks the server again and again until the test ends.
func (r *readers) follow(t *testing.T) {
	t.Helper()
	r.blank = r.get("/api/v1/tiles/8/0/0.png?style=dots&risk=closed")
	if !strings.HasPrefix(r.blank, "\x89PNG") {
		t.Fatalf("a blank tile is %.80q", r.blank)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var group sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		group.Wait()
	})
	for way, knows := range map[string]func(closedLake) bool{
		wayPage: func(c closedLake) bool {
			return strings.Contains(r.get("/lakes/"+c.lake+"?lang=en"), "No bathing: "+c.id)
		},
		wayStatus: func(c closedLake) bool {
			var status struct {
				Lakes []struct {
					ID       string
					Advisory *struct{ ID, Kind string }
				}
			}
			_ = json.Unmarshal([]byte(r.get(statusPath)), &status) // without an answer there are no lakes
			for _, l := range status.Lakes {
				if l.ID == c.lake && l.Advisory != nil && l.Advisory.ID == c.id && l.Advisory.Kind == "closure" {
					return true
				}
			}
			return false
		},
		wayFeed: func(c closedLake) bool {
			return strings.Contains(r.get("/api/v1/events.atom?limit=100&lake="+c.lake), c.name+": closure because of bacteria issued by Office")
		},
		wayTile: func(c closedLake) bool {
			tile := r.get(c.tile + ".png?style=dots&risk=closed")
			return strings.HasPrefix(tile, "\x89PNG") && tile != r.blank
		},
		wayVector: func(c closedLake) bool { return strings.Contains(r.get(c.tile+".mvt"), "closure") },
	} {
		group.Go(func() {
			for wait(ctx, 200*time.Millisecond) {
				for _, c := range r.unknown(way) {
					if knows(c) {
						r.note(c.id, way)
					}
				}
			}
		})
	}
	group.Go(func() {
		last := "0" // from the first event on
		for wait(ctx, 200*time.Millisecond) {
			r.stream(ctx, &last)
		}
	})
}

// wait reports whether ctx is not over after that time.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// get returns the body of an answer with status 200, or nothing.
func (r *readers) get(path string) string {
	resp, err := r.client.Get(r.base + path)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return ""
	}
	return string(body)
}

// await adds a closure that is looked for.
func (r *readers) await(c closedLake) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.awaited = append(r.awaited, c)
	r.known[c.id] = make(map[string]time.Time)
}

// unknown returns the closures that are not known on a way yet.
func (r *readers) unknown(way string) []closedLake {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.awaited), func(c closedLake) bool { return !r.known[c.id][way].IsZero() })
}

func (r *readers) note(closure, way string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.noteLocked(closure, way)
}

func (r *readers) noteLocked(closure, way string) {
	if known := r.known[closure]; known != nil && known[way].IsZero() {
		known[way] = time.Now()
	}
}

// knownOn returns when a closure was known on each way.
func (r *readers) knownOn(closure string) map[string]time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := make(map[string]time.Time)
	for way, at := range r.known[closure] {
		known[way] = at
	}
	return known
}

// A toldEvent has the members of an event that readers look at.
type toldEvent struct {
	Seq      int64
	Kind     string
	LakeID   string `json:"lake_id"`
	After    struct{ Level *int }
	Advisory *struct{ ID, Kind string }
}

// closure returns the id of the closure that an event tells as issued, or "".
func (e *toldEvent) closure() string {
	if e.Kind == "advisory_issued" && e.Advisory != nil && e.Advisory.Kind == "closure" {
		return e.Advisory.ID
	}
	return ""
}

// stream reads the stream of events until it ends, from the event after the last one on.
func (r *readers) stream(ctx context.Context, last *string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+"/api/v1/events/stream", nil)
	if err != nil {
		return
	}
	req.Header.Set("Last-Event-ID", *last)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			*last = id
		} else if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var e toldEvent
			if json.Unmarshal([]byte(text), &e) != nil || e.Seq == 0 {
				continue
			}
			r.mu.Lock()
			r.streamed[e.Seq] = true
			r.noteLocked(e.closure(), wayStream)
			r.mu.Unlock()
		}
	}
}

// takeHook is the receiver of the webhook.
func (r *readers) takeHook(w http.ResponseWriter, req *http.Request) {
	var m struct{ Data toldEvent }
	if err := json.NewDecoder(req.Body).Decode(&m); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.hooked[m.Data.Seq] {
		r.hooked[m.Data.Seq] = true
		r.order = append(r.order, m.Data.Seq)
	}
	r.noteLocked(m.Data.closure(), wayWebhook)
}

// subscribe makes a subscription for each of n browsers to the lakes, from a loopback address.
func (r *readers) subscribe(t *testing.T, from string, n int, endpoint func(i int) string, keys func(i int) *pushtest.Browser, lakes func(i int) []string) {
	t.Helper()
	client := clientAt(from)
	client.Transport.(*http.Transport).DisableKeepAlives = false
	defer client.CloseIdleConnections()
	for i := range n {
		b := keys(i)
		body, err := json.Marshal(map[string]any{"endpoint": endpoint(i), "keys": map[string]string{"p256dh": b.P256dh(), "auth": b.Auth()},
			"lakes": lakes(i), "threshold": "medium", "daily": false, "zone": noonZone()})
		must(t, err)
		resp, err := client.Post(r.base+"/api/v1/push/subscriptions", "application/json", strings.NewReader(string(body)))
		must(t, err)
		answer, err := io.ReadAll(resp.Body)
		must(t, err)
		must(t, resp.Body.Close())
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("subscription %d: %s %s", i, resp.Status, answer)
		}
	}
}

// noonZone returns a time zone in which it is about noon: at night only closures are told. The sign of these zones is against that of UTC.
func noonZone() string {
	if ahead := time.Now().UTC().Hour() - 12; ahead != 0 {
		return fmt.Sprintf("Etc/GMT%+d", ahead)
	}
	return "Etc/GMT"
}

// subscribeBrowsers makes subscriptions of browsers whose messages are read.
func (r *readers) subscribeBrowsers(t *testing.T, n int, lakes []string) {
	t.Helper()
	var browsers []*pushtest.Browser
	for i := range n {
		browsers = append(browsers, pushtest.NewBrowser(t))
		r.mu.Lock()
		r.browsers[fmt.Sprint("/read/", i)] = browsers[i]
		r.mu.Unlock()
	}
	r.subscribe(t, "127.0.0.1", n, func(i int) string { return fmt.Sprint(r.service.URL, "/read/", i) },
		func(i int) *pushtest.Browser { return browsers[i] }, func(int) []string { return lakes })
}

// takePush is the push service. A closure is known when each browser got it.
func (r *readers) takePush(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusCreated)
	r.mu.Lock()
	defer r.mu.Unlock()
	browser := r.browsers[req.URL.Path]
	if browser == nil {
		return // one of a crowd
	}
	var m struct {
		Lakes []struct{ Advisory, Closure *struct{ ID, Kind string } }
	}
	if text, err := browser.Decrypt(body); err != nil || json.Unmarshal(text, &m) != nil {
		return
	}
	for _, l := range m.Lakes {
		for _, a := range []*struct{ ID, Kind string }{l.Advisory, l.Closure} {
			if a == nil || a.Kind != "closure" {
				continue
			}
			if r.told[a.ID] == nil {
				r.told[a.ID] = make(map[string]bool)
			}
			r.told[a.ID][req.URL.Path] = true
			if len(r.told[a.ID]) == len(r.browsers) {
				r.noteLocked(a.ID, wayPush)
			}
		}
	}
}

// roots writes the certificate of the push services of these tests, which is that of package httptest, and returns the file.
func (r *readers) roots(t *testing.T) string {
	t.Helper()
	return limnomaptest.WriteFile(t, t.TempDir(), "roots.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.service.Certificate().Raw})))
}

// events returns the log of the server, and the number of its oldest event.
func (r *readers) events(t *testing.T) (events []toldEvent, oldest int64) {
	t.Helper()
	for since := int64(0); ; {
		var page struct {
			Events               []toldEvent
			Next, Oldest, Newest int64
		}
		resp, body := limnomaptest.Get(t, fmt.Sprintf("%s/api/v1/events?since=%d&limit=1000", r.base, since))
		if err := json.Unmarshal(body, &page); err != nil || resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusGone {
			t.Fatalf("events since %d: %s, %v", since, resp.Status, err)
		}
		oldest = page.Oldest
		switch events = append(events, page.Events...); {
		case resp.StatusCode == http.StatusGone:
			since = oldest - 1
		case page.Next == page.Newest:
			return events, oldest
		default:
			since = page.Next
		}
	}
}
