package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"

	sqlitedriver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// groupRows is how many observations one statement inserts: so many that its beginning and its end take little of its time.
const groupRows = 32

// An observationGroup are the rows of a batch that one statement is to insert. Each is the first one with its key.
type observationGroup struct {
	rows    []int // by index in the batch
	args    []driver.NamedValue
	refused bool // whether a group of the batch had a row whose key is stored: then those of later rows probably are too
}

// addToGroup adds row b.at, and inserts the group if it is full.
func (t *sqliteTx) addToGroup(ctx context.Context, b *observationBatch) error {
	g := &b.group
	for _, v := range b.args[:insertObservationParameters] {
		g.args = append(g.args, driver.NamedValue{Ordinal: len(g.args) + 1, Value: v})
	}
	if g.rows = append(g.rows, b.at); len(g.rows) < t.store.groupRows {
		return nil
	}
	inserted, err := t.insertRows(ctx, g)
	for _, i := range g.rows[:inserted] {
		b.changes[i] = Added
	}
	t.changed = t.changed || inserted > 0
	if err != nil {
		b.at = g.rows[inserted]
		return err
	}
	g.refused = inserted < len(g.rows)
	return t.writeRows(ctx, b, inserted)
}

// endGroup writes the rows of a group that is not full.
func (t *sqliteTx) endGroup(ctx context.Context, b *observationBatch) error {
	return t.writeRows(ctx, b, 0)
}

// writeRows writes the rows of the group from that one on, each by itself, and empties the group.
func (t *sqliteTx) writeRows(ctx context.Context, b *observationBatch, from int) error {
	g := &b.group
	for n := from; n < len(g.rows); n++ {
		for i := range insertObservationParameters {
			b.args[i] = g.args[n*insertObservationParameters+i].Value
		}
		b.at = g.rows[n]
		var err error
		if b.changes[b.at], err = t.writeObservation(ctx, b, true); err != nil {
			return err
		}
	}
	g.rows, g.args = g.rows[:0], g.args[:0]
	return nil
}

// insertRows inserts the rows of a full group, up to the first one whose key is stored, and returns how many it has inserted. It runs the
// statement in the driver, because package sql would check and copy each parameter.
func (t *sqliteTx) insertRows(ctx context.Context, g *observationGroup) (inserted int, err error) {
	if t.insertGroup == nil {
		err := inDriver(t.conn, func(conn driver.ConnPrepareContext) (err error) {
			t.insertGroup, err = conn.PrepareContext(ctx, insertGroupSQL(len(g.rows)))
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	err = inDriver(t.conn, func(driver.Conn) error {
		// Package sql rolls the transaction back when its context has ended. Then the rows would be committed at once. A rollback that begins
		// now waits until this function has returned.
		if err := t.ended(); err != nil {
			return err
		}
		_, err := t.insertGroup.(driver.StmtExecContext).ExecContext(ctx, g.args)
		return err
	})
	if err == nil {
		return len(g.rows), nil
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

// insertGroupSQL inserts that many rows. OR FAIL keeps the rows before one that cannot be inserted. Without it, SQLite would copy
// each page before it changes it, in order to undo the statement.
func insertGroupSQL(rows int) string {
	const row = "(?, ?, ?, ?, ?, ?, ?, ?, ?), "
	return "INSERT OR FAIL INTO observations (lake, date, type, source, chl, level, density, measured_at, details) VALUES " +
		strings.TrimSuffix(strings.Repeat(row, rows), ", ")
}

// closeGroup closes the driver's statement before others use the connection.
func (t *sqliteTx) closeGroup() {
	if t.insertGroup != nil {
		_ = inDriver(t.conn, func(driver.Conn) error { return t.insertGroup.Close() })
	}
}
