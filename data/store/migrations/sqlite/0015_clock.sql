-- +goose Up

-- One row: up to when servers have believed their clocks, in Unix seconds, for what they delete; 0: not yet. See Store.Believe.
CREATE TABLE clock (
	one         INTEGER PRIMARY KEY CHECK (one = 1),
	believed_at INTEGER NOT NULL
) STRICT;

INSERT INTO clock (one, believed_at) SELECT 1, coalesce((SELECT at FROM event_moments ORDER BY number DESC LIMIT 1), 0);
