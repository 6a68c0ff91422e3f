package data

import (
	"context"
	"time"
)

// A Revision identifies one state of the data.
type Revision struct {
	Number    int64     // grows by one with each import that changed anything
	ChangedAt time.Time // when that import was committed, in UTC
	Forecasts int64     // grows by one with each change of limnomap's own forecasts, which are no import
	// Generation grows when a source finds that its database file was replaced by another one or truncated: the new data
	// may have the same number and time. It means nothing outside the running program.
	Generation int64
}

// Equal reports whether r and other are the same state. Times are compared as instants, whatever their zones.
func (r Revision) Equal(other Revision) bool {
	return r.Number == other.Number && r.Forecasts == other.Forecasts && r.Generation == other.Generation && r.ChangedAt.Equal(other.ChangedAt)
}

// A Source is where a Snapshot is loaded from: a database or the embedded demo.
type Source interface {
	// Revision returns the present revision. It is cheap: a server asks about once a second.
	Revision(ctx context.Context) (Revision, error)
	// Scan calls lake for each lake in ascending order of id, then observation for each observation (including gaps) in
	// ascending order of lake id, date, type and source. All of it is of the one revision that Scan returns. An error from a
	// callback ends the scan and is returned.
	Scan(ctx context.Context, lake func(Lake) error, observation func(Observation) error) (Revision, error)
	// Past calls observation for the measurements (including gaps) in the period, in the order of Scan. Before those of a lake it
	// passes those of the newest date before the period that has a value which is not [Poor], of the satellite and of
	// samples each, and of the satellite all such values of that date's week up to it. A source without ranks may leave these others out.
	// The map at the end of the period needs these values. All of it is of the one revision that Past returns. An error from a callback ends it and is returned.
	Past(ctx context.Context, period Period, observation func(Observation) error) (Revision, error)
	// Advisories returns all official statements in any order, also those that are over, and their revision.
	Advisories(ctx context.Context) ([]Advisory, Revision, error)
	// Forecasts calls each for each lake with a value up to the day of an issue of limnomap's own forecast, the newest issue if the day is
	// absent, in ascending order of id. All of it is of the one revision that Forecasts returns. An error from each ends it and is returned.
	// ErrNoForecast if there is no such issue.
	Forecasts(ctx context.Context, issued Optional[Date], each func(LakeForecast) error) (ForecastIssue, Revision, error)
	// LakeForecast returns the forecast of one lake of the issue of a day; ErrNoForecast if there is none.
	LakeForecast(ctx context.Context, id LakeID, issued Date) (ForecastIssue, LakeForecast, error)
	// ForecastIssues returns all issues, the newest first.
	ForecastIssues(ctx context.Context) ([]ForecastIssue, error)
	// ForecastTest returns the last test of the forecasts with past years.
	ForecastTest(ctx context.Context) (ForecastTest, error)
	// History returns a lake and its newest observations that q asks for, newest first, both of the same revision. On one
	// date samples are first, then the satellite's rows, then forecasts, each in the order of their sources. A forecast is left out
	// if there is a measured value of the same date that is not [Poor], whatever q asks for. ErrNoLake if no lake has the id.
	History(ctx context.Context, id LakeID, q HistoryQuery) (Lake, []Observation, error)
}

// NoForecasts is the part of a [Source] without forecasts.
type NoForecasts struct{}

func (NoForecasts) Forecasts(context.Context, Optional[Date], func(LakeForecast) error) (ForecastIssue, Revision, error) {
	return ForecastIssue{}, Revision{}, ErrNoForecast
}

func (NoForecasts) LakeForecast(context.Context, LakeID, Date) (ForecastIssue, LakeForecast, error) {
	return ForecastIssue{}, LakeForecast{}, ErrNoForecast
}

func (NoForecasts) ForecastIssues(context.Context) ([]ForecastIssue, error) { return nil, nil }

func (NoForecasts) ForecastTest(context.Context) (ForecastTest, error) { return ForecastTest{}, nil }

// A Period is the days from First to Last, both included. It is empty if Last is before First.
type Period struct{ First, Last Date }

// AllTime returns the period of all dates that an observation may have.
func AllTime() Period { return Period{minDate, maxDate} }

// Contains reports whether d is in p.
func (p Period) Contains(d Date) bool { return p.First <= d && d <= p.Last }

// A HistoryQuery selects observations of a lake.
type HistoryQuery struct {
	Period Period
	Types  DataTypes // the empty set means all
	Limit  int       // how many of the newest; none if it is not positive
}

// Newest selects the newest observations of all types, at most limit of them.
func Newest(limit int) HistoryQuery { return HistoryQuery{Period: AllTime(), Limit: limit} }
