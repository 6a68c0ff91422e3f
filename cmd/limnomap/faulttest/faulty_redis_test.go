//go:build linux

package faulttest

import (
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"limnomap/api/ratelimit/quota/redistest"
	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/store/wiretest"
	"limnomap/data/testsize"
)

// A redisFault is something that goes wrong with Redis while a server shares its limits through it.
type redisFault struct {
	name       string
	begin, end func(*testing.T, *redistest.Server, *wiretest.Wire)
	copes      bool   // whether the limits go on being shared
	log        string // must be in the log
}

// redisFaults returns all faults. make test has only the first.
func redisFaults(password string) []redisFault {
	cli := func(args ...string) func(*testing.T, *redistest.Server, *wiretest.Wire) {
		return func(t *testing.T, server *redistest.Server, _ *wiretest.Wire) {
			server.Cli(t, append([]string{"--no-auth-warning", "-a", password}, args...)...)
		}
	}
	do := func(change func(*wiretest.Wire)) func(*testing.T, *redistest.Server, *wiretest.Wire) {
		return func(_ *testing.T, _ *redistest.Server, w *wiretest.Wire) { change(w) }
	}
	slow := func(delay time.Duration, piece int) func(*testing.T, *redistest.Server, *wiretest.Wire) {
		return do(func(w *wiretest.Wire) { w.Slow(delay, piece) })
	}
	return []redisFault{
		{name: "hangs", begin: do(func(w *wiretest.Wire) { w.Hang(true) }), end: do(func(w *wiretest.Wire) { w.Hang(false) })},
		{name: "200 ms", begin: slow(200*time.Millisecond, 0), end: slow(0, 0)},
		{name: "2 s", begin: slow(2*time.Second, 0), end: slow(0, 0)},
		{name: "bytes one by one", begin: slow(20*time.Millisecond, 1), end: slow(0, 0)},
		{name: "hangs in the middle of an answer", begin: do(func(w *wiretest.Wire) { w.HangAfter(2) }), end: do(func(w *wiretest.Wire) { w.Hang(false) })},
		{name: "full", begin: cli("CONFIG", "SET", "maxmemory", "1"), end: cli("CONFIG", "SET", "maxmemory", "0"), log: "raise its maxmemory"},
		{name: "a replica", begin: cli("REPLICAOF", "127.0.0.1", "1"), end: cli("REPLICAOF", "NO", "ONE"), log: "name the primary"},
		{
			name: "foreign values at all keys",
			begin: func(t *testing.T, s *redistest.Server, w *wiretest.Wire) {
				for range 10 {
					cli("EVAL", "for _, key in ipairs(redis.call('KEYS', '*')) do redis.call('DEL', key); redis.call('RPUSH', key, 'a') end", "0")(t, s, w)
					time.Sleep(50 * time.Millisecond)
				}
			},
			end:   do(func(*wiretest.Wire) {}),
			copes: true,
		},
	}
}

// TestFaultyRedis has a Redis be slow, hang, refuse writes or hold foreign values, while clients ask. The server uses local limits,
// says so once, and shares the limits again by itself.
func TestFaultyRedis(t *testing.T) {
	t.Parallel()
	const password = "s3cret-0f-redis"
	for _, fault := range testsize.Cases(1, redisFaults(password)) {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			db := newUniformDB(t, uniformLakes, 5)
			importOldValues(t, db)
			redis := redistest.Start(t, "--requirepass", password, "--maxmemory-policy", "noeviction")
			w := wiretest.New(t, redis.Addr)
			s := limnomaptest.LaunchWithEnv(t, []string{"LIMNOMAP_REDIS=redis://:" + password + "@" + w.Address}, "--db", db.path, "--cache-disk", "0",
				"--api-rate", "60000", "--tile-rate", "60000")
			t.Cleanup(s.Kill)
			s.AwaitReady(t)
			fault.test(t, s, redis, w)
			if strings.Contains(s.Log.String(), password) {
				t.Error("the password is in the log")
			}
		})
	}
}

func (f *redisFault) test(t *testing.T, s *limnomaptest.Server, redis *redistest.Server, w *wiretest.Wire) {
	clients, length := testsize.Of(12, 100), testsize.Of(time.Second, 10*time.Second)
	wantAnswers(t, s)
	idle := latencies(t, s, length/4)
	before := usageOf(t, s)
	stop := crowd(t, s, clients)
	f.begin(t, redis, w)
	busy := latencies(t, s, length)
	if !f.copes {
		f.await(t, s, "the metric says that the limits are not shared", 1)
	}
	limnomaptest.Within(t, patience, "the log says "+f.log, func() bool { return strings.Contains(eventLog(s), f.log) })
	counts := stop()
	t.Logf("cached tiles: p99 %v idle, %v during the fault with %d clients, who got %v", idle, busy, clients, counts)
	wantAnswers(t, s)
	f.end(t, redis, w)
	f.await(t, s, "the limits are shared", 0)
	var after usage
	limnomaptest.Within(t, patience, "goroutines and descriptors are as before", func() bool {
		after = usageOf(t, s)
		return after.goroutines <= before.goroutines+leftOver && after.sockets <= before.sockets+leftOver
	})
	if after.peak > before.peak+faultMemory {
		t.Errorf("the peak of the memory grew from %d to %d MB", before.peak>>20, after.peak>>20)
	}
	// A crowd on a busy machine may make a lease take longer than its time.
	most := 4 * int(length/time.Second)
	if n := len(limitsWarning.FindAllString(eventLog(s), -1)); n > most || n == 0 && !f.copes {
		t.Errorf("the log has %d warnings about rate limits:\n%s", n, lastLines(eventLog(s), 20))
	}
	stopCleanly(t, s)
}

// await asks as ever new clients, whose limits the server does not know yet, until the metric has that value.
func (f *redisFault) await(t *testing.T, s *limnomaptest.Server, what string, want float64) {
	t.Helper()
	next := 0
	limnomaptest.Within(t, patience, what, func() bool {
		next++
		resp, err := clientAt(fmt.Sprintf("127.0.%d.%d", 10+next/250, 1+next%250)).Get(s.Base + "/api/v1/styles")
		must(t, err)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("a new client: %s, want 200", resp.Status)
		}
		return s.Metric(t, limitsFailing) == want
	})
}

const limitsFailing = "limnomap_shared_limits_failing"

var limitsWarning = regexp.MustCompile(`level=WARN.*rate limits`)

// clientAt returns a client with that loopback address, which opens a connection for each request.
func clientAt(ip string) *http.Client {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
	return &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}, Timeout: answerTime}
}
