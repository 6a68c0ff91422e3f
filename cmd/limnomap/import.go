package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/schollz/progressbar/v3"

	"limnomap/data"
	"limnomap/data/diskspace"
	"limnomap/data/ingest"
	"limnomap/data/store"
)

// importFlags are for all imports.
type importFlags struct {
	newDatabaseFlag
	SkipBad       bool          `help:"Import the valid rows and report the others. By default one invalid row rejects them all."`
	DryRun        bool          `help:"Report what would change, and write nothing."`
	ImportTimeout time.Duration `help:"Longest time for the import. Meanwhile other writers to an SQLite database wait." default:"12h" allowed:"1ms.."`
}

// guardFlags are for imports of observations.
type guardFlags struct {
	MaxClassChanges int `help:"Refuse an import that would change the class (WHO 2003) of the newest value of more than this percentage of the lakes with values, or set that of more than half of them to one value. Values are compared if the old one is at most 28 days older, and there are at least 20 lakes with values." default:"30" allowed:"0..100"`
}

// guard returns the store to which observations are imported.
func (f *guardFlags) guard(s ingest.Store, force bool) ingest.Store {
	if force {
		return s
	}
	return ingest.Guarded(s, float64(f.MaxClassChanges)/100)
}

// tableFlags are for imports of files with columns.
type tableFlags struct {
	importFlags
	Map       mapping `help:"Columns that have other names in the files, such as chl=chl_a_ugl,lake_id=lake: our name first. Put a name with a comma in quotes." placeholder:"OURS=THEIRS,..."`
	Set       mapping `help:"Columns that are missing in the files, with one value for all rows, such as data_type=satellite." placeholder:"OURS=VALUE,..."`
	Decimal   string  `help:"Decimal mark of the numbers in CSV files: . or , (default: detected, and a number such as 1.091 or 20.000 that stays ambiguous is rejected). The other mark may then separate thousands." check:"decimal-mark" placeholder:"MARK"`
	Thousands string  `help:"What separates thousands in CSV files: . or , or ' or space (also no-break and thin spaces), or none (default: detected . or ,; with --decimal, the other mark)." check:"thousands-mark" placeholder:"MARK"`
	tableFormatFlags
	MakeIDs bool `name:"make-ids" help:"Make the ids of lakes from their names, for files without ids: lower-case letters without accents, digits, and _ for everything else. In observations and statements lake_id is the name then."`
}

// aboutFiles is a part of the help of all imports.
const aboutFiles = `

The format of a file is recognized by its content, not by its name; gzip and zstd are decompressed; - is standard input.
--dry-run has the same exit codes as the import.`

type importLakesCmd struct {
	Files []string `arg:"" name:"file" help:"CSV files with a header line, GeoJSON, the list of bathing waters of the EEA, or stations of the Water Quality Portal." type:"existingfile"`
	tableFlags
}

func (importLakesCmd) Help() string {
	return `Columns, in any order: id, name, lat, lon; optional: external_id (the id if absent), region, area_km2, and water_id,
which all sites of one water have.
An import changes existing lakes and removes none; the same file again changes nothing. If an optional column is missing, the
stored values stay. A lake without a name has its id as name.

The columns of the EEA are known too: bathingWaterIdentifier, bathingWaterName, latitude, longitude and countryCode (for
region). bwWaterCategory, specialisedZoneType or bathingWaterType decides: lakes and rivers are imported, coastal and transitional
waters are left out and counted. Of several seasons of a site the newest one counts. The quality classes of the EEA are about bacteria,
not about algae, and are ignored.

Files of stations of the Water Quality Portal (waterqualitydata.us) are recognized by their header. Stations that are not lakes are
left out and counted.

GeoJSON is a FeatureCollection in WGS 84 whose properties are these columns. A Point is the location of the lake. A Polygon
or MultiPolygon is its outline, which also gives location and area if the properties do not; "geometry": null removes a
stored outline. Files without outlines keep it, but may not move the lake out of it.` + aboutFiles
}

func (c *importLakesCmd) Run(ctx context.Context, con *console) error {
	return c.run(ctx, con, c.Files, ingest.Lakes)
}

type importObservationsCmd struct {
	Files []string `arg:"" name:"file" help:"CSV files with a header line." type:"existingfile"`
	tableFlags
	guardFlags
	Force bool `help:"Import the values also if so many lakes would change."`
}

func (importObservationsCmd) Help() string {
	return `Columns, in any order: lake_id, date, chl (µg/l, empty for a gap), data_type (satellite, in_situ for a sample, or ai_forecast).

Optional: cell_density_cells_ml, who_level (0 to 3), measured_at; source (product or laboratory), method; version (of
the product's file); chl_lower and chl_upper, or uncertainty (µg/l); below_limit (true; a value such as <15 is below a limit without
it); n_valid and n_total (pixels; n_inside is the same as n_total); quality (good, suspect or poor; poor is never shown as current); flags (` + strings.Join(data.Flags(1<<31-1).Names(), ", ") + `);
secchi_m, water_temperature_c; unit, parameter, sign and depth (what the value of a row is; units in names of columns such as chl_mg_l are
converted); level_by (of a history of the server: levels and cell densities that it derived are not stored).

There is one row per lake, date, type and source. If an optional column is missing, the stored values stay, except chl_lower,
chl_upper, uncertainty and below_limit, which belong to the value; with another value quality, version and flags go too, but not the
flag scum. A satellite's row does not replace one of a newer version.

Results of the Water Quality Portal (waterqualitydata.us, WQX 3.0 and 2.2) are recognized by their header. Chlorophyll, counts of
cyanobacteria, Secchi depths and temperatures at the surface become one observation for each station, day and organization; other
results are left out and counted. docs/importing.md has the rules.` + aboutFiles
}

func (c *importObservationsCmd) Run(ctx context.Context, con *console) error {
	return c.run(ctx, con, c.Files, func(ctx context.Context, s ingest.Store, files []ingest.File, opts *ingest.Options) (ingest.Report, error) {
		return ingest.Observations(ctx, c.guard(s, c.Force), files, opts)
	})
}

type importAdvisoriesCmd struct {
	Files []string `arg:"" name:"file" help:"CSV files with a header line, JSON as the server answers it, or JSON documents of Swim Guide's open data standard 1.0.1." type:"existingfile"`
	tableFlags
	ValidDays int `help:"Days, 1 to 365, after which a warning of a Swim Guide document ends without a next record of its location and substance. They count from the publicationTime or the updateTime of the record, whichever is later." default:"7" allowed:"1..365"`
}

func (importAdvisoriesCmd) Help() string {
	return `Columns, in any order: id, lake_id, kind (closure, warning, info or season), cause (cyanobacteria, bacteria or other), issuer
(the authority), issued, valid_from, valid_until (empty while the end is not known); optional: text_en, text_de, url, withdrawn. If
an optional column is missing, the stored values stay; but a statement that is issued again after it was withdrawn is in force.

Times are as 2026-07-01T10:30:00Z, or days. A day is midnight UTC; as valid_until it includes that day. To withdraw a statement,
import it again with the time in withdrawn. No import removes a statement.

JSON is an array of objects with these members, or an object with such an array as advisories; texts may be {"text": {"en": ...,
"de": ...}}.

Documents of Swim Guide's standard are recognized by their content. A record with an advisory becomes a warning; the id of its location is the
id or the external_id of a lake. A record without an advisory withdraws the stored statement of its guid, or is left out if there is none. With
or without an advisory, it ends the warning of the record before it of the same publisher, location and substance, if both are in these files.
The results of samples are not stored: an observation needs chlorophyll, which the standard does not have. Of the records of a guid the one that
was published or updated last counts; one that is older than the stored statement is left out.` + aboutFiles
}

func (c *importAdvisoriesCmd) Run(ctx context.Context, con *console) error {
	return c.run(ctx, con, c.Files, func(ctx context.Context, s ingest.Store, files []ingest.File, opts *ingest.Options) (ingest.Report, error) {
		opts.ValidDays = c.ValidDays
		return ingest.Advisories(ctx, s, files, opts)
	})
}

// limitTime returns a context for copying the pipes and the import together.
func (c *importFlags) limitTime(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := fmt.Errorf("%w, %v, and nothing was written: raise --import-timeout, or divide the files among several imports",
		ingest.ErrTimeout, c.ImportTimeout)
	return context.WithTimeoutCause(ctx, c.ImportTimeout, limit)
}

// copyInput copies a pipe, or another file that is not regular, into a temporary file.
func copyInput(ctx context.Context, input *os.File) (_ *diskspace.Temp, err error) {
	stop := context.AfterFunc(ctx, func() { _ = input.SetReadDeadline(time.Unix(0, 0)) }) // a read may block for ever
	defer stop()
	temp, err := diskspace.CreateTemp("limnomap-import-*")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			temp.Close()
		}
	}()
	const part = 16 << 20
	for err == nil {
		if err := diskspace.Check(os.TempDir(), part); err != nil {
			return nil, fmt.Errorf("temporary file: %w; free some, or set TMPDIR to another folder", err)
		}
		if _, err = io.CopyN(temp, input, part); ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	if err != io.EOF {
		return nil, err
	}
	_, err = temp.Seek(0, io.SeekStart)
	return temp, err
}

type importFunc func(context.Context, ingest.Store, []ingest.File, *ingest.Options) (ingest.Report, error)

func (c *tableFlags) run(ctx context.Context, con *console, names []string, imp importFunc) error {
	if err := ingest.CheckMarks(c.Decimal, c.Thousands); err != nil {
		return fmt.Errorf("--decimal %s --thousands %s: %w", c.Decimal, c.Thousands, err)
	}
	if err := c.format().Check(); err != nil {
		return err
	}
	return c.importFlags.run(ctx, con, names, &ingest.Options{Map: ingest.Mapping(c.Map), Set: ingest.Mapping(c.Set), MakeIDs: c.MakeIDs,
		Decimal: c.Decimal, Thousands: c.Thousands, Table: c.format()}, imp)
}

// run imports files with options to which it adds those of the flags.
func (c *importFlags) run(ctx context.Context, con *console, names []string, opts *ingest.Options, imp importFunc) (err error) {
	limited, cancel := c.limitTime(ctx)
	defer cancel()
	files, size, closeFiles, err := openFiles(limited, names)
	if err != nil {
		return interrupted(ctx, err, "nothing was written")
	}
	defer closeFiles()
	s, closeStore, err := c.open(ctx, con, c.DryRun)
	if err != nil {
		return interrupted(ctx, err, "nothing was written")
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	if !c.DryRun {
		if err := s.CheckSpace(size); err != nil {
			return err
		}
	}
	from, err := recorded(limited, s, files)
	if err != nil {
		return interrupted(ctx, err, "nothing was written")
	}
	bar := newBar(con, "importing", size, progressbar.OptionShowBytes(true))
	opts.Now = func() time.Time { return s.Latest(limited, time.Now()) }
	opts.SkipBad, opts.DryRun, opts.Timeout = c.SkipBad, c.DryRun, c.ImportTimeout
	opts.Progress = func(n int64) { _ = bar.Set64(n) }
	report, err := imp(limited, from, files, opts)
	_ = bar.Finish()
	if err != nil {
		if ctx.Err() != nil {
			return errors.New("interrupted: nothing was written")
		}
		return err
	}
	if _, err := report.WriteTo(con.out); err != nil {
		return err
	}
	switch {
	case !report.Written && !report.DryRun:
		return fmt.Errorf("%d of %d rows rejected, nothing written to %s (--skip-bad imports the others)",
			report.Rejected, report.Read, store.Name(c.DB.Reveal()))
	case report.Rejected > 0 && report.Rejected == report.Read:
		return fmt.Errorf("all %d rows rejected, nothing written to %s", report.Read, store.Name(c.DB.Reveal()))
	}
	return nil
}

// A mapping is the value of --map and --set, which may be given several times.
type mapping ingest.Mapping

func (m *mapping) UnmarshalText(text []byte) error {
	more, err := ingest.ParseMapping(string(text))
	if err != nil {
		return err
	}
	if *m == nil {
		*m = make(mapping)
	}
	for column, value := range more {
		if first, ok := (*m)[column]; ok {
			return fmt.Errorf("%s is given as %.40q and %.40q: want one of the two", column, first, value)
		}
		(*m)[column] = value
	}
	return nil
}

// MarshalText writes the mapping as it is read, in the order of its columns.
func (m mapping) MarshalText() ([]byte, error) { return []byte(ingest.Mapping(m).String()), nil }

// stdin is the file name for standard input and standard output.
const stdin = "-"

// openFiles opens files, and returns their size together.
func openFiles(ctx context.Context, names []string) (files []ingest.File, size int64, closeAll func(), err error) {
	var opened []io.Closer
	closeOpened := func() {
		for _, f := range opened {
			f.Close()
		}
	}
	defer func() {
		if err != nil {
			closeOpened()
		}
	}()
	for i, name := range names {
		if name == stdin && slices.Contains(names[:i], stdin) {
			return nil, 0, nil, errors.New("standard input (-) is named twice: name it once")
		}
		f, err := openFile(ctx, name)
		if err != nil {
			return nil, 0, nil, err
		}
		if f != os.Stdin {
			opened = append(opened, f)
		}
		if name == stdin {
			name = "standard input"
		}
		info, err := f.Stat()
		if err == nil && (!info.Mode().IsRegular() || info.Size() == 0) {
			// A pipe may be slow, or never end: other writers to the database do not wait for it. A file of /proc has the size 0 too.
			var copied *diskspace.Temp
			if copied, err = copyInput(ctx, f); err == nil {
				opened, f = append(opened, copied), copied.File
				info, err = f.Stat()
			}
		}
		var start int64 // not 0 if another program has read the beginning of standard input
		if err == nil {
			start, err = f.Seek(0, io.SeekCurrent)
		}
		if err != nil {
			return nil, 0, nil, fmt.Errorf("%s: %w", name, err)
		}
		most := max(info.Size()-start, 0)
		files, size = append(files, ingest.NewFile(name, io.NewSectionReader(f, start, most), most)), size+most
	}
	return files, size, closeOpened, nil
}

// openFile opens a file. It waits for the writer of a pipe with a name until ctx ends. A pipe or a terminal as standard input is opened again, without blocking: os.Stdin has no deadlines,
// and an interrupted import would wait for more input.
func openFile(ctx context.Context, name string) (*os.File, error) {
	if name != stdin {
		if info, err := os.Stat(name); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
			return openPipe(ctx, name)
		}
		return os.Open(name)
	}
	if info, err := os.Stdin.Stat(); err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) != 0 {
		if f, err := os.OpenFile("/dev/stdin", os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
			return f, nil
		}
	}
	return os.Stdin, nil
}

// openPipe opens a pipe with a name when another program has opened it to write.
func openPipe(ctx context.Context, name string) (f *os.File, err error) {
	done := make(chan struct{})
	go func() { // ends when there is a writer, also the one below
		defer close(done)
		f, err = os.Open(name)
	}()
	select {
	case <-done:
		return f, err
	case <-ctx.Done():
	}
	if w, err := os.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
		<-done
		w.Close()
		f.Close()
	}
	return nil, context.Cause(ctx)
}
