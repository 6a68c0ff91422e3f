// Package apikey describes API keys: their stored form, and the scopes that they open.
package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Prefix lets people, and scanners for leaked secrets, recognize a key.
const Prefix = "limnomap_"

// A Hash identifies a key without revealing it. It needs neither salt nor a slow function: keys are random and long, not
// passwords.
type Hash [sha256.Size]byte

// HashOf returns the hash of the text of a key.
func HashOf(text string) Hash { return sha256.Sum256([]byte(text)) }

// A Key is a key as it is stored: never its text, only the hash.
type Key struct {
	Name      string // chosen by the operator; safe to log. Rotated keys share a name
	Hash      Hash
	Scopes    Scopes
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	RevokedAt time.Time // zero: not revoked
	UsedAt    time.Time // of the last use, to the hour; zero: no use was stored
}

// New returns the text of a new random key of at least 128 bits, and the key with its hash and time of creation.
func New(now time.Time) (text string, k Key) {
	text = Prefix + rand.Text()
	return text, Key{Hash: HashOf(text), CreatedAt: now}
}

// Valid reports whether the key may be used at that time.
func (k *Key) Valid(now time.Time) bool {
	return k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || now.Before(k.ExpiresAt))
}

var names = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.@ -]{0,63}$`)

// ValidName reports whether a new key may have that name: 1 to 64 letters, digits, spaces or any of _.@- and starting with a
// letter or digit.
func ValidName(name string) bool { return names.MatchString(name) }

// A Use is the last use of one key that a server has seen.
type Use struct {
	Name string
	Hash Hash
	At   time.Time
}

// Scopes are the set of endpoints that a key opens.
type Scopes uint8

const (
	ScopeMonitor    Scopes = 1 << iota // the monitoring endpoint
	ScopeMetrics                       // /metrics, where the server requires a key for it
	ScopeAdvisories                    // the desk, to close lakes
)

// scopeNames are in the order of their bits, and written in that order.
var scopeNames = [...]string{"monitor", "metrics", "advisories"}

// ErrScope is returned for unknown scopes.
var ErrScope = errors.New("no such scope")

// String returns the names of the scopes, separated by commas.
func (s Scopes) String() string { return strings.Join(s.Names(), ",") }

// Names returns the names of the scopes.
func (s Scopes) Names() []string {
	names := make([]string, 0, len(scopeNames))
	for i, name := range scopeNames {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// Have reports whether the scopes include all of want.
func (s Scopes) Have(want Scopes) bool { return s&want == want }

// ParseScopes reads names separated by commas, as String writes them.
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
			return 0, fmt.Errorf("%w: %q; want %s", ErrScope, part, strings.Join(scopeNames[:], " or "))
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
