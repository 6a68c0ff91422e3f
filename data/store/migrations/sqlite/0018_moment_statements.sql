-- +goose Up

-- The number of the revision of the official statements of a moment, which may be later than that of its lakes and values; 0: not known.
ALTER TABLE event_moments ADD COLUMN statements_of INTEGER NOT NULL DEFAULT 0;
