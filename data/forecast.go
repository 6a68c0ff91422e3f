package data

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"limnomap/data/forecast"
)

// ForecastWeeks is how many weeks ahead forecasts are at most.
const ForecastWeeks = 4

// ErrNoForecast says that there is no issue of the forecast, or none of that day.
var ErrNoForecast = errors.New("no such issue of the forecast")

// NoValues is why a lake without any value has no forecast.
const NoValues = forecast.FewValues

// WithheldReasons returns the reasons for which lakes of an issue have no forecast.
func WithheldReasons() []forecast.Reason {
	return []forecast.Reason{forecast.FewValues, forecast.OldValue, forecast.OutOfSeason, forecast.LastValueBetter}
}

// A ForecastIssue is what is known of limnomap's own forecasts of one day of issue, without the forecasts.
type ForecastIssue struct {
	Issued Date   // the day of issue: values up to it were used
	Model  string // such as limnomap-1
	Weeks  int    // ahead, 1 to ForecastWeeks
	// Input is the number of the revision from which the forecasts were made; one's complement of it if they were forced.
	Input  int64
	Counts ForecastCounts
}

// Target returns the day that the forecasts of a week, from 1 on, are for.
func (f *ForecastIssue) Target(week int) Date { return f.Issued + Date(7*week) }

// ForecastCounts are the lakes of an issue that have a value.
type ForecastCounts struct {
	Lakes, Rows int64                              // with a forecast; forecasts of a lake and a week
	Withheld    [forecast.NotAfterOrigin + 1]int64 // lakes without one, by reason
}

// Add counts a lake.
func (c *ForecastCounts) Add(f *LakeForecast) {
	if f.Withheld != forecast.None {
		c.Withheld[f.Withheld]++
		return
	}
	c.Lakes++
	for _, w := range f.Weeks {
		if w.Known() {
			c.Rows++
		}
	}
}

// AllWithheld returns how many lakes have a value and no forecast.
func (c *ForecastCounts) AllWithheld() (n int64) {
	for _, k := range c.Withheld {
		n += k
	}
	return n
}

// WithheldOf returns how many of that many lakes have no forecast, by reason: those without any value have too few.
func (c *ForecastCounts) WithheldOf(lakes int) [forecast.NotAfterOrigin + 1]int64 {
	w := c.Withheld
	w[NoValues] += max(0, int64(lakes)-c.Lakes-c.AllWithheld())
	return w
}

// A LakeForecast is a lake's part of an issue.
type LakeForecast struct {
	LakeID  LakeID
	BasedOn Date // of the lake's last value
	// Withheld says why no week has a forecast. If only some weeks are out of season, it is forecast.None.
	Withheld forecast.Reason
	Weeks    [ForecastWeeks]StoredForecast // Weeks[0] is the first
}

// Check returns an error that names the first invalid value.
func (f *LakeForecast) Check() error {
	known := false
	for i, w := range f.Weeks {
		if w == (StoredForecast{}) {
			continue
		}
		known = true
		if w.Chl <= 0 || w.Chl > maxForecast || w.Sigma <= 0 || w.Sigma > maxForecast {
			return fmt.Errorf("forecast of week %d: %v µg/l with the standard deviation %v: want numbers above 0 and up to %v", i+1, w.Chl.Float(), w.Sigma.Float(), maxForecast.Float())
		}
	}
	switch {
	case f.BasedOn < MinDate || f.BasedOn > MaxDate:
		return fmt.Errorf("date %s of the last value: want a day from %s to %s", f.BasedOn, MinDate, MaxDate)
	case f.Withheld < forecast.None || f.Withheld >= forecast.NotAfterOrigin:
		return fmt.Errorf("reason %d: want 0 to %d", f.Withheld, forecast.NotAfterOrigin-1)
	case known == (f.Withheld != forecast.None):
		return fmt.Errorf("%s, with a forecast: %v: want one of both", f.Withheld, known)
	}
	return nil
}

// WithheldIn returns why a week, from 1 on, has no forecast; forecast.None if it has one. Only the season differs from week to week.
func (f *LakeForecast) WithheldIn(week int) forecast.Reason {
	if f.Withheld == forecast.None && !f.Weeks[week-1].Known() {
		return forecast.OutOfSeason
	}
	return f.Withheld
}

// TenThousandths is a number in ten-thousandths of its unit.
type TenThousandths int32

// Float returns the number.
func (t TenThousandths) Float() float64 { return float64(t) / 10_000 }

// maxForecast is that of package forecast, 1,500 µg/l.
const maxForecast TenThousandths = 1500 * 10_000

// A StoredForecast is a forecast as databases have it. The zero value is none.
type StoredForecast struct {
	Chl   TenThousandths // µg/l, the median
	Sigma TenThousandths // standard deviation of its natural logarithm
}

// StoreForecast rounds a prediction. A median below the smallest number becomes that: zero would be none.
func StoreForecast(p forecast.Prediction) StoredForecast {
	round := func(f float64) TenThousandths {
		return max(1, TenThousandths(math.Round(min(f, maxForecast.Float())*10_000)))
	}
	return StoredForecast{round(p.Chl()), round(p.Sigma)}
}

// Known reports whether there is a forecast.
func (s StoredForecast) Known() bool { return s.Chl != 0 }

// Prediction returns the distribution of which Chl and Sigma are known.
func (s StoredForecast) Prediction() forecast.Prediction {
	return forecast.FromStored(s.Chl.Float(), s.Sigma.Float())
}

// Chlorophyll returns the median.
func (s StoredForecast) Chlorophyll() Chlorophyll {
	c, err := ChlorophyllOf(s.Chl.Float())
	if err != nil {
		panic(err) // not possible: Check has the same bound
	}
	return c
}

// Bounds returns the values between which four of five values lie. They include the median also after rounding.
func (s StoredForecast) Bounds() (lower, upper Chlorophyll) {
	p, chl := s.Prediction(), s.Chlorophyll()
	rounded := func(f float64) Chlorophyll {
		c, err := ChlorophyllOf(f)
		if err != nil {
			panic(err) // not possible: a prediction has the same bound
		}
		return c
	}
	return min(rounded(p.Lower()), chl), max(rounded(p.Upper()), chl)
}

// Chances are the probabilities of each risk. They add up to one.
type Chances struct{ Low, Medium, High TenThousandths }

// Chances returns the probabilities that the value has the class of each risk in p.
func (s StoredForecast) Chances(p *Profile) Chances {
	const one = 10_000
	prediction := s.Prediction()
	reaches := func(limit Chlorophyll) TenThousandths {
		return TenThousandths(math.Round(prediction.Exceeds(limit.Float()) * one))
	}
	medium, high := reaches(p.Limits[0]), reaches(p.Limits[1])
	return Chances{Low: one - medium, Medium: medium - high, High: high}
}

// A ForecastSkill is what the forecasts of past years would have been worth in a region, week by week.
type ForecastSkill struct {
	Region string // as lakes have it
	All    bool   // of all regions together; then Region is empty
	Weeks  [ForecastWeeks]WeekSkill
}

// A WeekSkill compares forecasts of one week ahead with the values that came. It is zero if there are none.
type WeekSkill struct {
	Lakes, Pairs int64   // with a forecast and a value; forecasts with a value
	RMSE         float64 // of the natural logarithm
	Persistence  float64 // that of the last value, which is the simplest forecast
	Coverage     float64 // share of the values that lie between the bounds, of which four in five should
}

// Closer returns how much smaller the error of the forecasts is than that of the last value, as a share; negative if it is larger.
func (w *WeekSkill) Closer() float64 {
	if w.Persistence <= 0 {
		return 0
	}
	return 1 - w.RMSE/w.Persistence
}

// A ForecastTest is the last test of the forecasts with past years.
type ForecastTest struct {
	Model string         // that was tested; empty if there was no test
	Date  Optional[Date] // of the newest value that was used
	Fault string         // why the forecasts are not worth showing; empty if they are
	Skill []ForecastSkill
}

// Check returns an error that names the first invalid number.
func (t *ForecastTest) Check() error {
	for i := range t.Skill {
		s := &t.Skill[i]
		for k, w := range s.Weeks {
			finite := w.RMSE >= 0 && w.Persistence >= 0 && !math.IsInf(w.RMSE, 1) && !math.IsInf(w.Persistence, 1)
			if !finite || !(w.Coverage >= 0 && w.Coverage <= 1) || w.Lakes < 0 || w.Pairs < w.Lakes {
				return fmt.Errorf("skill of forecasts in %.80q, week %d: %+v: want finite errors of 0 or more, a coverage from 0 to 1, and as many pairs as lakes or more", s.Region, k+1, w)
			}
		}
	}
	return nil
}

// A NumberedForecast is the forecast of a lake by its number, which only its database knows. Its LakeID is not used.
type NumberedForecast struct {
	Number int64
	// Input is a hash of its input: [LakeReadings.Hash], and why the last value may withhold it.
	Input int64
	LakeForecast
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

// A ForecastBasis is what only an observation of limnomap's own forecast has. It is zero for all others. The model is the observation's Source.
type ForecastBasis struct {
	Issued, BasedOn Date
	StoredForecast
}

// Known reports whether the observation is of limnomap's own forecast.
func (b ForecastBasis) Known() bool { return b.StoredForecast.Known() }

// AddForecasts adds the forecasts of a lake to its observations also those of days with a measured value: so
// they can be compared.
func (f *ForecastIssue) AddForecasts(l *LakeForecast, q HistoryQuery, history []Observation) []Observation {
	return MergeHistory(history, f.Observations(l.LakeID, l), q)
}

// Observations returns a lake's forecasts as observations, the newest first.
func (f *ForecastIssue) Observations(id LakeID, l *LakeForecast) (all []Observation) {
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
