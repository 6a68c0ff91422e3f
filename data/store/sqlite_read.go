package store

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"strings"

	"limnomap/data"
)

// A sqliteQuerier runs statements in a transaction, or on any connection of a pool.
type sqliteQuerier struct {
	db interface {
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
		QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	}
	conn *sql.Conn // of the transaction, or nil
}

func (q sqliteQuerier) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	result, err := q.db.ExecContext(ctx, forSQLite.Replace(statement), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (q sqliteQuerier) queryRow(ctx context.Context, query string, args ...any) rowScanner {
	return q.db.QueryRowContext(ctx, forSQLite.Replace(query), args...)
}

func (q sqliteQuerier) query(ctx context.Context, fn func(rowIterator) error, query string, args ...any) error {
	rows, err := q.db.QueryContext(ctx, forSQLite.Replace(query), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if err := fn(sqliteRows{rows}); err != nil {
		return err
	}
	return rows.Err()
}

// rowsAtATime is how many rows one statement inserts, which takes half the time of one statement each.
const rowsAtATime = 64

func (q sqliteQuerier) insert(ctx context.Context, table, columns string, rows iter.Seq2[[]any, error], onConflict string) (written int64, err error) {
	row := "(" + repeated("?", strings.Count(columns, ",")+1) + ")"
	statement := func(rows int) string {
		return "INSERT INTO " + table + " AS r (" + columns + ") VALUES " + repeated(row, rows) + onConflict
	}
	many, err := q.db.(*sql.Tx).PrepareContext(ctx, statement(rowsAtATime))
	if err != nil {
		return 0, err
	}
	defer many.Close()
	var values []any
	n := 0
	add := func(result sql.Result, err error) error {
		if err == nil {
			var added int64
			added, err = result.RowsAffected()
			written += added
		}
		values, n = values[:0], 0
		return err
	}
	for row, err := range rows {
		if err != nil {
			return 0, err
		}
		if values, n = append(values, row...), n+1; n < rowsAtATime {
			continue
		}
		if err := add(many.ExecContext(ctx, values...)); err != nil {
			return 0, err
		}
	}
	if n > 0 {
		err = add(q.db.ExecContext(ctx, statement(n), values...))
	}
	return written, err
}

type sqliteRows struct{ *sql.Rows }

func (r sqliteRows) scanObservation(o *observationRow) error { return o.scan(r.Rows) }

func (s *sqlite) query(ctx context.Context, doing string, fn func(querier) error) error {
	return s.snapshot(ctx, doing, func(_ context.Context, q querier) error { return fn(q) })
}

func (s *sqlite) snapshot(ctx context.Context, doing string, fn func(context.Context, querier) error) error {
	if err := s.hold(ctx); err != nil {
		return err
	}
	defer s.mu.RUnlock()
	return s.wrap(s.read(ctx, func(q querier) error { return fn(ctx, q) }), doing)
}

func (s *sqlite) update(ctx context.Context, doing string, fn func(querier) error) error {
	if err := s.hold(ctx); err != nil {
		return err
	}
	defer s.mu.RUnlock()
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return s.wrap(err, doing)
	}
	defer tx.Rollback() // no effect after a commit
	if err := fn(sqliteQuerier{db: tx}); err != nil {
		return s.wrap(err, doing)
	}
	return s.wrap(tx.Commit(), doing)
}

func (s *sqlite) fileGeneration() int64 { return s.generation.Load() }

// believe does nothing: an SQLite database is no standby.
func (s *sqlite) believe(context.Context, data.Revision, sql.NullFloat64) error { return nil }

// read runs fn in a transaction that sees one state of the database, that of its first query. The caller holds s.mu.
//
// A connection caches pages, and drops them only if the log says that another process has changed them. So it would not
// notice a file that was truncated or damaged. Dropping the cache before each read takes microseconds, since the system
// caches the file's pages too.
func (s *sqlite) read(ctx context.Context, fn func(querier) error) error {
	conn, err := s.readers.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback() // there is nothing to commit
	if _, err := tx.ExecContext(ctx, "PRAGMA shrink_memory"); err != nil {
		return err
	}
	if err := fn(sqliteQuerier{tx, conn}); err != nil {
		return err
	}
	// A connection made at the time of a replacement may have read the new file with the old file's log.
	return s.checkOpenFiles()
}

// CROSS JOIN makes SQLite loop over lakes by id, and inside over a range of observations, so that the rows need no sorting.
var scanQuery = "SELECT " + observationColumns + sqliteDetails + `
	FROM lakes AS l CROSS JOIN observations AS o ON o.lake = l.key
	ORDER BY l.id, o.date, o.type, o.source`

// The newest usable row before the period is found from the period backwards, for passes and for samples. From the older of the two on,
// and from six days before the pass, which may be a Sunday's, the rows of a lake are one range of the primary key.
var pastQuery = "SELECT " + observationColumns + sqliteDetails + `
	FROM lakes AS l CROSS JOIN observations AS o ON o.lake = l.key AND o.date BETWEEN
		min(coalesce(` + newestPass + ` - 6, ?1), coalesce(` + newestSample + `, ?1)) AND ?2
	WHERE o.type <> 1 AND (o.date >= ?1 OR o.chl IS NOT NULL AND coalesce(o.details ->> 'quality', '') <> 'poor' AND
		CASE o.type WHEN 0 THEN ` + weekOf("o.date") + ` = ` + weekOf(newestPass) + ` ELSE o.date = ` + newestSample + ` END)
	ORDER BY l.id, o.date, o.type, o.source`

const (
	newestPass   = "(SELECT max(b.date) FROM observations AS b " + usableBefore + "0)"
	newestSample = "iif(EXISTS (SELECT 1 FROM sampled_lakes AS s WHERE s.lake = l.key), (SELECT max(b.date) FROM observations AS b " + usableBefore + "2), NULL)"
	usableBefore = `WHERE b.lake = l.key AND b.date < ?1 AND b.chl IS NOT NULL
		AND coalesce(b.details ->> 'quality', '') <> 'poor' AND b.type = `
)

var sqliteSampled = "SELECT " + idColumns + " FROM sampled_lakes AS s JOIN lakes AS l ON l.key = s.lake ORDER BY s.lake"

var sqliteNearSamples = "SELECT " + observationColumns + sqliteDetails + `
	FROM sampled_lakes AS s CROSS JOIN observations AS o ON o.lake = s.lake
	WHERE o.type = 2 OR o.type = 0 AND EXISTS (SELECT 1 FROM observations AS b WHERE b.lake = o.lake AND b.date BETWEEN o.date - ?1 AND o.date + ?1 AND b.type = 2)
	ORDER BY s.lake, o.date, o.type, o.source`

func (s *sqlite) history(ctx context.Context, id data.LakeID, q data.HistoryQuery) (lake data.Lake, history []data.Observation, err error) {
	err = s.snapshot(ctx, "read a lake's history", func(ctx context.Context, tx querier) (err error) {
		var key int64
		key, lake, err = newLakeScanner().scan(tx.queryRow(ctx, "SELECT "+lakeColumns+" FROM lakes WHERE id = ?", string(id)))
		if errors.Is(err, sql.ErrNoRows) {
			return callerError{noLake(id)}
		}
		if err == nil {
			history, err = lakeHistory(ctx, tx, key, id, q)
		}
		return err
	})
	if err != nil {
		return data.Lake{}, nil, err
	}
	return lake, history, nil
}

var historyQuery = "SELECT " + observationColumns + sqliteDetails + ` FROM observations AS o
	WHERE o.lake = ? AND o.date BETWEEN ? AND ? ORDER BY o.date DESC, o.type DESC, o.source DESC`

func lakeHistory(ctx context.Context, tx querier, key int64, id data.LakeID, q data.HistoryQuery) ([]data.Observation, error) {
	history := q.Rows()
	if history.Full() { // nothing is asked for
		return nil, nil
	}
	sources, err := readSources(ctx, tx)
	if err != nil {
		return nil, err
	}
	err = queryBulk(ctx, tx, func(rows rowIterator) error {
		var row observationRow
		for !history.Full() && rows.Next() {
			if err := rows.scanObservation(&row); err != nil {
				return err
			}
			o, err := row.observation(id, sources)
			if err != nil {
				return err
			}
			history.Add(o)
		}
		return nil
	}, historyQuery, key, int64(q.Period.First), int64(q.Period.Last))
	return history.Picked(), err
}
