package store

import (
	"context"
	"database/sql"

	"limnomap/data"
)

const sqlitePutEvent = "INSERT INTO events (" + eventNames + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

func (q sqliteQuerier) putEvents(ctx context.Context, moment int64, events []data.Event) error {
	insert, err := q.db.(*sql.Tx).PrepareContext(ctx, sqlitePutEvent)
	if err != nil {
		return err
	}
	defer insert.Close()
	var row []any
	for i := range events {
		if row, err = eventValues(row[:0], moment, &events[i]); err != nil {
			return err
		}
		if _, err := insert.ExecContext(ctx, row...); err != nil {
			return err
		}
	}
	return nil
}
