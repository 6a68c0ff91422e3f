-- +goose Up

-- The satellite files that refreshes have read (data.RasterRecord). A file whose values were imported has no error.
CREATE TABLE limnomap.rasters (
	key      text COLLATE "C" PRIMARY KEY,  -- a hash: an address may hold a secret
	name     text NOT NULL,
	stamp    text NOT NULL,                 -- changes when the file changes
	error    text NOT NULL,
	failures integer NOT NULL,              -- in a row
	tried_at bigint NOT NULL,               -- seconds since 1970, as retry_at
	retry_at bigint,
	product  text NOT NULL,
	version  text NOT NULL,
	date     integer NOT NULL,              -- days since 1970-01-01
	lakes    bigint NOT NULL,               -- with a value
	gaps     bigint NOT NULL,
	written  bigint NOT NULL,               -- rows that were added or changed
	bytes    bigint NOT NULL
);

-- The totals of all refreshes, and the counts of the last one (data.RefreshRasters).
ALTER TABLE limnomap.refresh
	ADD COLUMN rasters_taken bigint NOT NULL DEFAULT 0,
	ADD COLUMN rasters_failed bigint NOT NULL DEFAULT 0,
	ADD COLUMN raster_bytes bigint NOT NULL DEFAULT 0,
	ADD COLUMN raster_taken_at bigint,
	ADD COLUMN raster_product text NOT NULL DEFAULT '',
	ADD COLUMN raster_date integer NOT NULL DEFAULT 0,
	ADD COLUMN rasters_waiting bigint NOT NULL DEFAULT 0,
	ADD COLUMN rasters_failing bigint NOT NULL DEFAULT 0,
	ADD COLUMN rasters_skipped bigint NOT NULL DEFAULT 0;
