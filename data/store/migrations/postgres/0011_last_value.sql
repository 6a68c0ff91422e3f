-- +goose Up

-- Lakes where the last value was the better forecast in past years. NULL: an earlier version made the issue, and asked nothing of that. In forecasts
-- they are the rows with the reason 0 and no numbers.
ALTER TABLE limnomap.forecast_issues ADD COLUMN last_value_better bigint;
