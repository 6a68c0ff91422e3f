package forecaster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"

	"limnomap/data"
	"limnomap/data/forecast"
	"limnomap/data/forecast/backtest"
	"limnomap/data/inorder"
)

// A Store is what a run reads and writes, as package store explains it.
type Store interface {
	ReadingSummary(ctx context.Context) (data.ReadingSummary, error)
	Readings(ctx context.Context, last data.Date, each func(*data.LakeReadings) error) (data.Revision, error)
	ForecastIssues(ctx context.Context) ([]data.ForecastIssue, error)
	NumberedForecasts(ctx context.Context, issued data.Date, each func(data.NumberedForecast)) (data.ForecastIssue, error)
	PutForecasts(ctx context.Context, issue data.ForecastIssue, forecasts iter.Seq[data.NumberedForecast], gone []int64, before data.Date) (changed bool, err error)
	ForecastTest(ctx context.Context) (data.ForecastTest, error)
	PutForecastTest(ctx context.Context, test data.ForecastTest) error
}

// Options are the optional parameters of [Run]. Nil means all defaults.
type Options struct {
	// Weeks is how many weeks ahead the forecasts are, at most data.ForecastWeeks, which zero means.
	Weeks int
	// Origin is the day of issue: only values up to it are used. Absent means that of the newest value, which is a sample only if no lake has a value of a
	// satellite.
	Origin data.Optional[data.Date]
	// Keep is how many days before this issue earlier ones are kept. Zero means 365.
	Keep int
	// Profile has the limits that the test uses. Nil means who2003.
	Profile *data.Profile
	// Force writes forecasts that are not worth showing too, and withholds none because the last value was better.
	Force bool
	// DryRun writes nothing.
	DryRun bool
	// Each, if not nil, is called for each forecast, also those that are not computed again, in ascending order of lake id.
	Each func(data.ForecastIssue, data.LakeForecast) error
	// Progress, if not nil, is called now and then with the share of the lakes that are done, from 0 to 1.
	Progress func(done float64)
	// Workers is how many goroutines compute. Zero means one for each processor. With one, Run starts no goroutine: a server can run it on
	// a thread of low priority.
	Workers int
	// Rest is how long Run rests after each piece of work, of some lakes or less than a millisecond, as a multiple of the time that it took; zero means not at all. A server gives its
	// processors to its clients meanwhile. Only a Run with one worker rests, and not while it writes, since other writers wait then.
	Rest float64
}

const (
	defaultKeep = 365
	// Databases know values of these days for forecasts.
	minOrigin = data.Date(-1 << 16)
	maxOrigin = data.Date(1<<16 - 1)
)

func (o *Options) withDefaults() (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Weeks < 0 || c.Weeks > data.ForecastWeeks {
		return c, fmt.Errorf("horizon of %d weeks: want 1 to %d", c.Weeks, data.ForecastWeeks)
	}
	if c.Origin.Known && (c.Origin.Value < minOrigin || c.Origin.Value > maxOrigin) {
		return c, fmt.Errorf("origin %s: want a day from %s to %s", c.Origin.Value, minOrigin, maxOrigin)
	}
	if c.Keep < 0 {
		return c, fmt.Errorf("keep forecasts for %d days: want 0 or more", c.Keep)
	}
	c.Weeks = cmp.Or(c.Weeks, data.ForecastWeeks)
	c.Keep = cmp.Or(c.Keep, defaultKeep)
	c.Workers = cmp.Or(max(c.Workers, 0), runtime.GOMAXPROCS(0))
	if c.Profile == nil {
		c.Profile = &data.Profiles()[0]
	}
	if c.Progress == nil {
		c.Progress = func(float64) {}
	}
	return c, nil
}

var (
	// ErrNoValues says that there is nothing that forecasts could be made of.
	ErrNoValues = errors.New("there is no value of a satellite and no sample, of which a forecast is made")
	// ErrNotWorth is wrapped by the error for forecasts that are not worth showing.
	ErrNotWorth = errors.New("the forecasts of past years are not worth showing")
)

// A Result is what a run did.
type Result struct {
	Issue   data.ForecastIssue
	Lakes   int64 // of the database, also those without values
	Reused  int64 // lakes whose values were the same as in the last run of that day
	Changed bool  // the database is different
	Test    data.ForecastTest
}

// Run makes forecasts of all lakes. See [Options] for the choices, and [ErrNotWorth] and [ErrNoValues] for two of the errors.
func Run(ctx context.Context, s Store, opts *Options) (Result, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return Result{}, err
	}
	summary, err := s.ReadingSummary(ctx)
	if err != nil {
		return Result{}, err
	}
	if !summary.Newest.Known {
		return Result{}, ErrNoValues
	}
	r := &run{Options: o, store: s, summary: summary, origin: summary.Newest.Value, result: Result{Lakes: summary.Lakes}}
	if o.Origin.Known {
		r.origin = o.Origin.Value
	}
	if r.origin < minOrigin || r.origin > maxOrigin {
		return Result{}, fmt.Errorf("the newest value is of %s: want one from %s to %s, or another origin", r.origin, minOrigin, maxOrigin)
	}
	return r.run(ctx)
}

// A run is one call of Run.
type run struct {
	Options
	store   Store
	summary data.ReadingSummary
	origin  data.Date

	before   entries // of the last run of the same day
	usable   bool    // whether they are of the same model and for the same weeks
	seen     []bool  // of before
	computed entries
	result   Result
	regions  map[string]bool // where the last value was better
	passes   int64           // through all lakes
	lakes    int64           // done in all passes
}

func (r *run) run(ctx context.Context) (Result, error) {
	var err error
	if r.result.Test, err = r.store.ForecastTest(ctx); err != nil {
		return r.result, err
	}
	due := r.testIsDue()
	done, err := r.isDone(ctx)
	if err != nil {
		return r.result, err
	}
	if done && r.Each == nil && !due {
		return r.result, r.worth()
	}
	r.passes = 1
	if due {
		r.passes = 2
		if err := r.test(ctx); err != nil {
			return r.result, err
		}
		if err := r.worth(); err != nil {
			return r.result, errors.Join(err, r.putTest(ctx))
		}
	}
	r.regions = regionsOfLastValue(&r.result.Test)
	if err := r.readBefore(ctx); err != nil {
		return r.result, err
	}
	if err := r.compute(ctx); err != nil {
		return r.result, err
	}
	if due {
		if err := r.putTest(ctx); err != nil {
			return r.result, err
		}
	}
	if err := r.worth(); err != nil || r.DryRun {
		return r.result, err
	}
	r.result.Changed, err = r.store.PutForecasts(ctx, r.result.Issue, r.computed.all(), r.gone(), r.origin-data.Date(r.Keep))
	return r.result, err
}

// putTest stores the test, but in a dry run.
func (r *run) putTest(ctx context.Context) error {
	if r.DryRun {
		return nil
	}
	return r.store.PutForecastTest(ctx, r.result.Test)
}

// worth returns an error if the forecasts are not worth showing and not forced.
func (r *run) worth() error {
	if fault := r.result.Test.Fault; fault != "" && !r.Force {
		return fmt.Errorf("%w: %s", ErrNotWorth, fault)
	}
	return nil
}

// isDone reports whether the last run of the same day was made of the present values, and sets the result then.
func (r *run) isDone(ctx context.Context) (bool, error) {
	issues, err := r.store.ForecastIssues(ctx)
	i := slices.IndexFunc(issues, func(f data.ForecastIssue) bool { return f.Issued == r.origin })
	if err != nil || i < 0 {
		return false, err
	}
	last := &issues[i]
	r.usable = last.Model == forecast.Model && last.Weeks == r.Weeks
	if !r.usable || last.Input != r.input() {
		return false, nil
	}
	r.result.Issue, r.result.Reused = *last, last.Counts.Lakes+last.Counts.AllWithheld()
	return true, nil
}

// input returns the number of the input of the issue.
func (r *run) input() int64 {
	if r.Force {
		return ^r.summary.Revision.Number
	}
	return r.summary.Revision.Number
}

// readBefore reads the forecasts of the last run of the same day.
func (r *run) readBefore(ctx context.Context) error {
	r.result.Issue, r.result.Reused = data.ForecastIssue{Issued: r.origin, Model: forecast.Model, Weeks: r.Weeks, Input: r.input()}, 0
	_, err := r.store.NumberedForecasts(ctx, r.origin, func(f data.NumberedForecast) { r.before.add(&f) })
	if errors.Is(err, data.ErrNoForecast) {
		return nil
	}
	r.before.sort()
	r.seen = make([]bool, r.before.len())
	return err
}

// stored returns the forecast of the last run that was made of the same values. Different calls may be of different lakes at once.
func (r *run) stored(number, input int64) (data.LakeForecast, bool) {
	i, ok := r.before.find(number)
	if !ok {
		return data.LakeForecast{}, false
	}
	r.seen[i] = true
	f := r.before.at(i)
	return f.LakeForecast, r.usable && f.Input == input
}

// gone returns the numbers of lakes that have a forecast of the last run, and no values any more.
func (r *run) gone() (numbers []int64) {
	for i, seen := range r.seen {
		if !seen {
			numbers = append(numbers, r.before.at(i).Number)
		}
	}
	return numbers
}

// compute makes the forecasts.
func (r *run) compute(ctx context.Context) error {
	compute := func(b *batch) ([]outcome, error) { return r.forecasts(b), nil }
	deliver := func(b *batch, outcomes []outcome) error {
		for i := range outcomes {
			if err := r.take(b.lake(i), &outcomes[i]); err != nil {
				return err
			}
		}
		r.progress(b)
		return nil
	}
	return inBatches(ctx, r.store, r.origin, pace{r.Workers, r.Rest}, compute, deliver)
}

// progress counts the lakes of a batch.
func (r *run) progress(b *batch) {
	r.lakes += int64(len(b.lakes))
	if all := r.passes * r.summary.Lakes; all > 0 {
		r.Progress(min(1, float64(r.lakes)/float64(all)))
	}
}

// An outcome is the forecast of a lake.
type outcome struct {
	input  int64
	reused bool
	data.LakeForecast
}

// forecasts makes the forecasts of a batch. It is called on several goroutines.
func (r *run) forecasts(b *batch) []outcome {
	outcomes := make([]outcome, len(b.lakes))
	var p Past
	for i := range b.lakes {
		l, o := b.lake(i), &outcomes[i]
		last := r.lastValueOf(l)
		o.input = l.Hash() ^ int64(last)
		if o.LakeForecast, o.reused = r.stored(l.Number, o.input); o.reused {
			continue
		}
		forecasts(&p, l, []data.Date{r.origin}, r.Weeks, last, func(_ int, made data.LakeForecast) { o.LakeForecast = made })
	}
	return outcomes
}

// lastValue says when a forecast is withheld because the last value was better. Databases have it as bits of the input of a forecast: earlier
// versions, which withheld none for it, had those of ignored.
type lastValue int64

const (
	ignored  lastValue = iota // never
	ofLake                    // if it was for the lake
	ofRegion                  // it was for the region
)

func (r *run) lastValueOf(l *data.LakeReadings) lastValue {
	switch {
	case r.Force:
		return ignored
	case r.regions[l.Region]:
		return ofRegion
	}
	return ofLake
}

// A Past is the memory in which forecasts of one lake after another are made, by one goroutine at a time. The zero value is ready for use.
type Past = backtest.Past

// Forecast makes the forecasts of one lake.
func Forecast(p *Past, l *data.LakeReadings, origin data.Date, weeks int) (made data.LakeForecast) {
	Forecasts(p, l, []data.Date{origin}, weeks, func(_ int, one data.LakeForecast) { made = one })
	return made
}

// Forecasts makes the forecasts of one lake of several origins in ascending order, as Forecast does, in little more time than those of one:
// each takes only the values that are not after the origin. It calls each with the index of every origin that has a value. It withholds
// forecasts where the last value of the lake was better, but knows nothing of those of its region.
func Forecasts(p *Past, l *data.LakeReadings, origins []data.Date, weeks int, each func(origin int, made data.LakeForecast)) {
	forecasts(p, l, origins, weeks, ofLake, each)
}

func forecasts(p *Past, l *data.LakeReadings, origins []data.Date, weeks int, last lastValue, each func(origin int, made data.LakeForecast)) {
	if len(origins) == 0 {
		return
	}
	p.Begin(l.Latitude, values(l), int(origins[0]))
	for i, origin := range origins {
		basedOn, ok := p.Advance(int(origin))
		if !ok {
			continue
		}
		made := forecastOf(&p.Filter, l.ID, data.Date(basedOn), origin, weeks)
		if made.Withheld == forecast.None && (last == ofRegion || last == ofLake && p.LastValueBetter(int(origin))) {
			made.Withheld, made.Weeks = forecast.LastValueBetter, [data.ForecastWeeks]data.StoredForecast{}
		}
		each(i, made)
	}
}

// forecastOf makes the forecasts of a lake whose values, of which the last one is basedOn, the filter has.
func forecastOf(f *forecast.Filter, id data.LakeID, basedOn, origin data.Date, weeks int) data.LakeForecast {
	made := data.LakeForecast{LakeID: id, BasedOn: basedOn}
	reason := forecast.None
	for w := range weeks {
		target := int(origin) + 7*(w+1)
		why := f.Withheld(int(origin), target)
		if why == forecast.None {
			made.Weeks[w] = data.StoreForecast(f.Predict(target))
		}
		if w == 0 || why < reason {
			reason = why // none if any week has a forecast
		}
	}
	made.Withheld = reason
	return made
}

// take counts a forecast, and keeps it if it is new.
func (r *run) take(l *data.LakeReadings, o *outcome) error {
	r.result.Issue.Counts.Add(&o.LakeForecast)
	if r.Each != nil {
		f := o.LakeForecast
		f.LakeID = l.ID
		if err := r.Each(r.result.Issue, f); err != nil {
			return err
		}
	}
	if o.reused {
		r.result.Reused++
		return nil
	}
	r.computed.add(&data.NumberedForecast{Number: l.Number, Input: o.input, LakeForecast: o.LakeForecast})
	return nil
}

// classes returns the classes of a profile.
func classes(p *data.Profile) backtest.Classes {
	return backtest.Classes{Limits: [2]float64{p.Limits[0].Float(), p.Limits[1].Float()}, Above: p.Above}
}

// batchReadings is about how many values a batch has.
const batchReadings = 1 << 14

// A batch is some lakes with their values.
type batch struct {
	lakes    []data.LakeReadings
	ends     []int // of their readings
	readings []data.Reading
}

func (b *batch) add(l *data.LakeReadings) {
	b.lakes = append(b.lakes, *l)
	b.readings = append(b.readings, l.Readings...)
	b.ends = append(b.ends, len(b.readings))
}

// reset empties the batch.
func (b *batch) reset() { b.lakes, b.ends, b.readings = b.lakes[:0], b.ends[:0], b.readings[:0] }

// lake returns a lake with its readings.
func (b *batch) lake(i int) *data.LakeReadings {
	l := &b.lakes[i]
	start := 0
	if i > 0 {
		start = b.ends[i-1]
	}
	l.Readings = b.readings[start:b.ends[i]:b.ends[i]]
	return l
}

// inBatches calls do for batches of all lakes with values on or before a date, and deliver for the results, one at a time and in ascending
// order of lake id. With one worker it calls them on the caller's goroutine, and a batch is valid during the call.
func inBatches[R any](ctx context.Context, s Store, last data.Date, p pace, do func(*batch) (R, error), deliver func(*batch, R) error) error {
	if p.workers > 1 {
		return inParallel(ctx, s, last, p.workers, do, deliver)
	}
	b := new(batch)
	next := func() *batch { b.reset(); return b }
	rest := p.begin()
	size := batchReadings
	if p.rest > 0 {
		size = 1 // each lake, so that it rests soon
	}
	return readBatches(ctx, s, last, size, next, func(b *batch) error {
		result, err := do(b)
		if err == nil {
			err = deliver(b, result)
		}
		if err == nil {
			err = rest(ctx)
		}
		return err
	})
}

// readBatches calls each for batches of all lakes with values on or before a date, of about size values. They are those that next returns, filled.
func readBatches(ctx context.Context, s Store, last data.Date, size int, next func() *batch, each func(*batch) error) error {
	b := next()
	_, err := s.Readings(ctx, last, func(l *data.LakeReadings) error {
		b.add(l)
		if len(b.readings) < size {
			return nil
		}
		err := each(b)
		b = next()
		return err
	})
	if err == nil && len(b.lakes) > 0 {
		err = each(b)
	}
	return err
}

func inParallel[R any](ctx context.Context, s Store, last data.Date, workers int, do func(*batch) (R, error), deliver func(*batch, R) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	batches := make(chan *batch, workers)
	go func() { // ends after the last lake, or with ctx
		defer close(batches)
		next := func() *batch { return new(batch) }
		err := readBatches(ctx, s, last, batchReadings, next, func(b *batch) error {
			select {
			case batches <- b:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		if err != nil {
			cancel(err)
		}
	}()
	items := func(yield func(*batch) bool) {
		for b := range batches {
			if !yield(b) {
				return
			}
		}
	}
	err := inorder.Run(ctx, workers, 2, items, do, deliver)
	cancel(err)
	for range batches { // waits until the reader has ended
	}
	if cause := context.Cause(ctx); cause != nil && (err == nil || errors.Is(err, context.Canceled)) && !errors.Is(cause, context.Canceled) {
		return cause // why the reader ended
	}
	return err
}
