package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"limnomap/data"
)

// rollbackTimeout bounds the wait for the server to confirm a rollback. The transaction is undone without it too.
const rollbackTimeout = 5 * time.Second

func (s *postgres) importTx(ctx context.Context, fn func(Tx) error) error {
	if err := s.prepare(ctx, true); err != nil {
		return err
	}
	tx, err := s.primary.Begin(ctx)
	if err != nil {
		return s.wrap(err, "begin an import")
	}
	defer func() { // no effect after a commit; also if fn panics
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
		defer cancel()
		_ = tx.Rollback(ctx) // an error ends the connection, and with it the transaction
	}()
	w := &postgresTx{store: s, tx: tx, keys: make(map[data.LakeID]int32), years: make(map[partition]*year)}
	w.importTx = importTx{of: &s.Store, q: postgresQuerier{db: tx}, wrap: s.wrapCopy, lakeKey: w.findKey, imported: newImportedKeys()}
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
	if err := w.raise(ctx); err != nil {
		return s.wrap(err, "raise the revision")
	}
	if err := tx.Commit(ctx); err != nil {
		return s.wrap(err, "commit an import")
	}
	w.vacuum(ctx)
	return nil
}

// A postgresTx is the transaction of one import. No other transaction writes, so what it has read stays valid. In one query it reads the
// stored rows with the keys of a batch, and merges them with those of the batch. It copies new rows into the partitions of their years,
// and changed ones into a temporary table, from which one statement updates them. Rows of a year that had no partition are copied without
// a look at what is stored. Rows with a repeated key come after the others.
type postgresTx struct {
	importTx
	store *postgres
	tx    pgx.Tx
	keys  map[data.LakeID]int32
	years map[partition]*year // existing partitions
}

// Without statistics the planner would read all observations to find those of a batch.
const beginImport = `
	SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
	CREATE TEMPORARY TABLE changed (lake integer NOT NULL, date integer NOT NULL, type smallint NOT NULL,
		source smallint NOT NULL, chl integer, level smallint, density double precision, measured_at bigint, details jsonb) ON COMMIT DROP`

// begin waits for other imports, and creates the temporary table.
func (t *postgresTx) begin(ctx context.Context) error {
	if _, err := t.tx.Exec(ctx, postgresLockImports); err != nil {
		return err
	}
	_, err := t.tx.Exec(ctx, beginImport)
	return err
}

// wrapCopy is wrap for an error that may be of a row that a COPY rejected.
func (s *postgres) wrapCopy(err error, doing string) error {
	var e *pgconn.PgError
	if errors.As(err, &e) && e.Where != "" {
		err = fmt.Errorf("%w (%s)", err, e.Where)
	}
	return s.wrap(err, doing)
}

func (t *postgresTx) PutObservations(ctx context.Context, observations []data.Observation, keep ObservationColumns) ([]Change, error) {
	changes := make([]Change, len(observations))
	err := t.putObservations(ctx, observations, keep, changes)
	if err == nil {
		err = t.putPixels(ctx, observations, keep, changes)
	}
	return changes, t.counted(ctx, changes, err, "write observations")
}

func (t *postgresTx) putObservations(ctx context.Context, observations []data.Observation, keep ObservationColumns, changes []Change) error {
	if err := t.findKeys(ctx, len(observations), func(i int) data.LakeID { return observations[i].LakeID }); err != nil {
		return err
	}
	t.repeated = nil
	first, repeated := make([]keyedRow, 0, len(observations)), []keyedRow(nil)
	fresh := make(map[partition][]keyedRow) // of years that this import created: all are new
	for i := range observations {
		o := &observations[i]
		lake, known := t.keys[o.LakeID]
		if !known {
			changes[i] = UnknownLake
			continue
		}
		source, err := t.sources.of(ctx, t.q, o.Source)
		if errors.Is(err, errManySources) {
			changes[i] = ManySources
			continue
		}
		if err != nil {
			return err
		}
		p, err := t.yearOf(ctx, o.Date)
		if err != nil {
			return err
		}
		row := keyedRow{rowKey{int64(lake), source, o.Date, o.Type}, o, i}
		switch {
		case !t.imported.addObservation(row.lake, o.Date, o.Type, source):
			t.repeated, repeated = append(t.repeated, i), append(repeated, row)
		case t.years[p].fresh:
			changes[i] = Added
			fresh[p] = append(fresh[p], row)
		default:
			first = append(first, row)
		}
	}
	if err := t.addRows(ctx, fresh); err != nil {
		return err
	}
	if err := t.mergeRows(ctx, first, true, keep, changes); err != nil {
		return err
	}
	for _, r := range repeated {
		if err := t.attach(ctx, partitionOf(r.date)); err != nil {
			return err
		}
	}
	return t.mergeRows(ctx, repeated, false, keep, changes)
}

// A rowKey is the key of an observation.
type rowKey struct {
	lake, source int64
	date         data.Date
	dataType     data.DataType
}

// A keyedRow is an observation to be written.
type keyedRow struct {
	rowKey
	*data.Observation
	at int // its index in the batch
}

// mergeRows merges rows with the stored ones, and writes them if anything differs. first says that the import had no rows with their keys before;
// then all have different keys.
func (t *postgresTx) mergeRows(ctx context.Context, rows []keyedRow, first bool, keep ObservationColumns, changes []Change) error {
	if len(rows) == 0 {
		return nil
	}
	var changed []keyedRow
	latest := make(map[rowKey]int) // index in changed of the row with a key that may be repeated
	stored := make([]bool, len(rows))
	lakes, dates, types, sources := columnsOfKeys(rows)
	query := storedRowsSQL
	if !first {
		query += " ORDER BY i.n" // rows with the same key come one after the other
	}
	err := t.q.query(ctx, func(found rowIterator) error {
		var row observationRow
		for found.Next() {
			if err := found.scanObservation(&row); err != nil {
				return err
			}
			n := row.lake - 1
			stored[n] = true
			r := &rows[n]
			before, err := row.ofSource(r.LakeID, r.Source)
			if err != nil {
				return err
			}
			at, again := latest[r.rowKey]
			if again {
				before = *changed[at].Observation
			}
			merged, change := t.imported.merge(r.lake, r.source, first, &before, r.Observation, keep)
			if changes[r.at] = change; change != Changed {
				continue
			}
			if !again {
				t.record.observation(r.lake, r.date, r.dataType, r.source, &row)
			}
			update := keyedRow{r.rowKey, new(merged), r.at}
			switch {
			case again:
				changed[at] = update
			case !first:
				latest[r.rowKey] = len(changed)
				fallthrough
			default:
				changed = append(changed, update)
			}
		}
		return nil
	}, query, lakes, dates, types, sources)
	if err != nil {
		return err
	}
	added := make(map[partition][]keyedRow)
	for n, r := range rows {
		if !stored[n] {
			p := partitionOf(r.date)
			added[p], changes[r.at] = append(added[p], r), Added
		}
	}
	if err := t.addRows(ctx, added); err != nil {
		return err
	}
	return t.updateRows(ctx, changed)
}

// storedRowsSQL selects the stored rows with some keys, whose numbers from 1 on are in place of those of lakes.
var storedRowsSQL = strings.Replace("SELECT "+observationColumns, "o.lake", "i.n", 1) + postgresDetails + `
	FROM unnest($1::integer[], $2::integer[], $3::smallint[], $4::smallint[]) WITH ORDINALITY AS i (lake, date, type, source, n)
	JOIN limnomap.observations AS o ON o.lake = i.lake AND o.date = i.date AND o.type = i.type AND o.source = i.source`

const updateRowsSQL = `UPDATE limnomap.observations AS o
	SET chl = c.chl, level = c.level, density = c.density, measured_at = c.measured_at, details = c.details
	FROM changed AS c WHERE o.lake = c.lake AND o.date = c.date AND o.type = c.type AND o.source = c.source`

// columnsOfKeys returns the columns of the keys of rows.
func columnsOfKeys(rows []keyedRow) (lakes, dates []int32, types, sources []int16) {
	lakes, dates, types, sources = make([]int32, len(rows)), make([]int32, len(rows)), make([]int16, len(rows)), make([]int16, len(rows))
	for i := range rows {
		r := &rows[i]
		lakes[i], dates[i], types[i], sources[i] = int32(r.lake), int32(r.date), int16(r.dataType), int16(r.source)
	}
	return lakes, dates, types, sources
}

// addRows copies new rows into the partitions of their years.
func (t *postgresTx) addRows(ctx context.Context, rows map[partition][]keyedRow) error {
	for p, of := range rows {
		if err := t.copyRows(ctx, p.table(), of); err != nil {
			return err
		}
		for _, r := range of {
			t.record.observation(r.lake, r.date, r.dataType, r.source, nil)
		}
		t.years[p].written += len(of)
		t.changed = true
	}
	return nil
}

// updateRows updates stored rows.
func (t *postgresTx) updateRows(ctx context.Context, rows []keyedRow) error {
	if len(rows) == 0 {
		return nil
	}
	if _, err := t.tx.Exec(ctx, "TRUNCATE changed"); err != nil {
		return err
	}
	if err := t.copyRows(ctx, pgx.Identifier{"changed"}, rows); err != nil {
		return err
	}
	for _, r := range rows {
		t.years[partitionOf(r.date)].written++
	}
	t.changed = true
	_, err := t.tx.Exec(ctx, updateRowsSQL)
	return err
}

// findKey returns the number of a lake, or false if it is not stored.
func (t *postgresTx) findKey(ctx context.Context, id data.LakeID) (int64, bool, error) {
	err := t.findKeys(ctx, 1, func(int) data.LakeID { return id })
	key, known := t.keys[id]
	return int64(key), known, err
}

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
