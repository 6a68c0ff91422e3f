package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"limnomap/data"
)

// rollbackTimeout bounds the wait for the server to confirm a rollback. The transaction is undone without it too.
const rollbackTimeout = 5 * time.Second

func (s *postgres) Import(ctx context.Context, fn func(Tx) error) error {
	if err := s.prepare(ctx, true); err != nil {
		return err
	}
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return s.wrap(err, "begin an import")
	}
	defer func() { // no effect after a commit; also if fn panics
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
		defer cancel()
		_ = tx.Rollback(ctx) // an error ends the connection, and with it the transaction
	}()
	w := &postgresTx{store: s, tx: tx, imported: newImportedKeys(), keys: make(map[data.LakeID]int32), years: make(map[partition]*year)}
	if err := w.begin(ctx); err != nil {
		return s.wrap(err, "begin an import")
	}
	if err := fn(w); err != nil {
		return err
	}
	if w.err != nil {
		return w.err
	}
	for p := range w.years {
		if err := w.attach(ctx, p); err != nil {
			return s.wrap(err, "make the key of a new year")
		}
	}
	if w.changed {
		if err := w.raise(ctx); err != nil {
			return s.wrap(err, "raise the revision")
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return s.wrap(err, "commit an import")
	}
	w.vacuum(ctx)
	return nil
}

// A postgresTx is the transaction of one import. No other transaction writes, so what it has read stays valid. It copies
// the rows of a batch into a temporary table, and in one statement compares them with the stored rows and writes those that
// differ. Rows of a year that had no partition are copied directly into the new one. Rows with a repeated key are only
// compared, after the others are written.
type postgresTx struct {
	store    *postgres
	tx       pgx.Tx
	imported *importedKeys
	changed  bool
	err      error // the first error of a statement: then nothing is committed

	keys     map[data.LakeID]int32
	sources  sourceNumbers
	years    map[partition]*year // existing partitions
	repeated []int               // rows of the last batch
	copied   []int               // rows of the last batch in the temporary table

	advisories advisoryImport
}

// Without statistics the planner would read all observations to compare them with a batch.
const beginImport = `
	SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
	CREATE TEMPORARY TABLE incoming_lakes (n integer NOT NULL, id text COLLATE "C" NOT NULL, external_id text NOT NULL, name text NOT NULL,
		lon double precision NOT NULL, lat double precision NOT NULL, region text NOT NULL, area_km2 double precision NOT NULL,
		outline bytea NOT NULL) ON COMMIT DROP;
	CREATE TEMPORARY TABLE incoming (n integer NOT NULL, lake integer NOT NULL, date integer NOT NULL, type smallint NOT NULL,
		source smallint NOT NULL, chl integer, level smallint, density double precision, measured_at bigint, details jsonb) ON COMMIT DROP`

// begin waits for other imports, and creates the temporary tables.
func (t *postgresTx) begin(ctx context.Context) error {
	if _, err := t.tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(importLock)); err != nil {
		return err
	}
	_, err := t.tx.Exec(ctx, beginImport)
	return err
}

// raise raises the revision, and notifies listeners when the import is committed.
func (t *postgresTx) raise(ctx context.Context) error {
	_, err := t.tx.Exec(ctx, "UPDATE limnomap.revision SET number = number + 1, changed_at = $1", t.store.now().Unix())
	if err == nil {
		_, err = t.tx.Exec(ctx, "SELECT pg_notify($1, '')", noticeChannel)
	}
	return err
}

func (t *postgresTx) PutRaster(ctx context.Context, holder string, record data.RasterRecord) error {
	return t.fail(ctx, putRaster(ctx, postgresQuerier{db: t.tx}, holder, record), "store a satellite file")
}

func (t *postgresTx) EndRefresh(ctx context.Context, holder string, result data.RefreshResult) error {
	return t.fail(ctx, endRefresh(ctx, postgresQuerier{db: t.tx}, t.store.now(), holder, result), "end a refresh")
}

func (t *postgresTx) Repeated() []int { return t.repeated }

// fail returns err wrapped, and keeps the first error that is a failure of the database.
func (t *postgresTx) fail(ctx context.Context, err error, doing string) error {
	if err == nil {
		return nil
	}
	if err, ok := forCaller(err); ok {
		return err
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	var e *pgconn.PgError
	if errors.As(err, &e) && e.Where != "" { // the row that a COPY rejected
		err = fmt.Errorf("%w (%s)", err, e.Where)
	}
	err = t.store.wrap(err, doing)
	if t.err == nil {
		t.err = err
	}
	return err
}

func (t *postgresTx) PutObservations(ctx context.Context, observations []data.Observation, keep ObservationColumns) ([]Change, error) {
	changes := make([]Change, len(observations))
	return changes, t.fail(ctx, t.putObservations(ctx, observations, keep, changes), "write observations")
}

func (t *postgresTx) putObservations(ctx context.Context, observations []data.Observation, keep ObservationColumns, changes []Change) error {
	if err := t.findKeys(ctx, len(observations), func(i int) data.LakeID { return observations[i].LakeID }); err != nil {
		return err
	}
	in, err := t.sortRows(ctx, observations, changes)
	if err != nil {
		return err
	}
	t.repeated, t.copied = in.repeated, nil
	for p, rows := range in.fresh {
		if err := t.copyObservations(ctx, p.table(), observations, rows, false); err != nil {
			return err
		}
		t.years[p].written += len(rows)
		t.changed = true
	}
	write := func(rows []int, query string) error {
		if len(rows) == 0 {
			return nil
		}
		if !slices.Equal(rows, t.copied) {
			if err := t.copyIncoming(ctx, observations, rows); err != nil {
				return err
			}
		}
		err := t.readChanges(ctx, changes, query, keep.Level, keep.CellDensity, keep.MeasuredAt, detailsPatch("", keep), keptNames(keep),
			detailsPatch("", keep.ofNewValue()), keptNames(keep.ofNewValue()), keep.Chlorophyll, keep.Flags, keep.reportPatch())
		for _, i := range rows {
			if changes[i] == Added || changes[i] == Changed {
				t.years[partitionOf(observations[i].Date)].written++
			}
		}
		return err
	}
	first, err := t.compareFirst(ctx, observations, in.first, keep, changes)
	if err != nil {
		return err
	}
	if err := write(first, writeObservations); err != nil {
		return err
	}
	for _, i := range in.repeated {
		if err := t.attach(ctx, partitionOf(observations[i].Date)); err != nil {
			return err
		}
	}
	for again := in.repeated; len(again) > 0; {
		r, err := t.compareRepeated(ctx, observations, again, keep, changes)
		if err != nil {
			return err
		}
		if err := write(r.same, compareObservations); err != nil {
			return err
		}
		if err := write(r.write, writeObservations); err != nil {
			return err
		}
		again = r.rest
	}
	return nil
}

// copyIncoming replaces the rows of the temporary table.
func (t *postgresTx) copyIncoming(ctx context.Context, observations []data.Observation, rows []int) error {
	if _, err := t.tx.Exec(ctx, "TRUNCATE incoming"); err != nil {
		return err
	}
	t.copied = rows
	return t.copyObservations(ctx, pgx.Identifier{"incoming"}, observations, rows, true)
}

// sortedRows are the rows of known lakes in a batch, by index.
type sortedRows struct {
	fresh    map[partition][]int // first rows of their key, of years that this import created: all are new
	first    []int               // first rows of their key, of other years
	repeated []int               // rows whose key is repeated
}

// sortRows sorts rows without a query.
func (t *postgresTx) sortRows(ctx context.Context, observations []data.Observation, changes []Change) (sortedRows, error) {
	in := sortedRows{fresh: make(map[partition][]int)}
	for i, o := range observations {
		key, known := t.keys[o.LakeID]
		if !known {
			changes[i] = UnknownLake
			continue
		}
		source, err := t.sources.of(ctx, postgresQuerier{db: t.tx}, o.Source)
		if errors.Is(err, errManySources) {
			changes[i] = ManySources
			continue
		}
		if err != nil {
			return in, err
		}
		p, err := t.yearOf(ctx, o.Date)
		if err != nil {
			return in, err
		}
		switch {
		case !t.imported.addObservation(int64(key), o.Date, o.Type, source):
			in.repeated = append(in.repeated, i)
		case t.years[p].fresh:
			changes[i] = Added
			in.fresh[p] = append(in.fresh[p], i)
		default:
			in.first = append(in.first, i)
		}
	}
	return in, nil
}

// readChanges reads from the result of a statement what happened to each row.
func (t *postgresTx) readChanges(ctx context.Context, changes []Change, query string, args ...any) error {
	rows, err := t.tx.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var n int
	var c int16
	for rows.Next() {
		if err := rows.Scan(&n, &c); err != nil {
			return err
		}
		changes[n] = Change(c)
		t.changed = t.changed || changes[n] == Added || changes[n] == Changed
	}
	return rows.Err()
}

// comparedObservations compares the rows of the temporary table with those stored. Its result is each row as it would be
// stored, and a Change as a number. The parameters say which columns to keep.
const comparedObservations = `
	WITH compared AS MATERIALIZED (
		SELECT i.n, i.lake, i.date, i.type, i.source,
			CASE WHEN $8 AND o.lake IS NOT NULL THEN o.chl ELSE i.chl END AS chl,
			CASE WHEN $1 AND o.lake IS NOT NULL THEN o.level ELSE i.level END AS level,
			CASE WHEN $2 AND o.lake IS NOT NULL THEN o.density ELSE i.density END AS density,
			CASE WHEN $3 AND o.lake IS NOT NULL THEN o.measured_at ELSE i.measured_at END AS measured_at,
			` + patchedJSONB + ` AS details,
			CASE
				WHEN o.lake IS NULL THEN 1 -- Added
				WHEN (i.chl IS NULL AND NOT $8
						OR i.details ->> 'quality' = 'poor' AND o.chl IS NOT NULL AND o.details ->> 'quality' IS DISTINCT FROM 'poor')
					AND ($1 AND o.level IS NOT NULL OR $2 AND o.density IS NOT NULL OR
						$9 AND o.chl IS NOT NULL AND o.details -> 'flags' ? 'scum') THEN 4 -- LosesReport
				WHEN (CASE WHEN $8 THEN NULL ELSE o.chl END, CASE WHEN $1 THEN NULL ELSE o.level END, CASE WHEN $2 THEN NULL ELSE o.density END, CASE WHEN $3 THEN NULL ELSE o.measured_at END)
					IS DISTINCT FROM (CASE WHEN $8 THEN NULL ELSE i.chl END, CASE WHEN $1 THEN NULL ELSE i.level END, CASE WHEN $2 THEN NULL ELSE i.density END, CASE WHEN $3 THEN NULL ELSE i.measured_at END)
					OR o.details IS DISTINCT FROM ` + patchedJSONB + `
					THEN 2 -- Changed
				ELSE 0
			END AS change
		FROM incoming AS i LEFT JOIN limnomap.observations AS o
			ON o.lake = i.lake AND o.date = i.date AND o.type = i.type AND o.source = i.source)`

// patchedJSONB are the details after an import. $4 has a null for each member that the import sets, and $5 are the names of those that it
// keeps; $6 and $7 are the same for another value, and $10 is added then if there is a flag of scum.
const patchedJSONB = `CASE WHEN o.details IS NULL THEN i.details
	WHEN o.chl IS NOT DISTINCT FROM i.chl
	THEN nullif(jsonb_strip_nulls(o.details || $4::jsonb || (coalesce(i.details, '{}') - $5::text[])), '{}')
	ELSE nullif(jsonb_strip_nulls(o.details || $6::jsonb || (coalesce(i.details, '{}') - $7::text[])
		|| CASE WHEN o.details -> 'flags' ? 'scum' THEN $10::jsonb ELSE '{}' END), '{}') END`

const (
	writeObservations = comparedObservations + `, added AS (
		INSERT INTO limnomap.observations (lake, date, type, source, chl, level, density, measured_at, details)
		SELECT lake, date, type, source, chl, level, density, measured_at, details FROM compared WHERE change = 1
	), changed AS (
		UPDATE limnomap.observations AS o SET chl = c.chl, level = c.level, density = c.density, measured_at = c.measured_at, details = c.details
		FROM compared AS c WHERE c.change = 2 AND o.lake = c.lake AND o.date = c.date AND o.type = c.type AND o.source = c.source
	)
	SELECT n, change::smallint FROM compared WHERE change <> 0`
	// A repeated row that would change something contradicts the first.
	compareObservations = comparedObservations + `
	SELECT n, (CASE change WHEN 2 THEN 6 ELSE change END)::smallint FROM compared WHERE change <> 0`
)

// findKeys looks up the numbers of the lakes in a batch that are not cached. Lakes that are not stored stay unknown.
func (t *postgresTx) findKeys(ctx context.Context, n int, id func(int) data.LakeID) error {
	unknown := make(map[data.LakeID]bool)
	for i := range n {
		if _, ok := t.keys[id(i)]; !ok {
			unknown[id(i)] = true
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	if len(t.keys) >= maxKnownKeys { // then all lakes of the batch are looked up
		clear(t.keys)
		for i := range n {
			unknown[id(i)] = true
		}
	}
	var ids []string
	for id := range unknown {
		if _, err := data.ParseLakeID(string(id)); err == nil { // an invalid id is not stored, and may not be valid text for PostgreSQL
			ids = append(ids, string(id))
		}
	}
	rows, err := t.tx.Query(ctx, "SELECT id, key FROM limnomap.lakes WHERE id = ANY($1)", ids)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		var key int32
		if err := rows.Scan(&id, &key); err != nil {
			return err
		}
		t.keys[data.LakeID(id)] = key
	}
	return rows.Err()
}
