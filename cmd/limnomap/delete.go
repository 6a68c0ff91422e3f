package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"limnomap/data"
	"limnomap/data/store"
)

// deleteFlags are for all deletions.
type deleteFlags struct {
	changedDatabaseFlag
	DryRun bool `help:"Report what would be deleted, and write nothing."`
}

const aboutDeletions = `

Everything is deleted in one transaction, or nothing. Running servers show the new state within seconds: a value that is gone is an event
became_stale, an official statement advisory_withdrawn. Tiles are drawn again. limnomap's own forecasts that were made of deleted values are deleted too, and the
next limnomap forecast makes them again. An SQLite file is overwritten where the rows were. The log of events, copies of the database, exported
maps, and tiles in the disk cache (limnomap cache purge), which are not served any more, keep what they have.

There is no undo: make a backup first. Earlier imports can no longer be undone either. A refresh does not bring deleted rows back, unless a file that has them changes.`

type deleteLakeCmd struct {
	ID string `arg:"" name:"id" help:"Id of the lake."`
	deleteFlags
}

func (deleteLakeCmd) Help() string {
	return `Deletes a lake with its observations, official statements and forecasts.` + aboutDeletions
}

func (c *deleteLakeCmd) Run(ctx context.Context, con *console) error {
	id, err := data.ParseLakeID(c.ID)
	if err != nil {
		return err
	}
	return c.run(ctx, con, store.Selection{WholeLake: true, Lake: id})
}

type deleteObservationsCmd struct {
	Lake     string  `help:"Id of the lake. By default of all lakes." placeholder:"ID"`
	Source   *string `help:"Source: product or laboratory, as the table of observations has it; empty for observations without a source. By default of all." placeholder:"NAME"`
	DataType string  `help:"Type: satellite, in_situ or ai_forecast. By default all." enum:",satellite,in_situ,ai_forecast" default:"" placeholder:"TYPE"`
	From     string  `help:"First day." check:"date" placeholder:"YYYY-MM-DD"`
	To       string  `help:"Last day." check:"date" placeholder:"YYYY-MM-DD"`
	deleteFlags
}

func (deleteObservationsCmd) Help() string {
	return `Deletes the observations that all given flags select; at least one flag is needed.` + aboutDeletions
}

func (c *deleteObservationsCmd) selection() (what store.Selection, err error) {
	if c.Lake != "" {
		if what.Lake, err = data.ParseLakeID(c.Lake); err != nil {
			return what, fmt.Errorf("--lake: %w", err)
		}
	}
	if c.Source != nil {
		what.Source = data.Known(*c.Source)
	}
	if c.DataType != "" {
		t, err := data.ParseDataType(c.DataType)
		if err != nil {
			return what, fmt.Errorf("--data-type: %w", err)
		}
		what.Type = data.Known(t)
	}
	for _, day := range []struct {
		flag, text string
		date       *data.Optional[data.Date]
	}{{"--from", c.From, &what.From}, {"--to", c.To, &what.To}} {
		if day.text == "" {
			continue
		}
		date, err := data.ParseDate(day.text)
		if err != nil {
			return what, fmt.Errorf("%s: %w", day.flag, err)
		}
		*day.date = data.Known(date)
	}
	switch {
	case what == store.Selection{}:
		return what, errors.New("nothing is selected: want --lake, --source, --data-type, --from or --to")
	case what.From.Known && what.To.Known && what.From.Value > what.To.Value:
		return what, fmt.Errorf("--from %s is after --to %s", c.From, c.To)
	}
	return what, nil
}

func (c *deleteObservationsCmd) Run(ctx context.Context, con *console) error {
	what, err := c.selection()
	if err != nil {
		return err
	}
	return c.run(ctx, con, what)
}

type deleteSourceCmd struct {
	Name string `arg:"" help:"Name of the source: product or laboratory, as the table of observations has it."`
	deleteFlags
}

func (deleteSourceCmd) Help() string {
	return `Deletes all observations of a source, and the source.` + aboutDeletions
}

func (c *deleteSourceCmd) Run(ctx context.Context, con *console) error {
	if c.Name == "" {
		return errors.New("the source has no name: limnomap delete observations --source= deletes observations without a source")
	}
	return c.run(ctx, con, store.Selection{Source: data.Known(c.Name)})
}

func (c *deleteFlags) run(ctx context.Context, con *console, what store.Selection) error {
	err := c.changeUnless(ctx, con, c.DryRun, func(s *store.Store) error {
		d, err := s.Delete(ctx, what, c.DryRun)
		if err != nil {
			return err
		}
		done := "deleted"
		if c.DryRun {
			done = "would be deleted, nothing was written"
		}
		_, err = fmt.Fprintf(con.out, "%s: %s.\n", deletedText(d), done)
		return err
	})
	return interrupted(ctx, err, "nothing was written")
}

func deletedText(d store.Deleted) string {
	var parts []string
	for _, of := range []struct {
		n    int64
		what string
	}{{d.Lakes, "lakes"}, {d.Observations, "observations"}, {d.Advisories, "official statements"}, {d.Forecasts, "forecasts"}} {
		if of.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", of.n, of.what))
		}
	}
	if parts == nil {
		return "0 observations"
	}
	return strings.Join(parts, ", ")
}
