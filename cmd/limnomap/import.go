package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/schollz/progressbar/v3"

	"limnomap/data/ingest"
	"limnomap/data/store"
)

// importFlags are what both imports are told.
type importFlags struct {
	DB      string  `help:"Database: an SQLite file, made where there is none, or the postgres:// URL of a PostgreSQL database, best said by LIMNOMAP_DB: no list of processes shows its password then." required:"" placeholder:"FILE|URL" secret:""`
	SkipBad bool    `help:"Import the good rows and report the rest. By default one bad row rejects them all."`
	DryRun  bool    `help:"Report what would change, and write nothing."`
	Map     mapping `help:"Columns that the files call something else, such as chl=chl_a_ugl,lake_id=lake: ours first. One with a comma stands in quotes of its own." placeholder:"OURS=THEIRS,..."`
	Set     mapping `help:"Columns that the files lack, with the value of all rows, such as data_type=satellite." placeholder:"OURS=VALUE,..."`
	MakeIDs bool    `name:"make-ids" help:"Make the lakes' ids of their names, for files that have no others: small letters without accents, digits, and _ for all else. Of observations lake_id is the name then."`
}

// aboutFiles is said of the files of both imports.
const aboutFiles = `

Files are known by what they hold, not by their names; gzip and zstd are expanded; - is standard input. --dry-run has the exit
codes of the import itself.`

type importLakesCmd struct {
	Files []string `arg:"" name:"file" help:"CSV files with a header line, GeoJSON, or the EEA's list of bathing waters." type:"existingfile"`
	importFlags
}

func (importLakesCmd) Help() string {
	return `Columns, in any order: id, name, lat, lon; optional: external_id (the id if absent), region, area_km2.
An import changes lakes that are there already and removes none; the same file again changes nothing. An optional
column that the file lacks leaves what is stored.

The EEA's columns bathingWaterIdentifier, bathingWaterName, latitude, longitude and countryCode (for region) are known too.
Its bwWaterCategory decides: Lake and River are imported, Coastal and Transitional are left out and counted. Its classes of
quality are bacterial and say nothing of algae: they are ignored.

GeoJSON is a FeatureCollection in WGS 84 whose properties are these columns. A Point is the lake's place. A Polygon
or MultiPolygon is its outline, which also gives place and area where the properties do not; "geometry": null takes
a stored outline away, and files without outlines leave it, but may not move the lake out of it.` + aboutFiles
}

func (c *importLakesCmd) Run(ctx context.Context, con *console) error {
	return c.run(ctx, con, c.Files, ingest.Lakes)
}

type importObservationsCmd struct {
	Files []string `arg:"" name:"file" help:"CSV files with a header line." type:"existingfile"`
	importFlags
}

func (importObservationsCmd) Help() string {
	return `Columns, in any order: lake_id, date, chl (µg/l, empty for a gap), data_type (satellite or ai_forecast);
optional: cell_density_cells_ml, who_level, measured_at. There is one row per lake, date and type. An optional
column that the file lacks leaves what is stored.` + aboutFiles
}

func (c *importObservationsCmd) Run(ctx context.Context, con *console) error {
	return c.run(ctx, con, c.Files, ingest.Observations)
}

type importFunc func(context.Context, store.Store, []ingest.File, *ingest.Options) (ingest.Report, error)

func (c *importFlags) run(ctx context.Context, con *console, names []string, imp importFunc) (err error) {
	files, size, closeFiles, err := openFiles(names)
	if err != nil {
		return err
	}
	defer closeFiles()
	s, closeStore, err := c.open(ctx)
	if err != nil {
		return interrupted(ctx, err, "nothing was written")
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	progress, finish := progressOn(con.err, "importing", size, progressbar.OptionShowBytes(true))
	report, err := imp(ctx, s, files, &ingest.Options{SkipBad: c.SkipBad, DryRun: c.DryRun,
		Map: ingest.Mapping(c.Map), Set: ingest.Mapping(c.Set), MakeIDs: c.MakeIDs, Progress: progress})
	finish()
	if err != nil {
		if ctx.Err() != nil {
			return errors.New("interrupted, nothing was written")
		}
		return err
	}
	if _, err := report.WriteTo(con.out); err != nil {
		return err
	}
	switch {
	case !report.Written && !report.DryRun:
		return fmt.Errorf("%d of %d rows rejected, nothing written to %s (--skip-bad imports the others)",
			report.Rejected, report.Read, store.Name(c.DB))
	case report.Rejected > 0 && report.Rejected == report.Read:
		return fmt.Errorf("all %d rows rejected, nothing written to %s", report.Read, store.Name(c.DB))
	}
	return nil
}

// open opens the database. Where one is yet to be made, a dry run gets one elsewhere, which goes when it is closed; so does
// a file that an import has made and nobody has written to.
func (c *importFlags) open(ctx context.Context) (_ store.Store, closeStore func() error, err error) {
	name, remove := c.DB, ""
	path, isFile := store.FilePath(c.DB)
	absent, err := c.absent(ctx, path, isFile)
	if err != nil {
		return nil, nil, err
	}
	made := absent && !c.DryRun
	if absent && c.DryRun {
		if isFile {
			if err := checkFolder(path); err != nil {
				return nil, nil, fmt.Errorf("database %w", err)
			}
		}
		if remove, err = os.MkdirTemp("", "limnomap-dry-run-"); err != nil {
			return nil, nil, err
		}
		name = filepath.Join(remove, "empty.db")
	} else if absent {
		remove = path
	}
	s, err := store.Open(ctx, name, true)
	if err != nil {
		if !made && remove != "" {
			err = errors.Join(err, os.RemoveAll(remove))
		}
		return nil, nil, err
	}
	return s, func() error {
		revision, rerr := s.Revision(context.WithoutCancel(ctx))
		err := s.Close()
		switch {
		case remove == "":
		case !made:
			err = errors.Join(err, os.RemoveAll(remove))
		case rerr == nil && revision.Number == 0:
			_ = os.Remove(remove) // an empty database that cannot be removed does no harm
		}
		return err
	}, nil
}

// absent reports whether there is no file yet, or for a dry run no tables in the database that a URL names.
func (c *importFlags) absent(ctx context.Context, path string, isFile bool) (bool, error) {
	if isFile {
		_, err := os.Stat(path)
		return errors.Is(err, fs.ErrNotExist), nil // what else is wrong with it, whoever opens it says
	}
	if !c.DryRun {
		return false, nil
	}
	s, err := store.Open(ctx, c.DB, false)
	if err != nil {
		return false, err
	}
	_, err = s.Revision(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return true, s.Close()
	}
	return false, errors.Join(err, s.Close())
}

// A mapping is what --map and --set take, once or more often.
type mapping ingest.Mapping

func (m *mapping) UnmarshalText(text []byte) error {
	more, err := ingest.ParseMapping(string(text))
	if err != nil {
		return err
	}
	if *m == nil {
		*m = make(mapping)
	}
	for column, is := range more {
		if before, twice := (*m)[column]; twice {
			return fmt.Errorf("%s is to be %.40q and %.40q: want one of the two", column, before, is)
		}
		(*m)[column] = is
	}
	return nil
}

// MarshalText writes the mapping as it is read, in the order of its columns.
func (m mapping) MarshalText() ([]byte, error) { return []byte(ingest.Mapping(m).String()), nil }

// stdin is the name by which standard input is read.
const stdin = "-"

// openFiles opens files. The size is unknownTotal if one of them has none.
func openFiles(names []string) (files []ingest.File, size int64, closeAll func(), err error) {
	var closes []func()
	closeAll = func() {
		for _, c := range closes {
			c()
		}
	}
	read := make(map[string]bool)
	for _, name := range names {
		if name == stdin && read[stdin] {
			closeAll()
			return nil, 0, nil, errors.New("standard input, -, is named twice: want it once")
		}
		read[name] = true
		f, err := openFile(name)
		if err != nil {
			closeAll()
			return nil, 0, nil, err
		}
		if f != os.Stdin {
			closes = append(closes, func() { f.Close() })
		}
		switch info, err := f.Stat(); {
		case err != nil || !info.Mode().IsRegular():
			size = unknownTotal
		case size != unknownTotal:
			size += info.Size()
		}
		if name == stdin {
			name = "standard input"
		}
		files = append(files, ingest.File{Name: name, Reader: f})
	}
	return files, size, closeAll, nil
}

// openFile opens a file. Standard input is opened anew where something may be slow in coming: as it is given, it knows no
// deadlines, and an import that is interrupted would wait for what is to come.
func openFile(name string) (*os.File, error) {
	if name != stdin {
		return os.Open(name)
	}
	if info, err := os.Stdin.Stat(); err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) != 0 {
		if f, err := os.OpenFile("/dev/stdin", os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
			return f, nil
		}
	}
	return os.Stdin, nil
}

// progressOn returns a progress bar's two ends where w is a terminal, and nothing to call elsewhere.
func progressOn(w io.Writer, doing string, size int64, opts ...progressbar.Option) (progress func(int64), finish func()) {
	if !isTerminal(w) {
		return nil, func() {}
	}
	bar := progressbar.NewOptions64(size, append(opts,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(doing),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetSpinnerChangeInterval(0), // else a goroutine draws until finish, which an error may prevent
	)...)
	// A bar that cannot be drawn is no reason to stop the work.
	return func(n int64) { _ = bar.Set64(n) }, func() { _ = bar.Finish() }
}
