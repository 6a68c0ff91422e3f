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
	// Scan calls lake for each lake in ascending order of id, then observation for each observation (gaps included) in
	// ascending order of lake id, date and type: on one date the satellite's before the forecast. All that it passes is
	// of the one revision that it returns. An error from a callback ends the scan and is returned.
	Scan(ctx context.Context, lake func(Lake) error, observation func(Observation) error) (Revision, error)
	// Past calls observation for the satellite observations (gaps included) with a date in the period, in ascending
	// order of lake id and date, and before those of a lake for its newest one with a value that is older than the
	// period, if there is one: what is needed to tell how the map stood at the period's end. All that it passes is of
	// the one revision that it returns. An error from a callback ends it and is returned.
	Past(ctx context.Context, period Period, observation func(Observation) error) (Revision, error)
	// History returns a lake and its newest observations that q asks for, newest first, both of the same revision. On
	// one date the satellite's row stands before the forecast's, and a forecast is left out where a satellite value of
	// the same date exists, whatever q asks for. ErrNoLake if no lake bears the id.
	History(ctx context.Context, id LakeID, q HistoryQuery) (Lake, []Observation, error)
}

// A Period is some days in a row, from First to Last, both included. It is empty if Last is before First.
type Period struct{ First, Last Date }

// AllTime returns the period of every date that an observation may have.
func AllTime() Period { return Period{minDate, maxDate} }

// Contains reports whether d is in p.
func (p Period) Contains(d Date) bool { return p.First <= d && d <= p.Last }

// A HistoryQuery says which observations of a lake are asked for.
type HistoryQuery struct {
	Period Period
	Types  DataTypes // none means all
	Limit  int       // of the newest; none if it is not positive
}

// Newest asks for the newest observations of all types, at most limit of them.
func Newest(limit int) HistoryQuery { return HistoryQuery{Period: AllTime(), Limit: limit} }
