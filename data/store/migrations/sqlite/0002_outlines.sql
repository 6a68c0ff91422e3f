-- +goose Up

-- As data.Outline encodes it; empty where the shore is not known. It is the last column, so that the others can be read
-- without the pages that a long one spills over to.
ALTER TABLE lakes ADD COLUMN outline BLOB NOT NULL DEFAULT x'';
