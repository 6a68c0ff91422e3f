package auth

import (
	"context"
	"log/slog"
	"time"

	"limnomap/data/apikey"
)

const (
	// storeUsesEvery is how often the last uses of keys are stored.
	storeUsesEvery = time.Minute
	// storeAgainAfter is how much later than the stored one a use has to be: a key in use costs one write per hour.
	storeAgainAfter = time.Hour
	// storeUsesTimeout bounds one write.
	storeUsesTimeout = 3 * time.Second
	// warnAfter is how many failed writes in a row are logged as a warning: an import that takes minutes keeps others from
	// writing, which is no reason for one.
	warnAfter = 5
)

// A UseStore stores when keys were last used, so that operators can find keys that no one needs any more. Several servers may
// report the same key.
type UseStore interface {
	KeysUsed(ctx context.Context, uses []apikey.Use) error
}

// StoreUses stores the last uses of keys until ctx ends, and once more then. No request waits for it or fails because of it: if
// a write fails, the next one includes its uses. It returns at once if the store of the keys is no UseStore.
func (k *Keyring) StoreUses(ctx context.Context) {
	store, ok := k.Store.(UseStore)
	if !ok {
		return
	}
	tick := time.NewTicker(storeUsesEvery)
	defer tick.Stop()
	failures := 0
	for more := true; more; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			more = false
		}
		if err := k.storeUses(context.WithoutCancel(ctx), store); err == nil {
			failures = 0
		} else if failures++; failures == warnAfter {
			k.Logger.LogAttrs(ctx, slog.LevelWarn, "storing the last use of API keys failed", slog.Any("error", err), slog.Int("attempts", failures))
		}
	}
}

// storeUses stores the uses since the last call, of keys whose stored use is long enough ago.
func (k *Keyring) storeUses(ctx context.Context, store UseStore) error {
	list := k.list.Load()
	if list == nil {
		return nil
	}
	var uses []apikey.Use
	for _, key := range list.byHash {
		if at := time.Unix(key.lastUse.Load(), 0).UTC(); at.Unix() != 0 && at.Sub(key.UsedAt) >= storeAgainAfter {
			uses = append(uses, apikey.Use{Name: key.Name, Hash: key.Hash, At: at})
		}
	}
	if len(uses) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeUsesTimeout)
	defer cancel()
	if err := store.KeysUsed(ctx, uses); err != nil {
		return err
	}
	for _, u := range uses {
		list.byHash[u.Hash].lastUse.CompareAndSwap(u.At.Unix(), 0) // unless it was used again meanwhile
	}
	return nil
}
