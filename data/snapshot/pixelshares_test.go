package snapshot_test

import (
	"context"
	"math"
	"testing"

	"limnomap/data"
	"limnomap/data/pixels"
)

// withPixels is a memory whose pixels of one lake are spread: of ten, that many have a high risk.
type withPixels struct {
	memory
	high map[data.LakeValue]byte
}

func (w *withPixels) PixelSpreads(_ context.Context, since data.Date, each func(data.LakeValue, *pixels.Spread) error) error {
	for v, n := range w.high {
		if v.Date < since {
			continue
		}
		spread, err := pixels.UnpackSpread([]byte{12, 0, 100, 10 - n, 0, 0, 0, 0, 0, n})
		if err == nil {
			err = each(v, spread)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A lake has the shares of the pixels of its current value, in each week, and the means of a year; a lake without pixels, and a sample, have none.
func TestShares(t *testing.T) {
	first, second := obs(t, "a", "2026-06-30", 5), obs(t, "a", "2026-07-07", 6)
	sample := sampled(obs(t, "c", "2026-07-07", 7))
	src := &withPixels{memory: memory{lakes: lakes("a", "b", "c"), observations: []data.Observation{first, second, obs(t, "b", "2026-07-07", 5), sample}}}
	value := func(o data.Observation) data.LakeValue {
		return data.LakeValue{Lake: o.LakeID, Date: o.Date, Chlorophyll: o.Chlorophyll}
	}
	other := value(second)
	other.Chlorophyll++ // of another source
	src.high = map[data.LakeValue]byte{value(first): 2, value(second): 5, other: 9, value(sample): 1, {Lake: "gone", Date: first.Date, Chlorophyll: 1}: 1}
	src.pixels = data.PixelState{Count: 5, Digest: 1}
	s := load(t, src, nil)
	view, err := s.View(t.Context(), first.Date.Week())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []data.TenThousandths{5000, -1, -1} {
		shares, ok := s.Current.Shares(i)
		if ok != (want >= 0) || ok && (shares.Risks[data.RiskHigh] != want || shares.Valid != 10 || shares.Inside != 12 || shares.P90 != 100) {
			t.Errorf("the shares of lake %d are %+v, %t", i, shares, ok)
		}
	}
	if shares, ok := view.Shares(0); !ok || shares.Risks[data.RiskHigh] != 2000 {
		t.Errorf("the shares of the week before are %+v, %t", shares, ok)
	}
	if y := s.SharesOfYear(0, 2026); y.Passes != 3 || math.Abs(y.High-1.6/3) > 1e-9 || y.P90 != 1 {
		t.Errorf("the year has %+v", y)
	}
	if y := s.SharesOfYear(0, 2025); y.Passes != 0 {
		t.Errorf("the year before has %+v", y)
	}
	src.pixels = data.PixelState{}
	if _, ok := load(t, src, nil).Current.Shares(0); ok {
		t.Error("there are shares without pixels")
	}
}
