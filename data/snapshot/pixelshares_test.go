package snapshot_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"limnomap/data"
	"limnomap/data/pixels"
	"limnomap/data/snapshot"
)

// withPixels is a memory whose pixels of one lake are spread: of ten, that many have a high risk.
type withPixels struct {
	memory
	high   map[data.LakeValue]byte
	asked  []data.Period
	broken error
}

func (w *withPixels) PixelSpreads(_ context.Context, period data.Period, each func(data.LakeValue, *pixels.Spread) error) error {
	if w.asked = append(w.asked, period); w.broken != nil {
		return w.broken
	}
	for v, n := range w.high {
		if !period.Contains(v.Date) {
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

// A lake has the shares of the pixels of its current value, in each week; a lake without pixels, and a sample, have none.
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
	if want := []data.Period{{First: s.Current.AsOf - 28, Last: s.Current.AsOf}, {First: view.AsOf - 28, Last: view.AsOf}}; !slices.Equal(src.asked, want) {
		t.Errorf("the spreads of %v are read, want of %v", src.asked, want)
	}
	src.broken = errors.New("no answer")
	if _, err := load(t, &withPixels{memory: src.memory, high: src.high}, nil).View(t.Context(), first.Date.Week()); err != nil {
		t.Error(err)
	}
	before := first.Date.Week() - 1
	if v, err := s.View(t.Context(), before); err != nil || !v.Later || s.Held(before) != nil {
		t.Errorf("while shares cannot be read a week is %+v, %v, want one that is not kept", v, err)
	}
	src.broken = nil
	if v, err := s.View(t.Context(), before); err != nil || v.Later || s.Held(before) != v {
		t.Errorf("after that it is %+v, %v, want one that is kept", v, err)
	}
	src.pixels = data.PixelState{}
	if _, ok := load(t, src, nil).Current.Shares(0); ok {
		t.Error("there are shares without pixels")
	}
}

// A pass in whose place a sample is shown has its shares on a later day, when the map shows it.
func TestSharesOfAnotherDay(t *testing.T) {
	pass := obs(t, "a", "2026-07-07", 5)
	src := &withPixels{memory: memory{lakes: lakes("a"), observations: []data.Observation{pass, sampled(obs(t, "a", "2026-07-01", 7))}}}
	slices.SortFunc(src.observations, func(a, b data.Observation) int { return data.CompareInScan(a, b) })
	src.high = map[data.LakeValue]byte{{Lake: "a", Date: pass.Date, Chlorophyll: pass.Chlorophyll}: 3}
	src.pixels = data.PixelState{Count: 1, Digest: 1}
	present := data.At((pass.Date + 1).Time())
	s, err := snapshot.Load(t.Context(), src, &snapshot.Options{Present: func() data.Present { return present }})
	if err != nil {
		t.Fatal(err)
	}
	if shares, ok := s.Current.Shares(0); ok || s.Current.States[0].MeasuredBy != data.InSitu {
		t.Errorf("the day after, %+v has shares %+v, %t", s.Current.States[0], shares, ok)
	}
	later := s.At(data.At((pass.Date + 25).Time()))
	if shares, ok := later.Current.Shares(0); !ok || shares.Risks[data.RiskHigh] != 3000 {
		t.Errorf("when the sample is too old, %+v has shares %+v, %t", later.Current.States[0], shares, ok)
	}
}
