-- +goose Up

-- A name stands for several keys while one takes over from another, so it alone is no key of the table any more. Servers
-- of before read this table as they read the former one.
ALTER TABLE limnomap.api_keys
	ADD COLUMN scopes  text NOT NULL DEFAULT 'monitor',         -- data.Scopes, such as monitor,metrics
	ADD COLUMN used_at bigint,
	DROP CONSTRAINT api_keys_pkey,
	ADD PRIMARY KEY (name, hash);
