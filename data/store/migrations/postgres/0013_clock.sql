-- +goose Up

-- One row: up to when servers have believed their clocks, in Unix seconds, for what they delete; 0: not yet. See Store.Believe.
CREATE TABLE limnomap.clock (
	one         integer PRIMARY KEY CHECK (one = 1),
	believed_at bigint NOT NULL
);

INSERT INTO limnomap.clock (one, believed_at) SELECT 1, coalesce((SELECT at FROM limnomap.event_moments ORDER BY number DESC LIMIT 1), 0);
