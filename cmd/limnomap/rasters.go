package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"limnomap/cmd/limnomap/config"
	"limnomap/data/ingest"
	"limnomap/data/ingest/satellite"
	"limnomap/data/store"
)

const aboutRasters = `

Files are NetCDF (classic and NetCDF-4) and GeoTIFF, also Cloud Optimized; only what the lakes need is read of them.

Products: ` + "lwq" + ` (Copernicus Lake Water Quality), lakes-cci (ESA), cyan (EPA CyAN from version 5 on), cyan-v1, noaa-ci (the cyanobacteria
index of NOAA), chl (chlorophyll of any program).

The value of a lake is the median of the pixels that are wholly inside its outline and not near the shore. Of a lake without an outline, the
pixels are the water that is connected to the nearest pixel with a value. A lake that the file shows without enough pixels has a gap, never
a clean value. docs/satellites.md has the rules, and what a satellite cannot see.`

type importRastersCmd struct {
	Files []string `arg:"" name:"file" help:"Satellite files." type:"existingfile"`
	rasterFlags
	dateFlag
	guardFlags
	DB config.Location `help:"Database: an SQLite file, created if it does not exist, or the postgres:// URL of a PostgreSQL database, which may name several hosts. Prefer LIMNOMAP_DB for a URL with a password: command lines are visible to other users. With --csv it is only read, for its lakes." placeholder:"FILE|URL"`
	migrateFlag
	CSV           string        `help:"CSV file to write, which import observations reads, and nothing to the database; - is standard output." placeholder:"FILE"`
	Lakes         string        `help:"With --csv, file with the lakes in place of --db: GeoJSON, whose features need only an id, or CSV with id, lat and lon." type:"existingfile" placeholder:"FILE"`
	Force         bool          `help:"Import the values also if --max-class-changes refuses them. With --csv, overwrite an existing file."`
	Prefer        preference    `help:"Products, or beginnings of sources, in the order in which their values count for one lake and week, such as lwq,cyan; also for stored values. All are kept. Without this flag the stored order stays." placeholder:"PRODUCT,..."`
	SkipBad       bool          `help:"Import the files that can be used and report the others. By default one file that cannot be used rejects them all."`
	DryRun        bool          `help:"Report what would change, and write nothing."`
	ImportTimeout time.Duration `help:"Longest time for writing the values. Meanwhile other writers to an SQLite database wait." default:"12h" allowed:"1ms.."`
}

func (importRastersCmd) Help() string {
	return `Makes values of the lakes in the database from satellite files, and writes them in one transaction. The same files again change
nothing. A later version or processing of the same file replaces its values, never the reverse. Of several files of one source and day, each
lake gets the value of one.

With --csv the values are written to a CSV file, which appears when it is complete, or not at all. Its columns are those of import observations,
and p10 and p90, the percentiles of the pixels.` + aboutRasters
}

// Check implements config.Checker.
func (c *importRastersCmd) Check(context.Context) error {
	switch {
	case c.CSV == "" && c.Lakes != "":
		return errors.New("--lakes needs --csv")
	case c.CSV == "" && !c.DB.IsSet():
		return errors.New("--db is missing: name a database, or a table with --csv")
	case c.CSV != "" && c.DB.IsSet() == (c.Lakes != ""):
		return errors.New("--csv: want --db or --lakes, and not both")
	case c.CSV != "" && (c.DryRun || len(c.Prefer) > 0):
		return errors.New("--dry-run and --prefer are about a database: leave them out, or --csv")
	}
	return nil
}

func (c *importRastersCmd) Run(ctx context.Context, con *console) (err error) {
	if err := c.Check(ctx); err != nil {
		return err
	}
	opts := c.options()
	if err := c.set(opts); err != nil {
		return err
	}
	if c.CSV != "" {
		return c.write(ctx, con, opts)
	}
	s, closeStore, err := (&newDatabaseFlag{c.DB, c.migrateFlag}).open(ctx, con, c.DryRun)
	if err != nil {
		return interrupted(ctx, err, "nothing was written")
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	lakes, err := lakesOf(ctx, s, c.DB.Reveal())
	if err != nil {
		return interrupted(ctx, err, "nothing was written")
	}
	e := extractor{con: con, report: con.out, opts: opts, lakes: lakes, skipBad: c.SkipBad}
	files, closeFiles, err := e.extract(ctx, c.Files)
	if err != nil {
		return interrupted(ctx, err, "nothing was written")
	}
	defer closeFiles()
	var sources []string
	var values []ingest.Values
	for _, f := range files {
		sources = append(sources, f.Source)
		values = append(values, ingest.Values{Name: f.Name, Columns: f.Columns, Rows: f.Observations(), Source: f.Source, PixelsFrom: f.PixelsFrom})
	}
	if err := c.Prefer.warn(ctx, s, sources, con.log); err != nil {
		return interrupted(ctx, err, "nothing was written")
	}
	limited, cancel := (&importFlags{ImportTimeout: c.ImportTimeout}).limitTime(ctx)
	defer cancel()
	var inputs []ingest.File
	for _, name := range c.Files {
		inputs = append(inputs, ingest.File{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(name) }})
	}
	from, err := recorded(limited, s, inputs)
	if err != nil {
		return interrupted(ctx, err, "nothing was written")
	}
	report, err := ingest.AllValues(limited, c.guard(from, c.Force), values, &ingest.Options{DryRun: c.DryRun, Timeout: c.ImportTimeout,
		Now: func() time.Time { return s.Latest(limited, time.Now()) }},
		func(tx store.Tx, _ ingest.Report) error { return c.Prefer.write(limited, tx) })
	if err != nil {
		return interrupted(ctx, err, "nothing was written")
	}
	if err := rejected(report); err != nil {
		return fmt.Errorf("nothing written to %s: %w", store.Name(c.DB.Reveal()), err)
	}
	_, err = report.WriteTo(con.out)
	return err
}

// rejected returns an error that names the satellite files and the lakes of rejected values, or nil if there are none.
func rejected(r ingest.Report) error {
	if r.Rejected == 0 {
		return nil
	}
	text := fmt.Sprintf("%d of %d values rejected", r.Rejected, r.Read)
	for _, bad := range r.Bad {
		text += "\n" + bad.String()
	}
	if more := r.Rejected - len(r.Bad); more > 0 {
		text += fmt.Sprintf("\nand %d more", more)
	}
	return errors.New(text)
}

// write writes the values to a CSV file.
func (c *importRastersCmd) write(ctx context.Context, con *console, opts *satellite.Options) error {
	lakes, err := c.lakes(ctx)
	if err != nil {
		return interrupted(ctx, err, "nothing was written")
	}
	e := extractor{con: con, report: con.reportBeside(c.CSV), opts: opts, lakes: lakes, skipBad: c.SkipBad}
	err = con.writeTo(c.CSV, c.Force, func(w io.Writer) error { return e.extractTo(ctx, c.Files, w) })
	if c.CSV == stdin {
		return interrupted(ctx, err, "the table is not complete")
	}
	return interrupted(ctx, err, "nothing was written")
}

// lakes returns the lakes of the database or of the file.
func (c *importRastersCmd) lakes(ctx context.Context) (lakes []satellite.Lake, err error) {
	if c.DB.IsSet() {
		err := (&databaseFlag{c.DB}).use(ctx, func(s *store.Store) (err error) {
			lakes, err = lakesOf(ctx, s, c.DB.Reveal())
			return err
		})
		return lakes, err
	}
	file := ingest.File{Name: c.Lakes, Open: func() (io.ReadCloser, error) { return openRegular(c.Lakes) }}
	read, report, err := ingest.ReadLakes(ctx, []ingest.File{file}, nil)
	if err != nil {
		return nil, err
	}
	if report.Rejected > 0 {
		return nil, fmt.Errorf("--lakes %s:\n%s", c.Lakes, report)
	}
	for _, l := range read {
		lakes = append(lakes, satellite.LakeOf(l))
	}
	if len(lakes) == 0 {
		return nil, fmt.Errorf("--lakes %s: the file has no lakes", c.Lakes)
	}
	return lakes, nil
}

// lakesOf returns the lakes of a database, of which it has at least one.
func lakesOf(ctx context.Context, s *store.Store, db string) ([]satellite.Lake, error) {
	lakes, err := satellite.LakesOf(ctx, s.Scan)
	if err != nil {
		return nil, fmt.Errorf("lakes: %w", err)
	}
	if len(lakes) == 0 {
		return nil, fmt.Errorf("%s has no lakes: import lakes first", store.Name(db))
	}
	return lakes, nil
}
