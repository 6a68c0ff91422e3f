package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"limnomap/data"
)

func (s *postgres) Revision(ctx context.Context) (data.Revision, error) {
	if err := s.prepare(ctx, false); err != nil {
		return data.Revision{}, err
	}
	r, err := readPostgresRevision(ctx, s.pool)
	return r, s.wrap(err, "read the revision")
}

func readPostgresRevision(ctx context.Context, from interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}) (data.Revision, error) {
	var number, at int64
	if err := from.QueryRow(ctx, "SELECT number, changed_at FROM limnomap.revision").Scan(&number, &at); err != nil {
		return data.Revision{}, err
	}
	return data.Revision{Number: number, ChangedAt: time.Unix(at, 0).UTC()}, nil
}

// read runs fn in a transaction that sees one state of the database, the one of its first query.
func (s *postgres) read(ctx context.Context, fn func(pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, fn)
}

// The rows of one lake come from each year's index in order, one year after the other. The lateral query can only be the
// inner side of a loop over lakes, which keeps the order of both; to sort by all of it would take most of the time.
const postgresScanQuery = `SELECT o.lake, o.date, o.type, o.chl, o.level, o.density, o.measured_at
	FROM limnomap.lakes AS l CROSS JOIN LATERAL (
		SELECT * FROM limnomap.observations WHERE lake = l.key ORDER BY date, type OFFSET 0) AS o
	ORDER BY l.id`

const postgresPastQuery = `SELECT o.lake, o.date, o.type, o.chl, o.level, o.density, o.measured_at
	FROM limnomap.lakes AS l CROSS JOIN LATERAL (
		(SELECT * FROM limnomap.observations WHERE lake = l.key AND date < $1 AND type = 0 AND chl IS NOT NULL
			ORDER BY date DESC LIMIT 1)
		UNION ALL
		(SELECT * FROM limnomap.observations WHERE lake = l.key AND date BETWEEN $1 AND $2 AND type = 0 ORDER BY date)
		ORDER BY date OFFSET 0) AS o
	ORDER BY l.id`

// orderedPlan keeps the planner from reading all rows and sorting them, which it thinks cheaper when it does not know
// how many there are: it would put years of rows on the server's disk before the first is passed on.
const orderedPlan = "SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_seqscan = off; " +
	"SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off; SET LOCAL max_parallel_workers_per_gather = 0"

func (s *postgres) Scan(ctx context.Context, lake func(data.Lake) error, observation func(data.Observation) error) (data.Revision, error) {
	return s.pass(ctx, lake, observation, postgresScanQuery)
}

func (s *postgres) Past(ctx context.Context, period data.Period, observation func(data.Observation) error) (data.Revision, error) {
	return s.pass(ctx, nil, observation, postgresPastQuery, int32(period.First), int32(period.Last))
}

// pass passes all lakes on, and then the observations that a query gives, all of one state.
func (s *postgres) pass(ctx context.Context, lake func(data.Lake) error, observation func(data.Observation) error, query string, args ...any) (data.Revision, error) {
	if err := s.prepare(ctx, false); err != nil {
		return data.Revision{}, err
	}
	var rev data.Revision
	var callback error // passed on as it is: it is not the database's
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := func(err error) error {
		if err != nil {
			callback = err
			cancel() // or the rows that nobody wants any more would be read to their end
		}
		return err
	}
	err := s.read(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, orderedPlan); err != nil {
			return err
		}
		var err error
		if rev, err = readPostgresRevision(ctx, tx); err != nil {
			return err
		}
		var keys []keyedLake
		if lake != nil {
			keys, err = scanPostgresLakes(ctx, tx, func(l data.Lake) error { return stop(lake(l)) })
		} else {
			keys, err = postgresKeys(ctx, tx)
		}
		if err != nil {
			return err
		}
		return scanPostgresObservations(ctx, tx, keys, func(o data.Observation) error { return stop(observation(o)) }, query, args...)
	})
	if callback != nil {
		return data.Revision{}, callback
	}
	if err != nil {
		return data.Revision{}, s.wrap(err, "read lakes and observations")
	}
	return rev, nil
}

func scanPostgresLake(row pgx.Row) (int64, data.Lake, error) {
	return scanLake(func(into ...any) error {
		var outline []byte // a driver does not take bytes for a text
		to := into[len(into)-1].(*string)
		into[len(into)-1] = &outline
		err := row.Scan(into...)
		*to = string(outline)
		return err
	})
}

// scanPostgresLakes passes all lakes on by id.
func scanPostgresLakes(ctx context.Context, tx pgx.Tx, pass func(data.Lake) error) ([]keyedLake, error) {
	rows, err := tx.Query(ctx, "SELECT "+lakeColumns+" FROM limnomap.lakes ORDER BY id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var keys []keyedLake
	for rows.Next() {
		key, l, err := scanPostgresLake(rows)
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

// postgresKeys returns the numbers of all lakes by id.
func postgresKeys(ctx context.Context, tx pgx.Tx) ([]keyedLake, error) {
	rows, err := tx.Query(ctx, "SELECT key, id FROM limnomap.lakes ORDER BY id")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (l keyedLake, err error) {
		err = row.Scan(&l.key, (*string)(&l.id))
		return l, err
	})
}

// scanPostgresObservations passes on the observations that a query gives of the lakes in keys, which are in the same
// order, and each lake's by date and type. The rows are read from the connection one by one, as they are passed on.
func scanPostgresObservations(ctx context.Context, tx pgx.Tx, keys []keyedLake, pass func(data.Observation) error, query string, args ...any) error {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var last, row observationRow
	at := 0
	for rows.Next() {
		if err := row.scanPostgres(rows); err != nil {
			return err
		}
		for at < len(keys) && keys[at].key != row.lake {
			at++
		}
		if at == len(keys) || row.lake == last.lake && (row.date < last.date || row.date == last.date && row.dataType <= last.dataType) {
			return fmt.Errorf("observation of lake number %d on %s out of order", row.lake, data.Date(row.date))
		}
		if err := pass(row.observation(keys[at].id)); err != nil {
			return err
		}
		last = row
	}
	return rows.Err()
}

// scanPostgres takes a row in the binary form that pgx asks for, unless the URL wants another. To scan its columns one
// by one would take longer than all else that is done with it.
func (r *observationRow) scanPostgres(rows pgx.Rows) error {
	for _, f := range rows.FieldDescriptions() {
		if f.Format != pgx.BinaryFormatCode {
			return r.scan(rows)
		}
	}
	var v [7]sql.NullInt64
	for i, b := range rows.RawValues() {
		var err error
		if v[i], err = integer(b); err != nil {
			return fmt.Errorf("column %d of observations: %w", i+1, err)
		}
	}
	*r = observationRow{lake: v[0].Int64, date: v[1].Int64, dataType: v[2].Int64, chl: v[3], level: v[4], measuredAt: v[6],
		density: sql.NullFloat64{Float64: math.Float64frombits(uint64(v[5].Int64)), Valid: v[5].Valid}}
	return nil
}

// integer takes the binary form of an integer, or the bits of a number.
func integer(b []byte) (v sql.NullInt64, err error) {
	v.Valid = b != nil
	switch {
	case b == nil: // NULL
	case len(b) == 2:
		v.Int64 = int64(int16(binary.BigEndian.Uint16(b)))
	case len(b) == 4:
		v.Int64 = int64(int32(binary.BigEndian.Uint32(b)))
	case len(b) == 8:
		v.Int64 = int64(binary.BigEndian.Uint64(b))
	default:
		err = fmt.Errorf("a number of %d bytes", len(b))
	}
	return v, err
}

// The key backwards gives the dates; of one date the satellite's row stands first. A forecast is left out beside a value.
const postgresHistoryQuery = `SELECT o.lake, o.date, o.type, o.chl, o.level, o.density, o.measured_at
	FROM limnomap.observations AS o
	WHERE o.lake = (SELECT key FROM limnomap.lakes WHERE id = $1) AND o.date BETWEEN $2 AND $3 AND o.type = ANY($4)
		AND (o.type = 0 OR NOT EXISTS (SELECT FROM limnomap.observations AS s
			WHERE s.lake = o.lake AND s.date = o.date AND s.type = 0 AND s.chl IS NOT NULL))
	ORDER BY o.date DESC, o.type LIMIT $5`

func (s *postgres) History(ctx context.Context, id data.LakeID, q data.HistoryQuery) (data.Lake, []data.Observation, error) {
	if _, err := data.ParseLakeID(string(id)); err != nil { // PostgreSQL takes no text that is not UTF-8 or holds a zero
		return data.Lake{}, nil, fmt.Errorf("lake %q: %w", id, data.ErrNoLake)
	}
	if err := s.prepare(ctx, false); err != nil {
		return data.Lake{}, nil, err
	}
	var lake data.Lake
	var history []data.Observation
	err := s.read(ctx, func(tx pgx.Tx) error {
		both := new(pgx.Batch) // in one round trip
		both.Queue("SELECT "+lakeColumns+" FROM limnomap.lakes WHERE id = $1", string(id)).QueryRow(func(row pgx.Row) (err error) {
			_, lake, err = scanPostgresLake(row)
			return err
		})
		both.Queue(postgresHistoryQuery, string(id), int32(q.Period.First), int32(q.Period.Last), typeNumbers(q.Types), max(q.Limit, 0)).Query(func(rows pgx.Rows) (err error) {
			history, err = collectHistory(rows, id)
			return err
		})
		return tx.SendBatch(ctx, both).Close()
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return data.Lake{}, nil, fmt.Errorf("lake %q: %w", id, data.ErrNoLake)
	case err != nil:
		return data.Lake{}, nil, s.wrap(err, "read a lake's history")
	}
	return lake, history, nil
}

func typeNumbers(s data.DataTypes) (numbers []int16) {
	for _, t := range []data.DataType{data.Satellite, data.Forecast} {
		if s.Has(t) {
			numbers = append(numbers, int16(t))
		}
	}
	return numbers
}

func collectHistory(rows pgx.Rows, id data.LakeID) (history []data.Observation, err error) {
	defer rows.Close()
	var row observationRow
	for rows.Next() {
		if err := row.scanPostgres(rows); err != nil {
			return nil, err
		}
		history = append(history, row.observation(id))
	}
	return history, rows.Err()
}
