package rangefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"limnomap/data/fetchguard"
)

const (
	// retryWait is the wait before the second attempt. It doubles with each further one.
	retryWait = 500 * time.Millisecond
	// maxRetryAfter is the longest wait that a server may ask for.
	maxRetryAfter = time.Minute
	// maxFieldBytes bounds an ETag and a Last-Modified.
	maxFieldBytes = 1 << 10
	// maxSize bounds the size of a file, so that offsets cannot overflow.
	maxSize = 1 << 60
)

// A retryable is an error after which another attempt is worthwhile.
type retryable struct {
	error
	after time.Duration // the wait that the server asked for, or 0
}

func (r retryable) Unwrap() error { return r.error }

// An identity has what a server says about one version of a file.
type identity struct {
	etag, lastModified string
	// ifRange is the one of them that proves that two responses have the same bytes, "" if none does.
	ifRange string
}

// identityOf returns the identity of a response. RFC 9110, section 13.1.5, says what may be an If-Range: an ETag that is not weak,
// or a date if the response was made at least a second later, so that no other change can have the same date.
func identityOf(h http.Header) identity {
	id := identity{etag: Field(h, "ETag"), lastModified: Field(h, "Last-Modified")}
	modified, err := http.ParseTime(id.lastModified)
	made, err2 := http.ParseTime(h.Get("Date"))
	switch {
	case strings.HasPrefix(id.etag, `"`):
		id.ifRange = id.etag
	case id.etag == "" && err == nil && err2 == nil && made.Sub(modified) >= time.Second:
		id.ifRange = id.lastModified
	}
	return id
}

// IfRange returns the value of a header field If-Range for the file of a response, "" if the server has sent none that proves that a later
// response has the same bytes.
func IfRange(h http.Header) string { return identityOf(h).ifRange }

// Field returns a field of a header, or "" if it is too long to store, or not UTF-8, which PostgreSQL cannot store.
func Field(h http.Header, name string) string {
	if v := h.Get(name); len(v) <= maxFieldBytes && utf8.ValidString(v) {
		return v
	}
	return ""
}

// differs reports whether another response is of another version. A response may leave out a Last-Modified.
func (id identity) differs(other identity) bool {
	return id.etag != "" && other.etag != "" && id.etag != other.etag ||
		id.lastModified != "" && other.lastModified != "" && id.lastModified != other.lastModified
}

// get requests a range, cut at the end of the file, and passes the body and its length to read.
func (f *File) get(off, n int64, read func(body io.Reader, length int64) error) error {
	ctx, watch := NewWatch(f.ctx, f.opts.Timeout, f.opts.Stall)
	defer watch.Stop()

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url.String(), nil)
	if err != nil {
		return fmt.Errorf("%s: invalid URL", Redacted(f.url))
	}
	last := off + n - 1
	if f.size >= 0 {
		last = min(last, f.size-1)
	}
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", off, last))
	req.Header.Set("Accept-Encoding", "identity")
	if f.ifRange != "" {
		req.Header.Set("If-Range", f.ifRange)
	}
	if f.opts.UserAgent != "" {
		req.Header.Set("User-Agent", f.opts.UserAgent)
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return f.requestError(ctx, resp, err)
	}
	defer resp.Body.Close()
	length, err := f.check(resp, off, last)
	if err != nil {
		return err
	}
	err = read(countingReader{io.LimitReader(watch.Body(resp.Body), length), &f.bytes}, length)
	if err == nil && length > 0 {
		// The end of the body lets the connection be used again.
		if extra, _ := io.ReadFull(resp.Body, make([]byte, 1)); extra > 0 {
			return fmt.Errorf("%s: response has more than the %d bytes that it announced", Redacted(f.url), length)
		}
	}
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	} else if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return retryable{error: fmt.Errorf("%s: %w", Redacted(f.url), err)}
}

// requestError explains why there is no response. It drops net/http's text with the URL, whose query may contain a secret.
func (f *File) requestError(ctx context.Context, resp *http.Response, err error) error {
	refusedRedirect := resp != nil // so the client does
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	} else if e, ok := errors.AsType[*url.Error](err); ok {
		if err = e.Err; strings.Contains(err.Error(), "://") || strings.Contains(err.Error(), "Location header") {
			// net/http repeats an invalid address of a redirect.
			return fmt.Errorf("%s: invalid address of a redirect", Redacted(f.url))
		}
	}
	err = fmt.Errorf("%s: %w", Redacted(f.url), err)
	if refusedRedirect || errors.Is(err, fetchguard.ErrRefused) {
		return err
	}
	return retryable{error: err}
}

// check returns the length of the body of a response, or why it is not the range from off to last. The first response sets the size
// and the identity of the file.
func (f *File) check(resp *http.Response, off, last int64) (length int64, err error) {
	name, opened := Redacted(f.url), f.size >= 0
	id := identityOf(resp.Header)
	switch code := resp.StatusCode; {
	case code == http.StatusPartialContent:
	case code == http.StatusOK && opened && f.differs(id), code == http.StatusPreconditionFailed && opened, code == http.StatusRequestedRangeNotSatisfiable && opened:
		return 0, fmt.Errorf("%s: %w", name, ErrChanged)
	case code == http.StatusOK:
		return 0, fmt.Errorf("%s: %w: status 200 for a range", name, ErrNoRanges)
	case code == http.StatusRequestedRangeNotSatisfiable && strings.TrimSpace(resp.Header.Get("Content-Range")) == "bytes */0":
		f.size, f.identity = 0, id
		return 0, nil
	case code == http.StatusRequestTimeout, code == http.StatusTooManyRequests, code >= 500 && code != http.StatusNotImplemented:
		return 0, retryable{fmt.Errorf("%s: status %d", name, code), fetchguard.RetryAfter(resp.Header, time.Now())}
	case code >= 400 && code < 500:
		return 0, fmt.Errorf("%s: %w: status %d", name, ErrNoFile, code)
	default:
		return 0, fmt.Errorf("%s: status %d", name, code)
	}
	if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return 0, fmt.Errorf("%s: %w: ranges are those of the encoding %.40q", name, ErrNoRanges, encoding)
	}
	header := resp.Header.Get("Content-Range")
	first, end, size, ok := ContentRange(header)
	switch {
	case !ok && !opened:
		return 0, fmt.Errorf("%s: %w: Content-Range is %.80q, want a range and a size", name, ErrNoRanges, header)
	case !opened:
		last = min(last, size-1)
	case !ok:
		return 0, fmt.Errorf("%s: Content-Range is %.80q, want bytes %d-%d/%d", name, header, off, last, f.size)
	case size != f.size || f.differs(id):
		return 0, fmt.Errorf("%s: %w", name, ErrChanged)
	}
	length = last - off + 1
	if first != off || end != last || resp.ContentLength >= 0 && resp.ContentLength != length {
		return 0, fmt.Errorf("%s: response has the range %.80q and %d bytes, want bytes %d-%d", name, header, resp.ContentLength, off, last)
	}
	if !opened {
		f.size, f.identity = size, id
	}
	return length, nil
}

// ContentRange returns the first and the last byte and the size of the field Content-Range of a response.
func ContentRange(header string) (first, last, size int64, ok bool) {
	unit, text, found := strings.Cut(strings.TrimSpace(header), " ")
	ends, total, found2 := strings.Cut(text, "/")
	from, to, found3 := strings.Cut(ends, "-")
	if !found || !strings.EqualFold(unit, "bytes") || !found2 || !found3 {
		return 0, 0, 0, false
	}
	for _, v := range []struct {
		to   *int64
		text string
	}{{&first, from}, {&last, to}, {&size, total}} {
		n, err := strconv.ParseUint(v.text, 10, 63)
		if err != nil {
			return 0, 0, 0, false
		}
		*v.to = int64(n)
	}
	return first, last, size, first <= last && last < size && size <= maxSize
}

// A countingReader adds the bytes that are read to a number.
type countingReader struct {
	io.Reader
	bytes *atomic.Int64
}

func (r countingReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.bytes.Add(int64(n))
	return n, err
}

// Redacted returns the part of a URL that may be logged: the query may contain a secret, and so does the user's password.
func Redacted(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}
