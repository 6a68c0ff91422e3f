-- +goose Up

-- What imports did (store.ImportRecord), the newest 1000. An import whose parts were dropped, or were too large, cannot be undone.
CREATE TABLE limnomap.imports (
	number    bigint PRIMARY KEY,
	at        bigint NOT NULL,              -- seconds since 1970, as undone_at
	author    text NOT NULL,                -- the user and the machine; empty: not known
	files     text NOT NULL,                -- a JSON array of objects with name and sha256
	about     text NOT NULL,                -- a JSON array: lakes, statements, and observations of each source
	added     bigint NOT NULL,
	changed   bigint NOT NULL,
	unchanged bigint NOT NULL,
	refused   bigint NOT NULL,              -- rows that the database did not take
	undone_at bigint
);

-- The rows that they added, and those that they changed as they were before (store.replacedRow).
CREATE TABLE limnomap.import_parts (
	import  bigint NOT NULL,
	part    bigint NOT NULL,
	content bytea NOT NULL,
	PRIMARY KEY (import, part)
);
