-- +goose Up

-- Events about official statements have a position of their own, so that they do not wait for other events: a hook.Progress as that of the others, where
-- the deliveries of both were until now.
ALTER TABLE hooks ADD COLUMN statement_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hooks ADD COLUMN statement_failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hooks ADD COLUMN statement_failing_since INTEGER;
ALTER TABLE hooks ADD COLUMN statement_next_at INTEGER;
ALTER TABLE hooks ADD COLUMN statement_error TEXT NOT NULL DEFAULT '';
ALTER TABLE hooks ADD COLUMN statement_delivered_at INTEGER;
UPDATE hooks SET statement_seq = after_seq;

-- They are few among many: data.AdvisoryIssued to data.AdvisoryExpired.
CREATE INDEX events_statements ON events (seq) WHERE kind >= 5 AND kind <= 8;
