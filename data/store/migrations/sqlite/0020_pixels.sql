-- +goose Up

-- Which pixels of a grid are a lake's: those of an outline are the same on each date.
CREATE TABLE pixel_masks (
	lake   INTEGER NOT NULL REFERENCES lakes (key),
	digest BLOB NOT NULL CHECK (length(digest) = 16), -- of grid and mask
	grid   TEXT NOT NULL,                             -- georef.Grid
	mask   BLOB NOT NULL,                             -- pixels.Packed
	PRIMARY KEY (lake, digest)
) STRICT;

-- The pixels of which an observation of a satellite was made.
CREATE TABLE pixels (
	lake   INTEGER NOT NULL REFERENCES lakes (key),
	date   INTEGER NOT NULL,                          -- days since 1970-01-01
	source INTEGER NOT NULL,                          -- key of sources; 0: it has no name
	mask   BLOB NOT NULL,                             -- digest of pixel_masks
	codes  BLOB NOT NULL,                             -- pixels.Packed
	PRIMARY KEY (lake, date, source)
) STRICT;

-- For the masks that no pixels have any more, and for the pixels of a source that are too old.
CREATE INDEX pixels_mask ON pixels (lake, mask);
CREATE INDEX pixels_date ON pixels (source, date);
