package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"limnomap/data"
)

// A postgresQuerier runs statements in a transaction, or on any connection of a pool.
type postgresQuerier struct {
	db interface {
		Exec(ctx context.Context, statement string, args ...any) (pgconn.CommandTag, error)
		Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
		QueryRow(ctx context.Context, query string, args ...any) pgx.Row
	}
	rows *atomic.Int64 // counts the rows that were read; nil if no one needs the number
}

func (q postgresQuerier) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	result, err := q.db.Exec(ctx, statement, args...)
	return result.RowsAffected(), err
}

func (q postgresQuerier) queryRow(ctx context.Context, query string, args ...any) rowScanner {
	return q.db.QueryRow(ctx, query, args...)
}

// query reads the rows from the connection one by one, as they are passed on.
func (q postgresQuerier) query(ctx context.Context, fn func(rowIterator) error, query string, args ...any) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rows, err := q.db.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if err := fn(postgresRows{rows, q.rows}); err != nil {
		cancel() // otherwise Close would read all remaining rows
		return err
	}
	return rows.Err()
}

// insert copies the rows, if they may be stored already by way of a temporary table.
func (q postgresQuerier) insert(ctx context.Context, table, columns string, rows iter.Seq2[[]any, error], onConflict string) (int64, error) {
	into := pgx.Identifier{"limnomap", table}
	if onConflict != "" {
		into = pgx.Identifier{"incoming"}
		if _, err := q.exec(ctx, "CREATE TEMPORARY TABLE incoming (LIKE limnomap."+table+") ON COMMIT DROP"); err != nil {
			return 0, err
		}
	}
	next, stop := iter.Pull2(rows)
	defer stop()
	written, err := q.db.(pgx.Tx).CopyFrom(ctx, into, strings.Split(columns, ", "), pgx.CopyFromFunc(func() ([]any, error) {
		row, err, _ := next() // nil after the last one
		return row, err
	}))
	if err != nil || onConflict == "" {
		return written, err
	}
	written, err = q.exec(ctx, "INSERT INTO limnomap."+table+" AS r ("+columns+") SELECT "+columns+" FROM incoming"+onConflict)
	if err == nil {
		_, err = q.exec(ctx, "DROP TABLE incoming")
	}
	return written, err
}

type postgresRows struct {
	pgx.Rows
	count *atomic.Int64
}

func (r postgresRows) Next() bool {
	if r.count != nil {
		r.count.Add(1)
	}
	return r.Rows.Next()
}

func (r postgresRows) scanObservation(o *observationRow) error { return o.scanPostgres(r.Rows) }

func (s *postgres) query(ctx context.Context, doing string, fn func(querier) error) error {
	if err := s.prepare(ctx, false); err != nil {
		return err
	}
	return s.wrap(fn(postgresQuerier{db: s.pool}), doing)
}

func (s *postgres) snapshot(ctx context.Context, doing string, fn func(context.Context, querier) error) error {
	if err := s.prepare(ctx, false); err != nil {
		return err
	}
	ctx, w := watchStalls(ctx, s.stallTimeout)
	defer w.stop()
	err := s.read(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, orderedPlan); err != nil {
			return err
		}
		return fn(ctx, postgresQuerier{tx, &w.rows})
	})
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errStalled) {
		err = cause
	}
	return s.wrap(err, doing)
}

func (s *postgres) update(ctx context.Context, doing string, fn func(querier) error) error {
	if err := s.prepare(ctx, false); err != nil {
		return err
	}
	return s.wrap(pgx.BeginFunc(ctx, s.primary, func(tx pgx.Tx) error { return fn(postgresQuerier{db: tx}) }), doing)
}

// fileGeneration returns 0: the files of PostgreSQL are not replaced while limnomap runs.
func (s *postgres) fileGeneration() int64 { return 0 }

// read runs fn in a transaction that sees one state of the database, that of its first query.
func (s *postgres) read(ctx context.Context, fn func(pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, fn)
}

// lockKeys prevents others from changing keys, not from reading them.
const lockKeys = "LOCK TABLE limnomap.api_keys IN SHARE ROW EXCLUSIVE MODE"

// The rows of one lake are read in order from the index of each year, one year after the other. The lateral query can only
// be the inner side of a loop over lakes, which keeps the order of both. Sorting all rows would take most of the time.
var postgresScanQuery = "SELECT " + observationColumns + postgresDetails + `
	FROM limnomap.lakes AS l CROSS JOIN LATERAL (
		SELECT * FROM limnomap.observations WHERE lake = l.key ORDER BY date, type, source OFFSET 0) AS o
	ORDER BY l.id`

// The rows of the newest date before the period are found from the period backwards, for passes and for samples; of passes also those
// earlier in its week.
var postgresPastQuery = "SELECT " + observationColumns + postgresDetails + `
	FROM limnomap.lakes AS l CROSS JOIN LATERAL (` + postgresUsableRows + "date < $1 AND date >= (SELECT " + mondayOf("b.date") +
	postgresNewest + "type = 0" + postgresBefore + "type = 0) UNION ALL " +
	postgresUsableRows + "date = (SELECT b.date" + postgresNewest + "type = 2" + postgresBefore + `type = 2) UNION ALL
		(SELECT * FROM limnomap.observations WHERE lake = l.key AND date BETWEEN $1 AND $2 AND type <> 1 ORDER BY date, type, source)
		ORDER BY date, type, source OFFSET 0) AS o
	ORDER BY l.id`

// postgresIsSampled is about a lake l. The index of samples answers it.
const postgresIsSampled = "EXISTS (SELECT 1 FROM limnomap.observations AS b WHERE b.lake = l.key AND b.type = 2)"

var (
	postgresSampled     = "SELECT " + idColumns + " FROM limnomap.lakes AS l WHERE " + postgresIsSampled + " ORDER BY l.key"
	postgresNearSamples = "SELECT " + observationColumns + postgresDetails + `
	FROM limnomap.lakes AS l CROSS JOIN LATERAL (
		SELECT * FROM limnomap.observations AS p WHERE p.lake = l.key AND (p.type = 2 OR p.type = 0 AND EXISTS (
			SELECT 1 FROM limnomap.observations AS b WHERE b.lake = l.key AND b.date BETWEEN p.date - $1 AND p.date + $1 AND b.type = 2))
		ORDER BY date, type, source OFFSET 0) AS o
	WHERE ` + postgresIsSampled + `
	ORDER BY l.key`
)

const (
	postgresUsable     = "chl IS NOT NULL AND coalesce(details ->> 'quality', '') <> 'poor'"
	postgresUsableRows = "(SELECT * FROM limnomap.observations WHERE lake = l.key AND " + postgresUsable + " AND "
	postgresNewest     = " FROM limnomap.observations AS b WHERE b.lake = l.key AND b.date < $1 AND " + postgresUsable + " AND b."
	postgresBefore     = " ORDER BY b.date DESC LIMIT 1) AND "
)

// orderedPlan keeps the planner from reading and sorting all rows, which it estimates as cheaper without statistics: the
// server would write years of rows to its disk before it sent the first one.
const orderedPlan = "SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_seqscan = off; " +
	"SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off; SET LOCAL max_parallel_workers_per_gather = 0"

// scanPostgres decodes a row in the binary format that pgx requests, unless the URL sets another format. rows.Scan would
// take more time than everything else that is done with the row. The columns of a view in place of the table may have other types,
// whose bytes mean something else: they are an error.
func (r *observationRow) scanPostgres(rows pgx.Rows) error {
	const lake, date, dataType, source, chl, level, density, measuredAt, details, columns = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
	binaryFormat := true
	fields := rows.FieldDescriptions()
	if len(fields) != columns {
		return fmt.Errorf("an observation has %d columns, want %d", len(fields), columns)
	}
	for i, f := range fields {
		right := f.DataTypeOID == pgtype.Int4OID || f.DataTypeOID == pgtype.Int2OID || f.DataTypeOID == pgtype.Int8OID
		want := "smallint, integer or bigint"
		switch i {
		case density:
			right, want = f.DataTypeOID == pgtype.Float8OID, "double precision"
		case details:
			right, want = f.DataTypeOID == pgtype.JSONBOID, "jsonb"
		}
		if !right {
			return fmt.Errorf("column %.80q of observations has another type (number %d of pg_type), want %s", f.Name, f.DataTypeOID, want)
		}
		binaryFormat = binaryFormat && (f.Format == pgx.BinaryFormatCode || i == details) // pgx requests jsonb as text
	}
	if !binaryFormat {
		return r.scan(rows)
	}
	var v [details]sql.NullInt64 // of the columns before details
	values := rows.RawValues()
	for i, b := range values[:details] {
		var err error
		if v[i], err = integer(b); err != nil {
			return fmt.Errorf("column %d of observations: %w", i+1, err)
		}
	}
	if !v[lake].Valid || !v[date].Valid || !v[dataType].Valid || !v[source].Valid {
		return fmt.Errorf("an observation of lake number %d lacks its lake, date, type or source", v[lake].Int64)
	}
	*r = observationRow{lake: v[lake].Int64, date: v[date].Int64, dataType: v[dataType].Int64, source: v[source].Int64,
		chl: v[chl], level: v[level], measuredAt: v[measuredAt],
		density: sql.NullFloat64{Float64: math.Float64frombits(uint64(v[density].Int64)), Valid: v[density].Valid}}
	r.details = values[details]
	if fields[details].Format == pgx.BinaryFormatCode && r.details != nil {
		const version = 1 // of the binary format of jsonb: its first byte, before the text
		if len(r.details) == 0 || r.details[0] != version {
			return fmt.Errorf("the details of an observation of lake number %d are not in version %d of the format of jsonb", r.lake, version)
		}
		r.details = r.details[1:]
	}
	return nil
}

// integer decodes an integer in binary format, or the bits of a floating-point number.
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
		err = fmt.Errorf("number of %d bytes", len(b))
	}
	return v, err
}

// The primary key in reverse order gives the dates. On one date samples are first and forecasts last, and a forecast is left out if
// there is a measured value that is not poor.
var postgresHistoryQuery = "SELECT " + observationColumns + postgresDetails + `
	FROM limnomap.observations AS o
	WHERE o.lake = (SELECT key FROM limnomap.lakes WHERE id = $1) AND o.date BETWEEN $2 AND $3 AND o.type = ANY($4)
		AND (o.type <> 1 OR NOT EXISTS (SELECT FROM limnomap.observations AS s
			WHERE s.lake = o.lake AND s.date = o.date AND s.type <> 1 AND s.chl IS NOT NULL
				AND s.details->>'quality' IS DISTINCT FROM 'poor'))
	ORDER BY o.date DESC, CASE o.type WHEN 2 THEN 0 WHEN 0 THEN 1 ELSE 2 END,
		(SELECT name FROM limnomap.sources WHERE key = o.source) NULLS FIRST LIMIT $5`

func (s *postgres) history(ctx context.Context, id data.LakeID, q data.HistoryQuery) (data.Lake, []data.Observation, error) {
	if _, err := data.ParseLakeID(string(id)); err != nil { // PostgreSQL rejects a text with a zero byte or invalid UTF-8
		return data.Lake{}, nil, noLake(id)
	}
	if err := s.prepare(ctx, false); err != nil {
		return data.Lake{}, nil, err
	}
	var lake data.Lake
	var history []data.Observation
	err := s.read(ctx, func(tx pgx.Tx) error {
		sources := newKnownSources()
		all := new(pgx.Batch) // in one round trip
		all.Queue(sourcesQuery).Query(func(rows pgx.Rows) error {
			if err := cmp.Or(eachRow(sources.scan)(postgresRows{Rows: rows}), rows.Err()); err != nil {
				return err
			}
			return sources.finish()
		})
		all.Queue("SELECT "+lakeColumns+" FROM limnomap.lakes WHERE id = $1", string(id)).QueryRow(func(row pgx.Row) (err error) {
			_, lake, err = newLakeScanner().scan(row)
			return err
		})
		all.Queue(postgresHistoryQuery, string(id), int32(q.Period.First), int32(q.Period.Last), typeNumbers(q.Types), max(q.Limit, 0)).Query(func(rows pgx.Rows) (err error) {
			history, err = collectHistory(rows, id, sources)
			return err
		})
		return tx.SendBatch(ctx, all).Close()
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return data.Lake{}, nil, noLake(id)
	case err != nil:
		return data.Lake{}, nil, s.wrap(err, "read a lake's history")
	}
	return lake, history, nil
}

func typeNumbers(s data.DataTypes) (numbers []int16) {
	for _, t := range data.AllDataTypes() {
		if s.Has(t) {
			numbers = append(numbers, int16(t))
		}
	}
	return numbers
}

func collectHistory(rows pgx.Rows, id data.LakeID, sources *knownSources) (history []data.Observation, err error) {
	defer rows.Close()
	var row observationRow
	for rows.Next() {
		if err := row.scanPostgres(rows); err != nil {
			return nil, err
		}
		o, err := row.observation(id, sources)
		if err != nil {
			return nil, err
		}
		history = append(history, o)
	}
	return history, rows.Err()
}
