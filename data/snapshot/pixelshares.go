package snapshot

import (
	"cmp"
	"context"
	"slices"
	"unsafe"

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

const passBytes = int64(unsafe.Sizeof(pass{}))

func (p *pass) compare(to *pass) int {
	return cmp.Or(cmp.Compare(p.lake, to.lake), cmp.Compare(p.date, to.date), cmp.Compare(p.value, to.value))
}

// readPasses reads the shares of the pixels of the passes that views of neighbouring weeks show.
func (s *Snapshot) readPasses(ctx context.Context, src Source, views ...*View) error {
	if s.Pixels.Count == 0 {
		return nil
	}
	oldest := max(int64(views[0].AsOf)-int64(s.rule.staleAfter), int64(data.MinDate))
	period := data.Period{First: data.Date(oldest), Last: views[len(views)-1].AsOf}
	err := src.PixelSpreads(ctx, period, func(of data.LakeValue, spread *pixels.Spread) error {
		lake, ok := s.Index(of.Lake)
		if !ok { // of a later revision
			return nil
		}
		shares, ok := data.PixelSharesOf(spread, s.Profile)
		for _, v := range views {
			if date, value := s.newestPass(v, lake); ok && date == of.Date && value == of.Chlorophyll {
				v.passes = append(v.passes, pass{int32(lake), date, value, shares})
			}
		}
		return nil
	})
	for _, v := range views {
		slices.SortStableFunc(v.passes, func(a, b pass) int { return a.compare(&b) })
		v.passes = slices.Clip(v.passes)
	}
	return err
}

// newestPass returns the date and value of the pass that v shows of Lakes[i]; NoChlorophyll if it shows none. On the current map it may be one in whose place
// a sample is shown: on a later day, when the sample is too old, the map shows the pass.
func (s *Snapshot) newestPass(v *View, i int) (data.Date, data.Chlorophyll) {
	if state := &v.States[i]; state.MeasuredBy == data.Satellite {
		return state.Date, state.Chlorophyll
	}
	if v == s.Current {
		if last := s.rule.last(s.satellite.of(i), lakeReadings{}, v.AsOf); last.exists() {
			return last.reading().date(), last.reading().chlorophyll()
		}
	}
	return 0, data.NoChlorophyll
}

// Shares returns how much of Lakes[i] is affected, by the pixels of its current value: of a site, how much of its water. It is not ok if they are not kept.
func (v *View) Shares(i int) (shares data.PixelShares, ok bool) {
	state := &v.States[i]
	if first := v.waters.firstSite(i); first != i && (state.MeasuredBy != data.Satellite || state.Date != v.States[first].Date) {
		return shares, false
	} else if first != i {
		return v.Shares(first)
	}
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
