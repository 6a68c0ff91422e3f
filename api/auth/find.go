package auth

import (
	"context"
	"errors"

	"limnomap/data/apikey"
)

// The reasons why Find finds no key.
var (
	ErrInvalid     = errors.New("no valid API key")                         // unknown, revoked or expired
	ErrScope       = errors.New("the API key lacks the scope")              // it is valid
	ErrUnavailable = errors.New("API keys cannot be checked at the moment") // the store fails
)

// Find returns the name of the valid key with that hash that has the scope. It counts the others as refused requests. It does not limit the
// rate: see LimitRefused.
func (k *Keyring) Find(ctx context.Context, hash apikey.Hash, scope apikey.Scopes) (name string, err error) {
	list, ok := k.current(ctx)
	if !ok {
		return "", ErrUnavailable
	}
	now := k.Now()
	key, ok := list.byHash[hash]
	switch {
	case !ok || !key.Valid(now):
		k.refused.WithLabelValues(wrong).Inc()
		return "", ErrInvalid
	case !key.Scopes.Have(scope):
		k.refused.WithLabelValues(noScope).Inc()
		return "", ErrScope
	}
	key.lastUse.Store(now.Unix())
	return key.Name, nil
}
