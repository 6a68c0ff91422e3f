-- +goose Up

-- The satellite files that refreshes have read (data.RasterRecord). A file whose values were imported has no error.
CREATE TABLE rasters (
	key      TEXT PRIMARY KEY,              -- a hash: an address may hold a secret
	name     TEXT NOT NULL,
	stamp    TEXT NOT NULL,                 -- changes when the file changes
	error    TEXT NOT NULL,
	failures INTEGER NOT NULL,              -- in a row
	tried_at INTEGER NOT NULL,              -- seconds since 1970, as retry_at
	retry_at INTEGER,
	product  TEXT NOT NULL,
	version  TEXT NOT NULL,
	date     INTEGER NOT NULL,              -- days since 1970-01-01
	lakes    INTEGER NOT NULL,              -- with a value
	gaps     INTEGER NOT NULL,
	written  INTEGER NOT NULL,              -- rows that were added or changed
	bytes    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The totals of all refreshes, and the counts of the last one (data.RefreshRasters).
ALTER TABLE refresh ADD COLUMN rasters_taken INTEGER NOT NULL DEFAULT 0;
ALTER TABLE refresh ADD COLUMN rasters_failed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE refresh ADD COLUMN raster_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE refresh ADD COLUMN raster_taken_at INTEGER;
ALTER TABLE refresh ADD COLUMN raster_product TEXT NOT NULL DEFAULT '';
ALTER TABLE refresh ADD COLUMN raster_date INTEGER NOT NULL DEFAULT 0;
ALTER TABLE refresh ADD COLUMN rasters_waiting INTEGER NOT NULL DEFAULT 0;
ALTER TABLE refresh ADD COLUMN rasters_failing INTEGER NOT NULL DEFAULT 0;
ALTER TABLE refresh ADD COLUMN rasters_skipped INTEGER NOT NULL DEFAULT 0;
