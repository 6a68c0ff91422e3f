-- +goose Up

-- The new key of each year takes minutes for a hundred million rows.
SET LOCAL statement_timeout = '14min';

-- The products and laboratories that observations are from.
CREATE TABLE limnomap.sources (
	key  smallint PRIMARY KEY,                                  -- from 1 on
	name text COLLATE "C" NOT NULL UNIQUE
);

-- Samples are a third type. Each year keeps its own check when that of observations is dropped.
ALTER TABLE limnomap.observations DROP CONSTRAINT observations_type_check;

-- +goose StatementBegin
DO $$
DECLARE
	year regclass;
BEGIN
	FOR year IN SELECT inhrelid FROM pg_inherits WHERE inhparent = 'limnomap.observations'::regclass LOOP
		EXECUTE format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS observations_type_check', year);
	END LOOP;
END $$;
-- +goose StatementEnd

-- Each source has a row of its own. What only few observations have is in details, so that the others take no room for it.
ALTER TABLE limnomap.observations
	ADD CONSTRAINT observations_type_check CHECK (type BETWEEN 0 AND 2), -- 0 satellite, 1 ai_forecast, 2 in_situ
	ADD COLUMN source smallint NOT NULL DEFAULT 0,              -- key of sources; 0: it has no name
	ADD COLUMN details jsonb,                                   -- an object with the other columns that are known; NULL: none
	DROP CONSTRAINT observations_pkey,
	ADD PRIMARY KEY (lake, date, type, source) INCLUDE (chl, level, density, measured_at, details);

-- A lake's newest sample is found without a look at its passes, of which there may be thousands.
CREATE INDEX observations_samples ON limnomap.observations (lake, date) WHERE type = 2;
