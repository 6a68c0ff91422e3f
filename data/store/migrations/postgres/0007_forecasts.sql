-- +goose Up

-- The issues of limnomap's own forecast (data.ForecastIssue). The values up to the day of issue were used.
CREATE TABLE limnomap.forecast_issues (
	issued        integer PRIMARY KEY,      -- days since 1970-01-01
	model         text NOT NULL,
	weeks         smallint NOT NULL CHECK (weeks BETWEEN 1 AND 4),
	input         bigint NOT NULL,          -- the number of the revision that it was made of
	lakes         bigint NOT NULL,          -- with a forecast
	rows          bigint NOT NULL,          -- forecasts of a lake and a week
	few_values    bigint NOT NULL,          -- lakes without a forecast, by reason
	old_value     bigint NOT NULL,
	out_of_season bigint NOT NULL
);

-- Those of each lake with a value.
CREATE TABLE limnomap.forecasts (
	issued   integer NOT NULL,
	lake     integer NOT NULL,              -- key of lakes
	based_on integer NOT NULL,              -- the day of the lake's last value
	input    bigint NOT NULL,               -- a hash of the values: the same values are not computed again
	withheld smallint NOT NULL CHECK (withheld BETWEEN 0 AND 3), -- data.LakeForecast; 0: there is a forecast
	-- Of each week: ten-thousandths of µg/l, and of the standard deviation of its natural logarithm; NULL: no forecast.
	chl1 integer, sigma1 integer, chl2 integer, sigma2 integer, chl3 integer, sigma3 integer, chl4 integer, sigma4 integer,
	PRIMARY KEY (issued, lake)
);

-- What forecasts of past years would have been worth (data.ForecastSkill), of each region and week; the region NULL is all of them.
CREATE TABLE limnomap.forecast_skill (
	region      text COLLATE "C",
	week        smallint NOT NULL CHECK (week BETWEEN 1 AND 4),
	lakes       bigint NOT NULL,
	pairs       bigint NOT NULL,
	rmse        double precision NOT NULL,  -- of the natural logarithm
	persistence double precision NOT NULL,  -- that of the last value
	coverage    double precision NOT NULL,  -- share of the values that lie between the bounds
	UNIQUE (region, week)
);

-- One row: the last test of the forecasts.
CREATE TABLE limnomap.forecast_state (
	one     smallint PRIMARY KEY CHECK (one = 1),
	changes bigint NOT NULL,                -- grows by one with each change of the forecasts
	model   text NOT NULL,                  -- that was tested; empty: none
	date    integer,                        -- up to which values were used
	fault   text NOT NULL                   -- why the forecasts are not worth showing; empty if they are
);

INSERT INTO limnomap.forecast_state (one, changes, model, fault) VALUES (1, 0, '', '');
