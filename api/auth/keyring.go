// Package auth lets requests with a valid API key pass.
package auth

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"limnomap/data/apikey"
)

const (
	// keysEvery is how often the list of keys is read at most, so that no request has to wait for a read of its own.
	keysEvery = 5 * time.Second
	// keysWait is how old the list may become while another request is reading it; then a request waits for the result.
	keysWait = 10 * time.Second
	// keysKept is how long a list is used while the store fails. A short outage locks no one out, and a revoked key works for
	// 15 seconds at most, whatever happens.
	keysKept = 15 * time.Second
	// keysTimeout bounds one read of the list.
	keysTimeout = 3 * time.Second
)

// A Store has the API keys.
type Store interface {
	Keys(ctx context.Context) ([]apikey.Key, error)
}

// A Limit refuses the requests of clients beyond their rate: it reports whether r may pass, and answers r if it may not.
type Limit func(w http.ResponseWriter, r *http.Request) bool

// Config is what a Keyring needs.
type Config struct {
	Store Store // a UseStore, if the last use of keys is to be stored
	// LimitKeys is the limit of requests with a valid key, by the key's name. LimitRefused is that of requests without one, by
	// client address. They are apart so that a client without a key cannot lock out key holders behind the same address.
	LimitKeys, LimitRefused Limit
	Now                     func() time.Time
	Logger                  *slog.Logger // gets one line when the store fails and one when it works again
	Registerer              prometheus.Registerer
}

// A Keyring knows the valid API keys. It is safe for concurrent use.
//
// Keys are looked up in a map by their SHA-256. The time that takes may reveal something about the hashes, but clients cannot
// choose a key by its hash, so it reveals nothing about the keys; the key itself is never compared.
type Keyring struct {
	Config
	list    atomic.Pointer[keyList]
	reader  chan struct{}          // holds one token while a request reads the list
	refused *prometheus.CounterVec // by reason
}

// A keyList is the list that the store returned last. It is immutable.
type keyList struct {
	byHash map[apikey.Hash]listedKey
	read   time.Time // when the read began that returned the list; zero: never yet
	tried  time.Time // when the last read began
	failed bool      // whether that one failed
}

// A listedKey is a key with its last use on this server, which is kept when the list is read again.
type listedKey struct {
	apikey.Key
	lastUse *atomic.Int64 // in seconds since 1970; 0: no use that is not stored
}

// NewKeyring returns a Keyring whose metrics are registered. It reads no keys before the first request.
func NewKeyring(c Config) *Keyring {
	refused := promauto.With(c.Registerer).NewCounterVec(prometheus.CounterOpts{
		Name: "limnomap_key_refused_total",
		Help: "Requests to endpoints that need a key that were refused: without a key (missing), with an unknown, revoked or expired one (wrong), either of these beyond the limit of their address (throttled), or with a key that lacks the scope (scope).",
	}, []string{"reason"})
	for _, reason := range []string{missing, wrong, throttled, noScope} {
		refused.WithLabelValues(reason) // it starts at zero
	}
	return &Keyring{Config: c, reader: make(chan struct{}, 1), refused: refused}
}

// current returns a list that is new enough, reading it if needed: one request reads, and the others use the present list
// unless it is too old. It is not ok if the store has failed for too long.
func (k *Keyring) current(ctx context.Context) (list *keyList, ok bool) {
	list = k.list.Load()
	if !k.due(list, keysEvery) {
		return list, list.usable(k.Now())
	}
	select {
	case k.reader <- struct{}{}:
	default:
		if !k.due(list, keysWait) {
			return list, list.usable(k.Now())
		}
		select {
		case k.reader <- struct{}{}:
		case <-ctx.Done():
			return nil, false
		}
	}
	defer func() { <-k.reader }()
	if list = k.list.Load(); k.due(list, keysEvery) {
		list = k.read(ctx, list)
		k.list.Store(list)
	}
	return list, list.usable(k.Now())
}

// due reports whether the last attempt to read the list is that long ago. An attempt in the future was made before the clock
// was set back: there is no telling how long ago it was.
func (k *Keyring) due(list *keyList, after time.Duration) bool {
	if list == nil {
		return true
	}
	age := k.Now().Sub(list.tried)
	return age < 0 || age >= after
}

// read asks the store for its keys. If that fails it returns the former list, marked as failed. The read serves other requests
// too, so it does not end with the request that started it.
func (k *Keyring) read(ctx context.Context, former *keyList) *keyList {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keysTimeout)
	defer cancel()
	start := k.Now()
	keys, err := k.Store.Keys(ctx)
	if err != nil {
		list := &keyList{tried: start, failed: true}
		if former != nil {
			list.byHash, list.read = former.byHash, former.read
		}
		if former == nil || !former.failed {
			k.Logger.LogAttrs(ctx, slog.LevelError, "reading the API keys failed", slog.Any("error", err))
		}
		return list
	}
	if former != nil && former.failed {
		k.Logger.LogAttrs(ctx, slog.LevelInfo, "reading the API keys works again")
	}
	list := &keyList{byHash: make(map[apikey.Hash]listedKey, len(keys)), read: start, tried: start}
	for _, key := range keys {
		listed := listedKey{Key: key}
		if former != nil {
			listed.lastUse = former.byHash[key.Hash].lastUse
		}
		if listed.lastUse == nil {
			listed.lastUse = new(atomic.Int64)
		}
		list.byHash[key.Hash] = listed
	}
	return list
}

// usable reports whether the list was read recently enough.
func (l *keyList) usable(now time.Time) bool {
	age := now.Sub(l.read)
	return !l.read.IsZero() && age >= 0 && age <= keysKept
}
