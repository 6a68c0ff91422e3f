package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"os"

	"limnomap/data"
)

func (s *sqlite) importTx(ctx context.Context, fn func(Tx) error) error {
	if err := s.hold(ctx); err != nil {
		return err
	}
	defer s.mu.RUnlock()
	s.shortenLog(ctx)
	conn, err := s.writer.Conn(ctx)
	if err != nil {
		return s.wrap(err, "begin an import")
	}
	defer conn.Close()
	defer endBulk(conn)
	if _, err := conn.ExecContext(ctx, beginBulk); err != nil {
		return s.wrap(err, "begin an import")
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return s.wrap(err, "begin an import")
	}
	defer tx.Rollback() // no effect after a commit; also if fn panics
	w := &sqliteTx{store: s, conn: conn, tx: tx, ended: ctx.Err, keys: newLakeKeys(), sampled: make(map[int64]bool),
		insertGroup: driverStmt{query: insertRowsSQL(s.groupRows)}, readGroup: driverStmt{query: readRowsSQL(s.groupRows)},
		insertRow: driverStmt{query: insertRowsSQL(1)}, updateRow: driverStmt{query: updateRowSQL}}
	w.importTx = importTx{of: &s.Store, q: sqliteQuerier{db: tx}, wrap: s.wrap, lakeKey: w.findKey, imported: newImportedKeys()}
	defer w.closeStatements()
	if err := fn(w); err != nil {
		return err
	}
	if w.err != nil {
		return w.err
	}
	if err := w.raise(ctx); err != nil {
		return s.wrap(err, "raise the revision")
	}
	if err := s.checkOpenFiles(); err != nil {
		return &Error{err: fmt.Errorf("nothing was imported: %w", err)} // the import would be lost with the old file
	}
	return s.wrap(tx.Commit(), "commit an import")
}

// shortenLog copies a long log into the file. SQLite does so after each commit, but only up to the state that the oldest
// reader still sees, and starts the log again only if there are no readers: with constant readers, never. So this waits
// for the present readers, while new ones no longer need the log. If a reader takes longer than the busy timeout, as a scan
// of very many rows does, the next import shortens the log.
func (s *sqlite) shortenLog(ctx context.Context) {
	if info, err := os.Stat(s.loc.path + fileEnds[1]); err == nil && info.Size() > s.maxLogBytes {
		_, _ = s.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)") // the import reports a damaged file
	}
}

// overwriteLog empties the log, in which deleted rows may still be. If a reader needs it for longer than the busy timeout, the last process that
// closes the file does so.
func (s *sqlite) overwriteLog(ctx context.Context) {
	if s.hold(ctx) != nil {
		return
	}
	defer s.mu.RUnlock()
	_, _ = s.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
}

// forgetSampled removes the lakes whose samples were deleted.
const forgetSampled = `DELETE FROM sampled_lakes WHERE NOT EXISTS (SELECT 1 FROM observations AS o WHERE o.lake = sampled_lakes.lake AND o.type = 2)`

// beginBulk prepares a connection for an import. The references to lakes are not checked a second time: an import has found the number of
// each lake by its id in the same transaction, and removes no lake. The check would read a page of the lakes for each row.
const beginBulk = "PRAGMA foreign_keys = OFF"

// largeCache sets the size in KiB of the cache of pages for an import of very many lakes. It holds the pages above those of the rows, which a
// random order of the lakes needs again and again.
const largeCache = "PRAGMA cache_size = -32768"

// endBulk makes the connection what it was before. If that is not possible, the pool must not use it again.
func endBulk(conn *sql.Conn) {
	ctx := context.Background()
	var checked bool
	_, err := conn.ExecContext(ctx, "PRAGMA foreign_keys = ON; PRAGMA cache_size = -2000; PRAGMA shrink_memory")
	if err == nil {
		// Inside of a transaction that is still being rolled back, the first statement has no effect.
		err = conn.QueryRowContext(ctx, "PRAGMA foreign_keys").Scan(&checked)
	}
	if err != nil || !checked {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
}

const (
	// maxKnownKeys is how many lake numbers an import caches before it reads them all: some 10 MB.
	maxKnownKeys = 1 << 17
	// maxAllKeys bounds the lakes of which an import reads all numbers, some 60 bytes each: three times those of the Earth.
	maxAllKeys = 1 << 22
)

// noLakeKey is the number of a lake that is not stored. SQLite counts from 1.
const noLakeKey = math.MinInt64

// A sqliteTx is the transaction of one import. Observations are inserted in groups, until the key of one is stored; then the stored ones of
// each group are read, merged with those of the import, and written if anything differs.
type sqliteTx struct {
	importTx
	store *sqlite
	conn  *sql.Conn // of the transaction
	tx    *sql.Tx
	ended func() error // the Err of the context at whose end package sql rolls the transaction back

	insertLake, updateLake, keyOfLake *sql.Stmt // prepared on first use; the transaction closes them
	storedLake, addSampled            *sql.Stmt
	insertGroup, readGroup            driverStmt // closeStatements closes them
	insertRow, updateRow              driverStmt

	keys    *lakeKeys      // noLakeKey for a lake that is not stored
	allKeys bool           // whether keys has all stored lakes
	sampled map[int64]bool // lakes of which this import has samples
}

const (
	insertLakeSQL = `INSERT INTO lakes (id, external_id, name, lon, lat, region, area_km2, outline, water_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`
	updateLakeSQL = `UPDATE lakes SET external_id = ?2, name = ?3, lon = ?4, lat = ?5, region = ?6, area_km2 = ?7, outline = ?8, water_id = ?9 WHERE id = ?1`
	lakeKeySQL    = `SELECT key FROM lakes WHERE id = ?`
	addSampledSQL = `INSERT INTO sampled_lakes (lake) VALUES (?) ON CONFLICT DO NOTHING`
)

var storedLakeSQL = "SELECT " + lakeColumns + " FROM lakes WHERE key = ?"

// prepare prepares the statements that are not prepared yet.
func (t *sqliteTx) prepare(ctx context.Context, stmts map[string]**sql.Stmt) error {
	for query, stmt := range stmts {
		if *stmt != nil {
			continue
		}
		var err error
		if *stmt, err = t.tx.PrepareContext(ctx, query); err != nil {
			return err
		}
	}
	return nil
}

func (t *sqliteTx) PutLakes(ctx context.Context, lakes []data.Lake, keep LakeColumns) ([]Change, error) {
	err := t.prepare(ctx, map[string]**sql.Stmt{
		insertLakeSQL: &t.insertLake,
		updateLakeSQL: &t.updateLake,
		storedLakeSQL: &t.storedLake,
		lakeKeySQL:    &t.keyOfLake,
	})
	if err != nil {
		return nil, t.fail(ctx, err, "write lakes")
	}
	changes := make([]Change, len(lakes))
	t.repeated = t.repeated[:0]
	row := context.WithoutCancel(ctx) // a statement takes microseconds, and the driver would start a goroutine for a context that can end
	for i := range lakes {
		if err = ctx.Err(); err == nil {
			changes[i], err = t.putLake(row, i, &lakes[i], keep)
		}
		if err != nil {
			return nil, t.fail(ctx, err, fmt.Sprintf("write lake %q", lakes[i].ID))
		}
		t.changed = t.changed || changes[i] == Added || changes[i] == Changed
	}
	return changes, t.counted(ctx, changes, nil, "write lakes")
}

// putLake writes lake i of a batch.
func (t *sqliteTx) putLake(ctx context.Context, i int, l *data.Lake, keep LakeColumns) (Change, error) {
	key, err := t.key(ctx, l.ID)
	if errors.Is(err, sql.ErrNoRows) {
		return Added, t.addLake(ctx, l)
	}
	if err != nil {
		return Unchanged, err
	}
	_, stored, err := newLakeScanner().scan(t.storedLake.QueryRowContext(ctx, key))
	if err != nil {
		return Unchanged, err
	}
	merged, change := mergeLakes(&stored, l, keep)
	switch first := t.imported.addLake(key); {
	case !first:
		t.repeated = append(t.repeated, i)
		return ofRepeated(change), nil
	case change == Changed:
		t.record.lake(key, &stored)
		_, err = t.updateLake.ExecContext(ctx, lakeArgs(&merged)...)
	}
	return change, err
}

// addLake inserts a lake.
func (t *sqliteTx) addLake(ctx context.Context, l *data.Lake) error {
	result, err := t.insertLake.ExecContext(ctx, lakeArgs(l)...)
	if err != nil {
		return err
	}
	key, err := result.LastInsertId()
	t.imported.addLake(key)
	t.record.lake(key, nil)
	t.keys.set(l.ID, key)
	return err
}

func lakeArgs(l *data.Lake) []any {
	return []any{string(l.ID), l.ExternalID, l.Name, l.Point[0], l.Point[1], l.Region, l.AreaKM2, []byte(l.Outline), l.WaterID}
}

func (t *sqliteTx) PutObservations(ctx context.Context, observations []data.Observation, keep ObservationColumns) ([]Change, error) {
	if err := t.prepare(ctx, map[string]**sql.Stmt{lakeKeySQL: &t.keyOfLake, addSampledSQL: &t.addSampled}); err != nil {
		return nil, t.fail(ctx, err, "write observations")
	}
	t.repeated = t.repeated[:0]
	b := &observationBatch{rows: observations, keep: keep, changes: make([]Change, len(observations))}
	row := context.WithoutCancel(ctx)
	var err error
	for i := range observations {
		b.at = i
		if err = ctx.Err(); err == nil {
			err = t.putObservation(row, b)
		}
		if err != nil {
			break
		}
	}
	if err == nil {
		err = t.endGroup(row, b)
	}
	if err == nil {
		if err := t.putPixels(ctx, observations, keep, b.changes); err != nil {
			return nil, t.fail(ctx, err, "write pixels")
		}
	}
	if err != nil {
		o := &observations[b.at]
		return nil, t.fail(ctx, err, fmt.Sprintf("write the observation of lake %q on %s", o.LakeID, o.Date))
	}
	return b.changes, t.counted(ctx, b.changes, nil, "write observations")
}

// putObservation adds row b.at to the group, and writes a row that repeats a key at once, after those of the group.
func (t *sqliteTx) putObservation(ctx context.Context, b *observationBatch) error {
	o := &b.rows[b.at]
	key, err := t.key(ctx, o.LakeID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		b.changes[b.at] = UnknownLake
		return nil
	case err != nil:
		return err
	}
	source, err := t.sources.of(ctx, t.q, o.Source)
	if errors.Is(err, errManySources) {
		b.changes[b.at] = ManySources
		return nil
	}
	if err != nil {
		return err
	}
	row := groupRow{at: b.at, lake: key, source: source, first: t.imported.addObservation(key, o.Date, o.Type, source)}
	if !row.first {
		t.repeated = append(t.repeated, b.at)
		if err := t.endGroup(ctx, b); err != nil { // the group may have the row that this one repeats
			return err
		}
		b.group = append(b.group, row)
		return t.endGroup(ctx, b)
	}
	if o.Type == data.InSitu && !t.sampled[key] {
		if _, err := t.addSampled.ExecContext(ctx, key); err != nil {
			return err
		}
		t.sampled[key] = true
	}
	return t.addToGroup(ctx, b, row)
}

// findKey returns the number of a lake, or false if it is not stored.
func (t *sqliteTx) findKey(ctx context.Context, id data.LakeID) (int64, bool, error) {
	if err := t.prepare(ctx, map[string]**sql.Stmt{lakeKeySQL: &t.keyOfLake}); err != nil {
		return 0, false, err
	}
	key, err := t.key(ctx, id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return key, err == nil, err
}

// key returns the number of a lake, or sql.ErrNoRows.
func (t *sqliteTx) key(ctx context.Context, id data.LakeID) (int64, error) {
	if t.allKeys && t.keys.len() > maxAllKeys { // this import adds very many
		t.keys.clear()
		t.allKeys = false
	}
	key, ok := t.keys.get(id)
	if !ok && !t.allKeys && t.keys.len() >= t.store.maxKnownKeys {
		if err := t.readKeys(ctx); err != nil {
			return 0, err
		}
		key, ok = t.keys.get(id)
	}
	if !ok && !t.allKeys {
		key, ok = noLakeKey, true
		err := t.keyOfLake.QueryRowContext(ctx, string(id)).Scan(&key)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, err
		}
		t.keys.set(id, key)
	}
	if !ok || key == noLakeKey {
		return 0, sql.ErrNoRows
	}
	return key, nil
}

// readKeys reads the numbers of all lakes, unless they are too many. To look up each of them would take several times as long.
func (t *sqliteTx) readKeys(ctx context.Context) error {
	t.keys.clear()
	var lakes int64
	if err := t.tx.QueryRowContext(ctx, "SELECT count(*) FROM lakes").Scan(&lakes); err != nil || lakes > maxAllKeys {
		return err
	}
	if _, err := t.tx.ExecContext(ctx, largeCache); err != nil {
		return err
	}
	t.keys.reserve(int(lakes))
	rows, err := t.tx.QueryContext(ctx, "SELECT key, id FROM lakes WHERE octet_length(id) <= ?", maxIDBytes) // no import has longer ids
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key int64
		var id string
		if err := rows.Scan(&key, &id); err != nil {
			return err
		}
		t.keys.set(data.LakeID(id), key)
	}
	t.allKeys = rows.Err() == nil
	return rows.Err()
}
