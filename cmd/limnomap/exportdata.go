package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"limnomap/data/ingest"
	"limnomap/data/store"
)

// exportFlags are what both exports of data are told.
type exportFlags struct {
	DB    string `help:"Database: an SQLite file, or the postgres:// URL of a PostgreSQL database, best said by LIMNOMAP_DB: no list of processes shows its password then." required:"" placeholder:"FILE|URL" secret:""`
	Force bool   `help:"Overwrite a file that is there."`
}

type exportLakesCmd struct {
	File   string `arg:"" help:"What to write: a name that ends in .geojson or .csv, then perhaps in .gz or .zst; - is standard output."`
	Format string `help:"Form, where the name does not say it: ${enum}." enum:"auto,geojson,csv" default:"auto"`
	exportFlags
}

func (exportLakesCmd) Help() string {
	return `The file holds all lakes as import takes them. GeoJSON, the form of standard output too, has all there is: imported into an
empty database it gives the same lakes to the last bit. CSV has no place for outlines, and says how many it leaves out.` + aboutExports
}

const aboutExports = `

The file appears when it is whole, or not at all. A server or an import may use the database meanwhile: what is written is one
state of it.`

func (c *exportLakesCmd) Run(ctx context.Context, con *console) error {
	format, err := c.format()
	if err != nil {
		return err
	}
	return c.run(ctx, con, c.File, func(s store.Store, w io.Writer) (string, error) {
		done, err := ingest.ExportLakes(ctx, s, w, format)
		if done.OutlinesLost > 0 && err == nil {
			con.log.Warn("outlines are left out, as CSV has no place for them; GeoJSON keeps them", "lakes_with_outlines", done.OutlinesLost)
		}
		return fmt.Sprintf("%d lakes", done.Lakes), err
	})
}

func (c *exportLakesCmd) format() (ingest.Format, error) {
	name := c.Format
	if name == "auto" {
		name = c.File
		for _, p := range packings {
			if unpacked, ok := strings.CutSuffix(name, p.ending); ok {
				name = unpacked
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
	return 0, fmt.Errorf("%s: want a name that ends in .geojson or .csv, perhaps with .gz or .zst after it, or --format", c.File)
}

type exportObservationsCmd struct {
	File string `arg:"" help:"What to write: CSV, compressed if the name ends in .gz or .zst; - is standard output."`
	exportFlags
}

func (exportObservationsCmd) Help() string {
	return `The file holds all observations, gaps and forecasts too, as import takes them: imported into a database of the same lakes it
gives the same observations to the last bit.` + aboutExports
}

func (c *exportObservationsCmd) Run(ctx context.Context, con *console) error {
	return c.run(ctx, con, c.File, func(s store.Store, w io.Writer) (string, error) {
		n, err := ingest.ExportObservations(ctx, s, w)
		return fmt.Sprintf("%d observations", n), err
	})
}

// run writes a file or standard output, and says what.
func (c *exportFlags) run(ctx context.Context, con *console, name string, write func(store.Store, io.Writer) (string, error)) (err error) {
	defer func() { err = interrupted(ctx, err, "nothing was written") }()
	if name != stdin {
		if err := checkTarget(name, c.Force); err != nil {
			return err
		}
	}
	s, err := store.Open(ctx, c.DB, false)
	if err != nil {
		return fmt.Errorf("--db: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if name == stdin {
		out := bufio.NewWriter(con.out)
		_, err := write(s, out)
		return errors.Join(err, out.Flush())
	}
	var done string
	err = writeTogether([]string{name}, c.Force, func(files []io.Writer) error {
		w, err := pack(name, files[0])
		if err != nil {
			return err
		}
		if done, err = write(s, w); err != nil {
			return err
		}
		return w.Close()
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(con.out, "%s: %s\n", name, done)
	return err
}

// packings are the endings of names that say how a file is compressed.
var packings = [...]struct {
	ending string
	open   func(io.Writer) (io.WriteCloser, error)
}{
	{".gz", func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }},
	{".zst", func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)) }},
}

// pack returns what compresses a file of that name. It must be closed.
func pack(name string, w io.Writer) (io.WriteCloser, error) {
	for _, p := range packings {
		if strings.HasSuffix(name, p.ending) {
			return p.open(w)
		}
	}
	return plain{w}, nil
}

// plain is a writer that has nothing to close.
type plain struct{ io.Writer }

func (plain) Close() error { return nil }
