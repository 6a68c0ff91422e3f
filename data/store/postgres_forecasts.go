package store

import "fmt"

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

var (
	postgresLockImports = fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", int64(importLock))
	postgresTryMoment   = fmt.Sprintf("SELECT pg_try_advisory_xact_lock(%d)", int64(momentLock))
	postgresNotify      = fmt.Sprintf("SELECT pg_notify('%s', '')", noticeChannel)
)
