package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"limnomap/data"
)

// copyRows copies rows into a table.
func (t *postgresTx) copyRows(ctx context.Context, table pgx.Identifier, rows []keyedRow) error {
	columns := []string{"lake", "date", "type", "source", "chl", "level", "density", "measured_at", "details"}
	values := make([]any, len(columns))
	_, err := t.tx.CopyFrom(ctx, table, columns, pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
		r := &rows[i]
		values[0], values[1], values[2], values[3] = int32(r.lake), int32(r.date), int16(r.dataType), int16(r.source)
		clear(values[4:])
		if r.Chlorophyll.Valid() {
			values[4] = int32(r.Chlorophyll)
		}
		if r.Level != data.NoLevel {
			values[5] = int16(r.Level)
		}
		if r.CellDensity >= 0 {
			values[6] = unsigned(r.CellDensity)
		}
		if !r.MeasuredAt.IsZero() {
			values[7] = r.MeasuredAt.Unix()
		}
		if details := detailsText(r.Observation); details != "" {
			values[8] = details
		}
		return values, nil
	}))
	return err
}

// unsigned returns 0 for negative zero, which SQLite does not store: both kinds of store must give the same bits.
func unsigned(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x
}
