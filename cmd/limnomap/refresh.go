package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/trace"

	"limnomap/data/ingest"
	"limnomap/data/refresh"
	"limnomap/data/store"
)

// refreshFlags say where a database is refreshed from. The command and the server have the same ones.
type refreshFlags struct {
	From            []string      `help:"Folder of files, or http:// or https:// URL of one file, that the database is refreshed from; repeat it for several. A URL with a password is better in the environment." placeholder:"DIR|URL" secret:""`
	Every           schedule      `help:"How often, such as 7d or 12h, or when, as a cron expression of five fields in UTC such as '0 5 * * 1'." placeholder:"PERIOD|CRON"`
	SkipBad         bool          `help:"Take the good rows and report the rest. By default one bad row rejects the refresh."`
	RequireChecksum bool          `help:"Reject files without a checksum: FILE.sha256 beside each, or the field Repr-Digest of an answer. One that is given must be right in any case."`
	MaxBytes        byteSize      `help:"Largest file that a URL may give." default:"2GiB"`
	Timeout         time.Duration `help:"How long a file of a URL may take to come." default:"1h"`
}

// check returns an error if a refresh with these flags, whose names begin with prefix, could not begin.
func (f *refreshFlags) check(prefix string) error {
	if f.MaxBytes < 1 {
		return fmt.Errorf("%smax-bytes 0: at least 1 is needed", prefix)
	}
	if f.Timeout <= 0 {
		return fmt.Errorf("%stimeout %v: more than 0s is needed", prefix, f.Timeout)
	}
	if err := refresh.Check(f.From); err != nil {
		return fmt.Errorf("%sfrom: %w", prefix, err)
	}
	return nil
}

// refresher returns what refreshes s.
func (f *refreshFlags) refresher(s store.Store, tracer trace.Tracer, log *slog.Logger) (*refresh.Refresher, error) {
	return refresh.New(s, f.From, &refresh.Options{
		SkipBad:         f.SkipBad,
		RequireChecksum: f.RequireChecksum,
		MaxBytes:        int64(f.MaxBytes),
		Timeout:         f.Timeout,
		UserAgent:       "limnomap/" + buildVersion(),
		Logger:          log,
		Begin:           traceRefresh(tracer),
	})
}

type refreshCmd struct {
	DB string `help:"Database: an SQLite file, made where there is none, or the postgres:// URL of a PostgreSQL database, best said by LIMNOMAP_DB: no list of processes shows its password then." required:"" placeholder:"FILE|URL" secret:""`
	refreshFlags
}

func (refreshCmd) Help() string {
	return `All files of the source are taken in one transaction, or nothing of them: lakes and observations, which their columns
tell apart, in the forms that limnomap import takes. From a folder those whose names end in .csv, .tsv, .json or .geojson, and
in one of these and .gz or .zst; rename files into it when they are whole. A URL is asked whether its file has changed
(ETag, Last-Modified), and again after a while if it is away. It comes to a temporary file (TMPDIR) first. The environment's
proxies are used.

Without --every this is done once: exit code 0 if the database is up to date then, 1 if not. With it the command stays and
does it again and again, after a failure sooner (a minute, then twice as long each time, up to an hour). Of several
processes with one database, servers with --refresh-from among them, one does it each time. The database remembers
when; another --from counts from the next time on, or at once without --every.`
}

// inspect returns what would keep the command from starting, as far as that shows without opening or asking anything.
func (c *refreshCmd) inspect(context.Context) error {
	if err := c.check("--"); err != nil {
		return err
	}
	if err := store.Check(c.DB, true); err != nil {
		return fmt.Errorf("--db: %w", err)
	}
	return nil
}

func (c *refreshCmd) Run(ctx context.Context, con *console) (err error) {
	if err := c.check("--"); err != nil {
		return err
	}
	s, closeStore, err := (&importFlags{DB: c.DB}).open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	r, err := c.refresher(s, nil, con.log)
	if err != nil {
		return err
	}
	if c.Every.Schedule != nil {
		r.Run(ctx, c.Every)
		return nil
	}
	result, err := r.RunOnce(ctx)
	if err != nil && ctx.Err() != nil {
		return errors.New("interrupted, nothing was written")
	}
	return errors.Join(tellRefresh(con.out, result), err)
}

// tellRefresh writes what a refresh did.
func tellRefresh(w io.Writer, result refresh.Result) error {
	if result.Unchanged {
		_, err := fmt.Fprintln(w, "Nothing new: the source is what it was at the last refresh.")
		return err
	}
	for _, of := range []struct {
		what string
		ingest.Report
	}{{"Lakes", result.Reports.Lakes}, {"Observations", result.Reports.Observations}} {
		if of.Read == 0 || !of.Written && of.Rejected == 0 { // what the other one rejected is said there
			continue
		}
		if _, err := fmt.Fprintf(w, "%s: %s", of.what, of.Report); err != nil {
			return err
		}
	}
	return nil
}
