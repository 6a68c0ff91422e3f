package snapshot

import (
	"cmp"
	"context"
	"slices"
	"time"

	"limnomap/data"
	"limnomap/data/pixels"
)

// A pass is the shares of the pixels of one pass of a satellite over a lake.
type pass struct {
	lake  int32 // index in Lakes
	date  data.Date
	value data.Chlorophyll
	data.PixelShares
}

func (p *pass) compare(to *pass) int {
	return cmp.Or(cmp.Compare(p.lake, to.lake), cmp.Compare(p.date, to.date), cmp.Compare(p.value, to.value))
}

// readPasses reads the shares of all passes since a day, unless the pixels are those of the snapshot before.
func (s *Snapshot) readPasses(ctx context.Context, src Source, before *Snapshot) error {
	if s.Pixels.Count == 0 {
		return nil
	}
	same := func(a, b []data.Lake) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }
	if before != nil && before.Pixels == s.Pixels && before.since == s.since && same(before.Lakes, s.Lakes) && *before.Profile == *s.Profile {
		s.passes = before.passes
		return nil
	}
	err := src.PixelSpreads(ctx, s.since, func(v data.LakeValue, spread *pixels.Spread) error {
		lake, ok := s.Index(v.Lake)
		if !ok { // of a later revision
			return nil
		}
		if shares, ok := data.PixelSharesOf(spread, s.Profile); ok {
			s.passes = append(s.passes, pass{int32(lake), v.Date, v.Chlorophyll, shares})
		}
		return nil
	})
	slices.SortStableFunc(s.passes, func(a, b pass) int { return a.compare(&b) })
	s.passes = slices.Clip(s.passes)
	return err
}

// Shares returns how much of Lakes[i] is affected, by the pixels of its current value. It is not ok if they are not kept, or not in memory.
func (v *View) Shares(i int) (shares data.PixelShares, ok bool) {
	state := &v.States[i]
	if len(v.passes) == 0 || state.MeasuredBy != data.Satellite || !state.Chlorophyll.Valid() {
		return shares, false
	}
	wanted := pass{lake: int32(i), date: state.Date, value: state.Chlorophyll}
	at, ok := slices.BinarySearchFunc(v.passes, &wanted, func(p pass, to *pass) int { return p.compare(to) })
	if !ok {
		return shares, false
	}
	return v.passes[at].PixelShares, true
}

// YearShares are the means of the shares of the passes of a year whose pixels are kept.
type YearShares struct {
	Passes    int
	High, P90 float64 // the part of the lake with a high risk, and the ninetieth percentile in µg/l
}

// SharesOfYear returns the shares of Lakes[i] in a year, of the passes that are in memory.
func (s *Snapshot) SharesOfYear(i, year int) (y YearShares) {
	first := pass{lake: int32(i), date: data.DateOf(time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC))}
	at, _ := slices.BinarySearchFunc(s.passes, &first, func(p pass, to *pass) int { return p.compare(to) })
	for _, p := range s.passes[at:] {
		if p.lake != int32(i) || p.date.Time().Year() != year {
			break
		}
		y.Passes++
		y.High += p.Risks[data.RiskHigh].Float()
		y.P90 += p.P90.Float()
	}
	if y.Passes > 0 {
		y.High /= float64(y.Passes)
		y.P90 /= float64(y.Passes)
	}
	return y
}
