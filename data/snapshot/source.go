package snapshot

import (
	"context"

	"limnomap/data"
	"limnomap/data/pixels"
)

// A Source is where a Snapshot is loaded from: a database or the embedded demo.
type Source interface {
	// Revision returns the present revision. It is cheap: a server asks about once a second.
	Revision(ctx context.Context) (data.Revision, error)
	// Scan calls lake for each lake in ascending order of id, then observation for each observation (including gaps) in
	// ascending order of lake id, date, type and source. All of it is of the one revision that Scan returns. An error from a
	// callback ends the scan and is returned.
	Scan(ctx context.Context, lake func(data.Lake) error, observation func(data.Observation) error) (data.Revision, error)
	// Past calls observation for the measurements that the maps of a period need, in the order of Scan. Of each lake these are
	//   - the measurements in the period, including gaps;
	//   - of samples, those of the newest date before the period that has a usable value (see [data.Observation.Usable]);
	//   - of the satellite, those of the newest such date too, and the usable values of that date's ISO week before it. A source without
	//     ranks may leave out the latter.
	// For example, for a period from 1 July with passes on Monday 22, Tuesday 23 and Wednesday 24 June, of which the last is a gap, it passes
	// those of 22 and 23 June. All of it is of the one revision that Past returns. An error from the callback ends it and is returned.
	Past(ctx context.Context, period data.Period, observation func(data.Observation) error) (data.Revision, error)
	// PixelState returns the state of the pixels of satellites that the source keeps.
	PixelState(ctx context.Context) (data.PixelState, error)
	// PixelSpreads calls each with how the pixels of each value of a satellite in a period are spread. Of several sources with one value of a lake and
	// day the first one that was stored comes first. An error from each ends it and is returned.
	PixelSpreads(ctx context.Context, period data.Period, each func(data.LakeValue, *pixels.Spread) error) error
	// Advisories returns all official statements in any order, also those that are over, and their revision.
	Advisories(ctx context.Context) ([]data.Advisory, data.Revision, error)
	// Forecasts calls each for each lake with a value up to the day of an issue of limnomap's own forecast, the newest issue if the day is
	// absent, in ascending order of id. All of it is of the one revision that Forecasts returns. An error from each ends it and is returned.
	// ErrNoForecast if there is no such issue.
	Forecasts(ctx context.Context, issued data.Optional[data.Date], each func(data.LakeForecast) error) (data.ForecastIssue, data.Revision, error)
	// LakeForecast returns the forecast of one lake of the issue of a day; ErrNoForecast if there is none.
	LakeForecast(ctx context.Context, id data.LakeID, issued data.Date) (data.ForecastIssue, data.LakeForecast, error)
	// ForecastIssues returns all issues, the newest first.
	ForecastIssues(ctx context.Context) ([]data.ForecastIssue, error)
	// ForecastTest returns the last test of the forecasts with past years.
	ForecastTest(ctx context.Context) (data.ForecastTest, error)
	// History returns a lake and its newest observations that q asks for, newest first, both of the same revision. On one
	// date samples are first, then the satellite's rows, then forecasts, each in the order of their sources. A forecast is left out
	// if there is a measured value of the same date that is not [data.Poor], whatever q asks for. ErrNoLake if no lake has the id.
	History(ctx context.Context, id data.LakeID, q data.HistoryQuery) (data.Lake, []data.Observation, error)
}

// NoPixels is the part of a [Source] without pixels of satellites.
type NoPixels struct{}

func (NoPixels) PixelState(context.Context) (data.PixelState, error) { return data.PixelState{}, nil }

func (NoPixels) PixelSpreads(context.Context, data.Period, func(data.LakeValue, *pixels.Spread) error) error {
	return nil
}

// NoForecasts is the part of a [Source] without forecasts.
type NoForecasts struct{}

func (NoForecasts) Forecasts(context.Context, data.Optional[data.Date], func(data.LakeForecast) error) (data.ForecastIssue, data.Revision, error) {
	return data.ForecastIssue{}, data.Revision{}, data.ErrNoForecast
}

func (NoForecasts) LakeForecast(context.Context, data.LakeID, data.Date) (data.ForecastIssue, data.LakeForecast, error) {
	return data.ForecastIssue{}, data.LakeForecast{}, data.ErrNoForecast
}

func (NoForecasts) ForecastIssues(context.Context) ([]data.ForecastIssue, error) { return nil, nil }

func (NoForecasts) ForecastTest(context.Context) (data.ForecastTest, error) {
	return data.ForecastTest{}, nil
}
