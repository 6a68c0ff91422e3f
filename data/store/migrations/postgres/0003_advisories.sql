-- +goose Up

-- Official statements. Times are seconds since 1970.
CREATE TABLE limnomap.advisories (
	id          text COLLATE "C" PRIMARY KEY,
	lake        integer NOT NULL REFERENCES limnomap.lakes (key),
	kind        smallint NOT NULL CHECK (kind BETWEEN 1 AND 4),  -- 1 season, 2 info, 3 warning, 4 closure
	cause       smallint NOT NULL CHECK (cause BETWEEN 0 AND 2), -- 0 other, 1 cyanobacteria, 2 bacteria
	issuer      text NOT NULL CHECK (issuer <> ''),
	text_en     text NOT NULL,
	text_de     text NOT NULL,
	url         text NOT NULL,
	issued      bigint NOT NULL,
	valid_from  bigint NOT NULL,
	valid_until bigint CHECK (valid_until > valid_from),         -- the first second after it; NULL: not known
	withdrawn   bigint                                           -- NULL: it was not
);
