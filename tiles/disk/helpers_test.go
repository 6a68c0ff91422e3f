package disk

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errFake = errors.New("out of order")

func must(tb testing.TB, errs ...error) {
	tb.Helper()
	for _, err := range errs {
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// numberedKey returns the n-th key of the tests.
func numberedKey(n int) []byte { return fmt.Append(nil, "key ", n) }

func numberedSum(n int) sum { return sha256.Sum256(numberedKey(n)) }

// entryPath returns the path of the entry of the n-th key.
func entryPath(dir string, n int) string { return filepath.Join(dir, entryName(numberedSum(n))) }

// A fakeClock returns the time that it is set to.
type fakeClock struct {
	mu sync.Mutex // guards t
	t  time.Time
}

func newTestClock() *fakeClock { return &fakeClock{t: time.Now()} }

func (c *fakeClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// A syncCache is a Cache without goroutines: it writes and trims when the test says so.
type syncCache struct{ *Cache }

// newSyncCache returns a cache that has counted its folder, and has no bound on free space.
func newSyncCache(tb testing.TB, dir string, budget int64, clock *fakeClock) syncCache {
	tb.Helper()
	o, err := (&Options{Bytes: budget, MinFree: -1}).withDefaults()
	must(tb, err)
	c := newCache(dir, o, clock.now)
	tb.Cleanup(func() {
		if root := c.root.Load(); root != nil {
			_ = root.Close()
		}
	})
	c.trim(context.Background())
	return syncCache{c}
}

// get returns the body of the n-th key, and fails the test if its digest is wrong.
func (c syncCache) get(n int) (string, bool) {
	body, digest, ok := c.Get(context.Background(), numberedSum(n))
	if ok && digest != digestOf(body) {
		panic("Get returned a digest that is not the body's")
	}
	return string(body), ok
}

// put writes the entry of the n-th key now, and trims if that is due.
func (c syncCache) put(n int, body string) {
	c.write(numberedKey(n), []byte(body))
	c.trimIfWoken()
}

// trimIfWoken does what maintain would do now.
func (c syncCache) trimIfWoken() {
	select {
	case <-c.wake:
		if c.trimDue(c.limit()) {
			c.trim(context.Background())
		}
	default:
	}
}

// logTo makes c log to the buffer that it returns.
func (c syncCache) logTo() *bytes.Buffer {
	log := new(bytes.Buffer)
	c.log = slog.New(slog.NewTextHandler(log, nil))
	return log
}
