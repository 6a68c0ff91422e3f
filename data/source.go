package data

import (
	"context"
	"time"
)

// A Revision tells one state of the data from another.
type Revision struct {
	Number    int64     // grows by one with each import that changed anything
	ChangedAt time.Time // when that import was committed, in UTC
	// Generation grows when a source finds another database in the place of the one that it had open, or its file
	// written to: the two may have the same number and time. It has no meaning beyond the running program.
	Generation int64
}

// Equal reports whether r and other are the same state. Two times are equal in whatever zone they are written.
func (r Revision) Equal(other Revision) bool {
	return r.Number == other.Number && r.Generation == other.Generation && r.ChangedAt.Equal(other.ChangedAt)
}

// A Source is where a Snapshot is loaded from: a store, or the embedded demo.
type Source interface {
	// Revision returns the present revision. It is cheap: a server asks about once a second.
	Revision(ctx context.Context) (Revision, error)
	// Scan calls lake for each lake in ascending order of id, then observation for each satellite observation
	// (gaps included, forecasts not) in ascending order of lake id and date. All that it passes is of the one
	// revision that it returns. An error from a callback ends the scan and is returned.
	Scan(ctx context.Context, lake func(Lake) error, observation func(Observation) error) (Revision, error)
	// History returns a lake and its at most limit newest observations of both types, newest first, both of the
	// same revision. On one date the satellite's row stands before the forecast's, and a forecast is left out
	// where a satellite value of the same date exists. ErrNoLake if no lake bears the id.
	History(ctx context.Context, id LakeID, limit int) (Lake, []Observation, error)
}
