package api

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"limnomap/data/apikey"
)

const (
	// usesEvery is how often it is looked whether there are uses of keys to note.
	usesEvery = time.Minute
	// usedAgain is how much later than the noted one a use has to be: keys that are in use cost a write an hour each.
	usedAgain = time.Hour
	// usesTimeout bounds one writing.
	usesTimeout = 3 * time.Second
	// usesQuiet is after how many failed writings in a row the log is told: an import of minutes keeps others from
	// writing, and is nothing to warn of.
	usesQuiet = 5
)

// KeyUses notes when keys were last used, for the operator; a store does. Several servers may tell it of one key.
type KeyUses interface {
	KeysUsed(ctx context.Context, uses []apikey.Use) error
}

// A keyUse is when a key was last used here, and until when that is noted already. Both are seconds since 1970, 0 for
// never.
type keyUse struct {
	last, stored atomic.Int64
}

// at notes a use. It costs a request nothing but a look, except for the first one of each second.
func (u *keyUse) at(now time.Time) {
	if s := now.Unix(); u.last.Load() < s {
		u.last.Store(s)
	}
}

// noted tells what the store has.
func (u *keyUse) noted(at time.Time) {
	if s := at.Unix(); !at.IsZero() && u.stored.Load() < s {
		u.stored.Store(s)
	}
}

// pending returns the use that is worth noting, 0 for none.
func (u *keyUse) pending() int64 {
	if last := u.last.Load(); last != 0 && last-u.stored.Load() >= int64(usedAgain/time.Second) {
		return last
	}
	return 0
}

// NoteKeyUses tells the store of the keys when they were last used, until ctx ends, and then once more. No request waits
// for it or fails by it: where the store cannot be written to, it tries again. It returns at once if the store of the keys
// takes no note.
func (s *Server) NoteKeyUses(ctx context.Context) { s.keyring.noteUses(ctx, usesEvery) }

func (k *keyring) noteUses(ctx context.Context, every time.Duration) {
	store, ok := k.store.(KeyUses)
	if !ok {
		return
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	failures := 0
	for more := true; more; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			more = false
		}
		err := k.writeUses(context.WithoutCancel(ctx), store)
		switch {
		case err != nil:
			if failures++; failures == usesQuiet {
				k.log.LogAttrs(ctx, slog.LevelWarn, "the last uses of API keys cannot be noted", slog.Any("error", err))
			}
		case failures >= usesQuiet:
			k.log.LogAttrs(ctx, slog.LevelInfo, "the last uses of API keys are noted again")
			fallthrough
		default:
			failures = 0
		}
	}
}

// writeUses notes what is pending. There are no more uses than keys.
func (k *keyring) writeUses(ctx context.Context, store KeyUses) error {
	list := k.list.Load()
	if list == nil {
		return nil
	}
	var uses []apikey.Use
	for _, key := range list.byHash {
		if at := key.use.pending(); at != 0 {
			uses = append(uses, apikey.Use{Name: key.Name, Hash: key.Hash, At: time.Unix(at, 0).UTC()})
		}
	}
	if len(uses) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, usesTimeout)
	defer cancel()
	if err := store.KeysUsed(ctx, uses); err != nil {
		return err
	}
	for _, u := range uses {
		list.byHash[u.Hash].use.noted(u.At)
	}
	return nil
}
