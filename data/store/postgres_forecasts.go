package store

import (
	"context"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"limnomap/data"
)

// postgresReading is what makes a row of observations o a reading.
const postgresReading = "o.type = 0 AND o.chl IS NOT NULL AND coalesce(o.details ->> 'quality', '') <> 'poor'"

const postgresNewestReading = `SELECT max(n.date) FROM limnomap.lakes AS l CROSS JOIN LATERAL (
		SELECT o.date FROM limnomap.observations AS o WHERE o.lake = l.key AND ` + postgresReading + ` ORDER BY o.date DESC LIMIT 1) AS n`

// The lateral query can only be the inner side of a loop over lakes, which keeps the order of both.
const postgresReadings = `SELECT l.key, r.readings
	FROM limnomap.lakes AS l CROSS JOIN LATERAL (
		SELECT string_agg((((o.date - $3)::bigint << 18) | o.chl)::text, ',') AS readings FROM limnomap.observations AS o
		WHERE o.lake = l.key AND o.date BETWEEN $3 AND $4 AND ` + postgresReading + `) AS r
	WHERE l.id > $1 AND l.id <= $2 AND r.readings IS NOT NULL ORDER BY l.id`

var postgresForecasts = "SELECT " + atMost("l.id", maxIDBytes) + ", " + forecastColumns +
	" FROM limnomap.lakes AS l JOIN limnomap.forecasts AS f ON f.lake = l.key WHERE f.issued = $1 ORDER BY l.id"

const postgresIncomingForecasts = `CREATE TEMPORARY TABLE incoming_forecasts (LIKE limnomap.forecasts) ON COMMIT DROP`

const postgresPutForecasts = "INSERT INTO limnomap.forecasts AS f (" + forecastNames + ") SELECT " + forecastNames + " FROM incoming_forecasts ORDER BY lake" + replaceForecast

func (q postgresQuerier) putForecasts(ctx context.Context, issued data.Date, forecasts iter.Seq[data.NumberedForecast]) (written int64, err error) {
	tx := q.db.(pgx.Tx)
	if _, err := tx.Exec(ctx, postgresIncomingForecasts); err != nil {
		return 0, err
	}
	next, stop := iter.Pull(forecasts)
	defer stop()
	columns := []string{"issued", "lake", "based_on", "input", "withheld", "chl1", "sigma1", "chl2", "sigma2", "chl3", "sigma3", "chl4", "sigma4"}
	var row []any
	rows := pgx.CopyFromFunc(func() ([]any, error) {
		f, ok := next()
		if !ok {
			return nil, nil
		}
		row = forecastValues(row[:0], issued, &f)
		return row, nil
	})
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"incoming_forecasts"}, columns, rows); err != nil {
		return 0, err
	}
	return q.exec(ctx, postgresPutForecasts)
}

var (
	postgresLockImports = fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", int64(importLock))
	postgresNotify      = fmt.Sprintf("SELECT pg_notify('%s', '')", noticeChannel)
)
