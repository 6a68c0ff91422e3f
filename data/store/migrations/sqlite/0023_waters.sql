-- +goose Up

-- One row: the number of pixels and the sum of their digests, so that a server need not read all of them to know whether any have changed.
CREATE TABLE pixel_state (
	one    INTEGER PRIMARY KEY CHECK (one = 1),
	count  INTEGER NOT NULL,
	digest INTEGER NOT NULL
) STRICT;
INSERT INTO pixel_state (one, count, digest) SELECT 1, count(*), coalesce(sum(digest), 0) FROM pixels;

-- +goose StatementBegin
CREATE TRIGGER pixels_added AFTER INSERT ON pixels BEGIN
	UPDATE pixel_state SET count = count + 1, digest = digest + NEW.digest;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER pixels_removed AFTER DELETE ON pixels BEGIN
	UPDATE pixel_state SET count = count - 1, digest = digest - OLD.digest;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER pixels_changed AFTER UPDATE OF digest ON pixels BEGIN
	UPDATE pixel_state SET digest = digest - OLD.digest + NEW.digest;
END;
-- +goose StatementEnd

-- Which lakes are sites of one water.
ALTER TABLE lakes ADD COLUMN water_id TEXT NOT NULL DEFAULT '';
