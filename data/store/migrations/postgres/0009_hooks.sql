-- +goose Up

-- Webhooks (hook.Hook). The secrets sign what is sent: they must be stored as they are.
CREATE TABLE limnomap.hooks (
	id            text COLLATE "C" PRIMARY KEY,
	url           text NOT NULL,
	filter        text NOT NULL,           -- JSON
	secret        text NOT NULL,
	former        text NOT NULL,           -- the secret before the last rotation; empty: none
	former_until  bigint,                  -- Unix seconds, as the times below
	created_at    bigint NOT NULL,
	state         text NOT NULL,           -- hook.State
	after_seq     bigint NOT NULL,         -- number of the last event that was delivered or passed over
	failures      integer NOT NULL,
	failing_since bigint,
	next_at       bigint,
	error         text NOT NULL,
	delivered_at  bigint,
	holder        text NOT NULL,           -- the process that is sending; empty: none
	held_until    bigint
);

-- The last attempts of each (hook.Delivery).
CREATE TABLE limnomap.hook_deliveries (
	number   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	hook     text COLLATE "C" NOT NULL,
	at       bigint NOT NULL,
	seq      bigint NOT NULL,
	event    text NOT NULL,
	attempt  integer NOT NULL,
	status   integer NOT NULL,
	error    text NOT NULL,
	duration bigint NOT NULL               -- milliseconds
);

CREATE INDEX hook_deliveries_hook ON limnomap.hook_deliveries (hook, number);
