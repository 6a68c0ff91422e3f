package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"limnomap/data"
	"limnomap/data/demo"
)

type demoCmd struct {
	Lakes int    `help:"Number of lakes, from 1 to ${max_world_lakes}." required:"" placeholder:"N"`
	Out   string `help:"The two files to write: lakes, then observations." required:"" placeholder:"LAKES.CSV,OBS.CSV"`
	Weeks int    `help:"Number of weekly satellite passes, from 1 to ${max_world_weeks}." default:"4"`
	Until string `help:"Last day of the passes, which are on Mondays, as YYYY-MM-DD." default:"${world_until}"`
	Force bool   `help:"Overwrite existing files."`
}

func (demoCmd) Help() string {
	return `Nothing in the files is real. The lakes are spread over the world's lake districts, in clusters and sizes like real ones.
Their names say that they are simulated; so are their values. The same flags give the same bytes. The files appear when both
are complete. Import them, the lakes first, and serve the database:
  limnomap demo --lakes 1400000 --out lakes.csv,obs.csv
  limnomap import lakes lakes.csv --db world.db
  limnomap import observations obs.csv --db world.db`
}

func (c *demoCmd) Run(ctx context.Context, con *console) error {
	w, err := c.world(data.DateOf(time.Now()))
	if err != nil {
		return fmt.Errorf("--%w", err) // world's errors begin with the name of a flag
	}
	out, err := c.names()
	if err != nil {
		return err
	}
	bar := newBar(con, "simulating", int64(c.Lakes))
	err = writeFiles(out, c.Force, func(files []io.Writer) error {
		return w.Write(ctx, files[0], files[1], func(lakes int) { _ = bar.Set(lakes) })
	})
	_ = bar.Finish()
	if err != nil {
		return interrupted(ctx, err, "nothing was written")
	}
	_, err = fmt.Fprintf(con.out, "%s: %d lakes\n%s: %d weekly passes\n%s.\n",
		out[0], c.Lakes, out[1], c.Weeks, demo.Notice)
	return err
}

// world returns the lakes and passes of the flags.
func (c *demoCmd) world(today data.Date) (*demo.World, error) {
	until, err := data.ParseDate(c.Until)
	if err != nil {
		return nil, fmt.Errorf("until: %w", err)
	}
	if until > today {
		return nil, fmt.Errorf("until %s is in the future, which no import accepts: want a day up to %s", until, today)
	}
	return demo.NewWorld(c.Lakes, c.Weeks, until)
}

// names returns the names of the two files.
func (c *demoCmd) names() ([]string, error) {
	out := strings.Split(c.Out, ",")
	for i, name := range out {
		out[i] = strings.TrimSpace(name) // as in "lakes.csv, obs.csv"
	}
	if len(out) != 2 || out[0] == "" || out[1] == "" {
		return nil, fmt.Errorf("--out %q: want two names separated by a comma, such as lakes.csv,obs.csv", c.Out)
	}
	if sameFile(out[0], out[1]) {
		return nil, fmt.Errorf("--out %q names one file twice: want one for the lakes and another for the observations", c.Out)
	}
	return out, nil
}
