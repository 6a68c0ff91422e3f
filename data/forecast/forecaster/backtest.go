package forecaster

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"limnomap/data"
	"limnomap/data/forecast/backtest"
)

// BacktestOptions are the optional parameters of [Backtest]. Nil means all defaults.
type BacktestOptions struct {
	// Years is how many of its last calendar years each lake is tested in. Zero means 3.
	Years int
	// Profile has the limits of the classes. Nil means who2003.
	Profile *data.Profile
	// Each, if not nil, is called with the forecasts of each lake and the values that came, in ascending order of id.
	Each func(id data.LakeID, pairs []backtest.Pair) error
	// Progress, if not nil, is called now and then with the share of the lakes that are done, from 0 to 1.
	Progress func(done float64)
	// Workers is how many goroutines compute. Zero means one for each processor.
	Workers int
}

// MaxYears bounds BacktestOptions.Years.
const MaxYears = 100

// Backtest repeats the forecasts of past years of all lakes, beside those of simple methods, and compares them with the values that came. It
// writes nothing. The error is [ErrNoValues] if there is nothing to compare.
func Backtest(ctx context.Context, s Store, opts *BacktestOptions) (*backtest.Scores, error) {
	var o BacktestOptions
	if opts != nil {
		o = *opts
	}
	if o.Years < 0 || o.Years > MaxYears {
		return nil, fmt.Errorf("%d years: want 1 to %d", o.Years, MaxYears)
	}
	o.Years = cmp.Or(o.Years, testYears)
	o.Workers = cmp.Or(max(o.Workers, 0), runtime.GOMAXPROCS(0))
	if o.Profile == nil {
		o.Profile = &data.Profiles()[0]
	}
	summary, err := s.ReadingSummary(ctx)
	if err != nil {
		return nil, err
	}
	if !summary.Newest.Known {
		return nil, ErrNoValues
	}
	scores := backtest.New(classes(o.Profile))
	type evaluated struct {
		pairs []backtest.Pair // nil if no one needs them
		lake  *backtest.Lake
	}
	evaluate := func(b *batch) ([]evaluated, error) {
		all := make([]evaluated, len(b.lakes))
		for i := range all {
			l := b.lake(i)
			pairs := backtest.Pairs(l.Latitude, slices.Collect(values(l)), o.Years)
			all[i].lake = scores.Evaluate(pairs)
			if o.Each != nil {
				all[i].pairs = pairs
			}
		}
		return all, nil
	}
	done := 0
	err = inBatches(ctx, s, maxOrigin, pace{workers: o.Workers}, evaluate, func(b *batch, all []evaluated) error {
		for i, e := range all {
			scores.Add(e.lake)
			if o.Each == nil {
				continue
			}
			if err := o.Each(b.lakes[i].ID, e.pairs); err != nil {
				return err
			}
		}
		if done += len(all); o.Progress != nil && summary.Lakes > 0 {
			o.Progress(min(1, float64(done)/float64(summary.Lakes)))
		}
		return nil
	})
	return scores, err
}
