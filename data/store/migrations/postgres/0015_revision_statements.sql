-- +goose Up

-- How many of the imports counted by number changed official statements only, and when the last other one was committed, in Unix seconds; 0: none since
-- these columns exist. See data.Revision. An older limnomap that still writes counts no import here, as if it had changed everything.
ALTER TABLE limnomap.revision ADD COLUMN statements bigint NOT NULL DEFAULT 0;
ALTER TABLE limnomap.revision ADD COLUMN others_at bigint NOT NULL DEFAULT 0;
