-- +goose Up

-- The beginnings of names of sources, in the order in which they are preferred.
CREATE TABLE limnomap.preferred_sources (
	rank smallint PRIMARY KEY,                                  -- from 1 on, the best first
	name text COLLATE "C" NOT NULL UNIQUE
);
