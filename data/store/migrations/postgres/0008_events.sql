-- +goose Up

-- The states of the data that were compared for the log of events (data.Moment), in the order of publication.
CREATE TABLE limnomap.event_moments (
	number        bigint PRIMARY KEY,
	revision      bigint NOT NULL,
	changed_at    bigint NOT NULL,         -- Unix seconds, as the times below
	forecasts     bigint NOT NULL,
	settings      text NOT NULL,
	snapshot      text NOT NULL,
	at            bigint NOT NULL,
	last_seq      bigint NOT NULL,
	measured      bigint NOT NULL,
	blocks        integer NOT NULL,
	changes_since bigint NOT NULL
);

CREATE INDEX event_moments_snapshot ON limnomap.event_moments (snapshot);

-- What the last moment says about lakes and official statements (package eventlog).
CREATE TABLE limnomap.event_blocks (
	number integer PRIMARY KEY,            -- from 0 on
	block  bytea NOT NULL
);

-- The log of events (data.Event).
CREATE TABLE limnomap.events (
	seq             bigint PRIMARY KEY,
	id              bytea NOT NULL,        -- 16 bytes
	moment          bigint NOT NULL,       -- number of event_moments
	lake            text COLLATE "C" NOT NULL,-- id; the lake may be gone
	kind            smallint NOT NULL,
	chl_before      integer,               -- hundredths of µg/l; NULL: no current value
	level_before    smallint,
	measured_before bigint,                -- Unix seconds
	chl_after       integer,
	level_after     smallint,
	measured_after  bigint,
	detail          text                   -- the official statement or the forecast as JSON
);

CREATE INDEX events_lake ON limnomap.events (lake, seq);
