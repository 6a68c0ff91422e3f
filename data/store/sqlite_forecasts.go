package store

import (
	"context"
	"database/sql"
	"iter"

	"limnomap/data"
)

// sqliteReading is what makes a row of observations o a reading. Few rows with details are poor: only of these are the details read.
const sqliteReading = "o.type = 0 AND o.chl IS NOT NULL AND (o.details IS NULL OR instr(o.details, '\"poor\"') = 0 OR o.details ->> 'quality' <> 'poor')"

const sqliteNewestReading = "SELECT max((SELECT o.date FROM observations AS o WHERE o.lake = l.key AND " + sqliteReading + " ORDER BY o.date DESC LIMIT 1)) FROM lakes AS l"

// CROSS JOIN makes SQLite loop over lakes by id, so that the rows need no sorting.
const sqliteReadings = `SELECT l.key, group_concat((o.date - ?3 << 18) | o.chl)
	FROM lakes AS l CROSS JOIN observations AS o ON o.lake = l.key AND o.date BETWEEN ?3 AND ?4
	WHERE l.id > ?1 AND l.id <= ?2 AND ` + sqliteReading + ` GROUP BY l.id ORDER BY l.id`

var sqliteForecasts = "SELECT " + atMost("l.id", maxIDBytes) + ", " + forecastColumns +
	" FROM lakes AS l CROSS JOIN forecasts AS f ON f.issued = ? AND f.lake = l.key ORDER BY l.id"

const sqlitePutForecast = "INSERT INTO forecasts AS f (" + forecastNames + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)" + replaceForecast

func (q sqliteQuerier) putForecasts(ctx context.Context, issued data.Date, forecasts iter.Seq[data.NumberedForecast]) (written int64, err error) {
	insert, err := q.db.(*sql.Tx).PrepareContext(ctx, sqlitePutForecast)
	if err != nil {
		return 0, err
	}
	defer insert.Close()
	var row []any
	for f := range forecasts {
		row = forecastValues(row[:0], issued, &f)
		result, err := insert.ExecContext(ctx, row...)
		if err != nil {
			return 0, err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return 0, err
		}
		written += n
	}
	return written, nil
}
