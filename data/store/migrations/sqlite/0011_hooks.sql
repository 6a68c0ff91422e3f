-- +goose Up

-- Webhooks (hook.Hook). The secrets sign what is sent: they must be stored as they are.
CREATE TABLE hooks (
	id            TEXT PRIMARY KEY,
	url           TEXT NOT NULL,
	filter        TEXT NOT NULL,            -- JSON
	secret        TEXT NOT NULL,
	former        TEXT NOT NULL,            -- the secret before the last rotation; empty: none
	former_until  INTEGER,                  -- Unix seconds, as the times below
	created_at    INTEGER NOT NULL,
	state         TEXT NOT NULL,            -- hook.State
	after_seq     INTEGER NOT NULL,         -- number of the last event that was delivered or passed over
	failures      INTEGER NOT NULL,
	failing_since INTEGER,
	next_at       INTEGER,
	error         TEXT NOT NULL,
	delivered_at  INTEGER,
	holder        TEXT NOT NULL,            -- the process that is sending; empty: none
	held_until    INTEGER
) STRICT;

-- The last attempts of each (hook.Delivery).
CREATE TABLE hook_deliveries (
	number   INTEGER PRIMARY KEY,
	hook     TEXT NOT NULL,
	at       INTEGER NOT NULL,
	seq      INTEGER NOT NULL,
	event    TEXT NOT NULL,
	attempt  INTEGER NOT NULL,
	status   INTEGER NOT NULL,
	error    TEXT NOT NULL,
	duration INTEGER NOT NULL               -- milliseconds
) STRICT;

CREATE INDEX hook_deliveries_hook ON hook_deliveries (hook, number);
