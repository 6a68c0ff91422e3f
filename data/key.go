package data

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"
)

// An APIKey is a key as it is stored: never the key itself, only its hash.
type APIKey struct {
	Name      string            // chosen by the operator; safe to log. Keys of one name follow each other by rotation
	Hash      [sha256.Size]byte // SHA-256 of the key's text
	Scopes    Scopes
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	RevokedAt time.Time // zero: not revoked
	UsedAt    time.Time // when a request last bore it, to the hour; zero: never, as far as anybody wrote down
}

// Valid reports whether the key may be used at that moment.
func (k *APIKey) Valid(now time.Time) bool {
	return k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || now.Before(k.ExpiresAt))
}

// Scopes are what a key opens, a set.
type Scopes uint8

const (
	ScopeMonitor Scopes = 1 << iota // the monitoring endpoint
	ScopeMetrics                    // /metrics, where the server demands a key for it
)

// scopeNames are in the order of their bits, in which they are written too.
var scopeNames = [...]string{"monitor", "metrics"}

// ErrScope is returned for scopes that there are not.
var ErrScope = errors.New("no such scope")

// String returns the scopes' names with commas between them, empty for none.
func (s Scopes) String() string { return strings.Join(s.Names(), ",") }

// Names returns the scopes' names, one by one.
func (s Scopes) Names() []string {
	names := make([]string, 0, len(scopeNames))
	for i, name := range scopeNames {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// Have reports whether all of want are among the scopes.
func (s Scopes) Have(want Scopes) bool { return s&want == want }

// ParseScopes reads one or several names with commas between them, as String writes them.
func ParseScopes(text string) (Scopes, error) {
	var s Scopes
	for part := range strings.SplitSeq(text, ",") {
		found := false
		for i, name := range scopeNames {
			if part == name {
				s |= 1 << i
				found = true
			}
		}
		if !found {
			return 0, fmt.Errorf("%w: %q; there are %s", ErrScope, part, strings.Join(scopeNames[:], " and "))
		}
	}
	return s, nil
}

// UnmarshalText reads scopes as [ParseScopes] does.
func (s *Scopes) UnmarshalText(text []byte) (err error) {
	*s, err = ParseScopes(string(text))
	return err
}

// MarshalText implements encoding.TextMarshaler.
func (s Scopes) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A KeyUse is the last use of one key that a server has seen.
type KeyUse struct {
	Name string
	Hash [sha256.Size]byte
	At   time.Time
}
