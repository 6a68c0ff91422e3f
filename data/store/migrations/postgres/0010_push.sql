-- +goose Up

-- Browsers that asked to be told of lakes (push.Subscription), and how sending to them goes. Nothing else is known of them.
CREATE TABLE limnomap.push_subscriptions (
	id            text COLLATE "C" PRIMARY KEY,-- of the endpoint
	endpoint      text NOT NULL,
	p256dh        text NOT NULL,
	auth          text NOT NULL,
	threshold     text NOT NULL,           -- push.Threshold
	daily         integer NOT NULL,        -- 0 or 1
	zone          text NOT NULL,
	renewed_at    bigint NOT NULL,         -- Unix seconds, as the times below
	failures      integer NOT NULL DEFAULT 0,
	failing_since bigint,
	next_at       bigint,
	holder        text NOT NULL DEFAULT '',-- the process that is sending; empty: none
	held_until    bigint
);

CREATE TABLE limnomap.push_lakes (
	lake         text COLLATE "C" NOT NULL,
	subscription text COLLATE "C" NOT NULL REFERENCES limnomap.push_subscriptions ON DELETE CASCADE,
	PRIMARY KEY (lake, subscription)
);

CREATE INDEX push_lakes_subscription ON limnomap.push_lakes (subscription);

-- Events that wait until their subscription may be told.
CREATE TABLE limnomap.push_queue (
	subscription text COLLATE "C" NOT NULL REFERENCES limnomap.push_subscriptions ON DELETE CASCADE,
	seq          bigint NOT NULL,          -- of the event
	due_at       bigint NOT NULL,
	PRIMARY KEY (subscription, seq)
);

CREATE INDEX push_queue_due ON limnomap.push_queue (due_at);

-- One row: up to which event and subscription the queue was filled; NULL: not yet.
CREATE TABLE limnomap.push_state (
	one                smallint PRIMARY KEY CHECK (one = 1),
	after_seq          bigint,
	after_subscription text COLLATE "C" NOT NULL
);

INSERT INTO limnomap.push_state (one, after_subscription) VALUES (1, '');
