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

// Close ends all connections and the goroutines that open them.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a Redis whose commands may take long on a busy machine.
func open(t testing.TB, url string) *Redis {
	t.Helper()
	r, err := openWithin(url, time.Minute)
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
	// One token in a minute: a busy machine has nearly a minute for these two leases.
	if missing := take(a, "one", 1, 1, 1); missing != time.Minute {
		t.Errorf("after its only token a bucket lacks %v, want a minute", missing)
	}
	if missing := take(b, "one", 1, 1, 0); missing <= 0 || missing > time.Minute {
		t.Errorf("an empty bucket lacks %v, want up to a minute", missing)
	}
	if missing := take(a, "three", 3, 1, 1); missing != 20*time.Second {
		t.Errorf("after one token of three a bucket lacks %v, want 20s", missing)
	}
	if granted, _, err := a.Lease(t.Context(), "tiles", "one", 1, 1); err != nil || granted != 1 {
		t.Errorf("another limit grants %d, %v, want 1 from a separate bucket", granted, err)
	}
}

// A bucket gains its tokens steadily. The test sets the time when it is full, since waiting would depend on the machine.
func TestBucketsFill(t *testing.T) {
	server := redistest.Start(t)
	r := open(t, "redis://"+server.Addr)
	for _, tt := range []struct {
		lacks time.Duration
		want  int // of three tokens in a minute
	}{{0, 3}, {-time.Hour, 3}, {50 * time.Second, 0}, {time.Minute, 0}} {
		full := serverTime(t, server).Add(tt.lacks)
		server.Cli(t, "SET", keyOf("api", "client"), strconv.FormatInt(full.UnixMicro(), 10))
		granted, _, err := r.Lease(t.Context(), "api", "client", 3, 3)
		// A bucket that lacks 50 s has a token after 10 s more, which a busy machine may need for these steps.
		if late := serverTime(t, server).Sub(full.Add(-tt.lacks)); late > 9*time.Second {
			t.Logf("a bucket that lacks %v: the machine took %v", tt.lacks, late)
			continue
		}
		if granted != tt.want || err != nil {
			t.Errorf("a bucket that lacks %v grants %d, %v, want %d", tt.lacks, granted, err, tt.want)
		}
	}
	full := serverTime(t, server).Add(30 * time.Second)
	server.Cli(t, "SET", keyOf("api", "client"), strconv.FormatInt(full.UnixMicro(), 10))
	if granted, _, err := r.Lease(t.Context(), "api", "client", 3, 3); granted < 1 || err != nil {
		t.Errorf("a half full bucket of three grants %d, %v, want at least 1", granted, err)
	}
}

// serverTime returns the time of the server.
func serverTime(t *testing.T, server *redistest.Server) time.Time {
	t.Helper()
	fields := strings.Fields(server.Cli(t, "TIME"))
	if len(fields) != 2 {
		t.Fatalf("TIME = %q, want seconds and microseconds", fields)
	}
	seconds, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Unix(seconds, 0)
}

// A Redis key does not contain the address of a client, and expires within a minute.
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
		t.Fatalf("keys %q, want one with the prefix and without the address", keys)
	}
	if ttl, err := strconv.Atoi(strings.TrimSpace(server.Cli(t, "PTTL", keys[0]))); err != nil || ttl <= 0 || ttl > 60_000 {
		t.Errorf("the key expires in %d ms, %v, want a minute at most", ttl, err)
	}
}

// A time that is too far ahead was stored before the clock was set back: the bucket counts as full.
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

// At any number of concurrent leases, no token is granted twice and none is lost.
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

// A lease fails while the server is down or hangs, and works again when the server does.
func TestServerAway(t *testing.T) {
	server := redistest.Start(t)
	r := open(t, "redis://"+server.Addr)
	lease := func(timeout time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		_, _, err := r.Lease(ctx, "api", "client", 600, 1)
		return err
	}
	works := func(when string) {
		t.Helper()
		var err error
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if err = lease(time.Minute); err == nil {
				return
			}
		}
		t.Fatalf("%s: no lease in a minute: %v", when, err)
	}
	works("at the start")
	server.Kill(t)
	for range 2 * maxConnections { // more often than the pool has connections
		err := lease(time.Minute)
		if err == nil || !strings.Contains(err.Error(), server.Addr) {
			t.Fatalf("lease from a server that is down: %v, want an error with the address %s", err, server.Addr)
		}
	}
	server.Start(t)
	works("after a restart")

	if err := server.Process().Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := lease(100 * time.Millisecond); err == nil {
		t.Error("a server that hangs granted a lease")
	}
	if err := server.Process().Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	works("after it hung")
}

// If all connections of the pool are idle when the server restarts, one lease fails, not one for each connection.
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
		t.Errorf("%d leases failed, want only the first", failed)
	}
}

// If a caller leaves before its connection is open, the next caller gets the connection.
func TestConnectionOutlivesCaller(t *testing.T) {
	server := redistest.Start(t)
	r := open(t, "redis://"+server.Addr)
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, _, err := r.Lease(gone, "api", "client", 3, 1); err == nil {
		t.Error("a caller that left got a lease")
	}
	for end := time.Now().Add(20 * time.Second); r.pool.IdleCount() != 1; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d idle connections, want 1", r.pool.IdleCount())
		}
	}
}

func TestURL(t *testing.T) {
	for url, want := range map[string]string{
		"redis://host": "tcp host:6379", "rediss://host:1/15": "tcp host:1", "redis://:p@[::1]/": "tcp [::1]:6379",
		"redis://": "tcp localhost:6379", "redis://:@host": "tcp host:6379", "unix://u:p@/run/redis.sock": "unix /run/redis.sock",
	} {
		p, err := parseURL(url, time.Second)
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
			t.Errorf("with a wrong password or none: %v, want an error without the password", err)
		}
	}
}

// A Redis user needs only limnomap's keys and the commands that docs/operating.md names.
func TestUser(t *testing.T) {
	server := redistest.Start(t)
	server.Cli(t, "ACL", "SETUSER", "lakes", "on", ">s3cret", "~limnomap:*", "+evalsha", "+eval", "+get", "+set", "+time", "+client|setname")
	if granted, _, err := open(t, "redis://lakes:s3cret@"+server.Addr).Lease(t.Context(), "api", "client", 3, 1); granted != 1 || err != nil {
		t.Errorf("a user with its rights: %d, %v, want 1", granted, err)
	}
	_, _, err := open(t, "redis://stranger:s3cret@"+server.Addr).Lease(t.Context(), "api", "client", 3, 1)
	if err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("another user: %v, want an error without the password", err)
	}
}

// With TLS, the certificate of Redis must be from an authority that the system trusts, and for the host of the URL.
func TestTLS(t *testing.T) {
	issued := httptest.NewTLSServer(nil) // its certificate is self-signed and for 127.0.0.1
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
	t.Setenv("SSL_CERT_FILE", cert) // read once, by the first test that uses TLS, which is this one
	addr := redistest.FreeAddr(t)
	_, port, _ := strings.Cut(addr, ":")
	server := redistest.Start(t, "--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-auth-clients", "no")
	trusted := open(t, "rediss://"+addr)
	if granted, _, err := trusted.Lease(t.Context(), "api", "client", 3, 1); granted != 1 || err != nil {
		t.Fatalf("with TLS: %d, %v, want 1", granted, err)
	}
	for _, url := range []string{"rediss://localhost:" + port, "rediss://" + server.Addr, "redis://" + addr} {
		r, err := Open(url) // with the short timeout: one side may wait for the other
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = r.Lease(t.Context(), "api", "client", 3, 1)
		if cerr := r.Close(); cerr != nil {
			t.Error(cerr)
		}
		if err == nil {
			t.Errorf("%s answers: want an error, because of another name in the certificate, or because only one side uses TLS", url)
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
			t.Errorf("Open(%q) accepted the URL", url)
		} else if strings.Contains(err.Error(), "s3") || !strings.Contains(err.Error(), "redis://[USER:PASSWORD@]HOST") {
			t.Errorf("Open(%q) = %v, want the allowed form, without the URL", url, err)
		}
	}
}

// No error contains the password of a URL, however malformed.
func FuzzOpen(f *testing.F) {
	for _, url := range []string{"redis://user:%s@host:6379/0", "rediss://:%s@[::1]:1", "unix://:%s@/run/redis.sock", "redis://%s", "%s"} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		const secret = "pass-w0rd"
		r, err := Open(strings.ReplaceAll(url, "%s", secret))
		if err != nil {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("Open(%q) shows the password: %v", url, err)
			}
			return
		}
		if err := r.Close(); err != nil {
			t.Errorf("Close after Open(%q) = %v", url, err)
		}
	})
}
