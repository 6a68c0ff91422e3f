package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"limnomap/data"
)

func (s *sqlite) Revision(ctx context.Context) (data.Revision, error) {
	if err := s.hold(ctx); err != nil {
		return data.Revision{}, err
	}
	defer s.mu.RUnlock()
	var r data.Revision
	err := s.read(ctx, func(tx *sql.Tx) (err error) {
		r, err = s.revision(ctx, tx)
		return err
	})
	return r, s.wrap(err, "read the revision")
}

func (s *sqlite) revision(ctx context.Context, tx *sql.Tx) (data.Revision, error) {
	r, err := readRevision(ctx, tx)
	r.Generation = s.generation.Load()
	return r, err
}

// readRevision reads the revision of a transaction or a whole database, without Generation.
func readRevision(ctx context.Context, from interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) (data.Revision, error) {
	return scanRevision(from.QueryRowContext(ctx, "SELECT number, changed_at FROM revision"))
}

// read runs fn in a transaction that sees one state of the database, that of its first query. The caller holds s.mu.
//
// A connection caches pages, and drops them only if the log says that another process has changed them. So it would not
// notice a file that was truncated or overwritten with cp. Dropping the cache before each read takes microseconds, since
// the system caches the file's pages too.
func (s *sqlite) read(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := s.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback() // there is nothing to commit
	if _, err := tx.ExecContext(ctx, "PRAGMA shrink_memory"); err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return err
	}
	// A connection made at the time of a replacement may have read the new file with the old file's log.
	return s.checkOpenFiles()
}

// CROSS JOIN makes SQLite loop over lakes by id, and inside over a range of observations, so that the rows need no sorting.
const scanQuery = `SELECT o.lake, o.date, o.type, o.chl, o.level, o.density, o.measured_at
	FROM lakes AS l CROSS JOIN observations AS o ON o.lake = l.key
	ORDER BY l.id, o.date, o.type`

// The last row before the period and the rows of the period are two ranges of the primary key.
const pastQuery = `SELECT o.lake, o.date, o.type, o.chl, o.level, o.density, o.measured_at
	FROM lakes AS l CROSS JOIN observations AS o ON o.lake = l.key AND o.date BETWEEN
		coalesce((SELECT max(b.date) FROM observations AS b
			WHERE b.lake = l.key AND b.date < ?1 AND b.type = 0 AND b.chl IS NOT NULL), ?1) AND ?2
	WHERE o.type = 0 AND (o.date >= ?1 OR o.chl IS NOT NULL)
	ORDER BY l.id, o.date`

func (s *sqlite) Scan(ctx context.Context, lake func(data.Lake) error, observation func(data.Observation) error) (data.Revision, error) {
	return s.scan(ctx, "read lakes and observations", lake, observation, scanQuery)
}

func (s *sqlite) Past(ctx context.Context, period data.Period, observation func(data.Observation) error) (data.Revision, error) {
	return s.scan(ctx, "read past observations", nil, observation, pastQuery, int64(period.First), int64(period.Last))
}

// scan passes on all lakes, unless lake is nil, and then the observations of a query, all of the revision that it returns.
func (s *sqlite) scan(ctx context.Context, doing string, lake func(data.Lake) error, observation func(data.Observation) error, query string, args ...any) (data.Revision, error) {
	if err := s.hold(ctx); err != nil {
		return data.Revision{}, err
	}
	defer s.mu.RUnlock()
	var rev data.Revision
	var callback error // returned unchanged, since it is not an error of the database
	err := s.read(ctx, func(tx *sql.Tx) error {
		var err error
		if rev, err = s.revision(ctx, tx); err != nil {
			return err
		}
		var keys []keyedLake
		if lake == nil {
			err = withRows(ctx, tx, func(rows *sql.Rows) (err error) {
				keys, err = scanLakeKeys(rows)
				return err
			}, "SELECT key, id FROM lakes ORDER BY id")
		} else {
			err = withRows(ctx, tx, func(rows *sql.Rows) (err error) {
				keys, err = scanLakes(rows, func(l data.Lake) error { callback = lake(l); return callback })
				return err
			}, "SELECT "+lakeColumns+" FROM lakes ORDER BY id")
		}
		if err != nil {
			return err
		}
		return withRows(ctx, tx, func(rows *sql.Rows) error {
			return scanObservations(rows, func(r *observationRow) error { return r.scan(rows) }, keys,
				func(o data.Observation) error { callback = observation(o); return callback })
		}, query, args...)
	})
	if callback != nil {
		return data.Revision{}, callback
	}
	if err != nil {
		return data.Revision{}, s.wrap(err, doing)
	}
	return rev, nil
}

// withRows passes the rows of a query to fn and closes them.
func withRows(ctx context.Context, tx *sql.Tx, fn func(*sql.Rows) error, query string, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return fn(rows)
}

func (s *sqlite) History(ctx context.Context, id data.LakeID, q data.HistoryQuery) (data.Lake, []data.Observation, error) {
	if err := s.hold(ctx); err != nil {
		return data.Lake{}, nil, err
	}
	defer s.mu.RUnlock()
	var lake data.Lake
	var history []data.Observation
	err := s.read(ctx, func(tx *sql.Tx) error {
		var key int64
		var err error
		key, lake, err = scanLake(tx.QueryRowContext(ctx, "SELECT "+lakeColumns+" FROM lakes WHERE id = ?", string(id)))
		if errors.Is(err, sql.ErrNoRows) {
			return data.ErrNoLake
		}
		if err != nil {
			return err
		}
		history, err = lakeHistory(ctx, tx, key, id, q)
		return err
	})
	switch {
	case errors.Is(err, data.ErrNoLake):
		return data.Lake{}, nil, fmt.Errorf("lake %q: %w", id, err)
	case err != nil:
		return data.Lake{}, nil, s.wrap(err, "read a lake's history")
	}
	return lake, history, nil
}

// The primary key in reverse order: newest first, and on one date the forecast before the satellite's row.
const historyQuery = `SELECT lake, date, type, chl, level, density, measured_at FROM observations
	WHERE lake = ? AND date BETWEEN ? AND ? ORDER BY date DESC, type DESC`

func lakeHistory(ctx context.Context, tx *sql.Tx, key int64, id data.LakeID, q data.HistoryQuery) ([]data.Observation, error) {
	history := q.Rows()
	if history.Full() { // nothing is asked for
		return nil, nil
	}
	err := withRows(ctx, tx, func(rows *sql.Rows) error {
		var row observationRow
		for !history.Full() && rows.Next() {
			if err := row.scan(rows); err != nil {
				return err
			}
			history.Add(row.observation(id))
		}
		return rows.Err()
	}, historyQuery, key, int64(q.Period.First), int64(q.Period.Last))
	return history.Picked(), err
}
