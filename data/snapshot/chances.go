package snapshot

import (
	"fmt"

	"limnomap/data"
)

// NewChances returns a map of probabilities in place of values: chance returns that of lakes[i] from 0 to 1, and whether there is one. It must be
// safe for concurrent use, and always return the same.
func NewChances(lakes []data.Lake, chance func(i int) (p float64, ok bool)) *Values {
	return &Values{Lakes: lakes, shown: shownChances(chance)}
}

// Chances reports whether v are probabilities: then no lake has a value or a mark, and [Values.Chance] has what is drawn.
func (v *Values) Chances() bool {
	_, ok := v.shown.(shownChances)
	return ok
}

// Chance returns the probability of Lakes[i], from 0 to 1, and whether there is one. It has none for values.
func (v *Values) Chance(i int) (p float64, ok bool) {
	chance, ok := v.shown.(shownChances)
	if !ok {
		return 0, false
	}
	return chance(i)
}

// Chances returns the probability for each lake that its chlorophyll reaches the limit of a risk, medium or high, in a week after the newest
// issue of the forecast, 1 to Issue.Weeks. A lake whose forecast is withheld has none. The result is shared. The error is
// [data.ErrNoForecast] if there is no issue or no such week in it.
func (s *Snapshot) Chances(week int, of data.Risk) (*Values, error) {
	f := s.Forecasts
	if f == nil {
		return nil, fmt.Errorf("forecast of week %d: %w", week, data.ErrNoForecast)
	}
	if week < 1 || week > f.Issue.Weeks {
		return nil, fmt.Errorf("forecast of week %d: want 1 to %d: %w", week, f.Issue.Weeks, data.ErrNoForecast)
	}
	f.prepareChances.Do(func() {
		for k := range f.chances {
			for n, limit := range s.Profile.Limits {
				f.chances[k][n] = NewChances(s.Lakes, func(i int) (float64, bool) {
					if i >= len(f.lakes) || !f.lakes[i].weeks[k].Known() {
						return 0, false
					}
					return f.lakes[i].weeks[k].Prediction().Exceeds(limit.Float()), true
				})
			}
		}
	})
	if of == data.RiskHigh {
		return f.chances[week-1][1], nil
	}
	return f.chances[week-1][0], nil
}
