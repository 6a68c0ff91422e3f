-- +goose Up

-- Events about official statements have a position of their own, so that they do not wait for other events: a hook.Progress as that of the others, where
-- the deliveries of both were until now.
ALTER TABLE limnomap.hooks ADD COLUMN statement_seq bigint NOT NULL DEFAULT 0;
ALTER TABLE limnomap.hooks ADD COLUMN statement_failures integer NOT NULL DEFAULT 0;
ALTER TABLE limnomap.hooks ADD COLUMN statement_failing_since bigint;
ALTER TABLE limnomap.hooks ADD COLUMN statement_next_at bigint;
ALTER TABLE limnomap.hooks ADD COLUMN statement_error text NOT NULL DEFAULT '';
ALTER TABLE limnomap.hooks ADD COLUMN statement_delivered_at bigint;
UPDATE limnomap.hooks SET statement_seq = after_seq;

-- They are few among many: data.AdvisoryIssued to data.AdvisoryExpired.
CREATE INDEX events_statements ON limnomap.events (seq) WHERE kind >= 5 AND kind <= 8;
