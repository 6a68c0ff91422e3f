package data

import (
	"crypto/sha256"
	"time"
)

// An APIKey is a key as it is stored: never the key itself, only its hash.
type APIKey struct {
	Name      string            // unique, chosen by the operator; safe to log
	Hash      [sha256.Size]byte // SHA-256 of the key's text
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	RevokedAt time.Time // zero: not revoked
}
