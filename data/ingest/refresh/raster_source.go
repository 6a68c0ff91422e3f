package refresh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"limnomap/data"
	"limnomap/data/fetchguard"
	"limnomap/data/ingest/rangefile"
	"limnomap/data/ingest/satellite"
)

// localRaster is a satellite file in a folder.
func (r *Refresher) localRaster(folder string, e entry) *raster {
	name := filepath.Join(folder, e.name)
	date, ok := satellite.DateInName(e.name)
	if !ok {
		date = data.DateOf(e.modified)
	}
	f := &raster{key: keyOf(name), name: e.name, label: name, date: date, stamp: e.stamp()}
	for _, end := range satellite.BesideEnds { // a new mask changes the values too
		if beside, err := os.Lstat(name + end); err == nil {
			f.stamp += " " + end + " " + entry{size: beside.Size(), modified: beside.ModTime()}.stamp()
		}
	}
	f.open = func(ctx context.Context, _ string) (*openRaster, error) { return r.openLocal(ctx, name, e, f.stamp) }
	return f
}

func (e entry) stamp() string { return fmt.Sprintf("%d %d", e.size, e.modified.UnixNano()) }

// openLocal opens a file in a folder, and checks its checksum if it has one.
func (r *Refresher) openLocal(ctx context.Context, name string, listed entry, stamp string) (*openRaster, error) {
	f, err := openRegular(name)
	if err != nil {
		return nil, fault(folderReason, "%w", err)
	}
	unchanged := func() error {
		info, err := f.Stat()
		if err == nil && (entry{listed.name, info.Size(), info.ModTime()}) != listed {
			err = passing{fault(changingReason, "%s changed while it was read: write it under another name and rename it", name)}
		}
		return err
	}
	if r.now().Sub(listed.modified) < settleTime { // it may be being written to
		err = r.sleep(ctx, settleTime)
	}
	if err == nil {
		err = unchanged()
	}
	if err == nil {
		err = r.checkLocalRaster(ctx, name, f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &openRaster{ReaderAt: f, size: listed.size, stamp: stamp, unchanged: unchanged, close: f.Close, beside: satellite.BesideLocal(name, openRegular)}, nil
}

// checkLocalRaster compares a satellite file with the checksum file next to it. Without one it is not read.
func (r *Refresher) checkLocalRaster(ctx context.Context, name string, f *os.File) error {
	if _, err := os.Lstat(name + checksumEnd); err != nil && !r.opts.RequireChecksum {
		return nil
	}
	whole := &file{name: name, File: f}
	var err error
	if whole.SHA256, whole.size, err = digestFile(ctx, f); err != nil {
		return fault(folderReason, "%w", err)
	}
	return r.checkLocalSum(whole)
}

// isRasterURL reports whether the file of a URL is read as a satellite file.
func isRasterURL(u *url.URL) bool { return isRaster(path.Base(u.Path)) }

// urlRaster is a satellite file of a URL. If its stamp is not known, the server is asked for it.
func (r *Refresher) urlRaster(u *url.URL, key, stamp string, client *http.Client) *raster {
	name := path.Base(u.Path)
	date, _ := satellite.DateInName(name)
	f := &raster{key: key, name: name, label: rangefile.Redacted(u), date: date, stamp: stamp, host: u.Host}
	f.open = func(ctx context.Context, unless string) (opened *openRaster, err error) {
		d := &download{most: limit{r.opts.MaxRasterBytes, func(size string) error {
			return fault(sizeReason, "%s has %s bytes: at most %d are allowed", f.label, size, r.opts.MaxRasterBytes)
		}}}
		defer d.close()
		bounded, cancel := context.WithTimeoutCause(ctx, r.rasterTimeout(), rangefile.ErrSlow)
		defer cancel()
		err = r.retryLater(bounded, f.label, func() (err error) {
			if opened, err = r.openRanges(ctx, client, u); errors.Is(err, rangefile.ErrNoRanges) {
				opened, err = r.download(bounded, client, u, unless, d)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		opened.beside = r.besideURL(ctx, client, u)
		if stamp != "" {
			opened.stamp = stamp // a catalogue says what it lists
		}
		return opened, nil
	}
	return f
}

// retryLater is retry whose last error is passing if another attempt is worthwhile.
func (r *Refresher) retryLater(ctx context.Context, name string, fn func() error) error {
	err := r.retry(ctx, name, fn)
	if _, again := errors.AsType[retryable](err); again {
		err = passing{err}
	}
	return err
}

// besideURL returns [satellite.File.Beside] of the file of a URL, whose server is asked each time that the file is read. The files beside it are downloaded.
func (r *Refresher) besideURL(ctx context.Context, client *http.Client, u *url.URL) func(ending string) (satellite.Beside, error) {
	return func(ending string) (satellite.Beside, error) {
		of := source{url: withEnding(u, ending)}
		d := &download{most: limit{r.opts.MaxBytes, func(size string) error {
			return fault(sizeReason, "%s has %s bytes: at most %d are allowed", of, size, r.opts.MaxBytes)
		}}}
		defer d.close()
		bounded, cancel := context.WithTimeoutCause(ctx, r.opts.Timeout, rangefile.ErrSlow)
		defer cancel()
		var f *file
		err := r.retryLater(bounded, of.String(), func() (err error) {
			f, err = r.fetchOnce(bounded, client, of, data.RefreshFile{}, isMissing, d)
			return err
		})
		switch {
		case err != nil:
			return satellite.Beside{}, err
		case f == nil:
			return satellite.Beside{}, fs.ErrNotExist
		}
		return satellite.Beside{ReaderAt: f, Closer: f, Size: f.size}, nil
	}
}

// rasterTimeout bounds the time to download a satellite file, or to read it by ranges: four times that of another file, as
// Options.MaxRasterBytes is four times Options.MaxBytes by default.
func (r *Refresher) rasterTimeout() time.Duration { return 4 * min(r.opts.Timeout, math.MaxInt64/4) }

// openRanges opens the file of a URL by ranges. The error is [rangefile.ErrNoRanges] if it has to be downloaded: the server sends whole files
// only, or does not say whether a file has changed, or the whole file is needed for its checksum.
func (r *Refresher) openRanges(ctx context.Context, client *http.Client, u *url.URL) (*openRaster, error) {
	if r.opts.RequireChecksum {
		return nil, rangefile.ErrNoRanges
	}
	f, err := rangefile.Open(ctx, client, u.String(), &r.ranges)
	if err == nil {
		tag := cmp.Or(f.ETag(), f.LastModified())
		if tag != "" {
			return &openRaster{ReaderAt: f, size: f.Size(), stamp: tag, read: f.Bytes, close: f.Close,
				explain: func(err error) error { return explainURL(u, err) }}, nil
		}
		err = errors.Join(rangefile.ErrNoRanges, f.Close())
	}
	switch {
	case errors.Is(err, rangefile.ErrNoRanges):
		return nil, rangefile.ErrNoRanges
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, rangefile.ErrNoFile):
		return nil, fault(answerReason, "%w", explainURL(u, err))
	case errors.Is(err, fetchguard.ErrRefused):
		return nil, fault(redirectReason, "%w", explainURL(u, err))
	}
	return nil, passing{fault(readReason(err), "%w", explainURL(u, err))}
}

// readReason returns why a part of a file could not be read from its server.
func readReason(err error) string {
	if errors.Is(err, rangefile.ErrPace) {
		return paceReason
	}
	return awayReason
}

// errRequest is for errors whose text may contain a secret.
var errRequest = errors.New("the request failed")

// explainURL adds the URL to an error of a request, and drops a text with another URL or with the secret parts of this one.
func explainURL(u *url.URL, err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	name := rangefile.Redacted(u)
	text, named := strings.CutPrefix(err.Error(), name+": ")
	password, _ := u.User.Password()
	if strings.Contains(text, "://") || u.RawQuery != "" && strings.Contains(text, u.RawQuery) || password != "" && strings.Contains(text, password) {
		err, named = errRequest, false
	}
	if named {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// download copies the file of a URL to a temporary file, unless its header has the tag unless.
func (r *Refresher) download(ctx context.Context, client *http.Client, u *url.URL, unless string, d *download) (*openRaster, error) {
	f, err := r.fetchOnce(ctx, client, source{url: u}, data.RefreshFile{}, func(resp *http.Response) bool {
		return resp.StatusCode == http.StatusOK && unless != "" && unless == cmp.Or(rangefile.Field(resp.Header, "ETag"), rangefile.Field(resp.Header, "Last-Modified"))
	}, d)
	switch {
	case err != nil:
		return nil, err
	case f == nil:
		return &openRaster{stamp: unless, close: func() error { return nil }}, nil
	}
	stamp := cmp.Or(f.ETag, f.LastModified, fmt.Sprintf("%x", f.SHA256))
	return &openRaster{ReaderAt: f.File, size: f.size, stamp: stamp, read: func() int64 { return f.size }, close: f.Close}, nil
}

// elsewhere marks the requests of a client: their addresses are from another machine.
type elsewhere struct{ http.RoundTripper }

func (e elsewhere) RoundTrip(req *http.Request) (*http.Response, error) {
	return e.RoundTripper.RoundTrip(req.WithContext(fetchguard.Elsewhere(req.Context())))
}

// isLoopbackName reports whether a host is this machine by its name or number.
func isLoopbackName(host string) bool {
	return host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
}
