package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"limnomap/data"
	"limnomap/data/index"
	"limnomap/data/ingest"
	"limnomap/data/linetext"
	"limnomap/data/store"
)

// decisionFlags are for all decisions about bathing in a lake.
type decisionFlags struct {
	changedDatabaseFlag
	Lake   string `arg:"" help:"Id of the lake, or its exact name."`
	Issuer string `help:"The authority, as people read it. By default that of the last statement about the lake or, if there is none, the only one in the database." placeholder:"NAME"`
	DryRun bool   `help:"Print what would change, and write nothing."`
}

const aboutDecisions = `

The statement is imported like a file of limnomap import advisories: limnomap imports list has it, with who made it and, as JSON, what it
was before; limnomap imports undo takes it back. Running servers show and tell it within seconds.`

// unknownEnd is the value of --until for a closure whose end is not known.
const unknownEnd = "unknown"

type closeCmd struct {
	decisionFlags
	Until  string  `help:"Last day of the closure, or a time with a zone such as 2026-07-01T10:00:00+02:00; unknown if the end is not known yet. A day ends at midnight UTC." required:"" check:"end" placeholder:"DAY|TIME|unknown"`
	Cause  string  `help:"Why: ${enum}." enum:"cyanobacteria,bacteria,other" required:"" placeholder:"CAUSE"`
	TextEN *string `name:"text-en" help:"What else people should know, in English. Of a lake that is closed already, the text stays if it is not given." placeholder:"TEXT"`
	TextDE *string `name:"text-de" help:"The same in German." placeholder:"TEXT"`
	URL    *string `name:"url" help:"Address of the authority's own page about it." placeholder:"URL"`
}

func (closeCmd) Help() string {
	return `Closes a lake for bathing from now on. If the authority has closed it already, its closure gets the new end, cause and texts.` + aboutDecisions
}

func (c *closeCmd) Run(ctx context.Context, con *console) error {
	return c.run(ctx, con, "close", func(d *data.Decision) (err error) {
		if c.Until != unknownEnd {
			if d.Until, err = ingest.ParseEnd(c.Until); err != nil {
				return fmt.Errorf("--until %w", err)
			}
			if !d.Until.After(d.At) {
				return fmt.Errorf("--until %s is over: want today (%s), a later day or time, or %s", c.Until, d.At.Format(time.DateOnly), unknownEnd)
			}
		}
		if d.Cause, err = data.ParseCause(c.Cause); err != nil {
			return fmt.Errorf("--cause: %w", err)
		}
		for _, text := range []struct {
			given *string
			to    *data.Optional[string]
		}{{c.TextEN, &d.TextEN}, {c.TextDE, &d.TextDE}, {c.URL, &d.URL}} {
			if text.given != nil {
				*text.to = data.Known(*text.given)
			}
		}
		return nil
	})
}

// checkEnd checks the form of --until.
func checkEnd(text string) error {
	if text == unknownEnd {
		return nil
	}
	if _, err := ingest.ParseEnd(text); err != nil {
		return fmt.Errorf("%w, or %s", err, unknownEnd)
	}
	return nil
}

type reopenCmd struct {
	decisionFlags
}

func (reopenCmd) Help() string {
	return `Withdraws the closures of a lake by an authority, from now on. If several authorities have closed it, --issuer says which one opens it; the closures of
the others stay. Warnings stay too.` + aboutDecisions
}

func (c *reopenCmd) Run(ctx context.Context, con *console) error {
	return c.run(ctx, con, "reopen", func(d *data.Decision) error {
		d.Reopen, d.Issuer = true, c.Issuer // of the closure, if it is not given
		return nil
	})
}

// run carries out the decision that complete completes.
func (c *decisionFlags) run(ctx context.Context, con *console, command string, complete func(*data.Decision) error) error {
	err := c.changeUnless(ctx, con, c.DryRun, func(s *store.Store) error {
		lake, err := findLake(ctx, s, c.Lake)
		if err != nil {
			return err
		}
		now := s.Latest(ctx, time.Now()).UTC().Truncate(time.Second)
		d := data.Decision{Lake: lake.ID, At: now, Issuer: c.Issuer}
		if err := complete(&d); err != nil {
			return err
		}
		if d.Issuer == "" && !d.Reopen {
			if d.Issuer, err = usualIssuer(ctx, s, lake.ID); err != nil {
				return err
			}
		}
		changes, err := ingest.Decide(ctx, s, d, "limnomap "+command, importer(), &ingest.Options{DryRun: c.DryRun, Now: func() time.Time { return now }})
		switch {
		case errors.Is(err, data.ErrIssuers):
			return fmt.Errorf("%s (%s): %w: --issuer names it", lake.Name, lake.ID, err)
		case err != nil:
			return fmt.Errorf("%s (%s): %w", lake.Name, lake.ID, err)
		}
		_, err = fmt.Fprint(con.out, decisionText(&lake, changes, c.DryRun))
		return err
	})
	return interrupted(ctx, err, "nothing was written")
}

// usualIssuer returns the authority of a lake if --issuer does not name it.
func usualIssuer(ctx context.Context, s *store.Store, lake data.LakeID) (string, error) {
	statements, _, err := s.Advisories(ctx)
	if err != nil {
		return "", err
	}
	issuer, others := data.IssuerFor(statements, lake)
	switch {
	case issuer != "":
		return issuer, nil
	case len(others) == 0:
		return "", errors.New("--issuer is missing: want the authority, since the database has no statement yet")
	}
	return "", fmt.Errorf("--issuer is missing: want the authority, such as one of the statements in the database: %s", quotedList(others))
}

// maxNear is how many lakes an error names.
const maxNear = 5

// findLake returns the lake with that id, or the only one with that name.
func findLake(ctx context.Context, s *store.Store, text string) (data.Lake, error) {
	lakes, err := ingest.StoredLakes(ctx, s)
	if err != nil {
		return data.Lake{}, err
	}
	name := norm.NFC.String(text)
	var named []data.Lake
	for _, l := range lakes {
		if string(l.ID) == text {
			return l, nil
		}
		if norm.NFC.String(l.Name) == name {
			named = append(named, l)
		}
	}
	if len(named) == 1 {
		return named[0], nil
	}
	describe := func(lakes []data.Lake) string {
		var parts []string
		for _, l := range lakes[:min(len(lakes), maxNear)] {
			parts = append(parts, fmt.Sprintf("%s (%s)", l.ID, strings.TrimSuffix(linetext.Escape(l.Name)+", "+linetext.Escape(l.Region), ", ")))
		}
		if len(lakes) > maxNear {
			parts = append(parts, fmt.Sprintf("%d more", len(lakes)-maxNear))
		}
		return strings.Join(parts, ", ")
	}
	if len(named) > 1 {
		return data.Lake{}, fmt.Errorf("%d lakes have the name %q: want an id: %s", len(named), text, describe(named))
	}
	var near []data.Lake
	for _, i := range index.NewNameIndex(lakes).Find(text, maxNear) {
		near = append(near, lakes[i])
	}
	if len(near) == 0 {
		return data.Lake{}, fmt.Errorf("no lake has the id or the name %.80q: want one of `limnomap export lakes`", text)
	}
	return data.Lake{}, fmt.Errorf("no lake has the id or the name %.80q: want an id or an exact name, such as %s", text, describe(near))
}

func quotedList(texts []string) string {
	var parts []string
	for _, t := range texts[:min(len(texts), maxNear)] {
		parts = append(parts, fmt.Sprintf("%q", t))
	}
	return strings.Join(parts, ", ")
}

// decisionText says what a decision has changed, or would change.
func decisionText(lake *data.Lake, changes []data.StatementChange, dryRun bool) string {
	var b strings.Builder
	where := linetext.Escape(fmt.Sprintf("%s (%s)", lake.Name, lake.ID))
	if len(changes) == 0 {
		return where + ": this is in force already, nothing was written.\n"
	}
	for _, c := range changes {
		done := "changed"
		switch {
		case c.Before == nil:
			done = "added"
		case !c.After.Withdrawn.IsZero():
			done = "withdrawn"
		}
		if dryRun {
			done = "would be " + done + ", nothing was written"
		}
		fmt.Fprintf(&b, "%s: statement %s: %s.\n", where, c.After.ID, done)
		if c.Before != nil {
			fmt.Fprintf(&b, "  before: %s\n", statementText(c.Before))
		}
		fmt.Fprintf(&b, "  %s: %s\n", map[bool]string{false: "now", true: "then"}[dryRun], statementText(&c.After))
	}
	return b.String()
}

func statementText(a *data.Advisory) string {
	until := "its end is not known"
	if !a.ValidUntil.IsZero() {
		until = "valid until " + formatTime(a.ValidUntil)
	}
	if !a.Withdrawn.IsZero() {
		until = "withdrawn " + formatTime(a.Withdrawn)
	}
	return linetext.Escape(fmt.Sprintf("%s by %s, cause %s, valid from %s, %s", a.Kind, a.Issuer, a.Cause, formatTime(a.ValidFrom), until))
}
