package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"limnomap/cmd/limnomap/config"
	"limnomap/data"
	"limnomap/data/forecast"
	"limnomap/data/forecast/forecaster"
	"limnomap/data/store"
	"limnomap/tiles/background"
)

type forecastCmd struct {
	changedDatabaseFlag
	Horizon int           `help:"Weeks ahead." default:"4" allowed:"1..4"`
	Origin  string        `help:"Day of issue: only values up to it are used (default: the day of the newest value of a satellite; without any, of the newest sample)." placeholder:"YYYY-MM-DD" check:"date"`
	Keep    config.Period `name:"forecast-keep" help:"How long earlier issues are kept, in whole days." default:"365d" allowed:"0d.." check:"whole-days"`
	Out     string        `help:"CSV file to write with all forecasts of this issue; - is standard output." placeholder:"FILE"`
	DryRun  bool          `help:"Report what would change, and write nothing to the database."`
	Force   bool          `help:"Write the forecasts although those of past years were not worth showing, in all or for a lake or region, and overwrite the file of --out."`
	Test    bool          `help:"Test the forecasts with past years instead, and write nothing to the database: exit code 1 if they are not worth showing."`
	Years   int           `help:"For --test: calendar years of each lake, its last ones." default:"3" allowed:"1..100"`
	Profile string        `help:"For --test: classification of chlorophyll-a: ${enum}." enum:"${profiles}" default:"who2003"`
}

func (forecastCmd) Help() string {
	return `Forecasts the chlorophyll of each lake from its earlier satellite values, or without any from its samples, one to four weeks after
the day of issue, and writes the forecasts in one transaction. They replace limnomap's own earlier forecasts of later days, never imported
ones. Lakes whose values have not changed since the last forecast of the same day are not computed again.

A lake has no forecast if it has fewer than 5 values, if the last one is older than 42 days, for weeks of the year in which it never had
one, or if in past years the last value was the better forecast, for the lake or for its region. Every four weeks the forecasts are tested
with past years, as --test does it, of at most 2,000 lakes: without --force none are written if they are not closer to the truth than the
last value is, or if their bounds are wrong. docs/forecast.md has the method.

--test repeats the forecasts of every Monday of each lake's last calendar years, with the values up to that day only, and compares them with
the nearest value within 3 days of the target. Beside them it shows three simple methods: persistence (the last value), climatology (the usual
value of the season) and AR(1), a mixture of both. The exit code is 1 if in any week the forecasts are not closer to the truth than
persistence, or if not 0.70 to 0.90 of the values lie between the bounds, of which there should be 0.80. The columns of --out are then lake_id,
origin, target_date, chl, lower, upper, p10 and p50 (the probabilities of reaching the two limits of the profile, 10 and 50 µg/l of who2003),
truth, truth_date.`
}

func (c *forecastCmd) Run(ctx context.Context, con *console) error {
	if c.Test {
		return c.test(ctx, con)
	}
	opts := &forecaster.Options{Weeks: c.Horizon, Keep: int(time.Duration(c.Keep) / config.Day), Force: c.Force, DryRun: c.DryRun}
	if c.Origin != "" {
		date, err := data.ParseDate(c.Origin)
		if err != nil {
			return fmt.Errorf("--origin: %w", err)
		}
		opts.Origin = data.Known(date)
	}
	err := c.changeUnless(ctx, con, c.DryRun, func(s *store.Store) error {
		if c.Out == "" {
			return c.run(ctx, con, s, opts)
		}
		return con.writeTo(c.Out, c.Force, func(w io.Writer) error { return c.runTo(ctx, con, s, opts, w) })
	})
	return interrupted(ctx, err, "nothing was written")
}

// runTo also writes the forecasts to w.
func (c *forecastCmd) runTo(ctx context.Context, con *console, s *store.Store, opts *forecaster.Options, w io.Writer) error {
	table := csv.NewWriter(w)
	if err := table.Write([]string{"lake_id", "issued_at", "target_date", "chl", "lower", "upper", "sigma", "based_on", "model"}); err != nil {
		return err
	}
	opts.Each = func(issue data.ForecastIssue, f data.LakeForecast) error {
		for i, week := range f.Weeks {
			if !week.Known() {
				continue
			}
			p := week.Prediction()
			err := table.Write([]string{string(f.LakeID), issue.Issued.String(), issue.Target(i + 1).String(), decimals(p.Chl(), 2), decimals(p.Lower(), 2),
				decimals(p.Upper(), 2), decimals(week.Sigma.Float(), 4), f.BasedOn.String(), issue.Model})
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := c.run(ctx, con, s, opts); err != nil {
		return err
	}
	table.Flush()
	return table.Error()
}

func (c *forecastCmd) run(ctx context.Context, con *console, s *store.Store, opts *forecaster.Options) error {
	progress, finish := shareBar(con, "forecast")
	opts.Progress = progress
	result, err := forecaster.Run(ctx, s, opts)
	finish()
	if err != nil {
		return fmt.Errorf("%s: %w", store.Name(c.DB.Reveal()), err)
	}
	_, err = fmt.Fprintln(con.reportBeside(c.Out), describeForecast(&result))
	return err
}

// shareBar shows the share of some work that is done. The caller calls finish.
func shareBar(con *console, doing string) (progress func(done float64), finish func()) {
	const steps = 1000
	bar := newBar(con, doing, steps, progressbar.OptionSetPredictTime(true))
	return func(done float64) { _ = bar.Set(int(done * steps)) }, func() { _ = bar.Finish() }
}

// scheduledForecastFlags are for forecasts after refreshes.
type scheduledForecastFlags struct {
	Forecast     bool          `help:"After each refresh, forecast the chlorophyll of each lake one to four weeks ahead. No forecasts are made if those of past years were not worth showing."`
	ForecastKeep config.Period `help:"How long earlier issues of the forecast are kept, in whole days." default:"365d" allowed:"0d.." check:"whole-days"`
}

// restWhileServing gives forecasts one fifth of the time of one processor of a server: see [forecaster.Options]. Without it the p99 of cached tiles
// is four times as long while those of 1.4 million lakes are made, for more than two minutes.
const restWhileServing = 4

// after returns what makes forecasts after a refresh, or nil if none are wanted.
func (f *scheduledForecastFlags) after(s *store.Store, rest float64, log *slog.Logger) afterRefresh {
	if !f.Forecast {
		return nil
	}
	// One goroutine keeps a processor free for the answers of a server.
	opts := &forecaster.Options{Keep: int(time.Duration(f.ForecastKeep) / config.Day), Workers: 1, Rest: rest}
	return func(ctx context.Context) (retry bool, err error) {
		started := time.Now()
		result, err := inBackground(func() (forecaster.Result, error) { return forecaster.Run(ctx, s, opts) })
		switch {
		case errors.Is(err, forecaster.ErrNoValues):
			return false, nil
		case err != nil:
			return !errors.Is(err, forecaster.ErrNotWorth), fmt.Errorf("forecast: %w", err)
		}
		if result.Changed {
			c := result.Issue.Counts
			log.Info("forecast", slog.String("issued", result.Issue.Issued.String()), slog.Int64("lakes", c.Lakes), slog.Int64("rows", c.Rows),
				slog.Int64("withheld", result.Lakes-c.Lakes), slog.Int64("not_computed_again", result.Reused), slog.Int64("duration_ms", time.Since(started).Milliseconds()))
		}
		return false, nil
	}
}

// inBackground runs f on a thread of low priority, so that cached tiles go first.
func inBackground[R any](f func() (R, error)) (result R, err error) {
	done := make(chan struct{})
	go func() { // ends with f
		defer close(done)
		background.Here()
		result, err = f()
	}()
	<-done
	return result, err
}

// describeForecast writes the result of a run for people.
func describeForecast(r *forecaster.Result) string {
	c := r.Issue.Counts
	withheld := c.Withheld
	withheld[forecast.FewValues] += r.Lakes - c.Lakes - c.AllWithheld() // lakes without any value
	text := fmt.Sprintf("%s: %s forecast (%s), %s withheld", plural(r.Lakes, "lake"), thousands(c.Lakes), plural(c.Rows, "row"), thousands(r.Lakes-c.Lakes))
	type reason struct {
		lakes int64
		text  string
	}
	var reasons []reason
	for why, n := range withheld {
		if n > 0 {
			reasons = append(reasons, reason{n, forecast.Reason(why).String()})
		}
	}
	slices.SortStableFunc(reasons, func(a, b reason) int { return cmp.Compare(b.lakes, a.lakes) })
	for i, why := range reasons {
		text += []string{": ", ", "}[min(i, 1)] + thousands(why.lakes) + " " + why.text
	}
	text += fmt.Sprintf("\nissued %s", r.Issue.Issued)
	switch {
	case r.Reused > 0 && r.Reused == c.Lakes+c.AllWithheld():
		text += "; nothing has changed since the last forecast of that day"
	case r.Reused > 0:
		text += fmt.Sprintf("; %s not computed again, since %s values have not changed", isOrAre(int(r.Reused), "lake"), map[bool]string{true: "its", false: "their"}[r.Reused == 1])
	}
	if fault := r.Test.Fault; fault != "" {
		text += "\nwritten by force, although forecasts of past years were not worth showing: " + fault
	}
	return text
}

// plural writes "1 lake" or "1,364 lakes".
func plural(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return thousands(n) + " " + what
}

// thousands writes a number with commas.
func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// decimals writes a number with that many decimals.
func decimals(f float64, n int) string { return strconv.FormatFloat(f, 'f', n, 64) }
