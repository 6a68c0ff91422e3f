-- +goose Up

-- Browsers that asked to be told of lakes (push.Subscription), and how sending to them goes. Nothing else is known of them.
CREATE TABLE push_subscriptions (
	id            TEXT PRIMARY KEY,         -- of the endpoint
	endpoint      TEXT NOT NULL,
	p256dh        TEXT NOT NULL,
	auth          TEXT NOT NULL,
	threshold     TEXT NOT NULL,            -- push.Threshold
	daily         INTEGER NOT NULL,         -- 0 or 1
	zone          TEXT NOT NULL,
	renewed_at    INTEGER NOT NULL,         -- Unix seconds, as the times below
	failures      INTEGER NOT NULL DEFAULT 0,
	failing_since INTEGER,
	next_at       INTEGER,
	holder        TEXT NOT NULL DEFAULT '', -- the process that is sending; empty: none
	held_until    INTEGER
) STRICT;

CREATE TABLE push_lakes (
	lake         TEXT NOT NULL,
	subscription TEXT NOT NULL REFERENCES push_subscriptions ON DELETE CASCADE,
	PRIMARY KEY (lake, subscription)
) STRICT, WITHOUT ROWID;

CREATE INDEX push_lakes_subscription ON push_lakes (subscription);

-- Events that wait until their subscription may be told.
CREATE TABLE push_queue (
	subscription TEXT NOT NULL REFERENCES push_subscriptions ON DELETE CASCADE,
	seq          INTEGER NOT NULL,          -- of the event
	due_at       INTEGER NOT NULL,
	PRIMARY KEY (subscription, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX push_queue_due ON push_queue (due_at);

-- One row: up to which event and subscription the queue was filled; NULL: not yet.
CREATE TABLE push_state (
	one                INTEGER PRIMARY KEY CHECK (one = 1),
	after_seq          INTEGER,
	after_subscription TEXT NOT NULL
) STRICT;

INSERT INTO push_state (one, after_subscription) VALUES (1, '');
