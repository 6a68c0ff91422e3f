package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"limnomap/api"
	"limnomap/data"
	"limnomap/data/accuracy"
	"limnomap/data/linetext"
)

// matchFlag says which passes and samples are compared.
type matchFlag struct {
	MatchDays int `help:"How many days a satellite's pass and a sample of the same lake may be apart to be compared." default:"3" allowed:"0..30" group:"Data"`
}

type accuracyCmd struct {
	sourceFlags
	matchFlag
	By   string `help:"What the rows are about: ${enum}; class is what the satellite shows." enum:"product,region,class,lake" default:"product"`
	Lake string `help:"Only of the lake with this id, with each match-up." placeholder:"ID"`
}

func (accuracyCmd) Help() string {
	return `Compares each sample with the nearest pass of each satellite product. FACTOR is by how much the satellite shows more than samples have, SPREAD the standard
deviation of the logarithms, WITHIN 2 the share whose values are within a factor of 2 of each other; SAME, LOWER and HIGHER count the classes that the satellite
shows. Four of five samples are between the factors of INTERVAL: of at least 20 match-ups of the lake, otherwise of its region or of the product. Values of
poor quality do not count. The second table compares the classes with closures and warnings because of cyanobacteria, the third the newest four issues of the
forecast with the passes that came.`
}

// Check checks the settings that depend on the database.
func (c *accuracyCmd) Check(context.Context) error { return c.checkSource(false) }

func (c *accuracyCmd) Run(ctx context.Context, con *console) (err error) {
	shown, snap, err := c.load(ctx, time.Now())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shown.close()) }()
	var comparisons api.Comparisons
	if shown.store != nil {
		comparisons = shown.store
	}
	l, err := api.CompareMap(ctx, nil, snap, comparisons, shown.Source, shown.Source, c.MatchDays)
	if err != nil {
		return interrupted(ctx, err, "nothing was compared")
	}
	if c.Lake != "" {
		id := data.LakeID(c.Lake)
		if _, ok := snap.Index(id); !ok {
			return fmt.Errorf("--lake %q: %w", c.Lake, data.ErrNoLake)
		}
		matches, groups := l.Lake(id)
		warnings, _ := l.WarningsOf(id)
		forecasts, err := api.CompareForecasts(ctx, snap, id, shown.Source, c.MatchDays)
		if err != nil {
			return interrupted(ctx, err, "forecasts were not compared")
		}
		return errors.Join(printGroups(con.out, groups), printWarnings(con.out, warnings), printForecasts(con.out, forecasts), printMatches(con.out, matches))
	}
	groups := l.Groups(accuracy.By(slices.Index(accuracy.AllBy(), c.By)))
	return errors.Join(printGroups(con.out, groups), printWarnings(con.out, l.Warnings), printForecasts(con.out, l.Forecasts))
}

// printGroups prints a line for each group.
func printGroups(w io.Writer, groups []accuracy.Group) error {
	if len(groups) == 0 {
		_, err := fmt.Fprintln(w, "No pass of a satellite is near a sample of the same lake.")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "PRODUCT\tOF\tMATCH-UPS\tLAKES\tFACTOR\tSPREAD\tWITHIN 2\tSAME\tLOWER\tHIGHER\tINTERVAL\tBIASED")
	for i := range groups {
		g := &groups[i]
		same, low, high := g.Agreement()
		interval, biased := "-", "no"
		if g.Interval.Known {
			interval = fmt.Sprintf("%.2f to %.2f (%s)", g.Interval.Value.Lower, g.Interval.Value.Upper, g.IntervalBy)
		}
		if g.Biased {
			biased = "yes"
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%.2f\t%s\t%s\t%d\t%d\t%d\t%s\t%s\n", orDash(g.Product), orDash(g.Of), g.Matches, g.Lakes, g.Factor(), score(g.Spread, 2),
			percent(float64(g.Within)/float64(g.Matches)), same, low, high, interval, biased)
	}
	return t.Flush()
}

// printWarnings prints how the classes compare with official statements, if there are any.
func printWarnings(w io.Writer, all [2]accuracy.Warnings) error {
	if all[0].Hits+all[0].Misses+all[0].Unseen == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nCLASS\tHITS\tMISSES\tUNSEEN\tFALSE ALARMS\tMEDIAN LEAD")
	for i := range all {
		lead := "-"
		if days, ok := all[i].MedianLead(); ok {
			lead = fmt.Sprintf("%g days", days)
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%s\n", all[i].Risk, all[i].Hits, all[i].Misses, all[i].Unseen, all[i].FalseAlarms, lead)
	}
	return t.Flush()
}

// printForecasts prints how forecasts compare with what came, if there are any.
func printForecasts(w io.Writer, all [data.ForecastWeeks]accuracy.Forecasts) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	headed := false
	for i := range all {
		f := &all[i]
		if f.Count == 0 {
			continue
		}
		if !headed {
			headed = true
			fmt.Fprintln(t, "\nWEEKS AHEAD\tFORECASTS\tFACTOR\tRMSE OF LN\tWITHIN 2\tBETWEEN THE BOUNDS\tSAME\tLOWER\tHIGHER")
		}
		same, low, high := f.Agreement()
		share := func(n int) string { return percent(float64(n) / float64(f.Count)) }
		fmt.Fprintf(t, "%d\t%d\t%.2f\t%.3f\t%s\t%s\t%d\t%d\t%d\n", i+1, f.Count, f.Factor(), f.RMSE(), share(f.Within), share(f.Covered), same, low, high)
	}
	return t.Flush()
}

// printMatches prints a line for each match-up.
func printMatches(w io.Writer, matches []accuracy.Match) error {
	if len(matches) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nSAMPLE\tCHL\tCLASS\tPASS\tCHL\tCLASS\tDIFFERENCE OF LN\tPRODUCT")
	for i := range matches {
		m := &matches[i]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%+.2f\t%s\n", m.Sample.Date, m.Sample.Chlorophyll, m.Sample.Risk, m.Satellite.Date, m.Satellite.Chlorophyll, m.Satellite.Risk,
			m.Difference(), orDash(m.Product))
	}
	return t.Flush()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return linetext.Clean(s)
}
