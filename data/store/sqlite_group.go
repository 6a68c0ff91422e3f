package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	sqlitedriver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"limnomap/data"
)

// groupRows is how many observations one statement inserts or reads: so many that its beginning and its end take little of its time.
const groupRows = 32

// An observationBatch are the rows of one PutObservations.
type observationBatch struct {
	rows    []data.Observation
	keep    ObservationColumns
	changes []Change
	at      int // index of the row that is written, which an error names
	group   []groupRow
	args    []driver.NamedValue // of a statement for the group
	stored  bool                // whether a row of the batch had a key that is stored: then those of later rows probably are too
}

// A groupRow is a row that one statement is to insert or to read with others. All have different keys.
type groupRow struct {
	at           int // its index in the batch
	lake, source int64
	first        bool // whether the import had no row with its key before
}

// addToGroup adds a row that is the first one with its key, and writes the group if it is full.
func (t *sqliteTx) addToGroup(ctx context.Context, b *observationBatch, row groupRow) error {
	if b.group = append(b.group, row); len(b.group) < t.store.groupRows {
		return nil
	}
	if !b.stored {
		inserted, err := t.insertRows(ctx, b)
		for _, r := range b.group[:inserted] {
			b.changes[r.at] = Added
			o := &b.rows[r.at]
			t.record.observation(r.lake, o.Date, o.Type, r.source, nil)
		}
		t.changed = t.changed || inserted > 0
		if err != nil {
			b.at = b.group[inserted].at
			return err
		}
		b.stored = inserted < len(b.group)
		b.group = append(b.group[:0], b.group[inserted:]...)
	}
	return t.endGroup(ctx, b)
}

// endGroup writes the rows of the group that may be stored, and empties it.
func (t *sqliteTx) endGroup(ctx context.Context, b *observationBatch) error {
	if len(b.group) == 0 {
		return nil
	}
	stored, err := t.readRows(ctx, b)
	if err != nil {
		return err
	}
	for n, r := range b.group {
		b.at = r.at
		if b.changes[r.at], err = t.writeRow(ctx, b, r, stored[n]); err != nil {
			return err
		}
	}
	b.group = b.group[:0]
	return nil
}

// writeRow writes one row of a group, of which stored is the stored row with its key, or nil.
func (t *sqliteTx) writeRow(ctx context.Context, b *observationBatch, r groupRow, stored *observationRow) (Change, error) {
	in := &b.rows[r.at]
	if stored == nil {
		t.changed = true
		t.record.observation(r.lake, in.Date, in.Type, r.source, nil)
		return Added, t.exec(ctx, &t.insertRow, appendObservation(nil, r, in, detailsText(in)))
	}
	before, err := stored.ofSource(in.LakeID, in.Source)
	if err != nil {
		return Unchanged, err
	}
	merged, change := t.imported.merge(r.lake, r.source, r.first, &before, in, b.keep)
	if change != Changed {
		return change, nil
	}
	t.changed = true
	t.record.observation(r.lake, in.Date, in.Type, r.source, stored)
	details := detailsText(&merged)
	if details != "" && stored.details != nil {
		details = withOrderOf(stored.details, details)
	}
	return Changed, t.exec(ctx, &t.updateRow, appendObservation(nil, r, &merged, details))
}

// insertRows inserts the rows of a full group, up to the first one whose key is stored, and returns how many it has inserted.
func (t *sqliteTx) insertRows(ctx context.Context, b *observationBatch) (inserted int, err error) {
	b.args = b.args[:0]
	for _, r := range b.group {
		o := &b.rows[r.at]
		b.args = appendObservation(b.args, r, o, detailsText(o))
	}
	err = t.exec(ctx, &t.insertGroup, b.args)
	if err == nil {
		return len(b.group), nil
	}
	var e *sqlitedriver.Error
	if !errors.As(err, &e) || e.Code()&0xff != sqlite3.SQLITE_CONSTRAINT {
		return 0, err
	}
	if failed := t.tx.QueryRowContext(ctx, "SELECT changes()").Scan(&inserted); failed != nil || e.Code() != sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY {
		return inserted, err
	}
	return inserted, nil
}

// readRows returns the stored row with the key of each row of the group, or nil.
func (t *sqliteTx) readRows(ctx context.Context, b *observationBatch) ([]*observationRow, error) {
	stored := make([]*observationRow, len(b.group))
	b.args = b.args[:0]
	for _, r := range b.group {
		b.args = appendKey(b.args, r, &b.rows[r.at])
	}
	for len(b.args) < t.store.groupRows*observationKeyColumns { // no row has such a key
		b.args = appendArg(b.args, nil)
	}
	err := t.inStmt(ctx, &t.readGroup, func(stmt driver.Stmt) error {
		rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, b.args)
		if err != nil {
			return err
		}
		return readDriverRows(ctx, rows, func(rows rowIterator) error {
			n := 0
			for rows.Next() { // in the order of the group
				row := new(observationRow)
				if err := rows.scanObservation(row); err != nil {
					return err
				}
				for n < len(b.group) && !b.hasKey(n, row) {
					n++
				}
				if n == len(b.group) {
					return fmt.Errorf("the stored observation of lake number %d on %s is out of order", row.lake, data.Date(row.date))
				}
				stored[n] = row
			}
			return nil
		})
	})
	return stored, err
}

// hasKey reports whether a stored row has the key of row n of the group.
func (b *observationBatch) hasKey(n int, row *observationRow) bool {
	r := &b.group[n]
	o := &b.rows[r.at]
	return r.lake == row.lake && r.source == row.source && int64(o.Date) == row.date && int64(o.Type) == row.dataType
}

const (
	observationKeyColumns = 4
	updateRowSQL          = `UPDATE observations SET chl = ?5, level = ?6, density = ?7, measured_at = ?8, details = ?9
		WHERE lake = ?1 AND date = ?2 AND type = ?3 AND source = ?4`
)

// insertRowsSQL inserts that many rows. OR FAIL keeps the rows before one that cannot be inserted. Without it, SQLite would copy
// each page before it changes it, in order to undo the statement. The parameters have no numbers: the driver would copy the text of each.
func insertRowsSQL(rows int) string {
	return "INSERT OR FAIL INTO observations (lake, date, type, source, chl, level, density, measured_at, details) VALUES " +
		repeated("(?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
}

// readRowsSQL reads the rows with that many keys. CROSS JOIN makes SQLite look up one after the other.
func readRowsSQL(rows int) string {
	return "WITH incoming (lake, date, type, source) AS (VALUES " + repeated("(?, ?, ?, ?)", rows) + ") SELECT " + observationColumns + sqliteDetails +
		" FROM incoming AS i CROSS JOIN observations AS o ON o.lake = i.lake AND o.date = i.date AND o.type = i.type AND o.source = i.source"
}

func repeated(row string, rows int) string {
	return strings.TrimSuffix(strings.Repeat(row+", ", rows), ", ")
}

// appendObservation appends the columns of an observation in the order of the table.
func appendObservation(args []driver.NamedValue, r groupRow, o *data.Observation, details string) []driver.NamedValue {
	args = appendKey(args, r, o)
	for range 5 {
		args = appendArg(args, nil)
	}
	of := args[len(args)-5:]
	if o.Chlorophyll.Valid() {
		of[0].Value = int64(o.Chlorophyll)
	}
	if o.Level != data.NoLevel {
		of[1].Value = int64(o.Level)
	}
	if o.CellDensity >= 0 {
		of[2].Value = o.CellDensity
	}
	if !o.MeasuredAt.IsZero() {
		of[3].Value = o.MeasuredAt.Unix()
	}
	if details != "" {
		of[4].Value = details
	}
	return args
}

// appendKey appends the columns of an observation's key.
func appendKey(args []driver.NamedValue, r groupRow, o *data.Observation) []driver.NamedValue {
	return appendArg(appendArg(appendArg(appendArg(args, r.lake), int64(o.Date)), int64(o.Type)), r.source)
}

func appendArg(args []driver.NamedValue, v driver.Value) []driver.NamedValue {
	return append(args, driver.NamedValue{Ordinal: len(args) + 1, Value: v})
}

// A driverStmt is a statement of the driver, prepared on first use: package sql would check and copy each parameter.
type driverStmt struct {
	query string
	stmt  driver.Stmt
}

// exec runs a statement that returns no rows.
func (t *sqliteTx) exec(ctx context.Context, s *driverStmt, args []driver.NamedValue) error {
	return t.inStmt(ctx, s, func(stmt driver.Stmt) error {
		_, err := stmt.(driver.StmtExecContext).ExecContext(ctx, args)
		return err
	})
}

func (t *sqliteTx) inStmt(ctx context.Context, s *driverStmt, fn func(driver.Stmt) error) error {
	return inDriver(t.conn, func(conn driver.ConnPrepareContext) (err error) {
		// Package sql rolls the transaction back when its context has ended. Then the rows would be committed at once. A rollback that begins
		// now waits until this function has returned.
		if err := t.ended(); err != nil {
			return err
		}
		if s.stmt == nil {
			if s.stmt, err = conn.PrepareContext(ctx, s.query); err != nil {
				return err
			}
		}
		return fn(s.stmt)
	})
}

// closeStatements closes the driver's statements before others use the connection.
func (t *sqliteTx) closeStatements() {
	_ = inDriver(t.conn, func(driver.Conn) error {
		for _, s := range []*driverStmt{&t.insertGroup, &t.readGroup, &t.insertRow, &t.updateRow} {
			if s.stmt != nil {
				_ = s.stmt.Close()
			}
		}
		return nil
	})
}
