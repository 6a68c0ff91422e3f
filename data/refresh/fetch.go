package refresh

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"limnomap/data"
)

const (
	// attempts at one file, with waits between them that double from retryWait, each shortened by up to a half so that
	// many clients of one server do not come back together.
	attempts  = 5
	retryWait = time.Second
	// maxRetryAfter is the longest that a server may ask us to wait before the next attempt. Past it this refresh is
	// given up; there will be another one.
	maxRetryAfter = 5 * time.Minute
	maxRedirects  = 5
	// maxFieldBytes bounds what is remembered of an answer's ETag and Last-Modified.
	maxFieldBytes = 1 << 10
)

var (
	errRedirects = fmt.Errorf("more than %d redirects", maxRedirects)
	errDowngrade = errors.New("a redirect from https to something else")
	errAddress   = errors.New("a redirect, or a proxy of the environment, has no address that can be asked")
	errLinkLocal = errors.New("an address of the link itself, such as 169.254.169.254, is not asked")
	errStalled   = errors.New("nothing came for too long")
	errSlow      = errors.New("it took too long")
)

// A retryable is an error after which it is worth another attempt.
type retryable struct {
	error
	after time.Duration // what the server asked for; 0 for nothing
}

func (r retryable) Unwrap() error { return r.error }

// newClient returns a client that asks for what a file's bytes are, and trusts redirects within bounds.
func newClient(base http.RoundTripper) *http.Client {
	if base == nil {
		t := http.DefaultTransport.(*http.Transport).Clone() // with the environment's proxies, and timeouts up to the header
		t.DisableCompression = true                          // what comes is what the checksums and ETags are of
		t.DisableKeepAlives = true                           // the next request is a week away
		// As the default one's, and not to addresses of the link.
		t.DialContext = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second, Control: refuseLink}).DialContext
		base = t
	}
	return &http.Client{
		Transport: base,
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			req.Header.Del("Referer") // it would tell another host the query, which may hold a secret
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

// awsMetadata is where EC2 has over IPv6 what it otherwise has at 169.254.169.254.
var awsMetadata = netip.MustParseAddr("fd00:ec2::254")

// refuseLink keeps connections from addresses of the link itself (RFC 3927; RFC 4291, section 2.5.6), to which a source
// could redirect: no lakes are there, but in clouds the machine's own secrets. It sees what a name was resolved to. Other
// addresses of a private network are where many sources are.
func refuseLink(_, address string, _ syscall.RawConn) error {
	if to, err := netip.ParseAddrPort(address); err != nil || to.Addr().Unmap().IsLinkLocalUnicast() || to.Addr().WithZone("") == awsMetadata {
		return errLinkLocal
	}
	return nil
}

// fetch returns the file of a URL, or nil if it is still the one that is known. A zero known takes it whatever it is.
func (r *Refresher) fetch(ctx context.Context, p place, known data.RefreshFile) (f *file, err error) {
	err = r.retry(ctx, p.String(), func() error {
		f, err = r.fetchOnce(ctx, p, known)
		return err
	})
	return f, err
}

// retry calls fn until it succeeds, fails for good, or was called often enough.
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
		r.log.Warn("refresh: trying again", slog.String("file", name), slog.Duration("after", pause), slog.Any("error", err))
		if err := r.sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// get asks for a URL once and hands the answer to fn. The whole of it must come within Options.Timeout, and some of it
// within Options.Stall.
func (r *Refresher) get(ctx context.Context, u *url.URL, known data.RefreshFile, fn func(*http.Response, io.Reader) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	whole := time.AfterFunc(r.opts.Timeout, func() { cancel(errSlow) })
	defer whole.Stop()
	stall := time.AfterFunc(r.opts.Stall, func() { cancel(errStalled) })
	defer stall.Stop()

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return fault(awayReason, "%s: it cannot be asked for", shown(u))
	}
	req.Header.Set("User-Agent", r.opts.UserAgent)
	req.Header.Set("Accept-Encoding", "identity")
	for name, value := range map[string]string{"If-None-Match": known.ETag, "If-Modified-Since": known.LastModified} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return r.unanswered(ctx, u, err)
	}
	defer resp.Body.Close()
	return fn(resp, progressReader{ctx, resp.Body, func() { stall.Reset(r.opts.Stall) }})
}

// unanswered says why there is no answer. What net/http says of the URL is left out: its query may hold a secret.
func (r *Refresher) unanswered(ctx context.Context, u *url.URL, err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	reason := awayReason
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errSlow), errors.Is(cause, errStalled):
		reason, err = timeoutReason, cause
	case cause != nil:
		return cause // the refresh itself is being stopped
	case strings.Contains(err.Error(), "://") || strings.Contains(err.Error(), "Location header"):
		// What net/http repeats of an address that it cannot understand may hold a password.
		return fault(redirectReason, "%s: %w", shown(u), errAddress)
	case errors.Is(err, errLinkLocal): // with the address that net says, which no redirect's secret is part of
		return fault(awayReason, "%s: %w", shown(u), err)
	case errors.Is(err, errRedirects), errors.Is(err, errDowngrade), errors.Is(err, errAddress):
		return fault(redirectReason, "%s: %w", shown(u), err)
	}
	return retryable{error: fault(reason, "%s: %w", shown(u), err)}
}

// A progressReader tells of each read that brings something, and gives the cause when its context has ended.
type progressReader struct {
	ctx  context.Context
	r    io.Reader
	tell func()
}

func (p progressReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if n > 0 {
		p.tell()
	}
	if err != nil && err != io.EOF && p.ctx.Err() != nil {
		err = context.Cause(p.ctx)
	}
	return n, err
}

// refused returns the error that a status code stands for, nil for 200.
func (r *Refresher) refused(u *url.URL, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	err := fault(answerReason, "%s answers %.40q: want 200", shown(u), resp.Status)
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500 {
		return retryable{err, retryAfter(resp.Header.Get("Retry-After"), r.now())}
	}
	return err
}

// retryAfter returns for how long a server asks to be left alone, in seconds or up to a time (RFC 9110, section 10.2.3).
func retryAfter(field string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(field, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(field); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

func (r *Refresher) fetchOnce(ctx context.Context, p place, known data.RefreshFile) (f *file, err error) {
	digested := false
	err = r.get(ctx, p.url, known, func(resp *http.Response, body io.Reader) error {
		if resp.StatusCode == http.StatusNotModified && known.ETag+known.LastModified != "" {
			return nil
		}
		if err := r.refused(p.url, resp); err != nil {
			return err
		}
		digests, err := digestsOf(resp.Header)
		if err != nil {
			return fault(checksumReason, "%s: %w", p, err)
		}
		digested = len(digests) > 0
		f, err = r.keep(p, resp, body, digests)
		return err
	})
	if err != nil || f == nil {
		return nil, err
	}
	if err := r.checkAt(ctx, p, f, digested); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// field returns a field of an answer, unless it is too long to be remembered, or no UTF-8, which PostgreSQL does not store.
func field(resp *http.Response, name string) string {
	if value := resp.Header.Get(name); len(value) <= maxFieldBytes && utf8.ValidString(value) {
		return value
	}
	return ""
}

// keep writes an answer's body to a file without a name, which nobody else sees and which is gone when it is closed,
// whatever becomes of this process.
func (r *Refresher) keep(p place, resp *http.Response, body io.Reader, digests []digest) (_ *file, err error) {
	tooLarge := func(n string) error {
		return fault(sizeReason, "%s has %s bytes: up to %d are allowed", p, n, r.opts.MaxBytes)
	}
	if resp.ContentLength > r.opts.MaxBytes {
		return nil, tooLarge(strconv.FormatInt(resp.ContentLength, 10))
	}
	temp, err := os.CreateTemp("", "limnomap-refresh-*")
	if err != nil {
		return nil, fault(diskReason, "%w", err)
	}
	_ = os.Remove(temp.Name()) // where an open file cannot be removed, the system's clean-up has to do it
	defer func() {
		if err != nil {
			temp.Close()
		}
	}()
	sum := sha256.New()
	sinks := []io.Writer{sum, diskWriter{temp}}
	for _, d := range digests {
		sinks = append(sinks, d.sum)
	}
	f := &file{name: p.String(), File: temp}
	f.size, err = io.Copy(io.MultiWriter(sinks...), io.LimitReader(body, r.opts.MaxBytes+1))
	if err != nil {
		return nil, cut(p, f.size, err)
	}
	if f.size > r.opts.MaxBytes {
		return nil, tooLarge("more")
	}
	for _, d := range digests {
		if err := d.check(); err != nil {
			return nil, fault(checksumReason, "%s: %w", p, err)
		}
	}
	f.RefreshFile = data.RefreshFile{
		Key: p.key(), SHA256: [sha256.Size]byte(sum.Sum(nil)),
		ETag: field(resp, "ETag"), LastModified: field(resp, "Last-Modified"),
	}
	return f, nil
}

// cut says why a body did not come to its end.
func cut(p place, size int64, err error) error {
	if _, ok := errors.AsType[*Fault](err); ok || errors.Is(err, context.Canceled) {
		return err
	}
	reason := cutReason
	if errors.Is(err, errStalled) || errors.Is(err, errSlow) {
		reason = timeoutReason
	}
	return retryable{error: fault(reason, "%s, after %d bytes: %w", p, size, err)}
}

// A diskWriter tells an error of the disk from one of the network.
type diskWriter struct{ *os.File }

func (w diskWriter) Write(p []byte) (int, error) {
	n, err := w.File.Write(p)
	if err != nil {
		err = fault(diskReason, "%w", err)
	}
	return n, err
}

// checkAt compares f with the checksum that its server has beside it, if there is one.
func (r *Refresher) checkAt(ctx context.Context, p place, f *file, digested bool) error {
	u := p.url.JoinPath() // a copy
	u.Path += checksumEnd
	if u.RawPath != "" {
		u.RawPath += checksumEnd
	}
	var text []byte
	err := r.get(ctx, u, data.RefreshFile{}, func(resp *http.Response, body io.Reader) (err error) {
		kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
		switch {
		case resp.StatusCode >= 400 && resp.StatusCode < 500 && resp.StatusCode != http.StatusTooManyRequests:
			return nil // some servers say 403 of what they do not have
		case resp.StatusCode == http.StatusOK && kind == "text/html":
			return nil // some have a page for every address
		}
		if err := r.refused(u, resp); err != nil {
			return err
		}
		if text, err = io.ReadAll(io.LimitReader(body, maxChecksumBytes)); err != nil {
			return cut(place{url: u}, int64(len(text)), err)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case text != nil:
		return checkSum(f, shown(u), string(text), path.Base(p.url.Path))
	case r.opts.RequireChecksum && !digested:
		return fault(noChecksumReason, "%s is missing, and so is a Repr-Digest of the file: a checksum is required", shown(u))
	}
	return nil
}
