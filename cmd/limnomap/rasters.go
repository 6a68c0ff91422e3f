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
	newDatabaseFlag
	Prefer        preference    `help:"Products, or beginnings of sources, in the order in which their values count for one lake and week, such as lwq,cyan; also for stored values. All are kept. Without this flag the stored order stays." placeholder:"PRODUCT,..."`
	SkipBad       bool          `help:"Import the files that can be used and report the others. By default one file that cannot be used rejects them all."`
	DryRun        bool          `help:"Report what would change, and write nothing."`
	ImportTimeout time.Duration `help:"Longest time for writing the values. Meanwhile other writers to an SQLite database wait." default:"12h" allowed:"1ms.."`
}

func (importRastersCmd) Help() string {
	return `Makes values of the lakes in the database from satellite files, and writes them in one transaction. The same files again change
nothing. A later version or processing of the same file replaces its values, never the reverse. Of several files of one source and day, each
lake gets the value of one.` + aboutRasters
}

func (c *importRastersCmd) Run(ctx context.Context, con *console) (err error) {
	opts := c.options()
	if err := c.set(opts); err != nil {
		return err
	}
	s, closeStore, err := c.open(ctx, c.DryRun)
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
		values = append(values, ingest.Values{Name: f.Name, Rows: f.Observations()})
	}
	if err := c.Prefer.warn(ctx, s, sources, con.log); err != nil {
		return interrupted(ctx, err, "nothing was written")
	}
	limited, cancel := (&importFlags{ImportTimeout: c.ImportTimeout}).limitTime(ctx)
	defer cancel()
	report, err := ingest.AllValues(limited, s, values, &ingest.Options{DryRun: c.DryRun, Timeout: c.ImportTimeout},
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

type extractRastersCmd struct {
	Files []string `arg:"" name:"file" help:"Satellite files." type:"existingfile"`
	rasterFlags
	dateFlag
	DB      config.Location `help:"Database with the lakes: an SQLite file, or the postgres:// URL of a PostgreSQL database. It is only read." placeholder:"FILE|URL"`
	Lakes   string          `help:"File with the lakes instead: GeoJSON, whose features need only an id, or CSV with id, lat and lon." type:"existingfile" placeholder:"FILE"`
	Out     string          `help:"CSV file to write, which import observations reads; - is standard output." required:"" placeholder:"FILE"`
	Force   bool            `help:"Overwrite an existing file."`
	SkipBad bool            `help:"Leave out files that cannot be used. By default one such file ends the command."`
}

func (extractRastersCmd) Help() string {
	return `Makes values of lakes from satellite files, as import rasters does, and writes them to a CSV file. The file appears when it is complete, or
not at all.

The columns are those of import observations, and p10 and p90, the percentiles of the pixels.` + aboutRasters
}

func (c *extractRastersCmd) Run(ctx context.Context, con *console) error {
	opts := c.options()
	if err := c.set(opts); err != nil {
		return err
	}
	lakes, err := c.lakes(ctx)
	if err != nil {
		return interrupted(ctx, err, "nothing was written")
	}
	e := extractor{con: con, report: con.out, opts: opts, lakes: lakes, skipBad: c.SkipBad}
	if c.Out == stdin {
		e.report = con.err
		return interrupted(ctx, e.extractTo(ctx, c.Files, con.out), "the table is not complete")
	}
	return interrupted(ctx, writeFiles([]string{c.Out}, c.Force, func(w []io.Writer) error { return e.extractTo(ctx, c.Files, w[0]) }), "nothing was written")
}

// lakes returns the lakes of the database or of the file.
func (c *extractRastersCmd) lakes(ctx context.Context) (lakes []satellite.Lake, err error) {
	switch {
	case c.DB.IsSet() == (c.Lakes != ""):
		return nil, errors.New("want --db or --lakes, and not both")
	case c.DB.IsSet():
		d := databaseFlag{DB: c.DB}
		err := d.use(ctx, func(s *store.Store) (err error) {
			lakes, err = lakesOf(ctx, s, c.DB.Reveal())
			return err
		})
		return lakes, err
	}
	file := ingest.File{Name: c.Lakes, Open: func() (io.ReadCloser, error) { return os.Open(c.Lakes) }}
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
