-- +goose Up

-- A hash of a row: the sum of all tells whether any pixels have changed. Rows of earlier versions have 0.
ALTER TABLE limnomap.pixels ADD COLUMN digest integer NOT NULL DEFAULT 0;
DROP INDEX limnomap.pixels_date;
CREATE INDEX pixels_date ON limnomap.pixels (source, date, digest);
