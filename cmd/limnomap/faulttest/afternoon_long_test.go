//go:build unix && long

package faulttest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/api/ratelimit/quota/redistest"
	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/events/push/pushtest"
)

// afternoonPhones returns how many phones there are: 40, or what LIMNOMAP_AFTERNOON_PHONES says.
func afternoonPhones(t testing.TB) int {
	t.Helper()
	text := os.Getenv("LIMNOMAP_AFTERNOON_PHONES")
	if text == "" {
		return 40
	}
	n, err := strconv.Atoi(text)
	must(t, err)
	return n
}

// An afternoon is three servers behind nginx with its cache, HTTPS and HTTP/2, that read from a hot standby and share limits by Redis, and the phones that ask them.
type afternoon struct {
	*pair
	*limnomaptest.Observer
	db        string
	addresses []string
	servers   []*limnomaptest.Server
	front     string // address of nginx
	cache     string // its folder of tiles

	asked, unavailable, tiles, subscribed atomic.Int64

	mu     sync.Mutex // guards what follows
	right  map[string][][sha256.Size]byte
	seen   map[string]map[[sha256.Size]byte]bool // tiles that phones got, by path
	states []closureSeen
	wrong  []string
	times  []time.Duration
}

// A closureSeen is what a phone saw of the closed lake.
type closureSeen struct {
	sent, received time.Time
	closed         bool
}

const afternoonLake = "lake_3"

// startSite starts nginx with deploy/nginx-site.conf.
func (a *afternoon) startSite(t testing.TB) {
	t.Helper()
	dir, plain, secure := sharedFolder(t), limnomaptest.FreeAddress(t), limnomaptest.FreeAddress(t)
	cert, key := limnomaptest.Certificate(t)
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "deploy", "nginx-site.conf"))
	must(t, err)
	var upstreams string
	for _, address := range a.addresses {
		upstreams += "server " + address + " max_fails=0;\n"
	}
	a.cache = filepath.Join(dir, "cache")
	site := strings.NewReplacer("listen 80;", "listen "+plain+";", "listen [::]:80;", "", "listen 443 ssl http2;", "listen "+secure+" ssl http2;", "listen [::]:443 ssl http2;", "",
		"server 127.0.0.1:8080 max_fails=0;", upstreams, "/var/cache/limnomap-tiles", a.cache,
		"/etc/letsencrypt/live/lakes.example.org/fullchain.pem", cert, "/etc/letsencrypt/live/lakes.example.org/privkey.pem", key).Replace(string(text))
	path := limnomaptest.WriteFile(t, dir, "nginx.conf", "pid "+dir+"/pid; error_log "+dir+"/error.log warn; worker_rlimit_nofile 65536; events { worker_connections 16384; } http {\n"+site+"}\n")
	cmd := exec.Command(findNginx(t), "-p", dir, "-c", path, "-g", "daemon off;")
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		if log, _ := os.ReadFile(filepath.Join(dir, "error.log")); t.Failed() {
			t.Logf("the log of nginx:\n%s", lastLines(string(log), 20))
		}
	})
	a.front = "https://" + secure
}

// launch starts or restarts server i.
func (a *afternoon) launch(t testing.TB, i int, redis *redistest.Server) {
	t.Helper()
	args := []string{"--listen", a.addresses[i], "--db", a.db, "--redis", "redis://" + redis.Addr, "--cache-disk", "0", "--trusted-proxies", "127.0.0.1/32",
		"--api-rate", "6000000", "--tile-rate", "6000000", "--stale-after", "70d"}
	a.servers[i] = limnomaptest.LaunchWithEnv(t, a.Env(), append(args, a.Args()...)...)
	t.Cleanup(a.servers[i].Kill)
}

// afternoonTiles are the tiles of the phones, by view.
func afternoonTiles() (views [][]string) {
	for _, zoom := range []maptile.Zoom{6, 8, 10} {
		for _, at := range []orb.Point{{7, 48}, {10, 50}, {12.5, 52}} {
			centre := maptile.At(at, zoom)
			var view []string
			for row := range uint32(4) {
				for column := range uint32(3) {
					view = append(view, fmt.Sprintf("/api/v1/tiles/%d/%d/%d.png", zoom, centre.X+column-1, centre.Y+row-1))
				}
			}
			views = append(views, view)
		}
	}
	return views
}

// learn notes the tiles as a server has them now as right from the start: a cache may keep those of earlier data.
func (a *afternoon) learn(t testing.TB, s *limnomaptest.Server) {
	t.Helper()
	for _, view := range afternoonTiles() {
		for _, path := range view {
			resp, body := limnomaptest.Get(t, s.Base+path)
			if resp.StatusCode != http.StatusOK {
				t.Fatalf("%s: %s", path, resp.Status)
			}
			a.mu.Lock()
			a.right[path] = append(a.right[path], sha256.Sum256(body))
			a.mu.Unlock()
		}
	}
}

// A phone is a browser with one connection.
type phone struct {
	*afternoon
	client *http.Client
	random *rand.Rand
}

func (p *phone) complain(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.wrong) < 30 {
		p.wrong = append(p.wrong, fmt.Sprintf(format, args...))
	}
}

// send sends a request, and returns the body of a 200. Only a 503 with Retry-After is an error that a phone may get.
func (p *phone) send(ctx context.Context, method, path string, body []byte) ([]byte, bool) {
	req, err := http.NewRequestWithContext(ctx, method, p.front+path, bytes.NewReader(body))
	if err != nil {
		p.complain("%v", err)
		return nil, false
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	began := time.Now()
	resp, err := p.client.Do(req)
	var got []byte
	if err == nil {
		got, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	if ctx.Err() != nil { // the afternoon is over
		return nil, false
	}
	p.asked.Add(1)
	switch {
	case err != nil:
		p.complain("%s: %v", path, err)
	case resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "":
		p.unavailable.Add(1)
	case resp.StatusCode/100 != 2 || resp.ProtoMajor != 2:
		p.complain("%s: %s by %s: %.200s", path, resp.Status, resp.Proto, got)
	default:
		p.mu.Lock()
		p.times = append(p.times, time.Since(began))
		p.mu.Unlock()
		return got, true
	}
	return nil, false
}

// lookAt asks for the state of the lake that is closed in between.
func (p *phone) lookAt(ctx context.Context) {
	s := closureSeen{sent: time.Now()}
	body, ok := p.send(ctx, http.MethodGet, "/api/v1/bathing-lakes/status?min_lat=47.9&max_lat=47.93&min_lon=5.9&max_lon=6.1", nil)
	if !ok {
		return
	}
	var status struct {
		Lakes []struct {
			ID       string
			Advisory *struct{ Kind string }
		}
	}
	if err := json.Unmarshal(body, &status); err != nil || len(status.Lakes) != 1 || status.Lakes[0].ID != afternoonLake {
		p.complain("the state of the lake is %.300s", body)
		return
	}
	s.received, s.closed = time.Now(), status.Lakes[0].Advisory != nil && status.Lakes[0].Advisory.Kind == "closure"
	p.mu.Lock()
	p.states = append(p.states, s)
	p.mu.Unlock()
}

// use opens the page, pans, opens a card and, if it is one of ten, subscribes, until ctx ends.
func (p *phone) use(ctx context.Context, number int) {
	views := afternoonTiles()
	subscribed := number%10 != 0
	for ctx.Err() == nil {
		p.send(ctx, http.MethodGet, "/page.json", nil)
		p.lookAt(ctx)
		for _, path := range views[p.random.IntN(len(views))] {
			if body, ok := p.send(ctx, http.MethodGet, path, nil); ok {
				p.tiles.Add(1)
				sum := sha256.Sum256(body)
				p.mu.Lock()
				if p.seen[path] == nil {
					p.seen[path] = make(map[[sha256.Size]byte]bool)
				}
				p.seen[path][sum] = true
				p.mu.Unlock()
			}
		}
		p.send(ctx, http.MethodGet, fmt.Sprintf("/api/v1/bathing-lakes/history/lake_%d", p.random.IntN(uniformLakes)), nil)
		if !subscribed {
			browser, err := pushtest.New()
			if err != nil {
				p.complain("%v", err)
				return
			}
			body, _ := json.Marshal(map[string]any{"endpoint": fmt.Sprint(p.ServiceURL(), "/phone/", number), "keys": map[string]string{"p256dh": browser.P256dh(), "auth": browser.Auth()},
				"lakes": []string{afternoonLake}, "threshold": "medium", "daily": false, "zone": "Etc/UTC"})
			if _, subscribed = p.send(ctx, http.MethodPost, "/api/v1/push/subscriptions", body); subscribed {
				p.subscribed.Add(1)
			}
		}
		limnomaptest.Sleep(ctx, time.Duration(p.random.Int64N(int64(2*time.Second))))
	}
}

// writeFifth writes a table with another value of every fifth lake.
func writeFifth(t testing.TB, chl float64) string {
	t.Helper()
	var b strings.Builder
	for i, line := range slices.Collect(strings.Lines(readText(t, writeValues(t, t.TempDir(), uniformLakes, chl)))) {
		if lake, _, _ := strings.Cut(line, ","); i == 0 || strings.HasSuffix(lake, "0") || strings.HasSuffix(lake, "5") {
			b.WriteString(line)
		}
	}
	return limnomaptest.WriteFile(t, t.TempDir(), "fifth.csv", b.String())
}

func readText(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}

// shownByAll waits until all servers show the lake as closed, or as open.
func (a *afternoon) shownByAll(t testing.TB, closed bool) time.Time {
	t.Helper()
	limnomaptest.Within(t, patience, fmt.Sprintf("all servers show a closed lake: %t", closed), func() bool {
		return !slices.ContainsFunc(a.servers, func(s *limnomaptest.Server) bool {
			_, body := limnomaptest.Get(t, s.Base+"/lakes/"+afternoonLake+"?lang=en")
			return strings.Contains(string(body), "Hot water") != closed
		})
	})
	return time.Now()
}

func (a *afternoon) valueByAll(t testing.TB, revision int64) {
	t.Helper()
	limnomaptest.Within(t, patience, "all servers have the import", func() bool {
		versions := make(map[string]bool)
		for _, s := range a.servers {
			var state struct{ Snapshot string }
			limnomaptest.GetJSON(t, s.Base+"/readyz", &state)
			versions[state.Snapshot] = true
		}
		return len(versions) == 1 && ask[int64](t, a.writes(t), "SELECT number FROM limnomap.revision") >= revision
	})
}

// writes returns the host that lets write.
func (a *afternoon) writes(t testing.TB) *postgres {
	t.Helper()
	if ask[bool](t, a.standby, "SELECT pg_is_in_recovery()") {
		return a.primary
	}
	return a.standby
}

// TestAfternoon has phones open the page, pan, look at lakes and subscribe, while a fifth of the lakes gets another value and one is closed, a server is killed, the
// standby is promoted, the cache is emptied and the lake is opened again. No phone sees a wrong tile, a closure that is over or not the one that holds once all
// servers show it, or an error other than 503 with Retry-After; no event is lost or there twice.
func TestAfternoon(t *testing.T) {
	// Not parallel: it is a load test.
	a := &afternoon{pair: startPair(t, 5), servers: make([]*limnomaptest.Server, 3), right: make(map[string][][sha256.Size]byte), seen: make(map[string]map[[sha256.Size]byte]bool)}
	var err error
	a.Observer, err = limnomaptest.NewObserver(limnomaptest.Binary(t), t.TempDir())
	must(t, err)
	defer a.Observer.Close()
	redis := redistest.Start(t)
	a.db = a.url(t, "prefer-standby", a.standby, a.primary)
	for i := range a.servers {
		a.addresses = append(a.addresses, limnomaptest.FreeAddress(t))
		a.launch(t, i, redis)
	}
	for _, s := range a.servers {
		s.AwaitReady(t)
	}
	a.startSite(t)
	a.learn(t, a.servers[0])

	ctx, stop := context.WithCancel(t.Context())
	var phones sync.WaitGroup
	for i := range afternoonPhones(t) {
		transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
		p := &phone{a, &http.Client{Transport: transport, Timeout: patience}, rand.New(rand.NewPCG(uint64(i), 3))}
		phones.Go(func() {
			defer transport.CloseIdleConnections()
			limnomaptest.Sleep(ctx, time.Duration(p.random.Int64N(int64(2*time.Second))))
			p.use(ctx, i)
		})
	}
	defer func() {
		stop()
		phones.Wait()
	}()
	traffic := func(what string) { // returns when each phone had time for a view
		t.Helper()
		t.Log(what)
		from := a.asked.Load()
		limnomaptest.Within(t, 5*patience, "phones go on", func() bool { return a.asked.Load() > from+int64(15*afternoonPhones(t)) })
	}
	traffic("phones open the page")

	began := time.Now()
	refresh := make(chan error, 1)
	fifth := writeFifth(t, 50)
	go func() { // ends with the import
		_, err := runCommand(t, "import", "observations", fifth, "--db", a.db, "--force")
		refresh <- err
	}()
	limnomaptest.Run(t, "close", afternoonLake, "--until", "unknown", "--cause", "bacteria", "--issuer", "Office", "--text-en", "Hot water", "--db", a.db)
	imported := time.Now()
	closed := a.shownByAll(t, true)
	t.Logf("the closure is imported %v after it began, and all servers show it %v later", imported.Sub(began).Round(time.Millisecond), closed.Sub(imported).Round(time.Millisecond))
	must(t, <-refresh)
	a.valueByAll(t, 4)
	a.learn(t, a.servers[0])
	traffic("the refresh is over")

	a.servers[1].Kill()
	traffic("a server was killed")
	a.launch(t, 1, redis)
	a.servers[1].AwaitReady(t)
	traffic("it is back")

	execPostgres(t, a.primary.url, "ALTER SYSTEM SET default_transaction_read_only = on")
	a.promote(t)
	traffic("the standby was promoted")
	must(t, filepath.WalkDir(a.cache, func(path string, d fs.DirEntry, err error) error { // nginx goes on: it may make and remove files meanwhile
		if err == nil && !d.IsDir() {
			err = os.Remove(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}))
	traffic("the cache was emptied")
	reopening := time.Now()
	limnomaptest.Run(t, "reopen", afternoonLake, "--db", a.db)
	opened := a.shownByAll(t, false)
	t.Logf("all servers show the end of the closure %v after its import began", opened.Sub(reopening).Round(time.Millisecond))
	importFile(t, "observations", writeFifth(t, 5), a.db)
	a.valueByAll(t, 6)
	a.learn(t, a.servers[0])
	traffic("the lake is open again")
	stop()
	phones.Wait()

	for _, s := range a.states {
		switch {
		case s.closed && s.received.Before(began), s.closed && s.sent.After(opened), !s.closed && s.sent.After(closed) && s.received.Before(reopening):
			t.Errorf("a phone that asked %v after the start of the import saw the lake closed: %t", s.sent.Sub(began).Round(time.Millisecond), s.closed)
		}
	}
	for path, sums := range a.seen {
		for sum := range sums {
			if !slices.Contains(a.right[path], sum) {
				t.Errorf("phones got a tile %s that no data have", path)
			}
		}
	}
	for _, w := range a.wrong {
		t.Error(w)
	}
	events := storedEvents(t, a.standby.url)
	for i, e := range events {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d has the number %d", i+1, e.Seq)
		}
	}
	slices.Sort(a.times)
	if len(a.times) == 0 {
		t.Fatal("no phone got an answer")
	}
	t.Logf("%d phones: %d requests, %d tiles, %d times 503 with Retry-After, %d subscriptions, %d events; p50 %v, p99 %v", afternoonPhones(t), a.asked.Load(), a.tiles.Load(),
		a.unavailable.Load(), a.subscribed.Load(), len(events), a.times[len(a.times)/2].Round(10*time.Microsecond), a.times[len(a.times)*99/100].Round(10*time.Microsecond))
	for _, s := range a.servers {
		stopCleanly(t, s)
	}
}
