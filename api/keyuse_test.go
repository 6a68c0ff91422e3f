package api

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"limnomap/data/apikey"
)

// A usedKeys is a store that takes note of uses, or fails.
type usedKeys struct {
	mu    sync.Mutex
	keys  []apikey.Key
	uses  []apikey.Use // guarded by mu
	fails bool         // guarded by mu
}

func (u *usedKeys) Keys(context.Context) ([]apikey.Key, error) { return u.keys, nil }

func (u *usedKeys) KeysUsed(_ context.Context, uses []apikey.Use) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.fails {
		return errors.New("attempt to write a readonly database")
	}
	u.uses = append(u.uses, uses...)
	return nil
}

func (u *usedKeys) noted() []apikey.Use {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.uses
}

func (u *usedKeys) fail(yes bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.fails = yes
}

// A key in use is noted once an hour, once more at the end only if an hour has passed, and a key that was refused never. A
// store that cannot be written to fails no request, and is tried again.
func TestKeyUsesAreNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		expired := apiKey("expired", "e")
		expired.ExpiresAt = time.Now()
		store := &usedKeys{keys: []apikey.Key{apiKey("agency", "secret"), apiKey("idle", "i"), expired}}
		k := newKeyring(store, time.Now)
		var log bytes.Buffer
		k.log = slog.New(slog.NewTextHandler(&log, nil))
		h := k.require(monitorAccess, http.HandlerFunc(unauthorized))(sayName)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { k.noteUses(ctx, usesEvery) })
		use := func(d time.Duration) {
			t.Helper()
			for range int(d / (10 * time.Second)) {
				if resp := serve(t, h, keyed("secret")); resp.StatusCode != 200 {
					t.Fatalf("status = %d, want 200", resp.StatusCode)
				}
				serve(t, h, keyed("e"))
				time.Sleep(10 * time.Second)
			}
		}
		start := time.Now()
		use(2 * time.Minute)
		if got := store.noted(); len(got) != 1 || got[0].Name != "agency" || got[0].At.Before(start.Truncate(time.Second)) || got[0].At.After(start.Add(time.Minute)) {
			t.Errorf("after two minutes %v are noted, want one use of the first minute", got)
		}
		use(3*time.Hour - 2*time.Minute)
		if got := len(store.noted()); got != 3 {
			t.Errorf("after three hours %d uses are noted, want 3", got)
		}
		store.fail(true)
		use(2 * time.Hour)
		synctest.Wait() // until the log is written
		if got := strings.Count(log.String(), "cannot be noted"); got != 1 {
			t.Errorf("the failing store is in the log %d times, want once:\n%s", got, &log)
		}
		store.fail(false)
		use(time.Minute)
		synctest.Wait()
		if got := len(store.noted()); got != 4 || !strings.Contains(log.String(), "noted again") {
			t.Errorf("after the store is well again %d uses are noted, want 4:\n%s", got, &log)
		}
		time.Sleep(61 * time.Minute)
		serve(t, h, keyed("secret"))
		last := time.Now()
		cancel()
		wg.Wait()
		if got := store.noted(); len(got) != 5 || got[4].At.Unix() != last.Unix() {
			t.Errorf("at the end %v are noted, want the last use, %v", got, last)
		}
	})
}

// What another server has noted is not written again.
func TestKeyUsesOfOtherServers(t *testing.T) {
	c := newClock()
	key := apiKey("agency", "secret")
	key.UsedAt = c.now()
	store := &usedKeys{keys: []apikey.Key{key}}
	k := newKeyring(store, c.now)
	serve(t, k.require(monitorAccess, http.HandlerFunc(unauthorized))(sayName), keyed("secret"))
	if err := k.writeUses(t.Context(), store); err != nil || len(store.noted()) != 0 {
		t.Errorf("noted %v, %v, want none", store.noted(), err)
	}
}

// A store that takes no note, as the demo's, is left alone.
func TestKeyUsesWithoutAStore(t *testing.T) {
	newKeyring(testKeys(), time.Now).noteUses(t.Context(), time.Hour)
}
