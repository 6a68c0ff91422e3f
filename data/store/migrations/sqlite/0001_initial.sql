-- +goose Up

-- "limn" in ASCII: by it limnomap knows a database as its own before it touches it.
PRAGMA application_id = 0x6c696d6e;

CREATE TABLE lakes (
	key         INTEGER PRIMARY KEY,
	id          TEXT NOT NULL UNIQUE,
	external_id TEXT NOT NULL,
	name        TEXT NOT NULL,
	lon         REAL NOT NULL CHECK (lon BETWEEN -180 AND 180),
	lat         REAL NOT NULL CHECK (lat BETWEEN -90 AND 90),
	region      TEXT NOT NULL,
	area_km2    REAL NOT NULL CHECK (area_km2 >= 0)
) STRICT;

-- The rows lie in the order of their key, so that a lake's history is one range and needs no index beside it.
CREATE TABLE observations (
	lake        INTEGER NOT NULL REFERENCES lakes (key),
	date        INTEGER NOT NULL,                               -- days since 1970-01-01
	type        INTEGER NOT NULL CHECK (type IN (0, 1)),        -- 0 satellite, 1 ai_forecast
	chl         INTEGER CHECK (chl BETWEEN 0 AND 150000),       -- hundredths of µg/l; NULL is a gap
	level       INTEGER CHECK (level BETWEEN 0 AND 3),          -- NULL: the source reports none
	density     REAL CHECK (density >= 0),                      -- cells/ml; NULL: the source brings none
	measured_at INTEGER,                                        -- seconds since 1970; NULL: midnight of date
	PRIMARY KEY (lake, date, type)
) STRICT, WITHOUT ROWID;

-- Times are seconds since 1970; NULL is never.
CREATE TABLE api_keys (
	name       TEXT PRIMARY KEY,
	hash       BLOB NOT NULL CHECK (length(hash) = 32),         -- SHA-256
	created_at INTEGER NOT NULL,
	expires_at INTEGER,
	revoked_at INTEGER
) STRICT, WITHOUT ROWID;

-- One row. A new database is as old as itself.
CREATE TABLE revision (
	one        INTEGER PRIMARY KEY CHECK (one = 1),
	number     INTEGER NOT NULL,
	changed_at INTEGER NOT NULL
) STRICT;

INSERT INTO revision (one, number, changed_at) VALUES (1, 0, unixepoch());
