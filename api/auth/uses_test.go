package auth

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"limnomap/api/apitest"
	"limnomap/data/apikey"
)

// A usedKeys is a UseStore that can fail.
type usedKeys struct {
	mu    sync.Mutex
	keys  []apikey.Key // guarded by mu
	uses  []apikey.Use // guarded by mu
	fails bool         // guarded by mu
}

func (u *usedKeys) Keys(context.Context) ([]apikey.Key, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.keys, nil
}

func (u *usedKeys) KeysUsed(_ context.Context, uses []apikey.Use) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.fails {
		return errors.New("attempt to write a readonly database")
	}
	u.uses = append(u.uses, uses...)
	u.keys = slices.Clone(u.keys)
	for _, use := range uses {
		i := slices.IndexFunc(u.keys, func(k apikey.Key) bool { return k.Hash == use.Hash })
		u.keys[i].UsedAt = use.At
	}
	return nil
}

func (u *usedKeys) stored() []apikey.Use {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.uses
}

func (u *usedKeys) fail(yes bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.fails = yes
}

// The use of a key is stored once an hour, and once more at the end if an hour has passed; the use of a key that was refused
// never. A store that fails to write fails no request, and is tried again.
func TestUsesAreStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		expired := apiKey("expired", "e")
		expired.ExpiresAt = time.Now()
		store := &usedKeys{keys: []apikey.Key{apiKey("agency", "secret"), apiKey("idle", "i"), expired}}
		var log bytes.Buffer
		k := configured(Config{Store: store, Now: time.Now, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		h := monitoring(k)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { k.StoreUses(ctx) })
		use := func(d time.Duration) {
			t.Helper()
			for range int(d / (10 * time.Second)) {
				if resp := apitest.Serve(t, h, keyed("secret")); resp.StatusCode != 200 {
					t.Fatalf("status = %d, want 200", resp.StatusCode)
				}
				apitest.Serve(t, h, keyed("e"))
				time.Sleep(10 * time.Second)
			}
		}
		start := time.Now()
		use(2 * time.Minute)
		if got := store.stored(); len(got) != 1 || got[0].Name != "agency" || got[0].At.Before(start.Truncate(time.Second)) || got[0].At.After(start.Add(time.Minute)) {
			t.Errorf("after two minutes %v are stored, want one use of the first minute", got)
		}
		use(3*time.Hour - 2*time.Minute)
		if got := len(store.stored()); got != 3 {
			t.Errorf("after three hours %d uses are stored, want 3", got)
		}
		store.fail(true)
		use(2 * time.Hour)
		synctest.Wait() // until the log is written
		if got := strings.Count(log.String(), "storing the last use of API keys failed"); got != 1 {
			t.Errorf("the failed writes are in the log %d times, want once:\n%s", got, &log)
		}
		store.fail(false)
		use(time.Minute)
		synctest.Wait()
		if got := len(store.stored()); got != 4 {
			t.Errorf("after the store works again %d uses are stored, want 4:\n%s", got, &log)
		}
		time.Sleep(61 * time.Minute)
		apitest.Serve(t, h, keyed("secret"))
		last := time.Now()
		cancel()
		wg.Wait()
		if got := store.stored(); len(got) != 5 || got[4].At.Unix() != last.Unix() {
			t.Errorf("at the end %v are stored, want the last use, %v", got, last)
		}
	})
}

// A use that another server has stored is not stored again.
func TestUsesOfOtherServers(t *testing.T) {
	c := apitest.NewClock()
	key := apiKey("agency", "secret")
	key.UsedAt = c.Now()
	store := &usedKeys{keys: []apikey.Key{key}}
	k := newKeyring(store, c.Now)
	apitest.Serve(t, monitoring(k), keyed("secret"))
	if err := k.storeUses(t.Context(), store); err != nil || len(store.stored()) != 0 {
		t.Errorf("stored %v, %v, want none", store.stored(), err)
	}
}

// Nothing is stored in a store that is not a UseStore, such as the demo's.
func TestStoreWithoutUses(t *testing.T) {
	newKeyring(&fakeKeys{}, time.Now).StoreUses(t.Context())
}
