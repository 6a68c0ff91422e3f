package statistics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestRanks(t *testing.T) {
	if got := fmt.Sprint(ranks([]float64{5, 1, 5, 9})); got != "[1.5 0 1.5 3]" {
		t.Errorf("the ranks are %s", got)
	}
	if c := correlation(ranks([]float64{1, 2, 3, 4, 5}), ranks([]float64{2, 1, 4, 3, 5})); math.Abs(c-0.8) > 1e-9 { // 1 - 6*4/(5*24)
		t.Errorf("Spearman's coefficient is %v, want 0.8", c)
	}
}

// Orders that have nothing to do with each other agree in about one of twenty cases, and places that differ by more than they change agree. Where orders agree,
// that of the last pass tells which of two places is clearer in the next one, better than a coin does; where the places do not differ it does not.
func TestRanksAgree(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const cases = 4000
	for _, places := range []int{2, 3, 5, 8} {
		for _, n := range []int{MinRanked, 8, 12} {
			for _, differ := range []float64{0, 0.5, 2} { // the spread of places, in those of the values of one place
				agree, right, compared := 0, 0, 0
				for range cases {
					level := make([]float64, places)
					for i := range level {
						level[i] = differ * random.NormFloat64()
					}
					passes := make([][]float64, n+1)
					for k := range passes {
						for i := range places {
							passes[k] = append(passes[k], math.Exp(level[i]+random.NormFloat64()))
						}
					}
					if RanksAgree(passes[:n]) {
						agree++
						compared++
						if (passes[n-1][0] < passes[n-1][1]) == (passes[n][0] < passes[n][1]) {
							right++
						}
					}
				}
				shown, predicted := float64(agree)/cases, float64(right)/float64(max(compared, 1))
				t.Logf("%d places, %d passes, that differ by %v: %.3f agree, of which %.3f predict the next pass", places, n, differ, shown, predicted)
				switch {
				case differ == 0 && shown > 0.08:
					t.Errorf("%d places in %d passes agree by chance in %.3f of the cases", places, n, shown)
				case differ == 0 && compared > 150 && math.Abs(predicted-0.5) > 0.15:
					t.Errorf("by chance, %.3f of the next passes are predicted", predicted)
				case differ == 2 && (shown < 0.3 || predicted < 0.6):
					t.Errorf("%d places that differ agree in %.3f of the cases, and predict %.3f of the next passes", places, shown, predicted)
				}
			}
		}
	}
	for _, few := range [][][]float64{nil, {{1, 2}, {1, 2}, {1, 2}, {1, 2}}, {{1}, {1}, {1}, {1}, {1}}, {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}} {
		if RanksAgree(few) {
			t.Errorf("%v agree", few)
		}
	}
}
