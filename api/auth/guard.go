package auth

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"limnomap/api/answer"
	"limnomap/data/apikey"
)

// maxKeyLength is the longest text that is hashed; keys are far shorter.
const maxKeyLength = 256

// Why a request was refused, as the label of a metric says it.
const (
	missing   = "missing"   // no key
	wrong     = "wrong"     // an unknown, revoked or expired key
	throttled = "throttled" // one of these, beyond the limit of the client's address
	noScope   = "scope"     // a valid key that does not open the endpoint
)

// An Access is what a request needs.
type Access struct {
	Scope apikey.Scopes
	// Header returns the values of the header field with the key.
	Header func(r *http.Request) []string
	// UseStaleKeys accepts the keys of the last list for as long as the store fails. A key that is revoked meanwhile remains
	// valid, so it is for what an operator needs just then, and not for data.
	UseStaleKeys bool
}

// Require returns middleware that lets requests with a valid key of that access pass, at the rate of the key. It counts the
// others, and refuses them at the rate of their address.
func (k *Keyring) Require(a Access) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			list, ok := k.current(r.Context())
			if !ok && (!a.UseStaleKeys || list == nil || list.read.IsZero()) {
				answer.WriteProblem(w, r, &answer.Problem{
					Status: http.StatusServiceUnavailable,
					Detail: "API keys cannot be checked at the moment.",
					Header: http.Header{"Retry-After": {strconv.Itoa(int(keysEvery / time.Second))}},
				})
				return
			}
			now := k.Now()
			values := a.Header(r)
			key, ok := list.find(values, now)
			if !ok {
				k.refuse(w, r, values)
				return
			}
			if second := now.Unix(); key.lastUse.Load() != second { // many requests a second share one write
				key.lastUse.Store(second)
			}
			r, info := answer.WithInfo(r)
			info.KeyName = key.Name
			if !k.LimitKeys(w, r) {
				return
			}
			if !key.Scopes.Have(a.Scope) {
				k.refused.WithLabelValues(noScope).Inc()
				answer.WriteProblem(w, r, &answer.Problem{
					Status: http.StatusForbidden,
					Detail: "This API key lacks the scope " + a.Scope.String() + ", which this endpoint needs.",
				})
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// refuse answers a request without a valid key. The answer does not say why the key is not valid, so that it does not reveal
// that a key once existed.
func (k *Keyring) refuse(w http.ResponseWriter, r *http.Request, values []string) {
	if !k.LimitRefused(w, r) {
		k.refused.WithLabelValues(throttled).Inc()
		return
	}
	why := wrong
	if strings.Join(values, "") == "" {
		why = missing
	}
	k.refused.WithLabelValues(why).Inc()
	answer.WriteProblem(w, r, &answer.Problem{
		Status: http.StatusUnauthorized,
		Detail: "This endpoint needs a valid API key in the request header X-API-Key.",
		Header: http.Header{"Www-Authenticate": {`ApiKey realm="limnomap"`}},
	})
}

// HeaderKey returns the values of X-API-Key.
func HeaderKey(r *http.Request) []string { return r.Header["X-Api-Key"] }

// HeaderOrBearerKey returns the values of X-API-Key or, without that field, the bearer token (RFC 6750, section 2.1):
// Prometheus before 3.0 can send a secret in no other header field.
func HeaderOrBearerKey(r *http.Request) []string {
	if values := HeaderKey(r); values != nil {
		return values
	}
	const scheme = "bearer "
	values := r.Header["Authorization"]
	if len(values) != 1 || len(values[0]) <= len(scheme) || !strings.EqualFold(values[0][:len(scheme)], scheme) {
		return nil
	}
	return []string{values[0][len(scheme):]}
}

// find returns the key in the values of a header field, if it is one key and valid at that time.
func (l *keyList) find(values []string, now time.Time) (key listedKey, ok bool) {
	if len(values) != 1 || values[0] == "" || len(values[0]) > maxKeyLength {
		return listedKey{}, false
	}
	key, ok = l.byHash[apikey.HashOf(values[0])]
	if !ok || !key.Valid(now) {
		return listedKey{}, false
	}
	return key, true
}
