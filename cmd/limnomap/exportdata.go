package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"limnomap/data/ingest"
	"limnomap/data/store"
)

// exportFlags are for all exports of data.
type exportFlags struct {
	databaseFlag
	Force bool `help:"Overwrite an existing file."`
}

type exportLakesCmd struct {
	File   string `arg:"" help:"File to write: its name ends in .geojson or .csv, or these with .gz or .zst; - is standard output."`
	Format string `help:"Format, if the name does not show it: ${enum}." enum:"auto,geojson,csv" default:"auto"`
	exportFlags
}

func (exportLakesCmd) Help() string {
	return `The file has all lakes, as import accepts them. GeoJSON, also the format of standard output, is complete: imported into an
empty database it gives exactly the same lakes. CSV cannot hold outlines; the log says how many are left out.` + aboutExports
}

const aboutExports = `

The file appears when it is complete, or not at all. A server or an import may use the database meanwhile: the file has one
state of it.`

func (c *exportLakesCmd) Run(ctx context.Context, con *console) error {
	format, err := c.format()
	if err != nil {
		return err
	}
	return c.run(ctx, con, c.File, func(s *store.Store, w io.Writer) (string, error) {
		done, err := ingest.ExportLakes(ctx, s, w, format)
		if done.OutlinesLost > 0 && err == nil {
			con.log.Warn("outlines are left out because CSV cannot hold them; use GeoJSON to keep them", "lakes_with_outlines", done.OutlinesLost)
		}
		return fmt.Sprintf("%d lakes", done.Lakes), err
	})
}

func (c *exportLakesCmd) format() (ingest.Format, error) {
	name := c.Format
	if name == "auto" {
		name = c.File
		for _, p := range compressions {
			if base, ok := strings.CutSuffix(name, p.ending); ok {
				name = base
				break
			}
		}
		name = name[strings.LastIndexByte(name, '.')+1:]
	}
	switch {
	case name == "geojson" || name == "json" || c.File == stdin && name == c.File:
		return ingest.FormatGeoJSON, nil
	case name == "csv":
		return ingest.FormatCSV, nil
	}
	return 0, fmt.Errorf("%s: want a name that ends in .geojson or .csv, or these with .gz or .zst, or set --format", c.File)
}

type exportObservationsCmd struct {
	File string `arg:"" help:"File to write: CSV, compressed if the name ends in .gz or .zst; - is standard output."`
	exportFlags
}

func (exportObservationsCmd) Help() string {
	return `The file has all observations with gaps and forecasts, as import accepts them: imported into a database with the same lakes
it gives exactly the same observations.` + aboutExports
}

func (c *exportObservationsCmd) Run(ctx context.Context, con *console) error {
	return c.run(ctx, con, c.File, func(s *store.Store, w io.Writer) (string, error) {
		n, err := ingest.ExportObservations(ctx, s, w)
		return fmt.Sprintf("%d observations", n), err
	})
}

type exportAdvisoriesCmd struct {
	File string `arg:"" help:"File to write: CSV, compressed if the name ends in .gz or .zst; - is standard output."`
	exportFlags
}

func (exportAdvisoriesCmd) Help() string {
	return `The file has all official statements, also those that are over or withdrawn, as import accepts them: imported into a database
with the same lakes it gives exactly the same statements.` + aboutExports
}

func (c *exportAdvisoriesCmd) Run(ctx context.Context, con *console) error {
	return c.run(ctx, con, c.File, func(s *store.Store, w io.Writer) (string, error) {
		n, err := ingest.ExportAdvisories(ctx, s, w)
		return fmt.Sprintf("%d official statements", n), err
	})
}

// run writes a file or standard output, and prints what it wrote to a file.
func (c *exportFlags) run(ctx context.Context, con *console, name string, write func(*store.Store, io.Writer) (string, error)) (err error) {
	defer func() { err = interrupted(ctx, err, "nothing was written") }()
	if name != stdin {
		if err := checkTarget(name, c.Force); err != nil {
			return err
		}
	}
	return c.use(ctx, func(s *store.Store) error {
		var done string
		err := con.writeTo(name, c.Force, func(out io.Writer) error {
			w, err := compress(name, out)
			if err != nil {
				return err
			}
			if done, err = write(s, w); err != nil {
				return err
			}
			return w.Close()
		})
		if err != nil || name == stdin {
			return err
		}
		_, err = fmt.Fprintf(con.out, "%s: %s\n", name, done)
		return err
	})
}

// compressions are the ways to compress a file, by the ending of its name.
var compressions = [...]struct {
	ending string
	open   func(io.Writer) (io.WriteCloser, error)
}{
	{".gz", func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }},
	{".zst", func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)) }},
}

// compress returns a writer that compresses to w, if the name has such an ending. The caller closes it.
func compress(name string, w io.Writer) (io.WriteCloser, error) {
	for _, p := range compressions {
		if strings.HasSuffix(name, p.ending) {
			return p.open(w)
		}
	}
	return plainWriter{w}, nil
}

type plainWriter struct{ io.Writer }

func (plainWriter) Close() error { return nil }
