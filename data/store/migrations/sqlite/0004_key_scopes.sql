-- +goose Up

-- A name stands for several keys while one takes over from another, so it alone is no key of the table any more.
CREATE TABLE api_keys_4 (
	name       TEXT NOT NULL,
	hash       BLOB NOT NULL CHECK (length(hash) = 32),         -- SHA-256
	scopes     TEXT NOT NULL DEFAULT 'monitor',                 -- data.Scopes, such as monitor,metrics
	created_at INTEGER NOT NULL,                                -- times are seconds since 1970; NULL is never
	expires_at INTEGER,
	revoked_at INTEGER,
	used_at    INTEGER,
	PRIMARY KEY (name, hash)
) STRICT, WITHOUT ROWID;

INSERT INTO api_keys_4 (name, hash, scopes, created_at, expires_at, revoked_at)
	SELECT name, hash, 'monitor', created_at, expires_at, revoked_at FROM api_keys;

DROP TABLE api_keys;

ALTER TABLE api_keys_4 RENAME TO api_keys;
