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

func (s *sqlite) Import(ctx context.Context, fn func(Tx) error) error {
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
	w := &sqliteTx{store: s, conn: conn, tx: tx, ended: ctx.Err, imported: newImportedKeys(), keys: newLakeKeys(), sampled: make(map[int64]bool)}
	defer w.closeGroup()
	if err := fn(w); err != nil {
		return err
	}
	if w.err != nil {
		return w.err
	}
	if w.changed {
		_, err := tx.ExecContext(ctx, "UPDATE revision SET number = number + 1, changed_at = ?", s.now().Unix())
		if err != nil {
			return s.wrap(err, "raise the revision")
		}
	}
	if err := s.checkOpenFiles(); err != nil {
		return &Error{fmt.Errorf("nothing was imported: %w", err)} // the import would be lost with the old file
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

// A sqliteTx is the transaction of one import. It tries to insert each row, and if its key exists, to update it if anything
// differs: the number of rows affected tells what happened. A row whose key is repeated is only compared. Observations are inserted in groups.
type sqliteTx struct {
	store    *sqlite
	conn     *sql.Conn // of the transaction
	tx       *sql.Tx
	ended    func() error // the Err of the context at whose end package sql rolls the transaction back
	imported *importedKeys
	changed  bool
	err      error // the first error of a statement: then nothing is committed

	insertLake, updateLake, lakeKey      *sql.Stmt // prepared on first use; the transaction closes them
	keptOutline, lakeDiffers             *sql.Stmt
	insertObservation, updateObservation *sql.Stmt
	report, observationDiffers           *sql.Stmt
	storedRow                            *sql.Stmt
	addSampled                           *sql.Stmt
	insertGroup                          driver.Stmt // of t.conn: closeGroup closes it

	keys     *lakeKeys // noLakeKey for a lake that is not stored
	allKeys  bool      // whether keys has all stored lakes
	sources  sourceNumbers
	sampled  map[int64]bool // lakes of which this import has samples
	repeated []int          // rows of the last batch

	advisories advisoryImport
}

const (
	insertLakeSQL = `INSERT INTO lakes (id, external_id, name, lon, lat, region, area_km2, outline)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`
	updateLakeSQL = `UPDATE lakes SET external_id = iif(?9, external_id, ?2), name = ?3, lon = ?4, lat = ?5,
			region = iif(?10, region, ?6), area_km2 = iif(?11, area_km2, ?7), outline = iif(?12, outline, ?8) ` + differentLake
	lakeDiffersSQL = `SELECT count(*) FROM lakes ` + differentLake
	// IS NOT treats two NULLs as equal.
	differentLake = `WHERE id = ?1 AND (external_id, name, lon, lat, region, area_km2, outline) IS NOT
			(iif(?9, external_id, ?2), ?3, ?4, ?5, iif(?10, region, ?6), iif(?11, area_km2, ?7), iif(?12, outline, ?8))`
	// Only for a lake that moves, so that importing the same lakes again is quick.
	keptOutlineSQL = `SELECT outline FROM lakes WHERE id = ?1 AND outline <> x'' AND (lon, lat) <> (?2, ?3)`
	lakeKeySQL     = `SELECT key FROM lakes WHERE id = ?`

	// Parameters without numbers: the driver would copy the text of each number for each row.
	insertObservationSQL = `INSERT INTO observations (lake, date, type, source, chl, level, density, measured_at, details)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (lake, date, type, source) DO NOTHING`
	updateObservationSQL = `UPDATE observations SET chl = iif(?15, chl, ?5), level = iif(?10, level, ?6), density = iif(?11, density, ?7),
			measured_at = iif(?12, measured_at, ?8), details = ` + patchedDetails + ` ` + differentObservation
	observationDiffersSQL = `SELECT count(*) FROM observations ` + differentObservation
	differentObservation  = `WHERE lake = ?1 AND date = ?2 AND type = ?3 AND source = ?4 AND (chl, level, density, measured_at, details) IS NOT
			(iif(?15, chl, ?5), iif(?10, level, ?6), iif(?11, density, ?7), iif(?12, measured_at, ?8), ` + patchedDetails + `)`
	patchedDetails = `iif(details IS NULL, ?9, nullif(iif(chl IS ?5, json_patch(details, ?13),
			json_patch(json_patch(details, ?14), iif(` + hasScum + `, ?16, '{}'))), '{}'))`
	hasScum       = `EXISTS (SELECT 1 FROM json_each(details, '$.flags') WHERE value = 'scum')`
	addSampledSQL = `INSERT INTO sampled_lakes (lake) VALUES (?) ON CONFLICT DO NOTHING`
	reportSQL     = `SELECT count(*) FROM observations WHERE lake = ?1 AND date = ?2 AND type = ?3 AND source = ?4
		AND (?5 AND level IS NOT NULL OR ?6 AND density IS NOT NULL OR
			?7 AND chl IS NOT NULL AND ` + hasScum + `)
		AND (?8 OR chl IS NOT NULL AND json_extract(details, '$.quality') IS NOT 'poor')`
)

var storedRowSQL = "SELECT " + storedColumns(sqliteMember) + " FROM observations AS o WHERE lake = ? AND date = ? AND type = ? AND source = ?"

// The first parameters of an update are those of the insert.
const (
	insertLakeParameters        = 8
	insertObservationParameters = 9
	patchParameter              = 12 // of an update, from 0; then comes the patch for another value
)

// fail returns err wrapped, and keeps the first error that is a failure of the database.
func (t *sqliteTx) fail(ctx context.Context, err error, doing string) error {
	if err == nil {
		return nil
	}
	if err, ok := forCaller(err); ok {
		return err
	}
	if ctx.Err() != nil {
		err = ctx.Err() // the driver's error would only say that the transaction has ended
	}
	err = t.store.wrap(err, doing)
	if t.err == nil {
		t.err = err
	}
	return err
}

func (t *sqliteTx) PutRaster(ctx context.Context, holder string, record data.RasterRecord) error {
	return t.fail(ctx, putRaster(ctx, sqliteQuerier{db: t.tx}, holder, record), "store a satellite file")
}

func (t *sqliteTx) EndRefresh(ctx context.Context, holder string, result data.RefreshResult) error {
	return t.fail(ctx, endRefresh(ctx, sqliteQuerier{db: t.tx}, t.store.now(), holder, result), "end a refresh")
}

func (t *sqliteTx) Repeated() []int { return t.repeated }

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
		insertLakeSQL:  &t.insertLake,
		updateLakeSQL:  &t.updateLake,
		keptOutlineSQL: &t.keptOutline,
		lakeKeySQL:     &t.lakeKey,
		lakeDiffersSQL: &t.lakeDiffers,
	})
	if err != nil {
		return nil, t.fail(ctx, err, "write lakes")
	}
	changes := make([]Change, len(lakes))
	t.repeated = t.repeated[:0]
	row := context.WithoutCancel(ctx) // a statement takes microseconds, and the driver would start a goroutine for a context that can end
	for i, l := range lakes {
		args := []any{string(l.ID), l.ExternalID, l.Name, l.Point[0], l.Point[1], l.Region, l.AreaKM2, []byte(l.Outline),
			keep.ExternalID, keep.Region, keep.AreaKM2, keep.Outline}
		if err = ctx.Err(); err == nil {
			changes[i], err = t.putLake(row, i, l, keep, args)
		}
		if err != nil {
			return nil, t.fail(ctx, err, fmt.Sprintf("write lake %q", l.ID))
		}
	}
	return changes, nil
}

// putLake writes lake i of a batch. A stored lake must not leave an outline that the import keeps.
func (t *sqliteTx) putLake(ctx context.Context, i int, l data.Lake, keep LakeColumns, args []any) (Change, error) {
	key, err := t.key(ctx, l.ID)
	if errors.Is(err, sql.ErrNoRows) {
		return t.addLake(ctx, l.ID, args)
	}
	if err != nil {
		return Unchanged, err
	}
	first := t.imported.addLake(key)
	if !first {
		t.repeated = append(t.repeated, i)
	}
	if keep.Outline {
		var outline string
		err := t.keptOutline.QueryRowContext(ctx, string(l.ID), l.Point[0], l.Point[1]).Scan(&outline)
		switch {
		case errors.Is(err, sql.ErrNoRows): // it does not move, or has no outline
		case err != nil:
			return Unchanged, err
		case !NearOutline(data.Outline(outline).Bound(), l.Point):
			return LeavesOutline, nil
		}
	}
	if !first {
		return t.compareRepeated(ctx, t.lakeDiffers, args)
	}
	if changed, err := t.write(ctx, t.updateLake, args); err != nil || changed {
		return Changed, err
	}
	return Unchanged, nil
}

// addLake inserts a lake.
func (t *sqliteTx) addLake(ctx context.Context, id data.LakeID, args []any) (Change, error) {
	result, err := t.insertLake.ExecContext(ctx, args[:insertLakeParameters]...)
	if err != nil {
		return Unchanged, err
	}
	t.changed = true
	key, err := result.LastInsertId()
	t.imported.addLake(key)
	t.keys.set(id, key)
	return Added, err
}

// compareRepeated compares a row with a repeated key with the stored one, and writes nothing.
func (t *sqliteTx) compareRepeated(ctx context.Context, differs *sql.Stmt, args []any) (Change, error) {
	var n int
	if err := differs.QueryRowContext(ctx, args...).Scan(&n); err != nil || n == 0 {
		return Unchanged, err
	}
	return Contradicts, nil
}

func (t *sqliteTx) PutObservations(ctx context.Context, observations []data.Observation, keep ObservationColumns) ([]Change, error) {
	err := t.prepare(ctx, map[string]**sql.Stmt{
		lakeKeySQL:            &t.lakeKey,
		insertObservationSQL:  &t.insertObservation,
		updateObservationSQL:  &t.updateObservation,
		reportSQL:             &t.report,
		observationDiffersSQL: &t.observationDiffers,
		addSampledSQL:         &t.addSampled,
		storedRowSQL:          &t.storedRow,
	})
	if err != nil {
		return nil, t.fail(ctx, err, "write observations")
	}
	t.repeated = t.repeated[:0]
	b := newObservationBatch(observations, keep)
	row := context.WithoutCancel(ctx)
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
	if err != nil {
		o := &observations[b.at]
		return nil, t.fail(ctx, err, fmt.Sprintf("write the observation of lake %q on %s", o.LakeID, o.Date))
	}
	return b.changes, nil
}

// An observationBatch are the rows of one PutObservations.
type observationBatch struct {
	rows      []data.Observation
	keep      ObservationColumns
	changes   []Change
	at        int    // index of the row that is written, which an error names
	args      []any  // its parameters
	noDetails [2]any // the patches for a row without details
	group     observationGroup
}

func newObservationBatch(rows []data.Observation, keep ObservationColumns) *observationBatch {
	b := &observationBatch{rows: rows, keep: keep, changes: make([]Change, len(rows)),
		noDetails: [2]any{detailsPatch("", keep), detailsPatch("", keep.ofNewValue())}}
	b.args = []any{insertObservationParameters: keep.Level, keep.CellDensity, keep.MeasuredAt, b.noDetails[0], b.noDetails[1], keep.Chlorophyll, keep.reportPatch()}
	return b
}

// putObservation writes row b.at, or adds it to the group.
func (t *sqliteTx) putObservation(ctx context.Context, b *observationBatch) error {
	i, o := b.at, &b.rows[b.at]
	key, err := t.key(ctx, o.LakeID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		b.changes[i] = UnknownLake
		return nil
	case err != nil:
		return err
	}
	source, err := t.sources.of(ctx, sqliteQuerier{db: t.tx}, o.Source)
	if errors.Is(err, errManySources) {
		b.changes[i] = ManySources
		return nil
	}
	if err != nil {
		return err
	}
	first := t.imported.addObservation(key, o.Date, o.Type, source)
	if !first {
		if err := t.endGroup(ctx, b); err != nil { // the group may have the row that this one repeats
			return err
		}
		b.at = i
		t.repeated = append(t.repeated, i)
	} else if o.Type == data.InSitu && !t.sampled[key] {
		if _, err := t.addSampled.ExecContext(ctx, key); err != nil {
			return err
		}
		t.sampled[key] = true
	}
	observationArgs(b.args, key, source, o)
	if first && !b.group.refused {
		return t.addToGroup(ctx, b)
	}
	b.changes[i], err = t.writeObservation(ctx, b, first)
	return err
}

// writeObservation writes row b.at, whose parameters are in b.args. first says that the import had no row with its key before. A gap or a
// poor value must not take away what the import keeps.
func (t *sqliteTx) writeObservation(ctx context.Context, b *observationBatch, first bool) (Change, error) {
	o, keep, args := &b.rows[b.at], b.keep, b.args
	if first {
		if added, err := t.write(ctx, t.insertObservation, args[:insertObservationParameters]); err != nil || added {
			return Added, err
		}
	}
	if o.Type == data.Satellite {
		key, source := args[0].(int64), args[3].(int64)
		switch c, err := t.precedence(ctx, o, keep, args); {
		case err != nil:
			return Unchanged, err
		case c == OlderVersion || c == WorseThanStored:
			if first {
				t.imported.addOutranked(key, o.Date, source)
			}
			return c, nil
		case t.imported.takeOutranked(key, o.Date, source) || c == Changed:
			first = true
		}
	}
	gap := !o.Chlorophyll.Valid() && !keep.Chlorophyll
	if (gap || o.Quality == data.Poor) && (keep.Level || keep.CellDensity || keep.Flags) {
		var reports int
		err := t.report.QueryRowContext(ctx, args[0], args[1], args[2], args[3], keep.Level, keep.CellDensity, keep.Flags, gap).Scan(&reports)
		if err != nil || reports > 0 {
			return LosesReport, err
		}
	}
	args[patchParameter], args[patchParameter+1] = b.noDetails[0], b.noDetails[1]
	if details, ok := args[insertObservationParameters-1].(string); ok {
		args[patchParameter], args[patchParameter+1] = detailsPatch(details, keep), detailsPatch(details, keep.ofNewValue())
	}
	if !first {
		return t.compareRepeated(ctx, t.observationDiffers, args)
	}
	if changed, err := t.write(ctx, t.updateObservation, args); err != nil || changed {
		return Changed, err
	}
	return Unchanged, nil
}

// precedence returns what a satellite's row is in comparison with the stored observation with the key in args: see [storedRow.precedence].
func (t *sqliteTx) precedence(ctx context.Context, o *data.Observation, keep ObservationColumns, args []any) (Change, error) {
	if !comparedRow(o, keep) {
		return Unchanged, nil
	}
	var stored storedRow
	if err := stored.scan(t.storedRow.QueryRowContext(ctx, args[0], args[1], args[2], args[3])); err != nil {
		return Unchanged, err
	}
	return stored.precedence(o, keep), nil
}

// observationArgs sets the parameters of an insert.
func observationArgs(args []any, key, source int64, o *data.Observation) {
	args[0], args[1], args[2], args[3] = key, int64(o.Date), int64(o.Type), source
	args[4], args[5], args[6], args[7], args[8] = nil, nil, nil, nil, nil
	if o.Chlorophyll.Valid() {
		args[4] = int64(o.Chlorophyll)
	}
	if o.Level != data.NoLevel {
		args[5] = int64(o.Level)
	}
	if o.CellDensity >= 0 {
		args[6] = o.CellDensity
	}
	if !o.MeasuredAt.IsZero() {
		args[7] = o.MeasuredAt.Unix()
	}
	if details := detailsText(o); details != "" {
		args[8] = details
	}
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
		err := t.lakeKey.QueryRowContext(ctx, string(id)).Scan(&key)
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

// write runs a statement and reports whether it wrote a row.
func (t *sqliteTx) write(ctx context.Context, stmt *sql.Stmt, args []any) (bool, error) {
	result, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	if err != nil {
		return false, err
	}
	t.changed = t.changed || n > 0
	return n > 0, nil
}
