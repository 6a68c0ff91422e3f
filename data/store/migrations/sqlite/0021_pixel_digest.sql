-- +goose Up

-- A hash of a row: the sum of all tells whether any pixels have changed. Rows of earlier versions have 0.
ALTER TABLE pixels ADD COLUMN digest INTEGER NOT NULL DEFAULT 0;
DROP INDEX pixels_date;
CREATE INDEX pixels_date ON pixels (source, date, digest);
