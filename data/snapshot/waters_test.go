package snapshot_test

import (
	"slices"
	"testing"

	"limnomap/data"
)

// The sites of a water have the shares of its pixels, which are those of the first site, while they show a pass of the same day.
func TestSharesOfSites(t *testing.T) {
	first, second, third := obs(t, "b", "2026-07-07", 5), obs(t, "c", "2026-07-07", 9), obs(t, "d", "2026-07-05", 9)
	src := &withPixels{memory: memory{lakes: lakes("a", "b", "c", "d", "e"), observations: []data.Observation{first, second, third}}}
	for i := 1; i < 4; i++ {
		src.lakes[i].WaterID = "w"
	}
	src.lakes[4].WaterID = "alone"
	src.high = map[data.LakeValue]byte{{Lake: "b", Date: first.Date, Chlorophyll: first.Chlorophyll}: 3}
	src.pixels = data.PixelState{Count: 1, Digest: 1}
	s := load(t, src, nil)
	for i, want := range []struct {
		first int
		sites []int32
		known bool
	}{{0, nil, false}, {1, []int32{1, 2, 3}, true}, {1, []int32{1, 2, 3}, true}, {1, []int32{1, 2, 3}, false}, {4, nil, false}} {
		shares, ok := s.Current.Shares(i)
		if s.FirstSite(i) != want.first || !slices.Equal(s.Sites(i), want.sites) || ok != want.known || ok && shares.Risks[data.RiskHigh] != 3000 {
			t.Errorf("lake %d: the first site is %d of %v, the shares %+v (%t), want %+v", i, s.FirstSite(i), s.Sites(i), shares, ok, want)
		}
	}
}
