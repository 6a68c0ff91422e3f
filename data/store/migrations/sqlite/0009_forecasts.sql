-- +goose Up

-- The issues of limnomap's own forecast (data.ForecastIssue). The values up to the day of issue were used.
CREATE TABLE forecast_issues (
	issued        INTEGER PRIMARY KEY,      -- days since 1970-01-01
	model         TEXT NOT NULL,
	weeks         INTEGER NOT NULL CHECK (weeks BETWEEN 1 AND 4),
	input         INTEGER NOT NULL,         -- the number of the revision that it was made of
	lakes         INTEGER NOT NULL,         -- with a forecast
	rows          INTEGER NOT NULL,         -- forecasts of a lake and a week
	few_values    INTEGER NOT NULL,         -- lakes without a forecast, by reason
	old_value     INTEGER NOT NULL,
	out_of_season INTEGER NOT NULL
) STRICT;

-- Those of each lake with a value. The rows lie in the order of their key: an issue is written and removed as one range.
CREATE TABLE forecasts (
	issued   INTEGER NOT NULL,
	lake     INTEGER NOT NULL,              -- key of lakes
	based_on INTEGER NOT NULL,              -- the day of the lake's last value
	input    INTEGER NOT NULL,              -- a hash of the values: the same values are not computed again
	withheld INTEGER NOT NULL CHECK (withheld BETWEEN 0 AND 3), -- data.LakeForecast; 0: there is a forecast
	-- Of each week: ten-thousandths of µg/l, and of the standard deviation of its natural logarithm; NULL: no forecast.
	chl1 INTEGER, sigma1 INTEGER, chl2 INTEGER, sigma2 INTEGER, chl3 INTEGER, sigma3 INTEGER, chl4 INTEGER, sigma4 INTEGER,
	PRIMARY KEY (issued, lake)
) STRICT, WITHOUT ROWID;

-- What forecasts of past years would have been worth (data.ForecastSkill), of each region and week; the region NULL is all of them.
CREATE TABLE forecast_skill (
	region      TEXT,
	week        INTEGER NOT NULL CHECK (week BETWEEN 1 AND 4),
	lakes       INTEGER NOT NULL,
	pairs       INTEGER NOT NULL,
	rmse        REAL NOT NULL,              -- of the natural logarithm
	persistence REAL NOT NULL,              -- that of the last value
	coverage    REAL NOT NULL,              -- share of the values that lie between the bounds
	UNIQUE (region, week)
) STRICT;

-- One row: the last test of the forecasts.
CREATE TABLE forecast_state (
	one     INTEGER PRIMARY KEY CHECK (one = 1),
	changes INTEGER NOT NULL,               -- grows by one with each change of the forecasts
	model   TEXT NOT NULL,                  -- that was tested; empty: none
	date    INTEGER,                        -- up to which values were used
	fault   TEXT NOT NULL                   -- why the forecasts are not worth showing; empty if they are
) STRICT;

INSERT INTO forecast_state (one, changes, model, fault) VALUES (1, 0, '', '');
