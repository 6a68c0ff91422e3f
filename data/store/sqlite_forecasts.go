package store

// sqliteReading is what makes a row of observations o a reading. Few rows with details are poor: only of these are the details read.
const sqliteReading = "o.type = 0 AND o.chl IS NOT NULL AND (o.details IS NULL OR instr(o.details, '\"poor\"') = 0 OR o.details ->> 'quality' <> 'poor')"

const sqliteNewestReading = "SELECT max((SELECT o.date FROM observations AS o WHERE o.lake = l.key AND " + sqliteReading + " ORDER BY o.date DESC LIMIT 1)) FROM lakes AS l"

// CROSS JOIN makes SQLite loop over lakes by id, so that the rows need no sorting.
const sqliteReadings = `SELECT l.key, group_concat((o.date - ?3 << 18) | o.chl)
	FROM lakes AS l CROSS JOIN observations AS o ON o.lake = l.key AND o.date BETWEEN ?3 AND ?4
	WHERE l.id > ?1 AND l.id <= ?2 AND ` + sqliteReading + ` GROUP BY l.id ORDER BY l.id`

var sqliteForecasts = "SELECT " + atMost("l.id", maxIDBytes) + ", " + forecastColumns +
	" FROM lakes AS l CROSS JOIN forecasts AS f ON f.issued = ? AND f.lake = l.key ORDER BY l.id"
