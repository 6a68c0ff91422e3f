package api

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"limnomap/api/answer"
	"limnomap/data/apikey"
)

const (
	// keysEvery is how often the list of keys is read at most, so that no request costs a read of its own.
	keysEvery = 5 * time.Second
	// keysWait is how old the list may grow while another request is reading it; then a request waits for the result.
	keysWait = 10 * time.Second
	// keysKept is how long a list is believed while the store fails. A short outage locks nobody out, and a revoked key
	// works for 15 seconds at most, whatever happens.
	keysKept = 15 * time.Second
	// keysTimeout bounds one read of the list.
	keysTimeout = 3 * time.Second
	// maxKeyLength bounds what is hashed; keys are far shorter.
	maxKeyLength = 256
)

// Keys gives the API keys that the keyed endpoints accept; a store does.
type Keys interface {
	Keys(ctx context.Context) ([]apikey.Key, error)
}

// A keyring lets requests pass that bear a valid API key. It is safe for concurrent use.
//
// Keys are looked up in a map by their SHA-256. How long that takes may tell of the hashes, but nobody can choose a
// key by its hash, so it tells nothing of the keys; the key itself is never compared. The hash needs neither salt nor
// slowness, because keys are random and long, not passwords.
type keyring struct {
	store  Keys
	now    func() time.Time
	log    *slog.Logger // told once when the store fails and once when it is back; set before the first request
	list   atomic.Pointer[keyList]
	reader chan struct{} // holds one token while a request reads the list

	refused func(refusal) // told of each refused request; set before the first one
}

// A keyList is what the store told last. It is immutable.
type keyList struct {
	byHash map[[sha256.Size]byte]listedKey
	read   time.Time // when the reading began that brought the list; zero: never yet
	tried  time.Time // when the last reading began
	failed bool      // whether that one failed
}

// A listedKey is a key with what is known here of its use, which stays when the list is read anew.
type listedKey struct {
	apikey.Key
	use *keyUse
}

func newKeyring(k Keys, now func() time.Time) *keyring {
	return &keyring{store: k, now: now, log: slog.New(slog.DiscardHandler), reader: make(chan struct{}, 1), refused: func(refusal) {}}
}

// keyName returns the name of the API key that r bore, empty without a valid one.
func keyName(r *http.Request) string {
	if info := answer.InfoOf(r); info != nil {
		return info.KeyName
	}
	return ""
}

// An access is what a request needs a key for.
type access struct {
	scope apikey.Scopes
	// headers are the values of the header field that bears the key.
	headers func(r *http.Request) []string
	// outlasts lets in by the list that was read last for as long as the store fails. A key that is revoked meanwhile works
	// on, so it is for what an operator must not lose sight of just then, and not for data.
	outlasts bool
}

// require lets requests pass to the next handler that bear a valid key, and leaves the others to denied: unauthorized
// behind a limit per client address. A limit in front of the keyring would take from the holders of keys too, and let
// one who guesses lock out the others behind his address. What the key opens is not looked at yet.
func (k *keyring) require(a access, denied http.Handler) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			list, ok := k.current(r.Context())
			if !ok && (!a.outlasts || list == nil || list.read.IsZero()) {
				answer.WriteProblem(w, r, &answer.Problem{
					Status: http.StatusServiceUnavailable,
					Detail: "API keys cannot be checked at the moment.",
					Header: http.Header{"Retry-After": {strconv.Itoa(int(keysEvery / time.Second))}},
				})
				return
			}
			now := k.now()
			key, ok := list.find(a.headers(r), now)
			if !ok {
				denied.ServeHTTP(w, r)
				return
			}
			key.use.at(now)
			r, info := answer.WithInfo(r)
			info.KeyName, info.KeyScopes = key.Name, uint8(key.Scopes)
			next.ServeHTTP(w, r)
		})
	}
}

// scoped lets requests pass whose key opens what the next handler answers. It stands behind the limit of the key.
func (k *keyring) scoped(a access) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if info := answer.InfoOf(r); info != nil && apikey.Scopes(info.KeyScopes).Have(a.scope) {
				next.ServeHTTP(w, r)
				return
			}
			k.refused(refusedScope)
			answer.WriteProblem(w, r, &answer.Problem{
				Status: http.StatusForbidden,
				Detail: "This API key lacks the scope " + a.scope.String() + ", which this endpoint needs.",
			})
		})
	}
}

// apiKeyHeader returns the values of X-API-Key.
func apiKeyHeader(r *http.Request) []string { return r.Header["X-Api-Key"] }

// apiKeyOrBearer returns the values of X-API-Key or, where there is none, the one that stands as a bearer token (RFC
// 6750, section 2.1): Prometheus before 3.0 can send a secret in no other header.
func apiKeyOrBearer(r *http.Request) []string {
	if values := apiKeyHeader(r); values != nil {
		return values
	}
	const scheme = "bearer "
	values := r.Header["Authorization"]
	if len(values) != 1 || len(values[0]) <= len(scheme) || !strings.EqualFold(values[0][:len(scheme)], scheme) {
		return nil
	}
	return []string{values[0][len(scheme):]}
}

// unauthorized answers a request without a valid key. It does not tell which of the possible reasons it was, so that
// nobody learns from it that a key once existed.
func unauthorized(w http.ResponseWriter, r *http.Request) {
	answer.WriteProblem(w, r, &answer.Problem{
		Status: http.StatusUnauthorized,
		Detail: "This endpoint needs a valid API key in the request header X-API-Key.",
		Header: http.Header{"Www-Authenticate": {`ApiKey realm="limnomap"`}},
	})
}

// find returns the key in the values of the header, if it is one and valid at that time.
func (l *keyList) find(header []string, now time.Time) (key listedKey, ok bool) {
	if len(header) != 1 || header[0] == "" || len(header[0]) > maxKeyLength {
		return listedKey{}, false
	}
	key, ok = l.byHash[sha256.Sum256([]byte(header[0]))]
	if !ok || !key.Valid(now) {
		return listedKey{}, false
	}
	return key, true
}

// current returns a list that is new enough, reading it if needed: one request reads, and the others use the list
// there is while it is not too old. It is not ok when the store has not told its keys for too long.
func (k *keyring) current(ctx context.Context) (list *keyList, ok bool) {
	list = k.list.Load()
	if !k.due(list, keysEvery) {
		return list, list.usable(k.now())
	}
	select {
	case k.reader <- struct{}{}:
	default:
		if !k.due(list, keysWait) {
			return list, list.usable(k.now())
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
	return list, list.usable(k.now())
}

// due reports whether the last attempt to read the list is as long ago as that. One that lies ahead was made before the
// clock was set back, and how long ago it was cannot be known.
func (k *keyring) due(list *keyList, after time.Duration) bool {
	if list == nil {
		return true
	}
	age := k.now().Sub(list.tried)
	return age < 0 || age >= after
}

// read asks the store for its keys, and returns the former list with a note of the failure if it has no answer. The
// reading serves other requests too, so it does not end with the one that happened to need it first.
func (k *keyring) read(ctx context.Context, former *keyList) *keyList {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keysTimeout)
	defer cancel()
	start := k.now()
	keys, err := k.store.Keys(ctx)
	if err != nil {
		list := &keyList{tried: start, failed: true}
		if former != nil {
			list.byHash, list.read = former.byHash, former.read
		}
		if former == nil || !former.failed {
			k.log.LogAttrs(ctx, slog.LevelError, "reading the API keys", slog.Any("error", err))
		}
		return list
	}
	if former != nil && former.failed {
		k.log.LogAttrs(ctx, slog.LevelInfo, "reading the API keys works again")
	}
	list := &keyList{byHash: make(map[[sha256.Size]byte]listedKey, len(keys)), read: start, tried: start}
	for _, key := range keys {
		listed := listedKey{Key: key}
		if former != nil {
			listed.use = former.byHash[key.Hash].use
		}
		if listed.use == nil {
			listed.use = new(keyUse)
		}
		listed.use.noted(key.UsedAt)
		list.byHash[key.Hash] = listed
	}
	return list
}

// usable reports whether the list was ever read, and lately enough to be believed.
func (l *keyList) usable(now time.Time) bool {
	age := now.Sub(l.read)
	return !l.read.IsZero() && age >= 0 && age <= keysKept
}
