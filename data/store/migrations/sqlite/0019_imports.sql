-- +goose Up

-- What imports did (store.ImportRecord), the newest 1000. An import whose parts were dropped, or were too large, cannot be undone.
CREATE TABLE imports (
	number    INTEGER PRIMARY KEY,
	at        INTEGER NOT NULL,             -- seconds since 1970, as undone_at
	author    TEXT NOT NULL,                -- the user and the machine; empty: not known
	files     TEXT NOT NULL,                -- a JSON array of objects with name and sha256
	about     TEXT NOT NULL,                -- a JSON array: lakes, statements, and observations of each source
	added     INTEGER NOT NULL,
	changed   INTEGER NOT NULL,
	unchanged INTEGER NOT NULL,
	refused   INTEGER NOT NULL,             -- rows that the database did not take
	undone_at INTEGER
) STRICT;

-- The rows that they added, and those that they changed as they were before (store.replacedRow).
CREATE TABLE import_parts (
	import  INTEGER NOT NULL,
	part    INTEGER NOT NULL,
	content BLOB NOT NULL,
	PRIMARY KEY (import, part)
) STRICT;
