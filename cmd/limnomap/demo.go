package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"limnomap/data"
	"limnomap/data/demo"
)

type demoCmd struct {
	Lakes int    `help:"How many lakes, from 1 to ${max_world_lakes}." required:"" placeholder:"N"`
	Out   string `help:"The two files to write: lakes, then observations." required:"" placeholder:"LAKES.CSV,OBS.CSV"`
	Weeks int    `help:"How many weekly satellite passes, from 1 to ${max_world_weeks}." default:"4"`
	Until string `help:"Last day on which there may be a pass (they are on Mondays), as YYYY-MM-DD." default:"${world_until}"`
	Force bool   `help:"Overwrite files that are there."`
}

// demoVars are the bounds that the help of demoCmd names.
func demoVars() kong.Vars {
	return kong.Vars{
		"max_world_lakes": strconv.Itoa(demo.MaxWorldLakes),
		"max_world_weeks": strconv.Itoa(demo.MaxWorldWeeks),
		"world_until":     demo.WorldUntil,
	}
}

func (demoCmd) Help() string {
	return `Nothing in the files is real. The lakes are scattered over the world's lake districts, in clusters and sizes like
real ones, and bear names that say that they are simulated; so are their values. The same flags give the same bytes.
Both files are written, or neither. Import them, the lakes first, and serve the database:
  limnomap demo --lakes 1400000 --out lakes.csv,obs.csv
  limnomap import lakes lakes.csv --db world.db
  limnomap import observations obs.csv --db world.db`
}

func (c *demoCmd) Run(ctx context.Context, con *console) error {
	w, err := c.world(data.DateOf(time.Now()))
	if err != nil {
		return fmt.Errorf("--%w", err)
	}
	out, err := c.names()
	if err != nil {
		return err
	}
	progress, finish := progressOn(con.err, "simulating", int64(c.Lakes))
	err = writeTogether(out, c.Force, func(files []io.Writer) error {
		return w.Write(ctx, files[0], files[1], func(lakes int) {
			if progress != nil {
				progress(int64(lakes))
			}
		})
	})
	finish()
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return errors.New("interrupted, nothing was written")
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(con.out, "%s: %d lakes\n%s: %d weekly passes\n%s.\n",
		out[0], c.Lakes, out[1], c.Weeks, demo.Notice)
	return err
}

// world returns what the flags ask for. Its errors begin with the name of a flag.
func (c *demoCmd) world(today data.Date) (*demo.World, error) {
	until, err := data.ParseDate(c.Until)
	if err != nil {
		return nil, fmt.Errorf("until: %w", err)
	}
	if until > today {
		return nil, fmt.Errorf("until %s lies in the future, which no import takes: want a day up to %s", until, today)
	}
	return demo.NewWorld(c.Lakes, c.Weeks, until)
}

// names returns the names of the two files.
func (c *demoCmd) names() ([]string, error) {
	out := strings.Split(c.Out, ",")
	for i, name := range out {
		out[i] = strings.TrimSpace(name) // of "lakes.csv, obs.csv", where nobody means a name that begins with a space
	}
	if len(out) != 2 || out[0] == "" || out[1] == "" {
		return nil, fmt.Errorf("--out %q: want two names with a comma between, such as lakes.csv,obs.csv", c.Out)
	}
	if sameName(out[0], out[1]) {
		return nil, fmt.Errorf("--out %q names one file twice: want one for the lakes and another for the observations", c.Out)
	}
	return out, nil
}
