package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"limnomap/data"
	"limnomap/data/forecast"
)

// Forecasts are limnomap's own forecasts of one issue, for the lakes of a snapshot. It is safe for concurrent use.
type Forecasts struct {
	Issue data.ForecastIssue
	// Version is a hash, in hexadecimal, of all forecasts.
	Version string

	lakes []forecastEntry // by lake; those after the last one with a value are left out

	prepareChances sync.Once
	chances        [data.ForecastWeeks][2]*Values // by the limit, see [Snapshot.Chances]
}

// forecastEntry is a [data.LakeForecast] in less memory.
type forecastEntry struct {
	basedOn  data.Date // noDate for a lake without values
	withheld uint8     // a forecast.Reason
	weeks    [data.ForecastWeeks]data.StoredForecast
}

// ForecastBytes returns the memory of the forecasts of one issue for the snapshot's lakes.
func (s *Snapshot) ForecastBytes() int64 {
	return int64(len(s.Lakes)) * int64(unsafe.Sizeof(forecastEntry{}))
}

// Of returns the forecast of Lakes[i] of the snapshot, without its id. It is not ok if the lake had no value.
func (f *Forecasts) Of(i int) (l data.LakeForecast, ok bool) {
	if i >= len(f.lakes) || f.lakes[i].basedOn == noDate {
		return data.LakeForecast{Withheld: data.NoValues}, false
	}
	e := &f.lakes[i]
	return data.LakeForecast{BasedOn: e.basedOn, Withheld: forecast.Reason(e.withheld), Weeks: e.weeks}, true
}

// ReadForecasts returns the forecasts of the issue of a day, the newest if it is absent, for a snapshot's lakes; ErrNoForecast if there is no
// such issue. The number is that of [data.Revision].Forecasts.
func (s *Snapshot) ReadForecasts(ctx context.Context, src forecastReader, issued data.Optional[data.Date]) (*Forecasts, int64, error) {
	return readForecasts(ctx, src, s.Lakes, issued)
}

// A forecastReader is the part of a [Source] that passes forecasts.
type forecastReader interface {
	Forecasts(ctx context.Context, issued data.Optional[data.Date], each func(data.LakeForecast) error) (data.ForecastIssue, data.Revision, error)
}

func readForecasts(ctx context.Context, src forecastReader, lakes []data.Lake, issued data.Optional[data.Date]) (*Forecasts, int64, error) {
	f := &Forecasts{}
	h := newForecastHash()
	at := 0
	var err error
	var rev data.Revision
	f.Issue, rev, err = src.Forecasts(ctx, issued, func(l data.LakeForecast) error {
		if err := l.Check(); err != nil {
			return fmt.Errorf("forecast of lake %.80q: %w", l.LakeID, err)
		}
		for at < len(lakes) && lakes[at].ID < l.LakeID {
			f.lakes = append(f.lakes, forecastEntry{basedOn: noDate})
			at++
		}
		if at == len(lakes) || lakes[at].ID != l.LakeID {
			return nil // a lake of a later revision: the next load follows at once
		}
		f.lakes = append(f.lakes, forecastEntry{basedOn: l.BasedOn, withheld: uint8(l.Withheld), weeks: l.Weeks})
		at++
		h.forecast(&l)
		return nil
	})
	if err != nil {
		return nil, rev.Forecasts, err
	}
	f.lakes = slices.Clip(f.lakes)
	f.Version = h.of(&f.Issue)
	return f, rev.Forecasts, nil
}

// newestIssue returns the day of the newest issue up to the day of an archive. It is absent for the newest of all.
func (s *Snapshot) newestIssue(ctx context.Context, src Source) (issued data.Optional[data.Date], err error) {
	last := s.AsOf.Last()
	if last == data.MaxDate {
		return issued, nil
	}
	issues, err := src.ForecastIssues(ctx)
	if err != nil {
		return issued, err
	}
	for i := range issues {
		if issues[i].Issued <= last {
			return data.Known(issues[i].Issued), nil
		}
	}
	return issued, data.ErrNoForecast
}

// readNewestForecasts sets the newest forecasts, none if there is no issue, and the last test. If a later issue is stored meanwhile, the
// test may be later too: then the next load follows at once.
func (s *Snapshot) readNewestForecasts(ctx context.Context, src Source) (err error) {
	issued, err := s.newestIssue(ctx, src)
	if err == nil {
		s.Forecasts, s.Revision.Forecasts, err = readForecasts(ctx, src, s.Lakes, issued)
	}
	if err != nil && !errors.Is(err, data.ErrNoForecast) {
		return err
	}
	if s.ForecastTest, err = src.ForecastTest(ctx); err == nil {
		err = s.ForecastTest.Check()
	}
	return err
}

// ForecastWeeksOver returns how many weeks of the newest issue of the forecast are over: their days are before the day from which ages count.
func (s *Snapshot) ForecastWeeksOver() int {
	issue := &s.Forecasts.Issue
	over := 0
	for over < issue.Weeks && issue.Target(over+1) < s.Current.AsOf {
		over++
	}
	return over
}

// ForecastStopped returns why no newer forecasts are made, by the last test with past years; empty if they are, or were made in spite of it.
func (s *Snapshot) ForecastStopped() string {
	t := &s.ForecastTest
	if s.Forecasts != nil && t.Date.Known && s.Forecasts.Issue.Issued >= t.Date.Value {
		return ""
	}
	return t.Fault
}

// withForecasts returns a copy of s with the newest forecasts of a source. The rest is shared.
func (s *Snapshot) withForecasts(ctx context.Context, src Source) (*Snapshot, error) {
	c := *s
	if err := c.readNewestForecasts(ctx, src); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	return &c, nil
}

// AddForecasts adds the newest forecasts of Lakes[i] to the observations that q selects from a history of that lake, which has the newest
// first. A forecast is left out if its day is over, or if there is a measured value of the same date that is not [data.Poor].
func (s *Snapshot) AddForecasts(i int, q data.HistoryQuery, history []data.Observation) []data.Observation {
	if s.Forecasts == nil {
		return history
	}
	l, _ := s.Forecasts.Of(i)
	own := s.Forecasts.Issue.Observations(s.Lakes[i].ID, &l)
	own = slices.DeleteFunc(own, func(o data.Observation) bool {
		return o.Date < s.Current.AsOf || s.satellite.of(i).measuredOn(o.Date) || s.inSitu.of(i).measuredOn(o.Date)
	})
	return data.MergeHistory(history, own, q)
}

// measuredOn reports whether there is a usable value of a date.
func (s lakeReadings) measuredOn(d data.Date) bool {
	for k := countUntil(s.readings, d) - 1; k >= 0 && s.readings[k].date() == d; k-- {
		if s.readings[k].usable() || s.readings[k].outranked() && s.readings[k].valid() {
			return true
		}
	}
	return false
}
