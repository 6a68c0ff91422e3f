package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/trace"

	"limnomap/cmd/limnomap/config"
	"limnomap/data/ingest"
	"limnomap/data/refresh"
	"limnomap/data/store"
)

// refreshFlags are for refreshes by the command and by the server.
type refreshFlags struct {
	From            []string        `help:"Folder of files, or http:// or https:// URL of one file, to refresh the database from; repeat the flag for several. Prefer the environment for a URL with a password." placeholder:"DIR|URL" secret:""`
	Every           config.Schedule `help:"How often, such as 7d or 12h, or when, as a cron expression of five fields in UTC such as '0 5 * * 1'." placeholder:"PERIOD|CRON"`
	SkipBad         bool            `help:"Import the valid rows and report the others. By default one invalid row rejects the refresh."`
	RequireChecksum bool            `help:"Reject files without a checksum: FILE.sha256 beside each file, or the header field Repr-Digest of a URL. A checksum that exists must match in any case."`
	MaxBytes        config.ByteSize `help:"Largest file to download from a URL." default:"2GiB" allowed:"1.."`
	MaxTotal        config.ByteSize `help:"Largest size of all files of one refresh together, in folders and of URLs, as they are stored there. After decompression they may be eight times as large." default:"8GiB" allowed:"1..1024TiB"`
	ImportTimeout   time.Duration   `help:"Longest time to import the files of one refresh. Meanwhile other writers to an SQLite database wait." default:"12h" allowed:"1ms.."`
	Timeout         time.Duration   `help:"Longest time to download a file from a URL." default:"1h" allowed:"1ms.."`
}

// check checks the folders and URLs. The names of the flags begin with prefix.
func (f *refreshFlags) check(prefix string) error {
	if err := refresh.Check(f.From); err != nil {
		return fmt.Errorf("%sfrom: %w", prefix, err)
	}
	return nil
}

// refresher returns a refresher of s.
func (f *refreshFlags) refresher(s store.Store, tracer trace.Tracer, log *slog.Logger) (*refresh.Refresher, error) {
	return refresh.New(s, f.From, &refresh.Options{
		SkipBad:         f.SkipBad,
		RequireChecksum: f.RequireChecksum,
		MaxBytes:        int64(f.MaxBytes),
		MaxTotal:        int64(f.MaxTotal),
		ImportTimeout:   f.ImportTimeout,
		Timeout:         f.Timeout,
		UserAgent:       "limnomap/" + buildVersion(),
		Logger:          log,
		Begin:           traceRefresh(tracer),
	})
}

type refreshCmd struct {
	newDatabaseFlag
	refreshFlags
}

func (refreshCmd) Help() string {
	return `All files are imported in one transaction, or none: lakes, observations and official statements, which their columns
distinguish, in the formats of limnomap import. In a folder these are the files whose names end in .csv, .tsv, .json or .geojson, or in one of these and
.gz or .zst; rename a file into the folder when it is complete. A URL is downloaded to a temporary file (TMPDIR) if it has
changed (ETag, Last-Modified), and tried again later if it cannot be reached. The proxies of the environment are used.

Without --every there is one refresh: exit code 0 if the database is up to date afterwards, 1 if not. With --every the
command keeps running; after a failure it tries again sooner (after a minute, then twice as long each time, up to an hour).
Of several processes with one database, including servers with --refresh-from, one does each refresh. The database stores
the time of the next one; a changed --from is used from then on, or at once without --every.`
}

// Check checks the source and the database without opening them.
func (c *refreshCmd) Check(context.Context) error {
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
	s, closeStore, err := c.open(ctx, false)
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
		return errors.New("interrupted: nothing was written")
	}
	return errors.Join(printRefresh(con.out, result), err)
}

// printRefresh writes the result of a refresh.
func printRefresh(w io.Writer, result refresh.Result) error {
	if result.Unchanged {
		_, err := fmt.Fprintln(w, "Nothing new: the source has not changed since the last refresh.")
		return err
	}
	for _, of := range []struct {
		what string
		ingest.Report
	}{{"Lakes", result.Reports.Lakes}, {"Observations", result.Reports.Observations}, {"Official statements", result.Reports.Advisories}} {
		if of.Read == 0 || !of.Written && of.Rejected == 0 { // then the other report has the rejected rows
			continue
		}
		if _, err := fmt.Fprintf(w, "%s: %s", of.what, of.Report); err != nil {
			return err
		}
	}
	return nil
}
