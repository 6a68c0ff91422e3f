-- +goose Up

-- The schema limnomap is made before this, and all of limnomap lies in it.

CREATE TABLE limnomap.lakes (
	key         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id          text COLLATE "C" NOT NULL UNIQUE,               -- in the order of bytes, as everywhere
	external_id text NOT NULL,
	name        text NOT NULL,
	lon         double precision NOT NULL CHECK (lon BETWEEN -180 AND 180),
	lat         double precision NOT NULL CHECK (lat BETWEEN -90 AND 90),
	region      text NOT NULL,
	area_km2    double precision NOT NULL CHECK (area_km2 >= 0),
	outline     bytea NOT NULL DEFAULT ''                       -- as data.Outline encodes it; empty where the shore is not known
);

-- The key covers the row: a lake's history is a range of each year's index and needs none of the pages of the table, where
-- each week lies elsewhere. An import makes the years that it needs. There is no foreign key: it would look each row's lake
-- up once more, when an import has just taken the number from lakes, of which none is ever removed.
CREATE TABLE limnomap.observations (
	lake        integer NOT NULL,
	date        integer NOT NULL,                               -- days since 1970-01-01
	chl         integer CHECK (chl BETWEEN 0 AND 150000),       -- hundredths of µg/l; NULL is a gap
	type        smallint NOT NULL CHECK (type IN (0, 1)),       -- 0 satellite, 1 ai_forecast
	level       smallint CHECK (level BETWEEN 0 AND 3),         -- NULL: the source reports none
	density     double precision CHECK (density >= 0),          -- cells/ml; NULL: the source brings none
	measured_at bigint,                                         -- seconds since 1970; NULL: midnight of date
	PRIMARY KEY (lake, date, type) INCLUDE (chl, level, density, measured_at)
) PARTITION BY RANGE (date);

-- Times are seconds since 1970; NULL is never.
CREATE TABLE limnomap.api_keys (
	name       text COLLATE "C" PRIMARY KEY,
	hash       bytea NOT NULL CHECK (length(hash) = 32),        -- SHA-256
	created_at bigint NOT NULL,
	expires_at bigint,
	revoked_at bigint
);

-- One row. A new database is as old as itself.
CREATE TABLE limnomap.revision (
	one        integer PRIMARY KEY CHECK (one = 1),
	number     bigint NOT NULL,
	changed_at bigint NOT NULL
);

INSERT INTO limnomap.revision (one, number, changed_at) VALUES (1, 0, extract(epoch FROM now())::bigint);

-- One row: what became of the refreshes from a source (data.Refresh).
CREATE TABLE limnomap.refresh (
	one          integer PRIMARY KEY CHECK (one = 1),
	turn         bigint NOT NULL,
	attempted_at bigint,
	succeeded_at bigint,
	error        text NOT NULL,
	failures     bigint NOT NULL,
	added        bigint NOT NULL,
	changed      bigint NOT NULL,
	unchanged    bigint NOT NULL,
	rejected     bigint NOT NULL,
	holder       text NOT NULL,             -- who refreshes now; empty for nobody
	held_until   bigint                     -- when that claim ends
);

INSERT INTO limnomap.refresh (one, turn, error, failures, added, changed, unchanged, rejected, holder) VALUES (1, 0, '', 0, 0, 0, 0, 0, '');

-- The files of the last refresh that took all of its source.
CREATE TABLE limnomap.refresh_files (
	key           text COLLATE "C" PRIMARY KEY, -- a hash: an address may hold a secret
	sha256        bytea NOT NULL CHECK (length(sha256) = 32),
	etag          text NOT NULL,
	last_modified text NOT NULL
);
