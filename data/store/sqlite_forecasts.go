package store

// sqliteReading is what makes a row of observations o, of a type that counts, a reading. Few rows with details are poor: only of these are the
// details read.
const sqliteReading = "o.chl IS NOT NULL AND (o.details IS NULL OR instr(o.details, '\"poor\"') = 0 OR o.details ->> 'quality' <> 'poor')"

// Of samples (type 2) only without any value of a satellite (type 0).
const sqliteNewestReading = "SELECT coalesce((SELECT max((" + sqliteLast + " AND o.type = 0 ORDER BY o.date DESC LIMIT 1)) FROM lakes AS l)" +
	", (SELECT max((" + sqliteLast + " AND o.type = 2 ORDER BY o.date DESC LIMIT 1)) FROM lakes AS l))"

const sqliteLast = "SELECT o.date FROM observations AS o WHERE o.lake = l.key AND " + sqliteReading

// CROSS JOIN makes SQLite loop over lakes by id, so that the rows need no sorting. Samples count as above, for
// each lake.
const sqliteReadings = `SELECT l.key, coalesce(group_concat((o.date - ?3 << 18) | o.chl) FILTER (WHERE o.type = 0), group_concat((o.date - ?3 << 18) | o.chl) FILTER (WHERE o.type = 2))
	FROM lakes AS l CROSS JOIN observations AS o ON o.lake = l.key AND o.date BETWEEN ?3 AND ?4
	WHERE l.id > ?1 AND l.id <= ?2 AND o.type IN (0, 2) AND ` + sqliteReading + ` GROUP BY l.id ORDER BY l.id`

var sqliteForecasts = "SELECT " + atMost("l.id", maxIDBytes) + ", " + forecastColumns +
	" FROM lakes AS l CROSS JOIN forecasts AS f ON f.issued = ? AND f.lake = l.key ORDER BY l.id"
