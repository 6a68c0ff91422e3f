package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"limnomap/data"
	"limnomap/data/apikey"
)

// A database is SQLite or PostgreSQL, for a [Store]. Its methods wrap an error of fn with doing, the name of the
// operation, unless it is a callerError.
type database interface {
	// query runs fn, which makes one query.
	query(ctx context.Context, doing string, fn func(querier) error) error
	// snapshot runs fn in a transaction that sees one state of the database, and reads all rows in the order of an index. fn's
	// context ends if the database sends nothing more.
	snapshot(ctx context.Context, doing string, fn func(context.Context, querier) error) error
	// update runs fn in a transaction that writes.
	update(ctx context.Context, doing string, fn func(querier) error) error
	// fileGeneration returns the Generation of a revision.
	fileGeneration() int64
	// The others are the methods of Store with these names.
	importTx(ctx context.Context, fn func(Tx) error) error
	history(ctx context.Context, id data.LakeID, q data.HistoryQuery) (data.Lake, []data.Observation, error)
	keysUsed(ctx context.Context, uses []apikey.Use) error
	listen(ctx context.Context, wake chan<- struct{})
	readOnly() string
	close() error
	// believe is called with each revision that was read, and by how many seconds a standby is behind at most; see dialect.lag.
	believe(ctx context.Context, r data.Revision, lag sql.NullFloat64) error
}

// A dialect has the statements that differ between the databases, each in that of its database.
type dialect struct {
	scan, past string // the observations of Scan and Past
	// sampled are the lakes of samples in ascending order of key, and nearSamples the observations of NearSamples, whose parameter is the number of days.
	sampled, nearSamples string
	// newestReading is the date of the newest value for forecasts. The parameters of readings are the ids after and up to which lakes
	// are, and the first and the last date; see scanReadings for its columns. The parameter of forecasts is the day of issue.
	newestReading, readings, forecasts string
	notify                             string // tells listeners that something has changed; empty for SQLite, which has none
	lockImports                        string // makes other writers wait until the transaction ends; empty for SQLite, which has one writer at a time
	tryMoment                          string // reports whether this transaction is the only one that writes to the log of events; empty for SQLite, for the same reason
	now                                string // the database's clock in Unix seconds; 0.0 for SQLite, which has none
	lag                                string // by how many seconds a standby is behind at most; NULL for all others
	forgetSampled                      string // forgets the lakes of which the last sample was deleted; empty for PostgreSQL, which has an index of samples
	lockKeys                           string // locks the API keys until the transaction ends; empty for SQLite, which has one writer at a time
}

// A querier runs statements of either driver. Those of Store are in PostgreSQL's dialect, with the schema and with $1 for the
// first parameter.
type querier interface {
	exec(ctx context.Context, statement string, args ...any) (rowsAffected int64, err error)
	queryRow(ctx context.Context, query string, args ...any) rowScanner
	// query passes the result to fn, and closes it.
	query(ctx context.Context, fn func(rowIterator) error, query string, args ...any) error
	// insert adds many rows to a table of limnomap, and returns how many it wrote. onConflict is the end of the statement, in which the
	// stored row is r. A row is valid until the next one.
	insert(ctx context.Context, table, columns string, rows iter.Seq2[[]any, error], onConflict string) (written int64, err error)
}

// forSQLite translates a statement for a querier into SQLite's dialect.
var forSQLite = strings.NewReplacer("limnomap.", "", "$", "?")

// A callerError is an error for the caller as it is, not a failure of the database.
type callerError struct{ error }

func (e callerError) Unwrap() error { return e.error }

// forCaller returns the error in a callerError, or false if err is none.
func forCaller(err error) (error, bool) {
	e, ok := errors.AsType[callerError](err)
	return e.error, ok
}

// asCallerError returns a callerError, or nil for nil.
func asCallerError(err error) error {
	if err == nil {
		return nil
	}
	return callerError{err}
}

// A parallelScanner is a database that may read the observations of a scan on several processors.
type parallelScanner interface {
	// scanParallel passes the observations of these lakes on, as scanObservations does, if it can read them in the same revision. Otherwise
	// it returns false before it has passed any.
	scanParallel(ctx context.Context, revision data.Revision, lakes []keyedLake, sources *knownSources, pass func(data.Observation) error) (done bool, err error)
}

// read returns what fn reads in one query.
func read[T any](ctx context.Context, s *Store, doing string, fn func(context.Context, querier) (T, error)) (v T, err error) {
	err = s.db.query(ctx, doing, func(q querier) (err error) {
		v, err = fn(ctx, q)
		return err
	})
	return v, err
}

// list returns the results of scan for all rows of a query.
func list[T any](ctx context.Context, s *Store, doing string, scan func(rowScanner) (T, error), query string, args ...any) ([]T, error) {
	return read(ctx, s, doing, func(ctx context.Context, q querier) ([]T, error) { return collect(ctx, q, scan, query, args...) })
}

// collect is list within a transaction.
func collect[T any](ctx context.Context, q querier, scan func(rowScanner) (T, error), query string, args ...any) (all []T, err error) {
	if err := q.query(ctx, into(&all, scan), query, args...); err != nil {
		return nil, err
	}
	return all, nil
}

// into returns a function that appends the result of scan for each row.
func into[T any](all *[]T, scan func(rowScanner) (T, error)) func(rowIterator) error {
	return eachRow(func(row rowScanner) error {
		v, err := scan(row)
		if err == nil {
			*all = append(*all, v)
		}
		return err
	})
}

// eachRow returns a function that calls fn for each row.
func eachRow(fn func(rowScanner) error) func(rowIterator) error {
	return func(rows rowIterator) error {
		for rows.Next() {
			if err := fn(rows); err != nil {
				return err
			}
		}
		return nil
	}
}

// A writer runs statements one after the other, until one fails.
type writer struct {
	ctx context.Context
	q   querier
	err error // of the statement that failed; later ones do not run
}

// exec runs a statement and returns how many rows it wrote. An empty one, which a database does not need, does nothing.
func (w *writer) exec(statement string, args ...any) (written int64) {
	if w.err == nil && statement != "" {
		written, w.err = w.q.exec(w.ctx, statement, args...)
	}
	return written
}

func (s *Store) Revision(ctx context.Context) (data.Revision, error) {
	return read(ctx, s, "read the revision", s.revision)
}

func (s *Store) revision(ctx context.Context, q querier) (data.Revision, error) {
	r, err := readRevision(ctx, q)
	r.Generation = s.db.fileGeneration()
	if err == nil {
		var at int64
		var lag sql.NullFloat64
		err = q.queryRow(ctx, "SELECT f.changes, r.statements, r.others_at, "+s.sql.lag+" FROM limnomap.forecast_state AS f, limnomap.revision AS r").
			Scan(&r.Forecasts, &r.Statements, &at, &lag)
		if at != 0 {
			r.OthersAt = time.Unix(at, 0).UTC()
		}
		if err == nil {
			err = s.db.believe(ctx, r, lag)
		}
	}
	return r, err
}

// readRevision reads a revision without Forecasts, Generation, and what is known of official statements.
func readRevision(ctx context.Context, q querier) (data.Revision, error) {
	var number, at int64
	if err := q.queryRow(ctx, "SELECT number, changed_at FROM limnomap.revision").Scan(&number, &at); err != nil {
		return data.Revision{}, err
	}
	if at < minTime || at > maxTime {
		return data.Revision{}, fmt.Errorf("the revision was changed %d seconds after 1970: want a time of the years 0 to 9999", at)
	}
	return data.Revision{Number: number, ChangedAt: time.Unix(at, 0).UTC()}, nil
}

func (s *Store) Scan(ctx context.Context, lake func(data.Lake) error, observation func(data.Observation) error) (data.Revision, error) {
	lakes := newLakeScanner()
	scan := func(row rowScanner) (keyedLake, error) {
		key, l, err := lakes.scan(row)
		if err == nil {
			err = asCallerError(lake(l))
		}
		return keyedLake{key, l.ID}, err
	}
	return s.scan(ctx, "read lakes and observations", lakeColumns, scan, observation, s.sql.scan)
}

func (s *Store) Past(ctx context.Context, period data.Period, observation func(data.Observation) error) (data.Revision, error) {
	lakes := newLakeScanner()
	scan := func(row rowScanner) (l keyedLake, err error) {
		l.key, l.id, err = lakes.scanID(row)
		return l, err
	}
	return s.scan(ctx, "read past observations", idColumns, scan, observation, s.sql.past, int64(period.First), int64(period.Last))
}

// NearSamples passes on the samples of all lakes, and the passes of satellites at most that many days before or after one of the same lake, including gaps and
// poor values. Those of a lake follow each other, in ascending order of date, type and source. All of it is of one revision. It costs as much as the lakes with
// samples have observations, and nothing for the others.
func (s *Store) NearSamples(ctx context.Context, days int, observation func(data.Observation) error) (rev data.Revision, err error) {
	err = s.db.snapshot(ctx, "read samples and the passes near them", func(ctx context.Context, q querier) (err error) {
		if rev, err = s.revision(ctx, q); err != nil {
			return err
		}
		ids := newLakeScanner()
		lakes, err := collect(ctx, q, func(row rowScanner) (l keyedLake, err error) {
			l.key, l.id, err = ids.scanID(row)
			return l, err
		}, s.sql.sampled)
		if err != nil {
			return err
		}
		sources, err := readSources(ctx, q)
		if err != nil {
			return err
		}
		return queryBulk(ctx, q, func(rows rowIterator) error { return scanObservations(rows, lakes, sources, observation) }, s.sql.nearSamples, int64(days))
	})
	return rev, err
}

// scan scans these columns of all lakes, and then passes on the observations of a query, all of the revision that it returns.
func (s *Store) scan(ctx context.Context, doing, columns string, lake func(rowScanner) (keyedLake, error),
	observation func(data.Observation) error, query string, args ...any) (rev data.Revision, err error) {
	err = s.db.snapshot(ctx, doing, func(ctx context.Context, q querier) (err error) {
		if rev, err = s.revision(ctx, q); err != nil {
			return err
		}
		var lakes []keyedLake
		if err := queryBulk(ctx, q, into(&lakes, lake), "SELECT "+columns+" FROM limnomap.lakes ORDER BY id"); err != nil {
			return err
		}
		sources, err := readSources(ctx, q)
		if err != nil {
			return err
		}
		if p, ok := s.db.(parallelScanner); ok && query == s.sql.scan {
			if done, err := p.scanParallel(ctx, rev, lakes, sources, observation); done {
				return err
			}
		}
		return queryBulk(ctx, q, func(rows rowIterator) error {
			return scanObservations(rows, lakes, sources, observation)
		}, query, args...)
	})
	if err != nil {
		return data.Revision{}, err
	}
	return rev, nil
}
