package quota

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"go.uber.org/goleak"

	"limnomap/api/ratelimit/quota/redistest"
)

// Neither Redis' connections nor the goroutines that make them outlive Close.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, url string) *Redis {
	t.Helper()
	r, err := Open(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func TestLease(t *testing.T) {
	server := redistest.Start(t)
	a, b := open(t, "redis://"+server.Addr), open(t, "redis://"+server.Addr+"/0")
	take := func(r *Redis, client string, perMinute, n, want int) time.Duration {
		t.Helper()
		granted, missing, err := r.Lease(t.Context(), "api", client, perMinute, n)
		if err != nil || granted != want {
			t.Fatalf("%d of %d tokens a minute for %s: %d, %v, want %d", n, perMinute, client, granted, err, want)
		}
		return missing
	}
	// Three in a minute: nothing comes back while this test runs.
	if missing := take(a, "greedy", 3, 1, 1); missing < 19*time.Second || missing > 20*time.Second {
		t.Errorf("after one token of three %v are missing, want 20s at most and hardly less", missing)
	}
	take(b, "greedy", 3, 5, 2)
	if missing := take(a, "greedy", 3, 1, 0); missing < 50*time.Second || missing > time.Minute {
		t.Errorf("an empty bucket misses %v, want a minute at most and not much less", missing)
	}
	take(a, "another", 3, 1, 1)
	if granted, _, err := a.Lease(t.Context(), "tiles", "greedy", 3, 1); err != nil || granted != 1 {
		t.Errorf("another limit grants %d, %v, want 1: it is a bucket of its own", granted, err)
	}
	// A steady rate: six hundred in a minute are one each 100 ms.
	take(a, "steady", 600, 600, 600)
	take(b, "steady", 600, 1, 0)
	time.Sleep(150 * time.Millisecond)
	take(b, "steady", 600, 1, 1)
}

// What stands in Redis names nobody, and is gone within a minute.
func TestKeys(t *testing.T) {
	server := redistest.Start(t)
	r := open(t, "redis://"+server.Addr)
	for range 4 {
		if _, _, err := r.Lease(t.Context(), "api", "192.0.2.1", 2, 1); err != nil {
			t.Fatal(err)
		}
	}
	keys := strings.Fields(server.Cli(t, "KEYS", "*"))
	if len(keys) != 1 || !strings.HasPrefix(keys[0], "limnomap:api:") || strings.Contains(keys[0], "192") {
		t.Fatalf("keys %q, want one of limnomap's without the address in it", keys)
	}
	if ttl, err := strconv.Atoi(strings.TrimSpace(server.Cli(t, "PTTL", keys[0]))); err != nil || ttl <= 0 || ttl > 60_000 {
		t.Errorf("the key lives for %d ms, %v, want a minute at most", ttl, err)
	}
}

// A moment that no bucket of a minute can have was written before the clock was set back.
func TestClockSetBack(t *testing.T) {
	server := redistest.Start(t)
	r := open(t, "redis://"+server.Addr)
	future := time.Now().Add(time.Hour).UnixMicro()
	server.Cli(t, "SET", keyOf("api", "client"), strconv.FormatInt(future, 10))
	granted, missing, err := r.Lease(t.Context(), "api", "client", 3, 4)
	if granted != 3 || missing > time.Minute || err != nil {
		t.Errorf("granted %d, %v missing, %v, want a full bucket", granted, missing, err)
	}
}

// However many ask at once, no token is granted twice and none is lost.
func TestLeaseConcurrently(t *testing.T) {
	const perMinute, workers = 60, 3 * maxConnections
	server := redistest.Start(t)
	var sum atomic.Int64
	start := time.Now()
	var wg sync.WaitGroup
	for i := range workers {
		r := open(t, "redis://"+server.Addr)
		wg.Go(func() {
			for n := range 10 {
				granted, _, err := r.Lease(t.Context(), "api", "client", perMinute, 1+(i+n)%3)
				if err != nil {
					t.Error(err)
				}
				sum.Add(int64(granted))
			}
		})
	}
	wg.Wait()
	if most := perMinute + int64(time.Since(start)/time.Second) + 1; sum.Load() < perMinute || sum.Load() > most {
		t.Errorf("%d tokens are granted, want %d to %d", sum.Load(), perMinute, most)
	}
}

// The client outlives its server: it fails quickly while that is away, and goes on by itself.
func TestServerAway(t *testing.T) {
	server := redistest.Start(t)
	r := open(t, "redis://"+server.Addr)
	ask := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, _, err := r.Lease(ctx, "api", "client", 600, 1)
		return err
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	recovers := func(what string) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); ask() != nil; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the server is %s again, and there is no answer: %v", what, ask())
			}
		}
	}
	server.Kill(t)
	for range 2 * maxConnections { // as often as the library begins to answer by itself
		err := ask()
		if err == nil || !strings.Contains(err.Error(), server.Addr) {
			t.Fatalf("a server that is away answers %v, want an error that names %s", err, server.Addr)
		}
	}
	server.Start(t)
	recovers("there")

	if err := server.Process().Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := ask(); err == nil {
		t.Error("a server that hangs answers")
	}
	if err := server.Process().Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	recovers("awake")
}

// Of connections that wait, as many as there may be, a server that was started anew costs one question, not one for each.
func TestServerRestarted(t *testing.T) {
	server := redistest.Start(t)
	r := open(t, "redis://"+server.Addr)
	var held []redis.Conn
	for range maxConnections {
		conn, err := r.connection(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, conn)
	}
	for _, conn := range held {
		conn.Close()
	}
	server.Kill(t)
	server.Start(t)
	failed := 0
	for range 2 * maxConnections {
		if _, _, err := r.Lease(t.Context(), "api", "client", 600, 1); err != nil {
			failed++
		}
	}
	if failed != 1 {
		t.Errorf("%d questions fail, want the first alone", failed)
	}
}

// A caller that is gone before there is a connection leaves it to the next, however far away the server is.
func TestConnectionOutlivesCaller(t *testing.T) {
	server := redistest.Start(t)
	r := open(t, "redis://"+server.Addr)
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, _, err := r.Lease(gone, "api", "client", 3, 1); err == nil {
		t.Error("a caller that is gone gets an answer")
	}
	for end := time.Now().Add(20 * time.Second); r.pool.IdleCount() != 1; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d connections wait for the next caller, want 1", r.pool.IdleCount())
		}
	}
}

func TestURL(t *testing.T) {
	for url, want := range map[string]string{
		"redis://host": "tcp host:6379", "rediss://host:1/15": "tcp host:1", "redis://:p@[::1]/": "tcp [::1]:6379",
		"redis://": "tcp localhost:6379", "redis://:@host": "tcp host:6379", "unix://u:p@/run/redis.sock": "unix /run/redis.sock",
	} {
		p, err := parseURL(url)
		if got := p.network + " " + p.address; got != want || err != nil {
			t.Errorf("parseURL(%q) = %s, %v, want %s", url, got, err, want)
		}
	}
}

func TestPassword(t *testing.T) {
	server := redistest.Start(t, "--requirepass", "s3cret")
	if _, _, err := open(t, "redis://:s3cret@"+server.Addr).Lease(t.Context(), "api", "client", 3, 1); err != nil {
		t.Errorf("with the password: %v", err)
	}
	for _, url := range []string{"redis://:wr0ng@" + server.Addr, "redis://" + server.Addr} {
		_, _, err := open(t, url).Lease(t.Context(), "api", "client", 3, 1)
		if err == nil || strings.Contains(err.Error(), "wr0ng") {
			t.Errorf("with another password or none: %v, want an error that does not tell which", err)
		}
	}
}

// A user of its own needs no more than limnomap's keys and the commands that docs/operating.md names.
func TestUser(t *testing.T) {
	server := redistest.Start(t)
	server.Cli(t, "ACL", "SETUSER", "lakes", "on", ">s3cret", "~limnomap:*", "+evalsha", "+eval", "+get", "+set", "+time", "+client|setname")
	if granted, _, err := open(t, "redis://lakes:s3cret@"+server.Addr).Lease(t.Context(), "api", "client", 3, 1); granted != 1 || err != nil {
		t.Errorf("a user with its rights: %d, %v, want 1", granted, err)
	}
	_, _, err := open(t, "redis://nobody:s3cret@"+server.Addr).Lease(t.Context(), "api", "client", 3, 1)
	if err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("another user: %v, want an error without the password", err)
	}
}

// By TLS Redis is asked only if an authority that the system trusts says that it is the host of the URL.
func TestTLS(t *testing.T) {
	issued := httptest.NewTLSServer(nil) // its certificate is its own authority, and names 127.0.0.1
	issued.Close()
	pair := issued.TLS.Certificates[0]
	private, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, key := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("SSL_CERT_FILE", cert) // read once, by the first test that speaks TLS, which is this one
	addr := redistest.FreeAddr(t)
	_, port, _ := strings.Cut(addr, ":")
	server := redistest.Start(t, "--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-auth-clients", "no")
	trusted := open(t, "rediss://"+addr)
	for end := time.Now().Add(20 * time.Second); ; { // a busy machine takes longer than dialTimeout
		granted, _, err := trusted.Lease(t.Context(), "api", "client", 3, 1)
		if granted == 1 && err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("by TLS: %d, %v, want 1", granted, err)
		}
	}
	for _, url := range []string{"rediss://localhost:" + port, "rediss://" + server.Addr, "redis://" + addr} {
		if _, _, err := open(t, url).Lease(t.Context(), "api", "client", 3, 1); err == nil {
			t.Errorf("%s answers: want an error of another name in the certificate, of a server without TLS, or of a client without", url)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, url := range []string{
		"", "localhost:6379", "http://localhost", "redis://:s3cret@host:port", "redis://:s3cret@host/first", "redis://:s3cret@host/1/2",
		"redis://:s3cret@host?pool_size=1000", "redis://:s3cret@ho st", "unix://", "redis://:s3/cret@host",
		"redis://s3@host", "rediss://s3:@host", "unix://s3@/run/redis.sock",
	} {
		r, err := Open(url)
		if err == nil {
			r.Close()
			t.Errorf("Open(%q) takes it", url)
		} else if strings.Contains(err.Error(), "s3") || !strings.Contains(err.Error(), "redis://[USER:PASSWORD@]HOST") {
			t.Errorf("Open(%q) = %v, want what is allowed, without the URL", url, err)
		}
	}
}

// No URL, however malformed, has its password told.
func FuzzOpen(f *testing.F) {
	for _, url := range []string{"redis://user:%s@host:6379/0", "rediss://:%s@[::1]:1", "unix://:%s@/run/redis.sock", "redis://%s", "%s"} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		const secret = "pass-w0rd"
		r, err := Open(strings.ReplaceAll(url, "%s", secret))
		if err != nil {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("Open(%q) tells the password: %v", url, err)
			}
			return
		}
		if err := r.Close(); err != nil {
			t.Errorf("Close after Open(%q) = %v", url, err)
		}
	})
}
