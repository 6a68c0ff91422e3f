-- +goose Up

-- Which pixels of a grid are a lake's: those of an outline are the same on each date.
CREATE TABLE limnomap.pixel_masks (
	lake   integer NOT NULL REFERENCES limnomap.lakes (key),
	digest bytea NOT NULL CHECK (length(digest) = 16), -- of grid and mask
	grid   text NOT NULL,                              -- georef.Grid
	mask   bytea NOT NULL,                             -- pixels.Packed
	PRIMARY KEY (lake, digest)
);

-- The pixels of which an observation of a satellite was made. They are compressed.
CREATE TABLE limnomap.pixels (
	lake   integer NOT NULL REFERENCES limnomap.lakes (key),
	date   integer NOT NULL,                           -- days since 1970-01-01
	source smallint NOT NULL,                          -- key of sources; 0: it has no name
	mask   bytea NOT NULL,                             -- digest of pixel_masks
	codes  bytea NOT NULL,                             -- pixels.Packed
	PRIMARY KEY (lake, date, source)
);
ALTER TABLE limnomap.pixel_masks ALTER COLUMN mask SET STORAGE EXTERNAL;
ALTER TABLE limnomap.pixels ALTER COLUMN codes SET STORAGE EXTERNAL;

-- For the masks that no pixels have any more, and for the pixels of a source that are too old.
CREATE INDEX pixels_mask ON limnomap.pixels (lake, mask);
CREATE INDEX pixels_date ON limnomap.pixels (source, date);
