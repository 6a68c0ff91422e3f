package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

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

// readRevision reads the revision that a transaction or a whole database is of.
func readRevision(ctx context.Context, from interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) (data.Revision, error) {
	var number, at int64
	if err := from.QueryRowContext(ctx, "SELECT number, changed_at FROM revision").Scan(&number, &at); err != nil {
		return data.Revision{}, err
	}
	return data.Revision{Number: number, ChangedAt: time.Unix(at, 0).UTC()}, nil
}

// read runs fn in a transaction that sees one state of the database, the one of its first query. It reads what the
// file holds now: a connection keeps the pages that it has read until it learns from the log that another SQLite has
// changed them, and of a file that was cut short or written over with cp it would never learn. To drop them costs a
// few microseconds, since the system holds the file's pages too. The caller holds s.mu.
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
	// A connection that was made in the instant of a replacement may have read the new file with the old one's log.
	return s.inPlace()
}

func (s *sqlite) Scan(ctx context.Context, lake func(data.Lake) error, observation func(data.Observation) error) (data.Revision, error) {
	return s.pass(ctx, "read lakes and observations", lake, observation, scanQuery)
}

// The last row before the period and the rows of the period are two ranges of the primary key.
const pastQuery = `SELECT o.lake, o.date, o.type, o.chl, o.level, o.density, o.measured_at
	FROM lakes AS l CROSS JOIN observations AS o ON o.lake = l.key AND o.date BETWEEN
		coalesce((SELECT max(b.date) FROM observations AS b
			WHERE b.lake = l.key AND b.date < ?1 AND b.type = 0 AND b.chl IS NOT NULL), ?1) AND ?2
	WHERE o.type = 0 AND (o.date >= ?1 OR o.chl IS NOT NULL)
	ORDER BY l.id, o.date`

func (s *sqlite) Past(ctx context.Context, period data.Period, observation func(data.Observation) error) (data.Revision, error) {
	noLake := func(data.Lake) error { return nil }
	return s.pass(ctx, "read past observations", noLake, observation, pastQuery, int64(period.First), int64(period.Last))
}

// pass passes on all lakes, and then the observations that a query gives, of the one revision that it returns.
func (s *sqlite) pass(ctx context.Context, doing string, lake func(data.Lake) error, observation func(data.Observation) error, query string, args ...any) (data.Revision, error) {
	if err := s.hold(ctx); err != nil {
		return data.Revision{}, err
	}
	defer s.mu.RUnlock()
	var rev data.Revision
	var callback error // passed on as it is: it is not the database's
	err := s.read(ctx, func(tx *sql.Tx) error {
		var err error
		if rev, err = s.revision(ctx, tx); err != nil {
			return err
		}
		keys, err := scanLakes(ctx, tx, func(l data.Lake) error { callback = lake(l); return callback })
		if err != nil {
			return err
		}
		return scanObservations(ctx, tx, keys, func(o data.Observation) error { callback = observation(o); return callback }, query, args...)
	})
	if callback != nil {
		return data.Revision{}, callback
	}
	if err != nil {
		return data.Revision{}, s.wrap(err, doing)
	}
	return rev, nil
}

// A keyedLake is a lake's id beside the number that observations know it by.
type keyedLake struct {
	key int64
	id  data.LakeID
}

const lakeColumns = "key, id, external_id, name, lon, lat, region, area_km2, outline"

func scanLake(scan func(...any) error) (int64, data.Lake, error) {
	var key int64
	var l data.Lake
	err := scan(&key, (*string)(&l.ID), &l.ExternalID, &l.Name, &l.Point[0], &l.Point[1], &l.Region, &l.AreaKM2, (*string)(&l.Outline))
	return key, l, err
}

// scanLakes passes all lakes on by id, in the order of bytes (SQLite's BINARY collation, the default).
func scanLakes(ctx context.Context, tx *sql.Tx, pass func(data.Lake) error) ([]keyedLake, error) {
	rows, err := tx.QueryContext(ctx, "SELECT "+lakeColumns+" FROM lakes ORDER BY id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var keys []keyedLake
	for rows.Next() {
		key, l, err := scanLake(rows.Scan)
		if err != nil {
			return nil, err
		}
		keys = append(keys, keyedLake{key, l.ID})
		if err := pass(l); err != nil {
			return nil, err
		}
	}
	return keys, rows.Err()
}

// CROSS JOIN keeps SQLite to this order of the loops, lakes by id outside and a range of observations inside, which
// gives the rows in their final order without sorting them.
const scanQuery = `SELECT o.lake, o.date, o.type, o.chl, o.level, o.density, o.measured_at
	FROM lakes AS l CROSS JOIN observations AS o ON o.lake = l.key
	ORDER BY l.id, o.date, o.type`

// scanObservations passes on the observations that a query gives of the lakes in keys, which are in the same order. To
// find an id by walking along keys costs nothing; to read it from every row would cost a string for each.
func scanObservations(ctx context.Context, tx *sql.Tx, keys []keyedLake, pass func(data.Observation) error, query string, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var row observationRow
	at := 0
	for rows.Next() {
		if err := row.scan(rows); err != nil {
			return err
		}
		for at < len(keys) && keys[at].key != row.lake {
			at++
		}
		if at == len(keys) {
			return fmt.Errorf("observation of lake number %d out of order", row.lake)
		}
		if err := pass(row.observation(keys[at].id)); err != nil {
			return err
		}
	}
	return rows.Err()
}

// An observationRow is a row of the table as it is stored.
type observationRow struct {
	lake, date, dataType   int64
	chl, level, measuredAt sql.NullInt64
	density                sql.NullFloat64
}

func (r *observationRow) scan(rows interface{ Scan(...any) error }) error {
	return rows.Scan(&r.lake, &r.date, &r.dataType, &r.chl, &r.level, &r.density, &r.measuredAt)
}

func (r *observationRow) observation(id data.LakeID) data.Observation {
	o := data.Observation{
		LakeID:      id,
		Date:        data.Date(r.date),
		Type:        data.DataType(r.dataType),
		Chlorophyll: data.NoChlorophyll,
		Level:       data.NoLevel,
		CellDensity: data.NoCellDensity,
	}
	if r.chl.Valid {
		o.Chlorophyll = data.Chlorophyll(r.chl.Int64)
	}
	if r.level.Valid {
		o.Level = data.Level(r.level.Int64)
	}
	if r.density.Valid {
		o.CellDensity = r.density.Float64
	}
	if r.measuredAt.Valid {
		o.MeasuredAt = time.Unix(r.measuredAt.Int64, 0).UTC()
	}
	return o
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
		key, lake, err = scanLake(tx.QueryRowContext(ctx, "SELECT "+lakeColumns+" FROM lakes WHERE id = ?", string(id)).Scan)
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

// The primary key, backwards: newest first, and on one date the forecast before the satellite's row.
const historyQuery = `SELECT lake, date, type, chl, level, density, measured_at FROM observations
	WHERE lake = ? AND date BETWEEN ? AND ? ORDER BY date DESC, type DESC`

func lakeHistory(ctx context.Context, tx *sql.Tx, key int64, id data.LakeID, q data.HistoryQuery) ([]data.Observation, error) {
	history := q.Rows()
	if history.Full() { // nothing is asked for
		return nil, nil
	}
	rows, err := tx.QueryContext(ctx, historyQuery, key, int64(q.Period.First), int64(q.Period.Last))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var row observationRow
	for !history.Full() && rows.Next() {
		if err := row.scan(rows); err != nil {
			return nil, err
		}
		history.Add(row.observation(id))
	}
	return history.Picked(), rows.Err()
}
