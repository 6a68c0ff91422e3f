-- +goose Up

-- The beginnings of names of sources, in the order in which they are preferred.
CREATE TABLE preferred_sources (
	rank INTEGER PRIMARY KEY,                                   -- from 1 on, the best first
	name TEXT NOT NULL UNIQUE
) STRICT;
