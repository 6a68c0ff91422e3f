package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"limnomap/data"
)

// copyObservations copies the given rows into a table, and if numbered, their numbers into its column n.
func (t *postgresTx) copyObservations(ctx context.Context, table pgx.Identifier, observations []data.Observation, rows []int, numbered bool) error {
	columns := []string{"n", "lake", "date", "type", "source", "chl", "level", "density", "measured_at", "details"}
	first := 1
	if numbered {
		first = 0
	}
	values := make([]any, len(columns))
	_, err := t.tx.CopyFrom(ctx, table, columns[first:], pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
		o := &observations[rows[i]]
		values[0], values[1], values[2], values[3] = int32(rows[i]), t.keys[o.LakeID], int32(o.Date), int16(o.Type)
		values[4] = int16(t.sources.numbers[o.Source]) // 0 for no name
		clear(values[5:])
		if o.Chlorophyll.Valid() {
			values[5] = int32(o.Chlorophyll)
		}
		if o.Level != data.NoLevel {
			values[6] = int16(o.Level)
		}
		if o.CellDensity >= 0 {
			values[7] = unsigned(o.CellDensity)
		}
		if !o.MeasuredAt.IsZero() {
			values[8] = o.MeasuredAt.Unix()
		}
		if details := detailsText(o); details != "" {
			values[9] = details
		}
		return values[first:], nil
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
