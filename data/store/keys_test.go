package store

import (
	"errors"
	"slices"
	"testing"
	"time"

	"limnomap/data/apikey"
)

// A new key has the name of the former one and whatever else is copied from it. The former keys expire with the overlap, or
// earlier.
func testRotation(t *testing.T, open opener) {
	s := open(t, time.Now)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	next := func(hash byte, when time.Time) func(apikey.Key) apikey.Key {
		return func(former apikey.Key) apikey.Key {
			return apikey.Key{Name: "ignored", Hash: [32]byte{hash}, Scopes: former.Scopes, CreatedAt: when}
		}
	}
	rotate := func(name string, until time.Time, fn func(apikey.Key) apikey.Key) error {
		return s.RotateKey(t.Context(), name, until, fn)
	}
	first := apikey.Key{Name: "one", Hash: [32]byte{9}, Scopes: apikey.ScopeMetrics, CreatedAt: at}
	other := apikey.Key{Name: "other", Hash: [32]byte{1}, Scopes: apikey.ScopeMonitor, CreatedAt: at}
	for _, k := range []apikey.Key{first, other} {
		if err := s.CreateKey(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	if err := rotate("none", at, next(7, at)); !errors.Is(err, ErrNoKey) {
		t.Errorf("RotateKey of no key = %v, want %v", err, ErrNoKey)
	}
	second, third := first, first
	second.Hash, third.Hash = [32]byte{8}, [32]byte{5}
	second.CreatedAt, third.CreatedAt = at, at.Add(time.Hour) // the second key in the same second as the first
	first.ExpiresAt, second.ExpiresAt = at.Add(2*time.Hour), at.Add(24*time.Hour)
	if err := rotate("one", first.ExpiresAt, next(8, second.CreatedAt)); err != nil {
		t.Fatal(err)
	}
	var former apikey.Key
	if err := rotate("one", second.ExpiresAt, func(k apikey.Key) apikey.Key {
		former = k
		return next(5, third.CreatedAt)(k)
	}); err != nil {
		t.Fatal(err)
	}
	if former.Hash != second.Hash {
		t.Errorf("the third key takes over from %v, want the second, %v", former, second)
	}
	byAge := func(keys []apikey.Key) []apikey.Key { // the two keys of one second in any order
		slices.SortStableFunc(keys, func(a, b apikey.Key) int { return int(b.Hash[0]) - int(a.Hash[0]) })
		return keys
	}
	want := byAge([]apikey.Key{first, second, third, other})
	got, err := s.Keys(t.Context())
	if err != nil || !slices.Equal(byAge(got), want) {
		t.Errorf("Keys = %v, %v, want %v", got, err, want)
	}
	if err := s.RevokeKey(t.Context(), "one", at.Add(3*time.Hour)); err != nil {
		t.Fatal(err)
	}
	keys, err := s.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if revoked := !k.RevokedAt.IsZero(); revoked != (k.Name == "one") {
			t.Errorf("after the name one was revoked: %v", k)
		}
	}
	for name, when := range map[string]time.Time{"one": at.Add(4 * time.Hour), "gone": at.Add(time.Hour)} {
		if name == "gone" {
			gone := apikey.Key{Name: name, Hash: [32]byte{2}, Scopes: apikey.ScopeMonitor, CreatedAt: at, ExpiresAt: when}
			if err := s.CreateKey(t.Context(), gone); err != nil {
				t.Fatal(err)
			}
		}
		if err := rotate(name, when.Add(time.Hour), next(6, when)); !errors.Is(err, ErrKeyOver) {
			t.Errorf("RotateKey of a key that is over = %v, want %v", err, ErrKeyOver)
		}
	}
	if after, err := s.Keys(t.Context()); err != nil || len(after) != len(keys)+1 {
		t.Errorf("refused rotations left %d keys, %v, want %d", len(after), err, len(keys)+1)
	}
}

// The last use is the newest one reported, is written once an hour, and changes nothing else.
func testKeyUses(t *testing.T, open opener) {
	s := open(t, time.Now)
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	k := apikey.Key{Name: "one", Hash: [32]byte{1}, Scopes: apikey.ScopeMonitor, CreatedAt: at}
	idle := apikey.Key{Name: "one", Hash: [32]byte{2}, Scopes: apikey.ScopeMonitor, CreatedAt: at.Add(time.Second)}
	if err := s.CreateKey(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if err := s.RotateKey(t.Context(), "one", at.Add(time.Hour), func(apikey.Key) apikey.Key { return idle }); err != nil {
		t.Fatal(err)
	}
	k.ExpiresAt = at.Add(time.Hour)
	for _, use := range []struct{ at, want time.Time }{
		{at.Add(time.Minute), at.Add(time.Minute)},
		{at.Add(60 * time.Minute), at.Add(time.Minute)}, // less than an hour later
		{at, at.Add(time.Minute)},                       // an earlier use, reported late by another server
		{at.Add(61 * time.Minute), at.Add(61 * time.Minute)},
	} {
		k.UsedAt = use.want
		uses := []apikey.Use{{Name: "one", Hash: k.Hash, At: use.at}, {Name: "gone", Hash: k.Hash, At: use.at}}
		if err := s.KeysUsed(t.Context(), uses); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Keys(t.Context()); err != nil || !slices.Equal(got, []apikey.Key{k, idle}) {
			t.Errorf("after a use at %v Keys = %v, %v, want %v", use.at, got, err, []apikey.Key{k, idle})
		}
	}
	if err := s.KeysUsed(t.Context(), nil); err != nil {
		t.Errorf("KeysUsed of none = %v", err)
	}
	if rev := revisionOf(t, s); rev.Number != 0 {
		t.Errorf("uses of keys raised the revision to %d", rev.Number)
	}
}
