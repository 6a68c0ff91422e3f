package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"limnomap/api"
	"limnomap/data"
	"limnomap/data/index"
)

type planCmd struct {
	sourceFlags
	Samples int    `help:"How many lakes." default:"20" allowed:"1..1000"`
	Of      string `help:"The class that a sample should find: ${enum}; medium includes high." enum:"high,medium" default:"high"`
	Region  string `help:"Only lakes of this region." placeholder:"NAME"`
}

func (planCmd) Help() string {
	return `Ranks lakes by what a sample would tell in this week: the CHANCE that it finds that class or a worse one, from all values in memory, less if the last sample was a few days
ago. The chance grows with what is not known of a lake: few or old values, or a satellite that disagrees with the lakes around. WHY says which of these. In past
years each sample of such a plan found more exceedances than one at the lake with the highest last value; docs/sampling-plan.md has the tables, and where it loses.`
}

// Check checks the settings that depend on the database.
func (c *planCmd) Check(context.Context) error { return c.checkSource(false) }

func (c *planCmd) Run(ctx context.Context, con *console) (err error) {
	shown, snap, err := c.load(ctx, time.Now())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shown.close()) }()
	risk, err := data.ParseRisk(c.Of)
	if err != nil {
		return err
	}
	plan, err := api.PlanSamples(ctx, snap, index.NewPointIndex(snap.Lakes), c.Samples, c.Region, risk)
	if err != nil {
		return err
	}
	return printPlan(con.out, plan)
}

// printPlan prints a line for each lake.
func printPlan(w io.Writer, plan []api.PlannedSample) error {
	if len(plan) == 0 {
		_, err := fmt.Fprintln(w, "No lake has a value in memory.")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "RANK\tLAKE\tNAME\tREGION\tCHANCE\tWHY")
	for i := range plan {
		s := &plan[i]
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\n", i+1, s.Of.ID, orDash(s.Of.Name), orDash(s.Of.Region), percent(s.Chance()), strings.Join(s.Reasons()[1:], " "))
	}
	return t.Flush()
}
