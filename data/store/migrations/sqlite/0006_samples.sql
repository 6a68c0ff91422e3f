-- +goose Up

-- The products and laboratories that observations are from.
CREATE TABLE sources (
	key  INTEGER PRIMARY KEY,                                   -- from 1 on
	name TEXT NOT NULL UNIQUE
) STRICT;

-- Samples are a third type, and each source has a row of its own. What only few observations have is in details, so that the others
-- take no room for it.
CREATE TABLE observations_6 (
	lake        INTEGER NOT NULL REFERENCES lakes (key),
	date        INTEGER NOT NULL,                               -- days since 1970-01-01
	type        INTEGER NOT NULL CHECK (type BETWEEN 0 AND 2),  -- 0 satellite, 1 ai_forecast, 2 in_situ; IN would be slow
	source      INTEGER NOT NULL,                               -- key of sources; 0: it has no name
	chl         INTEGER CHECK (chl BETWEEN 0 AND 150000),       -- hundredths of µg/l; NULL is a gap
	level       INTEGER CHECK (level BETWEEN 0 AND 3),          -- NULL: the source reports none
	density     REAL CHECK (density >= 0),                      -- cells/ml; NULL: the source has none
	measured_at INTEGER,                                        -- seconds since 1970; NULL: midnight of date
	details     TEXT CHECK (details IS NULL OR json_valid(details)), -- an object with the other columns that are known; NULL: none
	PRIMARY KEY (lake, date, type, source)
) STRICT, WITHOUT ROWID;

INSERT INTO observations_6 (lake, date, type, source, chl, level, density, measured_at)
	SELECT lake, date, type, 0, chl, level, density, measured_at FROM observations ORDER BY lake, date, type;

DROP TABLE observations;

ALTER TABLE observations_6 RENAME TO observations;

-- The lakes that have samples: no sample is looked for among the thousands of passes of the others. A partial index would make SQLite
-- prepare each statement with a type again and again.
CREATE TABLE sampled_lakes (
	lake INTEGER PRIMARY KEY REFERENCES lakes (key)
) STRICT;
