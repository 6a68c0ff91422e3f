package store

import (
	"context"
	"errors"
	"time"

	"limnomap/data"
)

// ErrClaimLost is returned if a refresh's claim ended and another process has claimed the refresh.
var ErrClaimLost = errors.New("another process has taken over the refresh")

// MaxClockSkew is the largest difference between the clocks of processes that refresh one database. A stored time that is
// farther in the future is from a wrong clock: it must not postpone refreshes until then.
const MaxClockSkew = time.Hour

// Refreshes stores the state of the refreshes of a database from its source, and lets one process at a time do one.
type Refreshes interface {
	// Refresh returns the state of the refreshes.
	Refresh(ctx context.Context) (data.Refresh, error)
	// RefreshFiles returns the files of the last complete refresh, by key.
	RefreshFiles(ctx context.Context) ([]data.RefreshFile, error)
	// ClaimRefresh begins a refresh for holder, a unique name, for the time of lease. It reports false if another process
	// has a claim, or if the state's turn is no longer the given one. A claim that ends more than [MaxClockSkew] after
	// this one would is ignored. A claim left by a process that ended expires, and then counts as a failure.
	ClaimRefresh(ctx context.Context, turn int64, holder string, lease time.Duration) (bool, error)
	// ExtendRefresh makes holder's claim end after lease from now; ErrClaimLost if it has none.
	ExtendRefresh(ctx context.Context, holder string, lease time.Duration) error
	// EndRefresh ends holder's refresh without an import; ErrClaimLost if it has none.
	EndRefresh(ctx context.Context, holder string, result data.RefreshResult) error
}
