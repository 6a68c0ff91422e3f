-- +goose Up

-- Most lakes are small: these indexes took a quarter of the room of pixels. Masks without pixels are found without one, and the sum of digests is in pixel_state.
DROP INDEX pixels_mask;
DROP INDEX pixels_date;
CREATE INDEX pixels_date ON pixels (source, date);
