-- +goose Up

-- One row: what became of the refreshes from a source (data.Refresh). Times are seconds since 1970; NULL is never.
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
