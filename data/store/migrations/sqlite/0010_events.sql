-- +goose Up

-- The states of the data that were compared for the log of events (data.Moment), in the order of publication.
CREATE TABLE event_moments (
	number        INTEGER PRIMARY KEY,
	revision      INTEGER NOT NULL,
	changed_at    INTEGER NOT NULL,         -- Unix seconds, as the times below
	forecasts     INTEGER NOT NULL,
	settings      TEXT NOT NULL,
	snapshot      TEXT NOT NULL,
	at            INTEGER NOT NULL,
	last_seq      INTEGER NOT NULL,
	measured      INTEGER NOT NULL,
	blocks        INTEGER NOT NULL,
	changes_since INTEGER NOT NULL
) STRICT;

CREATE INDEX event_moments_snapshot ON event_moments (snapshot);

-- What the last moment says about lakes and official statements (package eventlog).
CREATE TABLE event_blocks (
	number INTEGER PRIMARY KEY,             -- from 0 on
	block  BLOB NOT NULL
) STRICT;

-- The log of events (data.Event).
CREATE TABLE events (
	seq             INTEGER PRIMARY KEY,
	id              BLOB NOT NULL,          -- 16 bytes
	moment          INTEGER NOT NULL,       -- number of event_moments
	lake            TEXT NOT NULL,          -- id; the lake may be gone
	kind            INTEGER NOT NULL,
	chl_before      INTEGER,                -- hundredths of µg/l; NULL: no current value
	level_before    INTEGER,
	measured_before INTEGER,                -- Unix seconds
	chl_after       INTEGER,
	level_after     INTEGER,
	measured_after  INTEGER,
	detail          TEXT                    -- the official statement or the forecast as JSON
) STRICT;

CREATE INDEX events_lake ON events (lake, seq);
