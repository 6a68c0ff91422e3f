-- +goose Up

-- One row: the number of pixels and the sum of their digests, so that a server need not read all of them to know whether any have changed.
CREATE TABLE limnomap.pixel_state (
	one    integer PRIMARY KEY CHECK (one = 1),
	count  bigint NOT NULL,
	digest bigint NOT NULL
);
INSERT INTO limnomap.pixel_state (one, count, digest) SELECT 1, count(*), coalesce(sum(digest), 0) FROM limnomap.pixels;

-- Once for each statement. Imports change one after the other, so no other transaction waits for the row.
-- +goose StatementBegin
CREATE FUNCTION limnomap.count_pixels() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP <> 'INSERT' THEN
		UPDATE limnomap.pixel_state SET count = count - n, digest = digest - sum FROM (SELECT count(*) AS n, coalesce(sum(digest), 0) AS sum FROM removed) AS r;
	END IF;
	IF TG_OP <> 'DELETE' THEN
		UPDATE limnomap.pixel_state SET count = count + n, digest = digest + sum FROM (SELECT count(*) AS n, coalesce(sum(digest), 0) AS sum FROM added) AS a;
	END IF;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER pixels_added AFTER INSERT ON limnomap.pixels REFERENCING NEW TABLE AS added
	FOR EACH STATEMENT EXECUTE FUNCTION limnomap.count_pixels();
CREATE TRIGGER pixels_removed AFTER DELETE ON limnomap.pixels REFERENCING OLD TABLE AS removed
	FOR EACH STATEMENT EXECUTE FUNCTION limnomap.count_pixels();
CREATE TRIGGER pixels_changed AFTER UPDATE ON limnomap.pixels REFERENCING OLD TABLE AS removed NEW TABLE AS added
	FOR EACH STATEMENT EXECUTE FUNCTION limnomap.count_pixels();

-- Which lakes are sites of one water.
ALTER TABLE limnomap.lakes ADD COLUMN water_id text COLLATE "C" NOT NULL DEFAULT '';
