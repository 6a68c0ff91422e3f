package forecaster

import (
	"cmp"
	"container/heap"
	"context"
	"hash/fnv"
	"iter"
	"math"
	"runtime"
	"slices"
	"strings"

	"limnomap/data"
	"limnomap/data/forecast"
	"limnomap/data/forecast/backtest"
	"limnomap/data/inorder"
)

const (
	testYears   = 3
	testDays    = 28   // how long a test holds
	sampleLakes = 2000 // lakes that a run tests at most
	minPairs    = 100  // of one week, for a test of all lakes or of a region: fewer say nothing
	minCompared = 8    // lakes, to say anything about a region
)

// testIsDue reports whether the last test was of another model or bad, or is too old. A test of newer values than the origin is no test of the future.
func (r *run) testIsDue() bool {
	t := &r.result.Test
	return t.Model != forecast.Model || t.Fault != "" || !t.Date.Known || r.origin-t.Date.Value >= testDays || t.Date.Value > r.summary.Newest.Value
}

// test tests the model with a sample of the lakes.
func (r *run) test(ctx context.Context) error {
	sample, p := newSample(), pace{r.Workers, r.Rest}
	err := inBatches(ctx, r.store, r.origin, p, func(*batch) (struct{}, error) { return struct{}{}, nil }, func(b *batch, _ struct{}) error {
		for i := range b.lakes {
			sample.add(b.lake(i))
		}
		r.progress(b)
		return nil
	})
	if err != nil {
		return err
	}
	t, err := sample.test(ctx, classes(r.Profile), p)
	t.Date = data.Known(r.origin)
	r.result.Test = t
	return err
}

// regionsOfLastValue returns the regions where the forecasts are not worth showing as those of all lakes would not be: where in any week, with
// enough forecasts and values, the last value was not the worse forecast.
func regionsOfLastValue(t *data.ForecastTest) map[string]bool {
	regions := make(map[string]bool)
	for i := range t.Skill {
		s := &t.Skill[i]
		if s.All || s.Region == "" { // lakes without a region are in none together
			continue
		}
		for _, w := range s.Weeks {
			if w.Pairs >= minPairs && w.RMSE >= w.Persistence {
				regions[s.Region] = true
			}
		}
	}
	return regions
}

// A sample is the lakes whose ids have the smallest hashes, with their values.
type sample struct{ lakes []sampled }

type sampled struct {
	hash uint64
	lake data.LakeReadings
}

func newSample() *sample { return &sample{} }

// Len, Less, Swap, Push and Pop make a heap with the largest hash first.
func (s *sample) Len() int           { return len(s.lakes) }
func (s *sample) Less(i, j int) bool { return s.lakes[i].hash > s.lakes[j].hash }
func (s *sample) Swap(i, j int)      { s.lakes[i], s.lakes[j] = s.lakes[j], s.lakes[i] }
func (s *sample) Push(x any)         { s.lakes = append(s.lakes, x.(sampled)) }
func (s *sample) Pop() any {
	last := s.lakes[len(s.lakes)-1]
	s.lakes = s.lakes[:len(s.lakes)-1]
	return last
}

// add takes a lake, with a copy of its values, if it belongs to the sample so far.
func (s *sample) add(l *data.LakeReadings) {
	h := fnv.New64a()
	h.Write([]byte(l.ID)) // a hash never fails
	hash := mixed(h.Sum64())
	if len(s.lakes) == sampleLakes {
		if hash >= s.lakes[0].hash {
			return
		}
		heap.Pop(s)
	}
	c := *l
	c.Readings = slices.Clone(l.Readings)
	heap.Push(s, sampled{hash, c})
}

// mixed spreads the bits of a hash of similar ids: the finalizer of MurmurHash3 (Appleby, 2011).
func mixed(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// test tests the model with the lakes in the order of their ids.
func (s *sample) test(ctx context.Context, c backtest.Classes, p pace) (data.ForecastTest, error) {
	slices.SortFunc(s.lakes, func(a, b sampled) int { return cmp.Compare(a.lake.ID, b.lake.ID) })
	t := newTest(c)
	lakes := func(yield func(*data.LakeReadings) bool) {
		for i := range s.lakes {
			if !yield(&s.lakes[i].lake) {
				return
			}
		}
	}
	err := t.run(ctx, lakes, p)
	return t.result(), err
}

// Test tests the model with the past years of lakes, with the limits of the default profile and on all processors. The caller sets the date.
func Test(ctx context.Context, lakes iter.Seq[*data.LakeReadings]) (data.ForecastTest, error) {
	t := newTest(classes(&data.Profiles()[0]))
	err := t.run(ctx, lakes, pace{workers: runtime.GOMAXPROCS(0)})
	return t.result(), err
}

// run tests the model with lakes, whose order decides on the last bits of the sums.
func (t *test) run(ctx context.Context, lakes iter.Seq[*data.LakeReadings], p pace) error {
	evaluate := func(l *data.LakeReadings) (*backtest.Lake, error) {
		return t.scores.Evaluate(backtest.Pairs(l.Latitude, slices.Collect(values(l)), testYears)), nil
	}
	add := func(l *data.LakeReadings, e *backtest.Lake) error {
		t.add(l.Region, e)
		return nil
	}
	if p.workers > 1 {
		return inorder.Run(ctx, p.workers, 4, lakes, evaluate, add)
	}
	rest := p.begin()
	for l := range lakes {
		e, err := evaluate(l)
		if err == nil {
			err = add(l, e)
		}
		if err == nil {
			err = rest(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// values yields the values of a lake.
func values(l *data.LakeReadings) iter.Seq[forecast.Value] {
	return func(yield func(forecast.Value) bool) {
		for _, r := range l.Readings {
			if !yield(forecast.Value{Day: int(r.Date), Chl: r.Chlorophyll.Float()}) {
				return
			}
		}
	}
}

// A test adds up what lakes say about the model, in all and by region.
type test struct {
	scores  *backtest.Scores
	all     skill
	regions map[string]*skill
}

// skill is the sums of a region, by week.
type skill [data.ForecastWeeks]struct {
	lakes, pairs, covered int64
	model, persistence    float64 // squared errors
}

func newTest(c backtest.Classes) *test {
	return &test{scores: backtest.New(c), regions: make(map[string]*skill)}
}

func (t *test) add(region string, l *backtest.Lake) {
	t.scores.Add(l)
	own := t.regions[region]
	if own == nil {
		own = new(skill)
		t.regions[region] = own
	}
	for _, s := range []*skill{&t.all, own} {
		for w := range s {
			model, pairs := l.SquaredErrors(w+1, backtest.Model)
			if pairs == 0 {
				continue
			}
			persistence, _ := l.SquaredErrors(w+1, backtest.Persistence)
			s[w].lakes++
			s[w].pairs += int64(pairs)
			s[w].covered += int64(l.Covered(w+1, backtest.Model))
			s[w].model += model
			s[w].persistence += persistence
		}
	}
}

// result returns the test. Without enough forecasts and values it says nothing.
func (t *test) result() data.ForecastTest {
	r := data.ForecastTest{Model: forecast.Model}
	if t.all[0].pairs < minPairs {
		return r
	}
	if err := t.scores.Check(); err != nil {
		r.Fault = err.Error()
	}
	all := t.all.of("")
	all.All = true
	r.Skill = append(r.Skill, all)
	for region, s := range t.regions {
		if s[0].lakes >= minCompared {
			r.Skill = append(r.Skill, s.of(region))
		}
	}
	slices.SortFunc(r.Skill[1:], func(a, b data.ForecastSkill) int { return strings.Compare(a.Region, b.Region) })
	return r
}

func (s *skill) of(region string) data.ForecastSkill {
	r := data.ForecastSkill{Region: region}
	for w := range s {
		t := &s[w]
		if t.pairs == 0 {
			continue
		}
		n := float64(t.pairs)
		r.Weeks[w] = data.WeekSkill{Lakes: t.lakes, Pairs: t.pairs, RMSE: math.Sqrt(t.model / n), Persistence: math.Sqrt(t.persistence / n), Coverage: float64(t.covered) / n}
	}
	return r
}
