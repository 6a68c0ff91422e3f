package store

import (
	"context"
	"database/sql"
	"strings"

	"limnomap/data"
)

const sqliteInsertEvents = "INSERT INTO events (" + eventNames + ") VALUES "

// eventRow is the row of an event in an insert, eventRows as many as one statement inserts, which takes half the time of one statement each.
const (
	eventRow      = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	eventsAtATime = 64
)

var eventRows = strings.Repeat(eventRow+", ", eventsAtATime-1) + eventRow

func (q sqliteQuerier) putEvents(ctx context.Context, moment int64, events []data.Event) error {
	tx := q.db.(*sql.Tx)
	many, err := tx.PrepareContext(ctx, sqliteInsertEvents+eventRows)
	if err != nil {
		return err
	}
	defer many.Close()
	var values []any
	for len(events) > 0 {
		n := eventsAtATime
		insert := many.ExecContext
		if len(events) < n {
			n = 1
			insert = func(ctx context.Context, args ...any) (sql.Result, error) {
				return tx.ExecContext(ctx, sqliteInsertEvents+eventRow, args...)
			}
		}
		values = values[:0]
		for i := range n {
			if values, err = eventValues(values, moment, &events[i]); err != nil {
				return err
			}
		}
		if _, err := insert(ctx, values...); err != nil {
			return err
		}
		events = events[n:]
	}
	return nil
}
