package refresh

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"limnomap/data"
	"limnomap/data/diskspace"
	"limnomap/data/fetchguard"
	"limnomap/data/ingest/rangefile"
)

const (
	// attempts to fetch a file, with waits between them that double from retryWait. Each wait is reduced by a random part of
	// up to a half, so that many clients of one server do not return together.
	attempts  = 5
	retryWait = time.Second
	// maxRetryAfter is the longest wait before the next attempt that a server may ask for. If it asks for more, this
	// refresh fails; there will be another one.
	maxRetryAfter = 5 * time.Minute
	maxRedirects  = 5
)

var (
	errRedirects = fmt.Errorf("more than %d redirects", maxRedirects)
	errDowngrade = errors.New("redirect from https to another scheme")
	errAddress   = errors.New("invalid address of a redirect or of a proxy from the environment")
)

// A retryable is an error after which another attempt is worthwhile. Those of rangefile, which makes its own attempts, are none.
type retryable struct {
	error
	after time.Duration // the wait that the server asked for, or 0
}

func (r retryable) Unwrap() error { return r.error }

// newClient returns a client that does not decode files and limits redirects.
func newClient(base http.RoundTripper) *http.Client {
	if base == nil {
		t := http.DefaultTransport.(*http.Transport).Clone() // with the environment's proxies, and timeouts up to the header
		t.DisableCompression = true                          // checksums and ETags are those of the encoded file
		base = fetchguard.New(t)
	}
	return &http.Client{
		Transport: base,
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			req.Header.Del("Referer") // it would send the query, which may contain a secret, to another host
			switch {
			case len(via) > maxRedirects:
				return errRedirects
			case via[0].URL.Scheme == "https" && req.URL.Scheme != "https":
				return errDowngrade
			case req.URL.Scheme != "http" && req.URL.Scheme != "https":
				return errAddress
			}
			return nil
		},
	}
}

// fetch returns the file of a URL, or nil if it is still the known one. With a zero known it always returns the file. It may
// have as many bytes as are left for the refresh. If a table is wanted, the error for a list of satellite files is errList. All attempts together must end within Options.Timeout.
func (r *Refresher) fetch(ctx context.Context, p source, known data.RefreshFile, left int64, table bool) (f *file, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.opts.Timeout, rangefile.ErrSlow)
	defer cancel()
	d := &download{table: table, most: limit{min(r.opts.MaxBytes, left), func(size string) error {
		if left < r.opts.MaxBytes {
			return r.tooMuch(p.String())
		}
		return fault(sizeReason, "%s has %s bytes: at most %d are allowed", p, size, r.opts.MaxBytes)
	}}}
	defer d.close()
	err = r.retry(ctx, p.String(), func() error {
		f, err = r.fetchOnce(ctx, r.client, p, known, func(resp *http.Response) bool {
			return resp.StatusCode == http.StatusNotModified && known.ETag+known.LastModified != ""
		}, d)
		return err
	})
	return f, err
}

// retry calls fn until it succeeds, fails permanently, or has been called often enough.
func (r *Refresher) retry(ctx context.Context, name string, fn func() error) error {
	wait := retryWait
	for attempt := 1; ; attempt++ {
		err := fn()
		again, ok := errors.AsType[retryable](err)
		if !ok || attempt == attempts || ctx.Err() != nil {
			return err
		}
		pause := wait - rand.N(wait/2)
		wait *= 2
		if again.after > maxRetryAfter {
			return err
		}
		pause = max(pause, again.after)
		r.log.Warn("refresh: trying again", slog.String("file", name), slog.Int64("retry_in_ms", pause.Milliseconds()), slog.Any("error", err))
		if waited := r.sleep(ctx, pause); waited != nil {
			if errors.Is(context.Cause(ctx), rangefile.ErrSlow) {
				return err
			}
			return waited
		}
	}
}

// get requests a URL once, with fields of the header, and passes the response to fn. All of it must arrive within Options.Timeout, and each
// part of it within Options.Stall, at [rangefile.MinPace] or faster.
func (r *Refresher) get(ctx context.Context, client *http.Client, u *url.URL, fields map[string]string, fn func(*http.Response, io.Reader) error) error {
	ctx, watch := rangefile.NewWatch(ctx, r.opts.Timeout, r.opts.Stall)
	defer watch.Stop()

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return fault(awayReason, "%s: invalid URL", rangefile.Redacted(u))
	}
	req.Header.Set("User-Agent", r.opts.UserAgent)
	req.Header.Set("Accept-Encoding", "identity")
	for name, value := range fields {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	resp, err := client.Do(req)
	if err != nil {
		return r.requestError(ctx, u, err)
	}
	defer resp.Body.Close()
	return fn(resp, causeReader{ctx, watch.Body(resp.Body)})
}

// requestError explains why there is no response. It drops net/http's text with the URL, whose query may contain a secret.
func (r *Refresher) requestError(ctx context.Context, u *url.URL, err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	reason := awayReason
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, rangefile.ErrSlow), errors.Is(cause, rangefile.ErrStalled):
		reason, err = timeoutReason, cause
	case cause != nil:
		return cause // the refresh itself is being stopped
	case strings.Contains(err.Error(), "://") || strings.Contains(err.Error(), "Location header"):
		// net/http repeats an invalid address, which may contain a password.
		return fault(redirectReason, "%s: %w", rangefile.Redacted(u), errAddress)
	case errors.Is(err, fetchguard.ErrLoopback):
		return fault(redirectReason, "%s: %w", rangefile.Redacted(u), err)
	case errors.Is(err, fetchguard.ErrRefused): // with the address of the connection, which contains no secret
		return fault(awayReason, "%s: %w", rangefile.Redacted(u), err)
	case errors.Is(err, errRedirects), errors.Is(err, errDowngrade), errors.Is(err, errAddress):
		return fault(redirectReason, "%s: %w", rangefile.Redacted(u), err)
	}
	return retryable{error: fault(reason, "%s: %w", rangefile.Redacted(u), err)}
}

// A causeReader returns the cause when its context has ended.
type causeReader struct {
	ctx context.Context
	r   io.Reader
}

func (p causeReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if err != nil && err != io.EOF && p.ctx.Err() != nil {
		err = context.Cause(p.ctx)
	}
	return n, err
}

// statusError returns the error for a status code, or nil for 200.
func (r *Refresher) statusError(u *url.URL, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	err := fault(answerReason, "%s answers %.40q: want 200", rangefile.Redacted(u), resp.Status)
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500 {
		return retryable{err, fetchguard.RetryAfter(resp.Header, r.now())}
	}
	return err
}

// fetchOnce makes one attempt to download the file of a URL, and checks its checksums. It returns nil if unchanged reports that the answer is
// about the known file.
func (r *Refresher) fetchOnce(ctx context.Context, client *http.Client, p source, known data.RefreshFile, unchanged func(*http.Response) bool, d *download) (f *file, err error) {
	fields := map[string]string{"If-None-Match": known.ETag, "If-Modified-Since": known.LastModified}
	if d.continues() {
		fields = map[string]string{"Range": fmt.Sprintf("bytes=%d-", d.size), "If-Range": d.ifRange}
	}
	err = r.get(ctx, client, p.url, fields, func(resp *http.Response, body io.Reader) error {
		if unchanged(resp) {
			return nil
		}
		f, err = r.save(p, resp, body, d)
		return err
	})
	if err != nil || f == nil {
		return nil, err
	}
	if err := r.checkRemoteSum(ctx, client, p, f, len(d.digests) > 0); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// A limit bounds a file that is downloaded. Its tooLarge returns the error for a file of that size, a number or "more".
type limit struct {
	bytes    int64
	tooLarge func(size string) error
}

// room returns a function that returns a fault if the disk has not enough room for a temporary file made from name.
func (r *Refresher) room(name string) func(need int64) error {
	return func(need int64) error {
		if err := r.space(os.TempDir(), need); err != nil {
			return fault(diskReason, "%s: temporary file: %w; free some, or set TMPDIR to another folder", name, err)
		}
		return nil
	}
}

// A download is a file that attempts have received a part of.
type download struct {
	most    limit
	table   bool            // it must not be a list of satellite files
	temp    *diskspace.Temp // nil before the first response
	size    int64           // of the part
	total   int64           // of the file; -1 if it is not known
	sum     hash.Hash       // of the part, as those of digests
	digests []digest
	// header is of the response that began it. ifRange proves that a later one has the same bytes; "" if the server has sent no such field.
	header  http.Header
	ifRange string
}

// continues reports whether the next attempt can request the rest only.
func (d *download) continues() bool { return d.ifRange != "" && d.size > 0 }

func (d *download) close() {
	if d.temp != nil {
		d.temp.Close()
		d.temp = nil
	}
	d.size, d.ifRange = 0, ""
}

// begin makes the download one of the file of that response, of which nothing has been received.
func (d *download) begin(resp *http.Response) (err error) {
	d.close()
	d.header, d.ifRange, d.total, d.sum = resp.Header, rangefile.IfRange(resp.Header), resp.ContentLength, sha256.New()
	if d.digests, err = digestsOf(resp.Header); err != nil {
		return fault(checksumReason, "%w", err)
	}
	if d.total > d.most.bytes {
		return d.most.tooLarge(strconv.FormatInt(d.total, 10))
	}
	if d.temp, err = diskspace.CreateTemp("limnomap-refresh-*"); err != nil {
		return fault(diskReason, "%w", err)
	}
	return nil
}

// isRest reports whether a response with the status 206 has the rest of the file.
func (d *download) isRest(resp *http.Response) bool {
	first, last, total, ok := rangefile.ContentRange(resp.Header.Get("Content-Range"))
	return ok && d.continues() && first == d.size && last == total-1 && (d.total < 0 || d.total == total)
}

// save writes a response body to a temporary file. It reads no more bytes than the limit, and fails before the disk is full. After an
// error the download has the part that was received.
func (r *Refresher) save(p source, resp *http.Response, body io.Reader, d *download) (*file, error) {
	switch {
	case resp.StatusCode == http.StatusPartialContent && d.isRest(resp):
		r.log.Info("refresh: continuing a download", slog.String("file", p.String()), slog.Int64("bytes", d.size))
	case d.continues() && (resp.StatusCode == http.StatusPartialContent || resp.StatusCode == http.StatusRequestedRangeNotSatisfiable):
		d.close()
		return nil, retryable{error: fault(cutReason, "%s answers %.40q and not with the rest of the file", p, resp.Status)}
	default:
		if err := r.statusError(p.url, resp); err != nil {
			return nil, err
		}
		if err := d.begin(resp); err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
	}
	if d.table && d.size == 0 {
		head := bufio.NewReaderSize(body, maxCatalogueLine)
		if line := firstLine(head); isCatalogueHeader(line) {
			return nil, errList
		}
		body = head
	}
	room := r.room(p.String())
	if err := room(max(resp.ContentLength, 0)); err != nil {
		return nil, err
	}
	sinks := []io.Writer{d.sum, &diskWriter{File: d.temp.File, room: room}}
	for _, g := range d.digests {
		sinks = append(sinks, g.sum)
	}
	n, err := io.Copy(io.MultiWriter(sinks...), io.LimitReader(body, d.most.bytes+1-d.size))
	d.size += n
	if err != nil {
		return nil, bodyError(p, d.size, err)
	}
	if d.size > d.most.bytes {
		return nil, d.most.tooLarge("more")
	}
	for _, g := range d.digests {
		if err := g.check(); err != nil {
			return nil, fault(checksumReason, "%s: %w", p, err)
		}
	}
	f := &file{name: p.String(), File: d.temp.File, temp: d.temp, size: d.size}
	f.RefreshFile = data.RefreshFile{
		Key: p.key(), SHA256: [sha256.Size]byte(d.sum.Sum(nil)),
		ETag: rangefile.Field(d.header, "ETag"), LastModified: rangefile.Field(d.header, "Last-Modified"),
	}
	d.temp = nil
	return f, nil
}

// bodyError explains why a body is incomplete.
func bodyError(p source, size int64, err error) error {
	if _, ok := errors.AsType[*Fault](err); ok || errors.Is(err, context.Canceled) {
		return err
	}
	reason := cutReason
	switch {
	case errors.Is(err, rangefile.ErrPace):
		reason = paceReason
	case errors.Is(err, rangefile.ErrStalled), errors.Is(err, rangefile.ErrSlow):
		reason = timeoutReason
	}
	return retryable{error: fault(reason, "%s, after %d bytes: %w", p, size, err)}
}

// checkRoomEvery is after how many bytes a diskWriter checks the disk.
const checkRoomEvery = 16 << 20

// A diskWriter marks errors of the disk, to distinguish them from those of the network, and fails before the disk is full.
type diskWriter struct {
	*os.File
	room    func(need int64) error
	checked int64 // bytes to write until the next check
}

func (w *diskWriter) Write(p []byte) (int, error) {
	if w.checked -= int64(len(p)); w.checked < 0 {
		if err := w.room(checkRoomEvery); err != nil {
			return 0, err
		}
		w.checked = checkRoomEvery
	}
	n, err := w.File.Write(p)
	if err != nil {
		err = fault(diskReason, "%w", err)
	}
	return n, err
}

// withEnding returns the URL of the file beside another one whose name has that ending in addition.
func withEnding(u *url.URL, ending string) *url.URL {
	u = u.JoinPath() // a copy
	u.Path += ending
	if u.RawPath != "" {
		u.RawPath += ending
	}
	return u
}

// isMissing reports whether a server does not have the file beside another one. Some answer 403 for missing files, such as those for signed addresses, and some
// answer with a page.
func isMissing(resp *http.Response) bool {
	if resp.StatusCode == http.StatusOK {
		kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
		return kind == "text/html"
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusRequestedRangeNotSatisfiable: // the latter has no more of a file of which a part was received
		return false
	}
	return resp.StatusCode >= 400 && resp.StatusCode < 500
}

// checkRemoteSum compares f with the checksum file on its server, if there is one.
func (r *Refresher) checkRemoteSum(ctx context.Context, client *http.Client, p source, f *file, digested bool) error {
	u := withEnding(p.url, checksumEnd)
	var text []byte
	err := r.get(ctx, client, u, nil, func(resp *http.Response, body io.Reader) (err error) {
		if isMissing(resp) {
			return nil
		}
		if err := r.statusError(u, resp); err != nil {
			return err
		}
		if text, err = io.ReadAll(io.LimitReader(body, maxChecksumBytes)); err != nil {
			return bodyError(source{url: u}, int64(len(text)), err)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case text != nil:
		return checkSum(f, rangefile.Redacted(u), string(text), path.Base(p.url.Path))
	case r.opts.RequireChecksum && !digested:
		return fault(noChecksumReason, "%s is missing, and so is a Repr-Digest of the file: a checksum is required", rangefile.Redacted(u))
	}
	return nil
}
