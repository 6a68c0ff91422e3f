package store

import "fmt"

// postgresReading is what makes a row of observations o, of a type that counts, a reading.
const postgresReading = "o.chl IS NOT NULL AND coalesce(o.details ->> 'quality', '') <> 'poor'"

// Of samples (type 2) only without any value of a satellite (type 0).
const postgresNewestReading = "SELECT coalesce((SELECT max(n.date) FROM " + postgresLast + " AND o.type = 0 ORDER BY o.date DESC LIMIT 1) AS n)" +
	", (SELECT max(n.date) FROM " + postgresLast + " AND o.type = 2 ORDER BY o.date DESC LIMIT 1) AS n))"

const postgresLast = "limnomap.lakes AS l CROSS JOIN LATERAL (SELECT o.date FROM limnomap.observations AS o WHERE o.lake = l.key AND " + postgresReading

// The lateral query can only be the inner side of a loop over lakes, which keeps the order of both. Samples count as above,
// for each lake.
const postgresReadings = `SELECT l.key, r.readings
	FROM limnomap.lakes AS l CROSS JOIN LATERAL (
		SELECT coalesce(string_agg((((o.date - $3)::bigint << 18) | o.chl)::text, ',') FILTER (WHERE o.type = 0),
			string_agg((((o.date - $3)::bigint << 18) | o.chl)::text, ',') FILTER (WHERE o.type = 2)) AS readings FROM limnomap.observations AS o
		WHERE o.lake = l.key AND o.date BETWEEN $3 AND $4 AND o.type IN (0, 2) AND ` + postgresReading + `) AS r
	WHERE l.id > $1 AND l.id <= $2 AND r.readings IS NOT NULL ORDER BY l.id`

var postgresForecasts = "SELECT " + atMost("l.id", maxIDBytes) + ", " + forecastColumns +
	" FROM limnomap.lakes AS l JOIN limnomap.forecasts AS f ON f.lake = l.key WHERE f.issued = $1 ORDER BY l.id"

var (
	postgresLockImports = fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", int64(importLock))
	postgresTryMoment   = fmt.Sprintf("SELECT pg_try_advisory_xact_lock(%d)", int64(momentLock))
	postgresNotify      = fmt.Sprintf("SELECT pg_notify('%s', '')", noticeChannel)
)
