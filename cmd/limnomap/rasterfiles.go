package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/schollz/progressbar/v3"

	"limnomap/data"
	"limnomap/data/diskspace"
	"limnomap/data/ingest/satellite"
	"limnomap/data/linetext"
)

// An extractor extracts files and reports on each of them.
type extractor struct {
	con     *console
	report  io.Writer
	opts    *satellite.Options
	lakes   []satellite.Lake
	skipBad bool
}

// extractTo writes the rows of all files to w.
func (e *extractor) extractTo(ctx context.Context, names []string, w io.Writer) error {
	files, closeFiles, err := e.extract(ctx, names)
	if err != nil {
		return err
	}
	defer closeFiles()
	var more []string
	for _, f := range files {
		for _, c := range f.Columns {
			if !slices.Contains(more, c) {
				more = append(more, c)
			}
		}
	}
	table, err := satellite.NewTable(w, more...)
	if err != nil {
		return err
	}
	for _, f := range files {
		for row, err := range f.Rows() {
			if err = errors.Join(err, table.Write(&row)); err != nil {
				return err
			}
		}
	}
	return table.Flush()
}

// extract returns the rows of all files, each lake, date and source once. Those of several files are in a temporary file, which the caller
// closes.
func (e *extractor) extract(ctx context.Context, names []string) (files []*satellite.Values, closeFiles func(), err error) {
	remove := func() {}
	var temp *diskspace.Temp
	if len(names) > 1 {
		if temp, err = diskspace.CreateTemp("limnomap-rasters-*"); err != nil {
			return nil, nil, err
		}
		remove = func() { temp.Close() }
	}
	defer func() {
		if err != nil {
			remove()
		}
	}()
	end := int64(0)
	for _, name := range names {
		f, err := e.file(ctx, name)
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err != nil && !e.skipBad:
			return nil, nil, err
		case err != nil:
			fmt.Fprintf(e.report, "%s: left out\n", linetext.Escape(err.Error()))
			continue
		}
		if _, err := fmt.Fprintf(e.report, "%s: %s\n", linetext.Escape(name), linetext.Escape(describe(f.Summary))); err != nil {
			return nil, nil, err
		}
		if temp != nil {
			if end, err = f.MoveTo(temp, end); err != nil {
				return nil, nil, fmt.Errorf("the values cannot be written: %w", err)
			}
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, nil, fmt.Errorf("none of the %d files can be used", len(names))
	}
	repeated, err := satellite.KeepBest(ctx, files)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range repeated {
		fmt.Fprintf(e.report, "%s of %s: %s in several of these files: the newest version counts, then a value before a gap, then the most pixels\n",
			r.Source, r.Date, isOrAre(r.Lakes, "lake"))
	}
	return files, remove, nil
}

// isOrAre returns "1 lake is" or "2 lakes are".
func isOrAre(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return fmt.Sprintf("%d %ss are", n, what)
}

// openRegular opens a file that is not read from beginning to end. A pipe is refused at once: it would wait for a writer, whatever the signals.
func openRegular(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: want a file, since satellite files and lakes are not read from beginning to end", name)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// file extracts one file.
func (e *extractor) file(ctx context.Context, name string) (*satellite.Values, error) {
	if name == stdin {
		return nil, errors.New("standard input: want a file, since satellite files are not read from beginning to end")
	}
	f, err := openRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	const steps = 1000
	bar := newBar(e.con, filepath.Base(name), steps, progressbar.OptionSetPredictTime(true))
	opts := *e.opts
	opts.Progress = func(done float64) { _ = bar.Set(int(done * steps)) }
	values, err := satellite.Collect(ctx, satellite.File{Name: name, ReaderAt: f, Size: info.Size(), Beside: satellite.BesideLocal(name, openRegular)}, e.lakes, &opts)
	_ = bar.Finish()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return values, nil
}

// describe writes a summary for people.
func describe(s satellite.Summary) string {
	text := fmt.Sprintf("%s (%s), %s, ", s.Product.ID, s.Product.Title, s.Variable)
	if s.PeriodStart < s.Date {
		text += fmt.Sprintf("%s to ", s.PeriodStart)
	}
	if text += s.Date.String(); s.Composite != data.NoComposite {
		text += fmt.Sprintf(" (%s)", s.Composite)
	}
	if s.Version != "" {
		text += ", version " + s.Version
	}
	text += fmt.Sprintf(": %d lakes with a value", s.Lakes)
	if s.Poor > 0 {
		text += fmt.Sprintf(" (%d poor)", s.Poor)
	}
	if s.Scum > 0 {
		text += fmt.Sprintf(" (%d with possible scum)", s.Scum)
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
	if s.Floored > 0 {
		text += fmt.Sprintf("; %d negative pixels of lakes taken for 0, clean water", s.Floored)
	}
	return text + fmt.Sprintf("; %d pixels, %s read", s.Pixels, formatMB(s.Bytes))
}
