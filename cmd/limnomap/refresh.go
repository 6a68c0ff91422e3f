package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/trace"

	"limnomap/cmd/limnomap/config"
	"limnomap/data/ingest"
	"limnomap/data/ingest/refresh"
	"limnomap/data/linetext"
	"limnomap/data/store"
)

// refreshFlags are for refreshes by the command and by the server.
type refreshFlags struct {
	From            []refreshSource `help:"Folder of files, or http:// or https:// URL of one file or of a list of satellite files, to refresh the database from; repeat the flag for several. In a configuration file the list refresh may also say how the satellite files of each source are read. Prefer the environment for a URL with a password." placeholder:"DIR|URL" key:"refresh"`
	Every           config.Schedule `help:"How often, such as 7d or 12h, or when, as a cron expression of five fields in UTC such as '0 5 * * 1'." placeholder:"PERIOD|CRON"`
	SkipBad         bool            `help:"Import the valid rows and report the others. By default one invalid row rejects the refresh."`
	RequireChecksum bool            `help:"Reject files without a checksum: FILE.sha256 beside each file, or the header field Repr-Digest of a URL. A checksum that exists must match in any case."`
	MaxBytes        config.ByteSize `help:"Largest file to download from a URL." default:"2GiB" allowed:"1.."`
	ImportTimeout   time.Duration   `help:"Longest time to import the files of one refresh. Meanwhile other writers to an SQLite database wait." default:"12h" allowed:"1ms.."`
	Timeout         time.Duration   `help:"Longest time to download a file from a URL, with all attempts; four times as long for a satellite file." default:"1h" allowed:"1ms.."`
	Newest          int             `help:"Of the satellite files of a folder or a list, those of this many dates are read, the newest ones." default:"12" allowed:"1.."`
	CatalogueBase   config.Location `help:"http:// or https:// URL of a gateway with the files that a list names by their s3_path. Prefer the environment for a URL with a password." placeholder:"URL"`
	Prefer          preference      `help:"Products, or beginnings of sources, in the order in which their values count for one lake and week, such as lwq,cyan; also for stored values. All are kept. Each refresh stores the order if another one is stored. Without this flag the stored order stays." placeholder:"PRODUCT,..."`
}

// check checks the folders and URLs. The names of the flags begin with prefix.
func (f *refreshFlags) check(prefix string) error {
	if err := refresh.Check(f.sources()); err != nil {
		return fmt.Errorf("%sfrom: %w", prefix, err)
	}
	if _, err := f.catalogueBase(); err != nil {
		return fmt.Errorf("%scatalogue-base: %w", prefix, err)
	}
	return nil
}

// sources returns the folders and URLs, with the settings of each.
func (f *refreshFlags) sources() []refresh.Source {
	sources := make([]refresh.Source, len(f.From))
	for i, s := range f.From {
		table := s.format()
		sources[i] = refresh.Source{From: s.Reveal(), Satellite: s.options(), Table: &table}
	}
	return sources
}

// catalogueBase returns the URL of the gateway, or nil if there is none.
func (f *refreshFlags) catalogueBase() (*url.URL, error) {
	if !f.CatalogueBase.IsSet() {
		return nil, nil
	}
	u, err := url.Parse(f.CatalogueBase.Reveal())
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("it is not an http:// or https:// URL") // without it: it may have a password
	}
	return u, nil
}

// An afterRefresh does something after a refresh. It reports whether it is to be tried again soon if it failed.
type afterRefresh = func(context.Context) (retry bool, err error)

// refresher returns a refresher of s.
func (f *refreshFlags) refresher(s *store.Store, after afterRefresh, tracer trace.Tracer, log *slog.Logger) (*refresh.Refresher, error) {
	base, err := f.catalogueBase()
	if err != nil {
		return nil, err
	}
	return refresh.New(s, f.sources(), &refresh.Options{
		SkipBad:         f.SkipBad,
		RequireChecksum: f.RequireChecksum,
		MaxBytes:        int64(f.MaxBytes),
		ImportTimeout:   f.ImportTimeout,
		Timeout:         f.Timeout,
		Newest:          f.Newest,
		CatalogueBase:   base,
		UserAgent:       "limnomap/" + buildVersion(),
		Logger:          log,
		Begin:           f.begin(s, traceRefresh(tracer), log),
		After:           after,
	})
}

// begin returns a function that also stores the order of the products when a refresh begins. If this fails, the next refresh tries it again.
func (f *refreshFlags) begin(s *store.Store, trace beginRefresh, log *slog.Logger) beginRefresh {
	if len(f.Prefer) == 0 {
		return trace
	}
	return func(ctx context.Context) (context.Context, func(error)) {
		end := func(error) {}
		if trace != nil {
			ctx, end = trace(ctx)
		}
		if err := f.prefer(ctx, s, log); err != nil && ctx.Err() == nil {
			log.Warn("the order of the products cannot be stored", "error", err)
		}
		return ctx, end
	}
}

// A beginRefresh begins something that lasts as long as a refresh.
type beginRefresh = func(context.Context) (_ context.Context, end func(error))

// prefer stores the order of the products, if one was given.
func (f *refreshFlags) prefer(ctx context.Context, s *store.Store, log *slog.Logger) error {
	var sources []string
	for _, s := range f.From {
		if s.Source != "" {
			sources = append(sources, s.Source)
		}
	}
	return f.Prefer.replace(ctx, s, sources, log)
}

type refreshCmd struct {
	newDatabaseFlag
	refreshFlags
	scheduledForecastFlags
}

func (refreshCmd) Help() string {
	return `All tables are imported in one transaction, or none: lakes, observations and official statements, which their columns
distinguish, in the formats of limnomap import. In a folder these are the files whose names end in .csv, .tsv, .json or .geojson, or in one of these and
.gz or .zst; rename a file into the folder when it is complete. A URL is downloaded to a temporary file (TMPDIR) if it has
changed (ETag, Last-Modified), and tried again later if it cannot be reached; the tables of other sources do not wait for it for more than ten
seconds. The proxies of the environment are used.

Satellite files (.nc, .tif, .tiff) in a folder, at a URL, or in a list give the lakes their values, each file once and in a transaction of
its own, the newest first (--newest). Only what is needed of them is fetched from a server that sends parts of files. A list is a CSV file with
the columns id, name and one of url, href and s3_path, such as those of Copernicus; an s3_path needs --catalogue-base. A file that cannot be
used does not stop the others, and is read again when it changes, or after a time that grows from an hour to 30 days. Meanwhile the tables are
imported again when they are due (--every; without it each minute), so that an official statement does not wait for a slow server. A download
of less than 1 KiB a second is ended, and continued later if the server sends parts of files.

Without --every there is one refresh: exit code 0 if the database is up to date afterwards, 1 if not. With --every the
command keeps running; after a failure it tries again sooner (after a minute, then twice as long each time, up to an hour).
Of several processes with one database, including servers with --refresh-from, one does each refresh. The database stores
the time of the next one; a changed --from is used from then on, or at once without --every.

With --forecast the process that did a refresh then makes forecasts, as limnomap forecast does.`
}

// Check checks the source and the database without opening them.
func (c *refreshCmd) Check(context.Context) error {
	if err := c.check("--"); err != nil {
		return err
	}
	if err := store.Check(c.DB.Reveal(), true); err != nil {
		return fmt.Errorf("--db: %w", err)
	}
	return nil
}

func (c *refreshCmd) Run(ctx context.Context, con *console) (err error) {
	if err := c.check("--"); err != nil {
		return err
	}
	s, closeStore, err := c.open(ctx, con, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	if err := c.prefer(ctx, s, con.log); err != nil {
		return interrupted(ctx, err, "nothing was written")
	}
	r, err := c.refresher(s, c.after(s, 0, con.log), nil, con.log)
	if err != nil {
		return err
	}
	if !c.Every.IsZero() {
		r.Run(ctx, c.Every)
		return nil
	}
	result, err := r.RunOnce(ctx)
	if err != nil && ctx.Err() != nil {
		return errors.New("interrupted: nothing was written")
	}
	return errors.Join(printRefresh(con.out, result, err), err)
}

// printRefresh writes the result of a refresh that ended with that error, or nil.
func printRefresh(w io.Writer, result refresh.Result, ended error) error {
	if result.Unchanged && len(result.Rasters) == 0 && ended == nil {
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
	for _, f := range result.Rasters {
		if f.Err != nil {
			continue // it is in the error
		}
		if _, err := fmt.Fprintf(w, "%s: %s of %s: %d lakes with a value, %d without; %d bytes read. %s", linetext.Escape(f.Name), linetext.Escape(f.Product), f.Date, f.Lakes, f.Gaps, f.Bytes, f.Report); err != nil {
			return err
		}
	}
	return nil
}
