package limnomaptest

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"limnomap/data/events/push/pushtest"
)

// observeEvery is how often a way that does not tell by itself is asked: 200 times a minute, of the 300 that an address may.
const observeEvery = 300 * time.Millisecond

// An Observer sees when each way tells of the changes of closures, and which events the webhook and the stream tell. It needs no test: it can run in a
// process of its own, so that the work of a test does not count as time of the server.
type Observer struct {
	StreamQuery string // of the stream of events, such as "?bbox=..."; set before Follow

	receiver, service *httptest.Server // of the webhook, and the push service
	clients           map[string]*http.Client
	env               []string
	blank             string // a tile
	stop              context.CancelFunc
	running           sync.WaitGroup

	mu       sync.Mutex
	base     string                       // guarded by mu: address of the server; empty before Follow
	hangUp   context.CancelFunc           // guarded by mu: ends the stream that is open
	told     map[telling]time.Time        // guarded by mu
	failed   map[telling]error            // guarded by mu: what was wrong with the last answer
	browsers map[string]*pushtest.Browser // guarded by mu: by the path of the endpoint
	pushed   map[telling]map[string]bool  // guarded by mu: the paths of the endpoints that got it
	received Received                     // guarded by mu
}

// A telling is a change of a closure on a way.
type telling struct{ id, kind, way string }

func (c ClosureChange) on(way string) telling { return telling{c.ID, "advisory_" + c.Change, way} }

// Received has the numbers of events, each once: those that the webhook got in the order in which they came first, and those of the stream.
type Received struct {
	Statements, Others []int64 // that are about official statements, and that are not
	Streamed           map[int64]bool
}

// An Event has the members of an event that observers look at.
type Event struct {
	Seq      int64
	Kind     string
	LakeID   string `json:"lake_id"`
	After    struct{ Level *int }
	Advisory *struct{ ID, Kind string }
}

// NewObserver starts the receivers, and has program, a limnomap, make the key of push. Close ends them. Dir is for files.
func NewObserver(program, dir string) (*Observer, error) {
	o := &Observer{clients: make(map[string]*http.Client), told: make(map[telling]time.Time), failed: make(map[telling]error),
		browsers: make(map[string]*pushtest.Browser), pushed: make(map[telling]map[string]bool), received: Received{Streamed: make(map[int64]bool)}}
	for i, way := range Ways {
		dialer := net.Dialer{Timeout: 10 * time.Second}
		if runtime.GOOS == "linux" { // elsewhere the loopback has one address; each client has a rate limit
			dialer.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 4, byte(i+1))}
		}
		o.clients[way] = &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}}
	}
	o.clients[WayStream].Timeout = 0 // it is open for an hour
	o.receiver, o.service = httptest.NewServer(http.HandlerFunc(o.takeHook)), httptest.NewTLSServer(http.HandlerFunc(o.takePush))
	ctx, cancel := context.WithCancel(context.Background())
	o.stop = cancel
	o.running.Go(func() { o.stream(ctx) }) // ends with Close
	roots := filepath.Join(dir, "roots.pem")
	err := os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: o.service.Certificate().Raw}), 0o600)
	if err == nil {
		var key string
		key, err = RunProgram(ctx, program, "push", "keys")
		o.env = []string{"LIMNOMAP_PUSH_KEY=" + strings.TrimSpace(key), "SSL_CERT_FILE=" + roots}
	}
	if err != nil {
		o.Close()
		return nil, err
	}
	return o, nil
}

// Close ends what the observer has started. The contexts of Expect have ended before.
func (o *Observer) Close() {
	o.stop()
	o.running.Wait()
	o.receiver.Close()
	o.service.Close()
}

// HookURL and ServiceURL return the addresses of the receiver of the webhook and of the push service.
func (o *Observer) HookURL() string    { return o.receiver.URL }
func (o *Observer) ServiceURL() string { return o.service.URL }

// Env returns the variables that a server needs, and Args the flags, with more push services.
func (o *Observer) Env() []string { return o.env }
func (o *Observer) Args(services ...string) []string {
	hosts := strings.ReplaceAll(strings.Join(append([]string{o.service.URL}, services...), ","), "https://", "")
	return []string{"--hooks-allow-http", "--hooks-allow", "127.0.0.0/8", "--push-contact", "mailto:lakes@example.org", "--push-services", hosts}
}

// Follow goes on with the server at base, the first one or another one with the same log of events.
func (o *Observer) Follow(ctx context.Context, base string) error {
	o.mu.Lock()
	o.base = base
	if o.hangUp != nil {
		o.hangUp()
	}
	o.mu.Unlock()
	return Retry(ctx, func(ctx context.Context) (err error) {
		if o.blank == "" {
			o.blank, err = o.get(ctx, WayTile, blankTile)
		}
		return err
	})
}

// Expect asks on each way for a change from now on, until it is told or ctx ends.
func (o *Observer) Expect(ctx context.Context, c ClosureChange) {
	for _, way := range c.Ways() {
		if way == WayStream || way == WayWebhook || way == WayPush {
			continue
		}
		o.running.Go(func() { // ends with ctx
			_ = Retry(ctx, func(ctx context.Context) error { // it is noted
				err := o.ask(ctx, way, c)
				o.mu.Lock()
				defer o.mu.Unlock()
				if o.failed[c.on(way)] = err; err == nil {
					o.note(c.on(way))
				}
				return err
			})
		})
	}
}

// Await waits until a change is told on these ways, or ctx ends. It returns when each way told it, and what the others answered last.
func (o *Observer) Await(ctx context.Context, c ClosureChange, ways []string) (at map[string]time.Time, untold map[string]string) {
	for {
		at, untold = make(map[string]time.Time), make(map[string]string)
		o.mu.Lock()
		for _, way := range ways {
			if at[way] = o.told[c.on(way)]; at[way].IsZero() {
				delete(at, way)
				untold[way] = cmp.Or(o.failed[c.on(way)], errUntold).Error()
			}
		}
		o.mu.Unlock()
		if len(untold) == 0 || !Sleep(ctx, 50*time.Millisecond) {
			return at, untold
		}
	}
}

// Received returns the events that the webhook and the stream have told.
func (o *Observer) Received() Received {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := Received{slices.Clone(o.received.Statements), slices.Clone(o.received.Others), make(map[int64]bool)}
	for seq := range o.received.Streamed {
		r.Streamed[seq] = true
	}
	return r
}

// note notes that a change is told. The caller holds mu.
func (o *Observer) note(t telling) {
	if o.told[t].IsZero() {
		o.told[t] = time.Now()
	}
}

// noteEvent notes that a way tells of an event. The caller holds mu.
func (o *Observer) noteEvent(e *Event, way string) {
	if e.Advisory != nil {
		o.note(telling{e.Advisory.ID, e.Kind, way})
	}
}

// stream reads the stream of events of the server that is followed, from the first event on, and opens it again when it ends.
func (o *Observer) stream(ctx context.Context) {
	for last := "0"; Sleep(ctx, observeEvery); {
		o.mu.Lock()
		base := o.base
		one, hangUp := context.WithCancel(ctx)
		o.hangUp = hangUp
		o.mu.Unlock()
		if base != "" {
			last = o.streamOnce(one, base, last)
		}
		hangUp()
	}
}

// streamOnce reads one stream to its end, and returns the id of the last event.
func (o *Observer) streamOnce(ctx context.Context, base, last string) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/api/v1/events/stream"+o.StreamQuery, nil)
	if err != nil {
		return last
	}
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := o.clients[WayStream].Do(req)
	if err != nil {
		return last
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusGone {
		return "" // that part of the log is no longer kept
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for resp.StatusCode == http.StatusOK && lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			last = id
		} else if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var e Event
			if json.Unmarshal([]byte(text), &e) != nil || e.Seq == 0 {
				continue
			}
			o.mu.Lock()
			o.received.Streamed[e.Seq] = true
			o.noteEvent(&e, WayStream)
			o.mu.Unlock()
		}
	}
	return last
}

// takeHook is the receiver of the webhook.
func (o *Observer) takeHook(w http.ResponseWriter, req *http.Request) {
	var m struct{ Data Event }
	if err := json.NewDecoder(req.Body).Decode(&m); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	order := &o.received.Others
	if m.Data.Advisory != nil {
		order = &o.received.Statements
	}
	if !slices.Contains(*order, m.Data.Seq) {
		*order = append(*order, m.Data.Seq)
	}
	o.noteEvent(&m.Data, WayWebhook)
}

// Subscribe makes a subscription to lakes for a browser. In its time zone it is noon: at night only closures are told.
func (o *Observer) Subscribe(client *http.Client, endpoint string, b *pushtest.Browser, lakes []string) error {
	body, err := json.Marshal(map[string]any{"endpoint": endpoint, "keys": map[string]string{"p256dh": b.P256dh(), "auth": b.Auth()}, "lakes": lakes,
		"threshold": "medium", "daily": false, "zone": fmt.Sprintf("Etc/GMT%+d", time.Now().UTC().Hour()-12)}) // their sign is against that of UTC
	if err != nil {
		return err
	}
	_, err = answerOf(client.Post(o.address()+"/api/v1/push/subscriptions", "application/json", strings.NewReader(string(body))))
	return err
}

// SubscribeBrowsers makes subscriptions of n browsers whose messages are read. A change is told by push when each has got it.
func (o *Observer) SubscribeBrowsers(ctx context.Context, n int, lakes []string) error {
	for i := range n {
		b, err := pushtest.New()
		if err != nil {
			return err
		}
		path := fmt.Sprint("/read/", i)
		o.mu.Lock()
		o.browsers[path] = b
		o.mu.Unlock()
		err = Retry(ctx, func(context.Context) error { return o.Subscribe(o.clients[WayPush], o.service.URL+path, b, lakes) })
		if err != nil {
			return fmt.Errorf("subscription %d: %w", i, err)
		}
	}
	return nil
}

// takePush is the push service.
func (o *Observer) takePush(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	browser := o.browsers[req.URL.Path] // nil for one of a crowd
	var m struct {
		Lakes []struct {
			Kind     string
			Advisory *struct{ ID string }
		}
	}
	if browser != nil {
		if body, err = browser.Decrypt(body); err == nil {
			err = json.Unmarshal(body, &m)
		}
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
	}
	w.WriteHeader(http.StatusCreated)
	for _, l := range m.Lakes {
		if l.Advisory == nil {
			continue
		}
		t := telling{l.Advisory.ID, l.Kind, WayPush}
		if o.pushed[t] == nil {
			o.pushed[t] = make(map[string]bool)
		}
		o.pushed[t][req.URL.Path] = true
		if len(o.pushed[t]) == len(o.browsers) {
			o.note(t)
		}
	}
}

func (o *Observer) address() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.base
}

// get requests a path as the client of a way.
func (o *Observer) get(ctx context.Context, way, path string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.address()+path, nil)
	if err != nil {
		return "", err
	}
	return answerOf(o.clients[way].Do(req))
}

// answerOf returns the body of an answer, and an error unless its status is 200.
func answerOf(resp *http.Response, err error) (string, error) {
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.200s", resp.Status, body)
	}
	return string(body), err
}

// Retry calls do until it returns nil, or ctx ends.
func Retry(ctx context.Context, do func(context.Context) error) error {
	for {
		err := do(ctx)
		if err == nil || !Sleep(ctx, observeEvery) {
			return err
		}
	}
}

// Sleep reports whether ctx is not over after that time.
func Sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
