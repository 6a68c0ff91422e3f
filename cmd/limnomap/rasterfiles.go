package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/schollz/progressbar/v3"

	"limnomap/data/ingest/satellite"
)

// An extractor extracts files and reports on each of them.
type extractor struct {
	con     *console
	report  io.Writer
	opts    *satellite.Options
	lakes   []satellite.Lake
	skipBad bool
}

// extractTo writes the values of all files to w. Those of one file need no temporary file.
func (e *extractor) extractTo(ctx context.Context, names []string, w io.Writer) error {
	if len(names) == 1 {
		_, err := e.file(ctx, names[0], w)
		return err
	}
	tables, err := e.extract(ctx, names)
	if err != nil {
		return err
	}
	defer tables.close()
	return tables.writeTo(w)
}

// extract returns the values of all files, each lake, date and source once. The caller closes them.
func (e *extractor) extract(ctx context.Context, names []string) (_ *valueTables, err error) {
	t, err := newValueTables()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	for _, name := range names {
		err := t.add(name, func(w io.Writer) (satellite.Summary, error) { return e.file(ctx, name, w) })
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && (!e.skipBad || errors.Is(err, errOutput)):
			return nil, err
		case err != nil:
			fmt.Fprintf(e.report, "%v: left out\n", err)
		}
	}
	if len(t.tables) == 0 {
		return nil, fmt.Errorf("none of the %d files can be used", len(names))
	}
	return t, t.merge(ctx, e.lakes, e.report)
}

// errOutput is wrapped by errors of the output, which are not the fault of a file.
var errOutput = errors.New("the values cannot be written")

// file writes the table of one file.
func (e *extractor) file(ctx context.Context, name string, w io.Writer) (none satellite.Summary, err error) {
	if name == stdin {
		return none, errors.New("standard input: want a file, since satellite files are not read from beginning to end")
	}
	f, err := os.Open(name)
	if err != nil {
		return none, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return none, err
	}
	if !info.Mode().IsRegular() {
		return none, fmt.Errorf("%s: want a file, since satellite files are not read from beginning to end", name)
	}
	output := func(err error) error {
		if err != nil {
			err = fmt.Errorf("%w: %w", errOutput, err)
		}
		return err
	}
	table, err := satellite.NewTable(bufio.NewWriterSize(w, tableBuffer))
	if err != nil {
		return none, output(err)
	}
	const steps = 1000
	bar := newBar(e.con, filepath.Base(name), steps, progressbar.OptionSetPredictTime(true))
	opts := *e.opts
	opts.Progress = func(done float64) { _ = bar.Set(int(done * steps)) }
	summary, err := satellite.Extract(ctx, satellite.File{Name: name, ReaderAt: f, Size: info.Size()}, e.lakes, &opts,
		func(r *satellite.Row) error { return output(table.Write(r)) })
	_ = bar.Finish()
	if err != nil {
		return none, fmt.Errorf("%s: %w", name, err)
	}
	if err := table.Flush(); err != nil {
		return none, output(err)
	}
	_, err = fmt.Fprintf(e.report, "%s: %s\n", name, describe(summary))
	return summary, output(err)
}

const tableBuffer = 1 << 16

// describe writes a summary for people.
func describe(s satellite.Summary) string {
	text := fmt.Sprintf("%s (%s), %s, %s", s.Product.ID, s.Product.Title, s.Variable, s.Date)
	if s.Version != "" {
		text += ", version " + s.Version
	}
	text += fmt.Sprintf(": %d lakes with a value", s.Lakes)
	if s.Poor > 0 {
		text += fmt.Sprintf(" (%d poor)", s.Poor)
	}
	var gaps []string
	total := 0
	for reason, n := range s.Gaps {
		if n > 0 {
			gaps = append(gaps, fmt.Sprintf("%d %s", n, satellite.Reason(reason)))
			total += n
		}
	}
	text += fmt.Sprintf(", %d without", total)
	if len(gaps) > 0 {
		text += " (" + strings.Join(gaps, ", ") + ")"
	}
	if s.Skipped > 0 {
		text += fmt.Sprintf(", %d without an outline skipped", s.Skipped)
	}
	if s.OutOfRange > 0 {
		text += fmt.Sprintf("; %d pixels of lakes with numbers out of range", s.OutOfRange)
	}
	return text + fmt.Sprintf("; %d pixels, %s read", s.Pixels, formatMB(s.Bytes))
}
