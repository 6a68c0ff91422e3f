package store

import (
	"context"
	"errors"
	"time"

	"limnomap/data"
	"limnomap/data/apikey"
)

var (
	ErrKeyExists = errors.New("there is an API key of that name")
	ErrNoKey     = errors.New("there is no API key of that name")
	ErrKeyOver   = errors.New("the API key is revoked or expired and has no successor")
)

// A Change is what became of one row of an import.
type Change uint8

const (
	Unchanged Change = iota
	Added
	Changed
	UnknownLake // an observation of a lake that the store does not hold; not written
	// LosesReport is a gap where a level or a count is stored that the import knows nothing of; not written. A gap
	// cannot bear them (see [data.Observation.Check]), and scum that was seen must not vanish unsaid.
	LosesReport
	// LeavesOutline is a lake that moves more than [FarAway] degrees out of a stored outline that the import keeps; not
	// written. It would be drawn in one place and found in another.
	LeavesOutline
	// Contradicts is a row whose key has come before in the same transaction, and which would change what is stored
	// since; not written, because nobody could tell which of the two is right. One that changes nothing is unchanged.
	Contradicts
)

func (c Change) String() string {
	return [...]string{Unchanged: "unchanged", Added: "added", Changed: "changed", UnknownLake: "unknown lake",
		LosesReport: "loses a report", LeavesOutline: "leaves its outline", Contradicts: "contradicts another row"}[c]
}

// A Store is a database of lakes. Its Scan and History read one consistent state, and an import never blocks them.
type Store interface {
	data.Source
	Refreshes
	// Import runs fn in one transaction, which is committed if fn returns nil and undone otherwise. The revision
	// grows if anything was added or changed.
	Import(ctx context.Context, fn func(Tx) error) error
	// CreateKey stores a key of at least one scope; ErrKeyExists if its name is taken (a revoked key keeps its name).
	CreateKey(ctx context.Context, k apikey.Key) error
	// RotateKey stores the key that next makes of the newest one of that name, under the same name, and has those of before
	// expire at until, unless they do so earlier: in between all are valid. ErrNoKey if there is none of that name,
	// ErrKeyOver if the newest is not valid any more when its successor is made.
	RotateKey(ctx context.Context, name string, until time.Time, next func(former apikey.Key) apikey.Key) error
	// Keys returns all keys, revoked and expired ones included, by name, and by age those of one name.
	Keys(ctx context.Context) ([]apikey.Key, error)
	// KeysUsed notes when keys were last used, where that is an hour or more later than what is noted. Keys that there are
	// not any more are no error. The revision stays.
	KeysUsed(ctx context.Context, uses []apikey.Use) error
	// RevokeKey revokes all keys of that name from at on; ErrNoKey if there is none. Revoking twice keeps the first time.
	RevokeKey(ctx context.Context, name string, at time.Time) error
	Close() error
}

// A Tx is the transaction of one import. To put rows returns one Change for each, in order. Columns that are to be
// kept stay as they are stored; only a row that is new takes them from the import. Of one lake, or of one lake, date and
// type, the first row counts, one that was refused too (but not UnknownLake): a later one is Unchanged or Contradicts, or
// refused for what the first would be refused for.
type Tx interface {
	PutLakes(ctx context.Context, lakes []data.Lake, keep LakeColumns) ([]Change, error)
	PutObservations(ctx context.Context, observations []data.Observation, keep ObservationColumns) ([]Change, error)
	// EndRefresh ends holder's refresh if the import is committed; ErrClaimLost if holder has none.
	EndRefresh(ctx context.Context, holder string, result data.RefreshResult) error
}

// A Listener is a Store that learns of imports without asking.
type Listener interface {
	// Listen sends to wake when the database says that it has changed, and when it can be reached again, until ctx
	// ends. It waits for nobody to receive: a value that wake holds already stands for all.
	Listen(ctx context.Context, wake chan<- struct{})
}

// LakeColumns are some of the columns of lakes that an import may lack.
type LakeColumns struct {
	ExternalID, Region, AreaKM2, Outline bool
}

// ObservationColumns are some of the columns of observations that an import may lack.
type ObservationColumns struct {
	Level, CellDensity, MeasuredAt bool
}

// Open opens the store that dsn names: a path or file: URL of an SQLite database, which is created where there is
// none if create is set, or a postgres:// URL of a database that exists, in which create makes the tables. That its
// server is away, or without create that it has no tables yet, is no error of Open but of each use, until they are there.
func Open(ctx context.Context, dsn string, create bool) (Store, error) {
	if isPostgres(dsn) {
		return openPostgres(ctx, dsn, create)
	}
	loc, err := parseDSN(dsn)
	if err != nil {
		return nil, err
	}
	return openSQLite(ctx, loc, create)
}
