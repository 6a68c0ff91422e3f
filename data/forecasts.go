package data

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"limnomap/data/forecast"
)

// Forecasts are limnomap's own forecasts of one issue, for the lakes of a snapshot. It is safe for concurrent use.
type Forecasts struct {
	Issue ForecastIssue
	// Version is a hash, in hexadecimal, of all forecasts.
	Version string

	lakes []forecastEntry // by lake; those after the last one with a value are left out

	prepareChances sync.Once
	chances        [ForecastWeeks]*Values // see [Snapshot.Chances]
}

// forecastEntry is a [LakeForecast] in less memory.
type forecastEntry struct {
	basedOn  Date  // noDate for a lake without values
	withheld uint8 // a forecast.Reason
	weeks    [ForecastWeeks]StoredForecast
}

// ForecastBytes returns the memory of the forecasts of one issue for the snapshot's lakes.
func (s *Snapshot) ForecastBytes() int64 {
	return int64(len(s.Lakes)) * int64(unsafe.Sizeof(forecastEntry{}))
}

// Of returns the forecast of Lakes[i] of the snapshot, without its id. It is not ok if the lake had no value.
func (f *Forecasts) Of(i int) (l LakeForecast, ok bool) {
	if i >= len(f.lakes) || f.lakes[i].basedOn == noDate {
		return LakeForecast{Withheld: NoValues}, false
	}
	e := &f.lakes[i]
	return LakeForecast{BasedOn: e.basedOn, Withheld: forecast.Reason(e.withheld), Weeks: e.weeks}, true
}

// SkillOf returns the skill of a model in a region; that of all lakes if the region has none of its own. It is not ok if another model was
// tested, or none.
func (t *ForecastTest) SkillOf(model, region string) (s ForecastSkill, ok bool) {
	if t.Model != model {
		return ForecastSkill{}, false
	}
	skill := t.Skill
	i := slices.IndexFunc(skill, func(s ForecastSkill) bool { return !s.All && s.Region == region && region != "" })
	if i < 0 {
		i = slices.IndexFunc(skill, func(s ForecastSkill) bool { return s.All })
	}
	if i < 0 {
		return ForecastSkill{}, false
	}
	return skill[i], true
}

// ReadForecasts returns the forecasts of the issue of a day, the newest if it is absent, for a snapshot's lakes; ErrNoForecast if there is no
// such issue. The number is that of [Revision].Forecasts.
func (s *Snapshot) ReadForecasts(ctx context.Context, src forecastReader, issued Optional[Date]) (*Forecasts, int64, error) {
	return readForecasts(ctx, src, s.Lakes, issued)
}

// A forecastReader is the part of a [Source] that passes forecasts.
type forecastReader interface {
	Forecasts(ctx context.Context, issued Optional[Date], each func(LakeForecast) error) (ForecastIssue, Revision, error)
}

func readForecasts(ctx context.Context, src forecastReader, lakes []Lake, issued Optional[Date]) (*Forecasts, int64, error) {
	f := &Forecasts{}
	h := newForecastHash()
	at := 0
	var err error
	var rev Revision
	f.Issue, rev, err = src.Forecasts(ctx, issued, func(l LakeForecast) error {
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

// readNewestForecasts sets the newest forecasts, none if there is no issue, and the last test. If a later issue is stored meanwhile, the
// test may be later too: then the next load follows at once.
func (s *Snapshot) readNewestForecasts(ctx context.Context, src Source) (err error) {
	s.Forecasts, s.Revision.Forecasts, err = readForecasts(ctx, src, s.Lakes, Optional[Date]{})
	if err != nil && !errors.Is(err, ErrNoForecast) {
		return err
	}
	if s.ForecastTest, err = src.ForecastTest(ctx); err == nil {
		err = s.ForecastTest.Check()
	}
	return err
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

// A ForecastBasis is what only an observation of limnomap's own forecast has. It is zero for all others. The model is the observation's Source.
type ForecastBasis struct {
	Issued, BasedOn Date
	StoredForecast
}

// Known reports whether the observation is of limnomap's own forecast.
func (b ForecastBasis) Known() bool { return b.StoredForecast.Known() }

// AddForecasts adds the newest forecasts of Lakes[i] to the observations that q selects from a history of that lake, which has the newest
// first. A forecast is left out if there is a measured value of the same date that is not [Poor].
func (s *Snapshot) AddForecasts(i int, q HistoryQuery, history []Observation) []Observation {
	if s.Forecasts == nil {
		return history
	}
	l, _ := s.Forecasts.Of(i)
	own := s.Forecasts.Issue.observations(s.Lakes[i].ID, &l)
	own = slices.DeleteFunc(own, func(o Observation) bool {
		return s.satellite.of(i).measuredOn(o.Date) || s.inSitu.of(i).measuredOn(o.Date)
	})
	return merged(history, own, q)
}

// AddForecasts adds the forecasts of a lake to its observations as [Snapshot.AddForecasts] does, but also those of days with a measured
// value: so they can be compared.
func (f *ForecastIssue) AddForecasts(l *LakeForecast, q HistoryQuery, history []Observation) []Observation {
	return merged(history, f.observations(l.LakeID, l), q)
}

// merged adds those of own that q selects to a history.
func merged(history, own []Observation, q HistoryQuery) []Observation {
	own = slices.DeleteFunc(own, func(o Observation) bool { return !q.Types.Has(Forecast) || !q.Period.Contains(o.Date) })
	if len(own) == 0 {
		return history
	}
	all := append(slices.Clone(history), own...)
	slices.SortStableFunc(all, func(a, b Observation) int {
		return cmp.Or(cmp.Compare(b.Date, a.Date), cmp.Compare(historyRank(a.Type), historyRank(b.Type)), strings.Compare(a.Source, b.Source))
	})
	return all[:min(len(all), max(q.Limit, 0))]
}

// observations returns a lake's forecasts as observations, the newest first.
func (f *ForecastIssue) observations(id LakeID, l *LakeForecast) (all []Observation) {
	for week := ForecastWeeks; week >= 1; week-- {
		w := l.Weeks[week-1]
		if !w.Known() {
			continue
		}
		all = append(all, Observation{LakeID: id, Date: f.Target(week), Type: Forecast, Source: f.Model, Chlorophyll: w.Chlorophyll(),
			Level: NoLevel, CellDensity: NoCellDensity, Forecast: ForecastBasis{f.Issued, l.BasedOn, w}})
	}
	return all
}

// measuredOn reports whether there is a usable value of a date.
func (s lakeSamples) measuredOn(d Date) bool {
	for k := countUntil(s.samples, d) - 1; k >= 0 && s.samples[k].date() == d; k-- {
		if s.samples[k].usable() || s.samples[k].keptBack() && s.samples[k].valid() {
			return true
		}
	}
	return false
}
