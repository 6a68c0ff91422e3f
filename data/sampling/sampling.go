// Package sampling says where a sample would tell most: it ranks lakes for a day by the chance that a sample finds many algae there, which grows with what is
// not known of the lake, and by how long ago the last sample was taken. docs/sampling-plan.md has what that was worth in past years.
package sampling

import (
	"cmp"
	"math"
	"slices"

	"limnomap/data/forecast"
)

const (
	// novelDays is after how many days a sample tells two thirds of what it would tell without an earlier one. Longer times found fewer exceedances in one half
	// of the lakes of docs/sampling-plan.md.
	novelDays = 3
	// apartShare is how much of the difference between a satellite's value and those of the neighbours counts as not known. It changes next to nothing
	// there, and is for wrong values of satellites, which the replay has not.
	apartShare = 0.25
)

// A Lake is what is known of a lake on a day.
type Lake struct {
	Index       int
	Prediction  forecast.Prediction // of its value, from all earlier ones
	Values      int                 // from which it is
	SinceSample int                 // days; negative if there never was one
	// Apart is the difference of the logarithms of the satellite's newest value and of the median of those of the neighbours; 0 if that is not known.
	Apart float64
}

// Expected returns the distribution of what a sample would find. It is wider if satellite and neighbours disagree.
func (l *Lake) Expected() forecast.Prediction { return l.expected(apartShare) }

func (l *Lake) expected(apartShare float64) forecast.Prediction {
	return forecast.Prediction{Mu: l.Prediction.Mu, Sigma: math.Hypot(l.Prediction.Sigma, apartShare*l.Apart)}
}

// Score returns how much a sample would tell, from 0 to 1: the chance that it reaches limit in µg/l, less if there was one a few days ago.
func (l *Lake) Score(limit float64) float64 { return l.score(limit, novelDays, apartShare) }

func (l *Lake) score(limit, novelDays, apartShare float64) float64 {
	score := l.expected(apartShare).Exceeds(limit)
	if l.SinceSample >= 0 {
		score *= 1 - math.Exp(-float64(l.SinceSample)/novelDays)
	}
	return score
}

// Rank sorts lakes by what a sample would tell, the most first; of equal ones that with the widest distribution.
func Rank(lakes []Lake, limit float64) {
	slices.SortStableFunc(lakes, func(a, b Lake) int {
		return cmp.Or(cmp.Compare(b.Score(limit), a.Score(limit)), cmp.Compare(b.Prediction.Sigma, a.Prediction.Sigma))
	})
}
