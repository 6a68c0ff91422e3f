-- +goose Up

-- The number of the revision of the official statements of a moment, which may be later than that of its lakes and values; 0: not known.
ALTER TABLE limnomap.event_moments ADD COLUMN statements_of bigint NOT NULL DEFAULT 0;
