-- +goose Up

-- One row: what became of the refreshes from a source (data.Refresh). Times are seconds since 1970; NULL is never.
CREATE TABLE refresh (
	one          INTEGER PRIMARY KEY CHECK (one = 1),
	turn         INTEGER NOT NULL,
	attempted_at INTEGER,
	succeeded_at INTEGER,
	error        TEXT NOT NULL,
	failures     INTEGER NOT NULL,
	added        INTEGER NOT NULL,
	changed      INTEGER NOT NULL,
	unchanged    INTEGER NOT NULL,
	rejected     INTEGER NOT NULL,
	holder       TEXT NOT NULL,             -- who refreshes now; empty for nobody
	held_until   INTEGER                    -- when that claim ends
) STRICT;

INSERT INTO refresh (one, turn, error, failures, added, changed, unchanged, rejected, holder) VALUES (1, 0, '', 0, 0, 0, 0, 0, '');

-- The files of the last refresh that took all of its source.
CREATE TABLE refresh_files (
	key           TEXT PRIMARY KEY,         -- a hash: an address may hold a secret
	sha256        BLOB NOT NULL CHECK (length(sha256) = 32),
	etag          TEXT NOT NULL,
	last_modified TEXT NOT NULL
) STRICT, WITHOUT ROWID;
