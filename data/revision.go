package data

import "time"

// A Revision identifies one state of the data.
type Revision struct {
	Number    int64     // grows by one with each import that changed anything
	ChangedAt time.Time // when that import was committed, in UTC
	Forecasts int64     // grows by one with each change of limnomap's own forecasts, which are no import
	// Statements is how many of those imports changed official statements only, and OthersAt when the last other one was committed; the zero
	// time if none was since the source knows that.
	Statements int64
	OthersAt   time.Time
	// Generation grows when a source finds that its database file was replaced by another one or truncated: the new data
	// may have the same number and time. It means nothing outside the running program.
	Generation int64
}

// Equal reports whether r and other are the same state. Times are compared as instants, whatever their zones.
func (r Revision) Equal(other Revision) bool {
	return r.Number == other.Number && r.Forecasts == other.Forecasts && r.Generation == other.Generation && r.ChangedAt.Equal(other.ChangedAt)
}

// OnlyStatementsSince reports whether imports since before have changed nothing but official statements. There may be other forecasts.
func (r Revision) OnlyStatementsSince(before Revision) bool {
	return r.Number > before.Number && r.Number-r.Statements == before.Number-before.Statements && r.OthersAt.Equal(before.OthersAt) &&
		r.Generation == before.Generation
}
