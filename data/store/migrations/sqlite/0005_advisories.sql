-- +goose Up

-- Official statements. Times are seconds since 1970.
CREATE TABLE advisories (
	id          TEXT NOT NULL PRIMARY KEY,
	lake        INTEGER NOT NULL REFERENCES lakes (key),
	kind        INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 4),   -- 1 season, 2 info, 3 warning, 4 closure
	cause       INTEGER NOT NULL CHECK (cause BETWEEN 0 AND 2),  -- 0 other, 1 cyanobacteria, 2 bacteria
	issuer      TEXT NOT NULL CHECK (issuer <> ''),
	text_en     TEXT NOT NULL,
	text_de     TEXT NOT NULL,
	url         TEXT NOT NULL,
	issued      INTEGER NOT NULL,
	valid_from  INTEGER NOT NULL,
	valid_until INTEGER CHECK (valid_until > valid_from),        -- the first second after it; NULL: not known
	withdrawn   INTEGER                                          -- NULL: it was not
) STRICT;
