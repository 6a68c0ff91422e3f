package limnomaptest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/data/events/push/pushtest"
)

// The ways in which a server tells of a closure.
const (
	WayPage    = "page"    // of the lake
	WayStatus  = "status"  // the record of the lake
	WayFeed    = "feed"    // of events, as Atom
	WayStream  = "stream"  // of events, which is open all the time
	WayWebhook = "webhook" // to a receiver that takes each request at once
	WayPush    = "push"    // to a browser whose push service takes each request at once
	WayTile    = "tile"    // as a picture, with the sign of a closed lake
	WayMarks   = "marks"   // as a vector tile
)

const (
	watchedLakes = 3
	watchEvery   = 500 * time.Millisecond // how often a way that does not tell by itself is asked
	watchTimeout = 10 * time.Second       // of each request
	watchZoom    = 14                     // of the tiles
	// watchBox contains the watched lakes: an empty part of the Pacific, so that no other lake is in their tiles, feed and stream.
	watchBox = "-130,-65,-110,-55"
)

// A ClosureWatch issues, changes and withdraws closures of lakes of its own, and sees when each way tells of them. It needs no test: it can run in a
// process of its own, so that the work of a test does not count as time of the server.
type ClosureWatch struct {
	program, dir, db string
	key              string // of push
	receiver         *httptest.Server
	service          *httptest.Server // of push
	browser          *pushtest.Browser
	clients          map[string]*http.Client // by way
	stop             context.CancelFunc
	running          sync.WaitGroup

	changes int               // that were made
	open    map[string]string // tiles of lakes that are not closed, by path

	mu        sync.Mutex
	base      string                          // guarded by mu: address of the server; empty before Follow
	connected chan struct{}                   // guarded by mu: closed when the stream of the server at base is open
	hangUp    context.CancelFunc              // guarded by mu: ends the stream that is open
	told      map[string]map[string]time.Time // guarded by mu: when a way named a change, by way and change
}

// A Telling is one change of a statement, and how long it took until each way told of it.
type Telling struct {
	Change string                   // such as "Watch 7 withdrawn"
	Took   map[string]time.Duration // by way
	Untold map[string]string        // of the ways that have not told of it: what they answered last
}

// changeNames are the changes of a statement in turn.
var changeNames = []string{"issued", "changed", "withdrawn"}

// What a message about one event says of the change and the issuer, in JSON and in Atom.
var changeText, issuerText = regexp.MustCompile(`advisory_(issued|changed|withdrawn)`), regexp.MustCompile(`Watch \d+`)

// NewClosureWatch imports the watched lakes into a database with program, a limnomap, makes a webhook, and starts the receivers. Close ends them. The
// watch writes files into dir.
func NewClosureWatch(program, dir, db string) (*ClosureWatch, error) {
	w := &ClosureWatch{program: program, dir: dir, db: db, open: make(map[string]string), told: make(map[string]map[string]time.Time), clients: make(map[string]*http.Client)}
	var err error
	if w.browser, err = pushtest.New(); err != nil {
		return nil, err
	}
	for i, way := range []string{WayPage, WayStatus, WayFeed, WayTile, WayMarks, WayStream} {
		dialer := net.Dialer{Timeout: watchTimeout}
		if runtime.GOOS == "linux" { // elsewhere the loopback has one address; each client has a rate limit
			dialer.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 4, byte(i+1))}
		}
		w.clients[way] = &http.Client{Timeout: watchTimeout, Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}}
	}
	w.clients[WayStream].Timeout = 0 // it is open for an hour
	var lakes strings.Builder
	lakes.WriteString("id,name,lat,lon\n")
	for i := range watchedLakes {
		at := placeOf(i)
		fmt.Fprintf(&lakes, "%s,Watched Lake %d,%v,%v\n", lakeOf(i), i, at.Lat(), at.Lon())
	}
	file := filepath.Join(dir, "watched.csv")
	if err := os.WriteFile(file, []byte(lakes.String()), 0o600); err != nil {
		return nil, err
	}
	if _, err := w.run(context.Background(), "import", "lakes", file, "--db", db); err != nil {
		return nil, err
	}
	if w.key, err = w.run(context.Background(), "push", "keys"); err != nil {
		return nil, err
	}
	w.receiver = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err == nil {
			w.see(WayWebhook, body)
		}
	}))
	w.service = httptest.NewTLSServer(http.HandlerFunc(func(a http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			body, err = w.browser.Decrypt(body)
		}
		if err != nil {
			a.WriteHeader(http.StatusBadRequest)
			return
		}
		w.see(WayPush, body)
		a.WriteHeader(http.StatusCreated)
	}))
	roots := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.service.Certificate().Raw})
	err = os.WriteFile(filepath.Join(dir, "roots.pem"), roots, 0o600)
	if err == nil {
		_, err = w.run(context.Background(), "hooks", "create", "--db", db, "--hooks-allow-http", "--lakes", strings.Join(lakesOf(), ","), "--url", w.receiver.URL)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.stop = cancel
	w.running.Go(func() { w.stream(ctx) }) // ends with Close
	if err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// StartClosureWatch is NewClosureWatch for a test, which ends it.
func StartClosureWatch(t testing.TB, db string) *ClosureWatch {
	t.Helper()
	w, err := NewClosureWatch(Binary(t), t.TempDir(), db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// Close ends what the watch has started.
func (w *ClosureWatch) Close() {
	w.stop()
	w.running.Wait()
	w.receiver.Close()
	w.service.Close()
}

// Args returns the flags that a server needs.
func (w *ClosureWatch) Args() []string {
	return []string{"--db", w.db, "--hooks-allow-http", "--hooks-allow", "127.0.0.0/8", "--push-contact", "mailto:lakes@example.org", "--push-services", strings.TrimPrefix(w.service.URL, "https://")}
}

// Env returns the variables that a server needs.
func (w *ClosureWatch) Env() []string {
	return []string{"LIMNOMAP_PUSH_KEY=" + w.key, "SSL_CERT_FILE=" + filepath.Join(w.dir, "roots.pem")}
}

// Follow goes on with the server at base, the first one or another one with the same database. It subscribes with the first one, and returns when the
// stream is open.
func (w *ClosureWatch) Follow(ctx context.Context, base string) error {
	w.mu.Lock()
	first := w.base == ""
	w.base, w.connected = base, make(chan struct{})
	connected := w.connected
	if w.hangUp != nil {
		w.hangUp()
	}
	w.mu.Unlock()
	if first {
		if err := untilNil(ctx, w.subscribe); err != nil {
			return fmt.Errorf("subscribing: %w", err)
		}
		for i := range watchedLakes {
			err := untilNil(ctx, func(ctx context.Context) error {
				body, err := w.get(ctx, WayTile, tileOf(i, ".png?style=dots"))
				w.open[tileOf(i, ".png?style=dots")] = body
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	select {
	case <-connected:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("opening the stream of events: %w", ctx.Err())
	}
}

// Tell makes the next change, and waits until all ways tell of it or ctx ends. The time counts from the first attempt to import it.
func (w *ClosureWatch) Tell(ctx context.Context) Telling {
	round, change := w.changes/len(changeNames), changeNames[w.changes%len(changeNames)]
	lake := round % watchedLakes
	w.changes++
	t := Telling{Change: fmt.Sprintf("Watch %d %s", round, change), Took: make(map[string]time.Duration), Untold: make(map[string]string)}
	until, withdrawn := "", ""
	if change != "issued" {
		until = "2099-01-01"
	}
	if change == "withdrawn" {
		withdrawn = "2020-01-02"
	}
	// The times are so far away that a wrong clock does not begin or end a statement. The issuer of a statement never changes.
	text := fmt.Sprintf("id,lake_id,kind,cause,issuer,issued,valid_from,valid_until,withdrawn,text_en\nwatch-%d,%s,closure,bacteria,Watch %[1]d,2020-01-01,2020-01-01,%[3]s,%s,%s.\n",
		round, lakeOf(lake), until, withdrawn, t.Change)
	file := filepath.Join(w.dir, "statement.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Untold["import"] = err.Error()
		return t
	}
	started := time.Now()
	err := untilNil(ctx, func(ctx context.Context) error {
		_, err := w.run(ctx, "import", "advisories", file, "--db", w.db)
		return err
	})
	if err != nil {
		t.Untold["import"] = err.Error()
		return t
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	for way, ask := range w.ways(lake, t.Change, change == "withdrawn") {
		if change == "changed" && (way == WayTile || way == WayMarks) {
			continue // it is closed as before
		}
		all.Go(func() { // ends with ctx
			err := errors.New("not asked yet")
			for err != nil && ctx.Err() == nil {
				if err = ask(ctx); err != nil {
					sleepFor(ctx, watchEvery)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Untold[way] = err.Error()
				return
			}
			t.Took[way] = w.toldAt(way, t.Change).Sub(started)
		})
	}
	all.Wait()
	return t
}

// ways returns functions that return nil if a way tells of a change of a lake.
func (w *ClosureWatch) ways(lake int, change string, withdrawn bool) map[string]func(context.Context) error {
	status := `"valid_until":null`
	if strings.HasSuffix(change, "changed") {
		status = `"valid_until":"2099-`
	}
	status = fmt.Sprintf(`"issuer":%q,%s`, issuerText.FindString(change), status)
	says := func(way, path, text string) func(context.Context) error {
		return func(ctx context.Context) error {
			body, err := w.get(ctx, way, path)
			switch open := strings.Contains(body, fmt.Sprintf("Watched Lake %d", lake)) && !issuerText.MatchString(body); {
			case err != nil:
				return err
			case withdrawn && !open || !withdrawn && !strings.Contains(body, text):
				return fmt.Errorf("%s does not say so", path)
			}
			return nil
		}
	}
	was := func(way string) func(context.Context) error {
		return func(context.Context) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.told[way][change].IsZero() {
				return errors.New("nothing was sent")
			}
			return nil
		}
	}
	at := placeOf(lake)
	return map[string]func(context.Context) error{
		WayPage:   says(WayPage, "/lakes/"+lakeOf(lake)+"?lang=en", change),
		WayStatus: says(WayStatus, fmt.Sprintf("/api/v1/bathing-lakes/status?min_lat=%v&max_lat=%[1]v&min_lon=%v&max_lon=%[2]v", at.Lat(), at.Lon()), status),
		WayFeed: func(ctx context.Context) error {
			body, err := w.get(ctx, WayFeed, "/api/v1/events.atom?bbox="+watchBox)
			for entry := range strings.SplitSeq(body, "<entry") {
				w.see(WayFeed, []byte(entry))
			}
			if err != nil {
				return err
			}
			return was(WayFeed)(ctx)
		},
		WayStream:  was(WayStream),
		WayWebhook: was(WayWebhook),
		WayPush:    was(WayPush),
		WayTile: func(ctx context.Context) error {
			path := tileOf(lake, ".png?style=dots")
			body, err := w.get(ctx, WayTile, path)
			if err == nil && (body == w.open[path]) != withdrawn {
				err = fmt.Errorf("%s has not changed", path)
			}
			return err
		},
		WayMarks: func(ctx context.Context) error {
			path := tileOf(lake, ".mvt")
			body, err := w.get(ctx, WayMarks, path)
			if err == nil && strings.Contains(body, "closure") == withdrawn {
				err = fmt.Errorf("%s has not changed", path)
			}
			return err
		},
	}
}

// see notes the change that a message of a way names, if it is about one event.
func (w *ClosureWatch) see(way string, message []byte) {
	change, issuer := changeText.FindSubmatch(message), issuerText.Find(message)
	if change == nil || issuer == nil {
		return
	}
	name := string(issuer) + " " + string(change[1])
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.told[way] == nil {
		w.told[way] = make(map[string]time.Time)
	}
	if w.told[way][name].IsZero() {
		w.told[way][name] = time.Now()
	}
}

// toldAt returns when a way named a change, or now if it was asked.
func (w *ClosureWatch) toldAt(way, change string) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at := w.told[way][change]; !at.IsZero() {
		return at
	}
	return time.Now()
}

// stream reads the stream of events of the server that is followed, and opens it again when it ends.
func (w *ClosureWatch) stream(ctx context.Context) {
	for id := ""; ctx.Err() == nil; sleepFor(ctx, watchEvery) {
		w.mu.Lock()
		base, connected := w.base, w.connected
		one, hangUp := context.WithCancel(ctx)
		w.hangUp = hangUp
		w.mu.Unlock()
		if base != "" {
			id = w.streamOnce(one, base, id, connected)
		}
		hangUp()
	}
}

// streamOnce reads one stream to its end, and returns the id of the last event. It closes connected when it has received the first one.
func (w *ClosureWatch) streamOnce(ctx context.Context, base, id string, connected chan struct{}) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/api/v1/events/stream?bbox="+watchBox, nil)
	if err != nil {
		return id
	}
	if id != "" {
		req.Header.Set("Last-Event-ID", id)
	}
	resp, err := w.clients[WayStream].Do(req)
	if err != nil {
		return id
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusGone {
		return "" // that part of the log is no longer kept
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for resp.StatusCode == http.StatusOK && lines.Scan() {
		if next, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			id = next
			w.mu.Lock()
			if connected != nil && w.connected == connected {
				close(connected)
				w.connected = nil // the next connection must not close it again
			}
			w.mu.Unlock()
		}
		w.see(WayStream, lines.Bytes())
	}
	return id
}

// subscribe has the browser be told of the watched lakes. In its time zone it is noon: at night only closures are told.
func (w *ClosureWatch) subscribe(ctx context.Context) error {
	body, err := json.Marshal(map[string]any{
		"endpoint": w.service.URL + "/watch", "keys": map[string]string{"p256dh": w.browser.P256dh(), "auth": w.browser.Auth()},
		"lakes": lakesOf(), "threshold": "closures", "zone": fmt.Sprintf("Etc/GMT%+d", time.Now().UTC().Hour()-12),
	})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.address()+"/api/v1/push/subscriptions", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	_, err = answerOf(w.clients[WayStatus].Do(req))
	return err
}

func (w *ClosureWatch) address() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.base
}

// get requests a path as the client of a way.
func (w *ClosureWatch) get(ctx context.Context, way, path string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.address()+path, nil)
	if err != nil {
		return "", err
	}
	return answerOf(w.clients[way].Do(req))
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

// run runs a limnomap command and returns its standard output.
func (w *ClosureWatch) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, w.program, args...)
	cmd.Env = Environ()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("limnomap %s: %w: %.500s", strings.Join(args[:2], " "), err, &stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// untilNil calls do until it returns nil, or ctx ends.
func untilNil(ctx context.Context, do func(context.Context) error) error {
	for {
		err := do(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		sleepFor(ctx, watchEvery)
	}
}

func sleepFor(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func lakeOf(i int) string { return fmt.Sprintf("watched_%d", i) }

func lakesOf() (ids []string) {
	for i := range watchedLakes {
		ids = append(ids, lakeOf(i))
	}
	return ids
}

func placeOf(i int) orb.Point { return orb.Point{-125 + 5*float64(i), -60} }

func tileOf(i int, suffix string) string {
	at := maptile.At(placeOf(i), watchZoom)
	return fmt.Sprintf("/api/v1/tiles/%d/%d/%d%s", at.Z, at.X, at.Y, suffix)
}

// LongestOf describes the longest time of each way.
func LongestOf(all []Telling) string {
	longest, times := make(map[string]time.Duration), make(map[string]int)
	for _, t := range all {
		for way, took := range t.Took {
			longest[way] = max(longest[way], took)
			times[way]++
		}
	}
	var parts []string
	for _, way := range slices.Sorted(maps.Keys(longest)) {
		parts = append(parts, fmt.Sprintf("%s %.1f s", way, longest[way].Seconds()))
	}
	return fmt.Sprintf("%d changes told, the longest times: %s", len(all), strings.Join(parts, ", "))
}

// Faults describes what was not told.
func Faults(all []Telling) (faults []string) {
	for _, t := range all {
		for _, way := range slices.Sorted(maps.Keys(t.Untold)) {
			faults = append(faults, fmt.Sprintf("%s: %s has not told it: %s", t.Change, way, t.Untold[way]))
		}
	}
	return faults
}
