package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"limnomap/data"
	"limnomap/data/forecast/backtest"
	"limnomap/data/forecast/forecaster"
	"limnomap/data/store"
)

// test compares the forecasts of past years with the values that came.
func (c *forecastCmd) test(ctx context.Context, con *console) error {
	profile, err := data.ProfileByID(c.Profile)
	if err != nil {
		return fmt.Errorf("--profile: %w", err)
	}
	opts := &forecaster.BacktestOptions{Years: c.Years, Profile: profile}
	var scores *backtest.Scores
	err = c.use(ctx, func(s *store.Store) error {
		run := func() (err error) {
			var finish func()
			opts.Progress, finish = shareBar(con, "back-test")
			scores, err = forecaster.Backtest(ctx, s, opts)
			finish()
			if err != nil {
				err = fmt.Errorf("%s: %w", store.Name(c.DB.Reveal()), err)
			}
			return err
		}
		if c.Out == "" {
			return run()
		}
		return con.writeTo(c.Out, c.Force, func(w io.Writer) error { return writePairs(w, profile, opts, run) })
	})
	if err != nil {
		return interrupted(ctx, err, "the back-test is not complete")
	}
	if err := printScores(con.reportBeside(c.Out), scores, profile); err != nil {
		return err
	}
	return scores.Check() // an error makes the exit code 1
}

// writePairs writes all forecasts of a back-test that run makes, and the values that came.
func writePairs(w io.Writer, profile *data.Profile, opts *forecaster.BacktestOptions, run func() error) error {
	table := csv.NewWriter(w)
	if err := table.Write([]string{"lake_id", "origin", "target_date", "chl", "lower", "upper", "p10", "p50", "truth", "truth_date"}); err != nil {
		return err
	}
	opts.Each = func(id data.LakeID, pairs []backtest.Pair) error {
		for i := range pairs {
			pair := &pairs[i]
			p := pair.Predictions[backtest.Model]
			err := table.Write([]string{string(id), data.Date(pair.Origin).String(), data.Date(pair.Target).String(), decimals(p.Chl(), 4), decimals(p.Lower(), 4),
				decimals(p.Upper(), 4), decimals(p.Exceeds(profile.Limits[0].Float()), 4), decimals(p.Exceeds(profile.Limits[1].Float()), 4),
				decimals(pair.Truth, 2), data.Date(pair.TruthDay).String()})
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := run(); err != nil {
		return err
	}
	table.Flush()
	return table.Error()
}

// printScores writes the tables of a back-test.
func printScores(w io.Writer, s *backtest.Scores, profile *data.Profile) error {
	if s.Row(0, backtest.Model).Pairs == 0 {
		_, err := fmt.Fprintln(w, "No forecast of these years has a value to compare it with.")
		return err
	}
	limits := [2]string{decimals(profile.Limits[0].Float(), 0), decimals(profile.Limits[1].Float(), 0)}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "weeks ahead\tmethod\tRMSE of ln chl\tmedian factor\tCRPS\tbetween the bounds\tBrier %s\tBrier %s\tAUC %[1]s\tAUC %s\tright class\tlakes better than persistence\t\n", limits[0], limits[1])
	for _, week := range []int{1, 2, 3, 4, 0} {
		name := fmt.Sprint(week)
		if week == 0 {
			name = "all"
		}
		if s.Row(week, backtest.Model).Pairs == 0 {
			continue
		}
		for m := range backtest.Method(backtest.Methods) {
			r := s.Row(week, m)
			better := percent(r.BeatsPersistence)
			if m == backtest.Persistence {
				better = "-"
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", name, m, score(r.RMSE, 3), score(r.MedianFactor, 2), score(r.CRPS, 3), percent(r.Coverage),
				score(r.Brier[0], 3), score(r.Brier[1], 3), score(r.AUC[0], 3), score(r.AUC[1], 3), percent(r.RightClass), better)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nHow often a value reached the limit, by the probability that was forecast one week ahead:\n")
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "probability\tforecasts\treached %s µg/l\tforecasts\treached %s µg/l\t\n", limits[0], limits[1])
	low, high := s.Reliability(1, backtest.Model, 0), s.Reliability(1, backtest.Model, 1)
	for i := range low {
		fmt.Fprintf(t, "%s to %s\t%d\t%s\t%d\t%s\t\n", percent(low[i].From), percent(low[i].To), low[i].Forecasts, percent(low[i].Reached), high[i].Forecasts, percent(high[i].Reached))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for i, limit := range limits {
		if rises, foreseen := s.Rises(1, backtest.Model, i); rises > 0 {
			fmt.Fprintf(w, "%s%d sudden rises to %s µg/l, %s had a probability of 50 %% or more one week before.\n", []string{"\nOf ", "Of "}[i], rises, limit, percent(float64(foreseen)/float64(rises)))
		}
	}
	for week, count := range []string{"One week", "Two weeks", "Three weeks", "Four weeks"} {
		model, last := s.Row(week+1, backtest.Model), s.Row(week+1, backtest.Persistence)
		if model.Pairs > 0 {
			_, err := fmt.Fprintf(w, "\n%s ahead the forecast is %s than last week's value, in %d forecasts of %s.\n", count, closer(model.RMSE, last.RMSE), model.Pairs, plural(int64(model.Lakes), "lake"))
			return err
		}
	}
	return nil
}

// closer says how much smaller an error is than another one.
func closer(rmse, other float64) string {
	gain := 1 - rmse/other
	switch {
	case math.IsNaN(gain) || math.IsInf(gain, 0):
		return "not closer"
	case gain < 0:
		return fmt.Sprintf("%.0f %% farther off", -100*gain)
	}
	return fmt.Sprintf("%.0f %% closer", 100*gain)
}

// score writes a score, or - for none.
func score(f float64, n int) string {
	if math.IsNaN(f) {
		return "-"
	}
	return decimals(f, n)
}

// percent writes a share.
func percent(f float64) string {
	if math.IsNaN(f) {
		return "-"
	}
	return decimals(100*f, 0) + " %"
}
