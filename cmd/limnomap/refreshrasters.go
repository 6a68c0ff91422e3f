package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"

	"limnomap/data"
	"limnomap/data/ingest/rangefile"
	"limnomap/data/ingest/refresh"
	"limnomap/data/ingest/satellite"
)

// A satelliteExtractor reads satellite files for refreshes, as import rasters does.
type satelliteExtractor struct{ opts *satellite.Options }

func (e satelliteExtractor) Extract(ctx context.Context, f refresh.RasterFile, lakes refresh.Lakes, w io.Writer) (refresh.Extracted, error) {
	var known []satellite.Lake
	err := lakes(ctx, func(l data.Lake) error {
		known = append(known, satelliteLake(l))
		return nil
	})
	if err != nil {
		return refresh.Extracted{}, err
	}
	table, err := satellite.NewTable(w)
	if err != nil {
		return refresh.Extracted{}, err
	}
	s, err := satellite.Extract(ctx, satellite.File{Name: f.Name, ReaderAt: f.ReaderAt, Size: f.Size}, known, e.opts, table.Write)
	if err != nil {
		return refresh.Extracted{}, err
	}
	found := refresh.Extracted{Product: s.Source, Version: s.Version, Date: s.Date, Lakes: s.Lakes}
	for _, n := range s.Gaps {
		found.Gaps += n
	}
	return found, table.Flush()
}

// openRanges opens a file on a server that sends parts of files.
func openRanges(ctx context.Context, client *http.Client, url string) (refresh.RangeFile, error) {
	f, err := rangefile.Open(ctx, client, url, &rangefile.Options{UserAgent: "limnomap/" + buildVersion()})
	if err == nil && f.ETag() == "" && f.LastModified() == "" {
		err = errors.Join(refresh.ErrNoRanges, f.Close()) // it could not be known whether the file has changed
	}
	if err != nil {
		return nil, rangeError(err)
	}
	return rangeFile{f}, nil
}

// A rangeFile is a file whose errors are those of refreshes.
type rangeFile struct{ *rangefile.File }

func (f rangeFile) Tag() string { return cmp.Or(f.ETag(), f.LastModified()) }

func (f rangeFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	return n, rangeError(err)
}

// rangeError adds the error of refreshes for the same fault.
func rangeError(err error) error {
	for _, same := range []struct{ from, to error }{
		{rangefile.ErrNoRanges, refresh.ErrNoRanges}, {rangefile.ErrNoFile, refresh.ErrNoFile}, {rangefile.ErrChanged, refresh.ErrChanged},
	} {
		if errors.Is(err, same.from) {
			return alsoError{err, same.to}
		}
	}
	return err
}

// An alsoError is an error that is another one too.
type alsoError struct {
	error
	also error
}

func (e alsoError) Unwrap() []error { return []error{e.error, e.also} }
