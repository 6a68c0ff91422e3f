package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"limnomap/data"
	"limnomap/data/apikey"
	"limnomap/data/diskspace"
)

var (
	ErrKeyExists = errors.New("there is an API key of that name")
	ErrNoKey     = errors.New("there is no API key of that name")
	ErrKeyOver   = errors.New("the API key is revoked or expired and has no successor")
)

// A Change is what an import did with one row.
type Change uint8

const (
	Unchanged Change = iota
	Added
	Changed
	UnknownLake // an observation or a statement of a lake that is not in the store; not written
	// LosesReport is a gap or a poor value in the place of a value with a stored level, cell count or flag of scum for which the import has
	// no column; not written. A gap cannot have them (see [data.Observation.CheckImport]), a poor value is never current, and a reported
	// scum must not be dropped silently.
	LosesReport
	// LeavesOutline is a lake that moves more than [OutlineMargin] degrees out of a stored outline that the import keeps;
	// not written. It would be drawn at one place and found at another.
	LeavesOutline
	// Contradicts is a row that repeats a key of the same transaction with other values; not written, because no one can
	// know which row is right. A repeated row with the same values is Unchanged.
	Contradicts
	// ManySources is an observation from one source more than [MaxSources]; not written.
	ManySources
	// OtherStatement is a statement whose id is stored for another lake or another issuer; not written, because it would take
	// the place of a statement that may still hold.
	OtherStatement
	// OlderVersion is a satellite's observation with an older version than the stored one of its lake, date and source; not written.
	OlderVersion
	// WorseThanStored is a satellite's observation that is worse than the stored one of its lake, date and source by its quality (see
	// [data.CompareSatelliteRows]), if neither has an older version; not written. It often is a gap in a raster that shows only a part of the lakes.
	WorseThanStored
)

func (c Change) String() string {
	return [...]string{Unchanged: "unchanged", Added: "added", Changed: "changed", UnknownLake: "unknown lake",
		LosesReport: "loses a report", LeavesOutline: "leaves its outline", Contradicts: "contradicts another row",
		ManySources: "has one source too many", OtherStatement: "belongs to another statement",
		OlderVersion: "has an older version", WorseThanStored: "is worse than the stored value"}[c]
}

// A Store is a database of lakes: an SQLite file, or the schema limnomap of a PostgreSQL database. Scan and History read one consistent
// state, and an import never blocks them. Its users name the methods that they need in interfaces of their own.
type Store struct {
	db      database
	sql     dialect
	now     func() time.Time
	readers int
	file    string // of SQLite; empty for PostgreSQL
}

// Import runs fn in one transaction, which is committed if fn returns nil and rolled back otherwise. The revision
// grows if anything was added or changed.
func (s *Store) Import(ctx context.Context, fn func(Tx) error) error { return s.db.importTx(ctx, fn) }

// History returns a lake and its newest observations that q asks for, as a snapshot.Source does.
func (s *Store) History(ctx context.Context, id data.LakeID, q data.HistoryQuery) (data.Lake, []data.Observation, error) {
	return s.db.history(ctx, id, q)
}

// KeysUsed stores the last uses of keys, for each key at most once an hour. It ignores keys that do not exist. The
// revision does not change.
func (s *Store) KeysUsed(ctx context.Context, uses []apikey.Use) error {
	if len(uses) == 0 {
		return nil
	}
	return s.db.keysUsed(ctx, uses)
}

// Listen sends to wake when the database says that it has changed, and when the connection is back, until ctx ends. It
// does not block: one value in wake is enough. SQLite says nothing.
func (s *Store) Listen(ctx context.Context, wake chan<- struct{}) { s.db.listen(ctx, wake) }

// Readers returns how many reads the Store does at once; others wait.
func (s *Store) Readers() int { return s.readers }

// ReadOnly returns why nothing can be written to an SQLite database at present, or "".
func (s *Store) ReadOnly() string { return s.db.readOnly() }

// CheckSpace returns an error if the disk of an SQLite database has too little room to import files of that many bytes: their
// rows are written to the log, and from there to the file. The room for PostgreSQL is not known.
// Compressed files may need more than this.
func (s *Store) CheckSpace(files int64) error {
	if s.file == "" {
		return nil
	}
	if err := diskspace.Check(filepath.Dir(s.file), 2*files); err != nil {
		return &Error{err: fmt.Errorf("nothing was imported into %s: %w", s.file, err)}
	}
	return nil
}

// Close waits for operations in progress.
func (s *Store) Close() error { return s.db.close() }

// A Tx is the transaction of one import. PutLakes, PutObservations and PutAdvisories return one Change for each row, in order. The
// columns in keep retain their stored values; only new rows take them from the import. If the key of a row (a lake; a lake, date,
// type and source; a statement's id) is repeated, the first row counts, even if it was rejected (except as UnknownLake): a later one
// is Unchanged, Contradicts, or rejected for the same reason as the first. But of the observations of a satellite with different versions
// (see [data.CompareVersions]) the newest one counts, whatever their order, and the others are OlderVersion. Of those with equal versions,
// or without, the best one counts (see [data.CompareSatelliteRows]), and the others are WorseThanStored.
//
// With an observation of a satellite its Pixels are written; those of an observation that changes without them are removed.
type Tx interface {
	PutLakes(ctx context.Context, lakes []data.Lake, keep LakeColumns) ([]Change, error)
	PutObservations(ctx context.Context, observations []data.Observation, keep ObservationColumns) ([]Change, error)
	PutAdvisories(ctx context.Context, statements []data.Advisory, keep AdvisoryColumns) ([]Change, error)
	// Advisories returns all official statements as the transaction sees them, also those that it has written, in no order. An import
	// that called the Store's Advisories would need a second connection, and wait for ever if it may have only one.
	Advisories(ctx context.Context) ([]data.Advisory, error)
	// Describe says where the import is from, for [Store.Imports].
	Describe(ImportInfo)
	// NewestValue returns the newest measured value of a lake that has one, as the transaction sees it, with date, chlorophyll, level and cell
	// density only.
	NewestValue(ctx context.Context, lake data.LakeID) (data.Optional[data.Observation], error)
	// LakesWithValues returns how many lakes have a measured value.
	LakesWithValues(ctx context.Context) (int64, error)
	// PreferSources replaces the order in which sources are preferred, also of values that are stored already; an empty one removes it.
	PreferSources(ctx context.Context, order data.SourceOrder) error
	// Repeated returns which rows of the last PutLakes, PutObservations or PutAdvisories repeated the key of an earlier row of the
	// transaction, by index in ascending order. Rows of unknown lakes are not among them. It is valid until the next call.
	Repeated() []int
	// KeepPixels removes the pixels of a source of dates before first.
	KeepPixels(ctx context.Context, source string, first data.Date) error
	// PutRaster stores, when the import is committed, that it has the values of a satellite file; data.ErrLeaseLost if holder has no lease.
	PutRaster(ctx context.Context, holder string, record data.RasterRecord) error
	// EndRefresh ends holder's refresh when the import is committed; data.ErrLeaseLost if holder has none.
	EndRefresh(ctx context.Context, holder string, result data.RefreshResult) error
}

// LakeColumns are the columns of lakes that an import may lack.
type LakeColumns struct {
	ExternalID, Region, AreaKM2, Outline, WaterID bool
}

// ObservationColumns are the columns of observations that an import may lack.
type ObservationColumns struct {
	// Chlorophyll is about chl, chl_lower, chl_upper and below_limit together. An import that lacks it may add gaps, and changes no
	// value: so it may set the Secchi depth of an observation that has one.
	Chlorophyll bool

	Level, CellDensity, MeasuredAt bool

	Pixels           bool // n_valid and n_total, which must fit each other
	Quality, Flags   bool // kept only with an unchanged value, about which they are; but the flag of scum is a report, and kept
	Version          bool // kept only with an unchanged value too
	Method           bool
	Secchi           bool
	WaterTemperature bool
	Period           bool // period_start
	Composite        bool
	Turbidity        bool
	ScumPercent      bool
}

// Open opens the store that dsn names: a path or file: URL of an SQLite database, which create creates if it does not exist,
// or a postgres:// URL of an existing database, in which create makes the tables. If the PostgreSQL server cannot be
// reached, or without create its tables do not exist yet, Open succeeds, and each use fails until that has changed.
func Open(ctx context.Context, dsn string, create bool) (*Store, error) {
	return OpenUpgrading(ctx, dsn, create, permitUpgrade)
}

// An Upgrade is called before the schema of a database that has one is migrated, also later, if the file of an open Store is replaced or
// a PostgreSQL server was not reachable at first. If it returns an error, nothing is migrated and the database cannot be used.
type Upgrade func(ctx context.Context, from, to int64) error

// ErrOlderSchema says that a database must be migrated before this limnomap can use it.
var ErrOlderSchema = errors.New("its schema is older than this limnomap's")

// RefuseUpgrade is an [Upgrade] that migrates nothing.
func RefuseUpgrade(_ context.Context, from, to int64) error {
	return fmt.Errorf("%w: version %d, want %d; nothing was changed: `limnomap migrate` with the same --db migrates it, "+
		"and with --dry-run says what that means", ErrOlderSchema, from, to)
}

func permitUpgrade(context.Context, int64, int64) error { return nil }

// OpenUpgrading is Open with a function that is called before a migration.
func OpenUpgrading(ctx context.Context, dsn string, create bool, upgrade Upgrade) (*Store, error) {
	if isPostgres(dsn) {
		s, err := openPostgres(ctx, dsn, create, upgrade)
		if err != nil {
			return nil, err
		}
		return &s.Store, nil
	}
	loc, err := parseDSN(dsn)
	if err != nil {
		return nil, err
	}
	s, err := openSQLite(ctx, loc, create, upgrade)
	if err != nil {
		return nil, err
	}
	return &s.Store, nil
}

// SpareReaders is how many of the readers a server needs for itself: for a scan, a read of old weeks, the revision and the keys.
const SpareReaders = 4

// usualReaders returns how many reads a Store does at once, unless the URL of the database sets another number.
func usualReaders() int { return SpareReaders + max(4, 2*runtime.GOMAXPROCS(0)) }

// An Error is a failure of the database, as opposed to an error in the data to store.
type Error struct {
	err  error
	away bool
}

// maxErrorText bounds the text of an error in bytes: a trigger or a view can raise one of megabytes, and each goes to the log.
const maxErrorText = 1000

func (e *Error) Error() string {
	text := e.err.Error()
	if len(text) <= maxErrorText {
		return text
	}
	return strings.ToValidUTF8(text[:maxErrorText], "") + "…"
}

func (e *Error) Unwrap() error { return e.err }

// Is reports whether e is [data.ErrAway].
func (e *Error) Is(target error) bool { return e.away && target == data.ErrAway }
