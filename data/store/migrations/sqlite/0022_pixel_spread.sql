-- +goose Up

-- How the values of the pixels are spread: pixels.Spread. Rows of earlier versions have none until their file is imported again.
ALTER TABLE pixels ADD COLUMN spread BLOB;
