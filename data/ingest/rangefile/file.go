package rangefile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// ErrNoRanges is in the error for a server that does not serve ranges of the file, or does not tell its size.
var ErrNoRanges = errors.New("server does not serve ranges of the file")

// ErrNoFile is in the error for a file that the server does not have, or does not give.
var ErrNoFile = errors.New("server gives no such file")

// ErrChanged is in the error for a file that has changed on the server since it was opened.
var ErrChanged = errors.New("file has changed on the server")

// ErrClosed is in the error of a read after Close.
var ErrClosed = errors.New("file is closed")

// Options are the optional parameters of [Open]. A nil *Options means all defaults.
type Options struct {
	// BlockBytes is the unit of requests and of the cache. Zero means 64 KiB.
	BlockBytes int
	// CacheBytes bounds the blocks that are kept. Zero means 16 MiB.
	CacheBytes int
	// MaxRequestBytes bounds the range of a request, and so the growth of requests for reads that follow each other. Zero means 4 MiB.
	MaxRequestBytes int
	// MaxRequests is how many requests may be made at once. Zero means 4.
	MaxRequests int
	// Attempts is how often a request is made that does not bring the file any further. Zero means 4.
	Attempts int
	// Timeout bounds the time of a request. Zero means 5 minutes.
	Timeout time.Duration
	// Stall is how long a request may bring no data, or less than [MinPace]. Zero means 30 seconds, as the --speed-time of curl.
	Stall time.Duration
	// UserAgent is sent with requests. Empty means that of net/http.
	UserAgent string
}

func (o *Options) withDefaults() Options {
	var opts Options
	if o != nil {
		opts = *o
	}
	opts.BlockBytes = cmp.Or(opts.BlockBytes, 64<<10)
	opts.CacheBytes = cmp.Or(opts.CacheBytes, 16<<20)
	opts.MaxRequestBytes = cmp.Or(opts.MaxRequestBytes, 4<<20)
	opts.MaxRequests = cmp.Or(opts.MaxRequests, 4)
	opts.Attempts = cmp.Or(opts.Attempts, 4)
	opts.Timeout = cmp.Or(opts.Timeout, 5*time.Minute)
	opts.Stall = cmp.Or(opts.Stall, 30*time.Second)
	return opts
}

// A File is a file on an HTTP server.
type File struct {
	client *http.Client
	url    *url.URL
	opts   Options
	size   int64
	identity

	ctx    context.Context // of all requests
	cancel context.CancelCauseFunc
	sleep  func(context.Context, time.Duration) error
	turns  chan struct{} // one for each request
	work   sync.WaitGroup

	bytes atomic.Int64

	// mu guards what follows.
	mu      sync.Mutex
	cache   *simplelru.LRU[int64, *block]
	pending map[int64]*block // being fetched
	streams [8]stream
	failed  error // set once, for all reads
}

// A block is a part of the file at a multiple of Options.BlockBytes.
type block struct {
	done chan struct{} // closed when data or err is set
	data []byte
	err  error
}

// A stream is a sequence of reads that follow each other.
type stream struct {
	next  int64 // the block after the last request
	ahead int64 // blocks that the last request fetched beyond what was asked for
	used  int64 // turns of the streams by last use
}

// Open requests the beginning of a file, and returns the File if the server serves ranges of it. The client decides about redirects
// and addresses; nil means http.DefaultClient. The context is that of all requests of the File, which must be closed.
func Open(ctx context.Context, client *http.Client, rawURL string, opts *Options) (*File, error) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" { // the error would repeat a password
		return nil, errors.New("invalid URL of a file, want http://HOST/PATH or https://HOST/PATH")
	}
	if client == nil {
		client = http.DefaultClient
	}
	f := &File{client: client, url: u, opts: opts.withDefaults(), size: -1, sleep: sleep, pending: map[int64]*block{}}
	f.turns = make(chan struct{}, f.opts.MaxRequests)
	if f.cache, err = simplelru.NewLRU[int64, *block](max(1, f.opts.CacheBytes/f.opts.BlockBytes), nil); err != nil {
		return nil, err
	}
	f.ctx, f.cancel = context.WithCancelCause(ctx)
	b := &block{done: make(chan struct{})}
	f.pending[0] = b
	f.work.Add(1)
	f.fetch(0, []*block{b})
	if b.err != nil {
		f.cancel(ErrClosed)
		return nil, b.err
	}
	return f, nil
}

// Size returns the size of the file in bytes.
func (f *File) Size() int64 { return f.size }

// ETag returns the ETag that the server sent when the file was opened, "" if it sent none.
func (f *File) ETag() string { return f.etag }

// LastModified returns the Last-Modified that the server sent when the file was opened, "" if it sent none.
func (f *File) LastModified() string { return f.lastModified }

// Bytes returns how many bytes of the file have been received.
func (f *File) Bytes() int64 { return f.bytes.Load() }

// Close ends all requests and waits for them. Reads after it return [ErrClosed].
func (f *File) Close() error {
	f.fail(ErrClosed)
	f.cancel(ErrClosed)
	f.work.Wait()
	return nil
}

// ReadAt implements [io.ReaderAt].
func (f *File) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fmt.Errorf("%s: read at the negative offset %d", Redacted(f.url), off)
	}
	for n < len(p) {
		if off >= f.size {
			return n, io.EOF
		}
		// A request cannot fetch more at once.
		part := p[n:min(len(p), n+f.opts.MaxRequestBytes)]
		if int64(len(part)) > f.size-off {
			part = part[:f.size-off]
		}
		k, err := f.readPart(part, off)
		n += k
		off += int64(k)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// readPart reads bytes that are in the file.
func (f *File) readPart(p []byte, off int64) (n int, err error) {
	size := int64(f.opts.BlockBytes)
	first, last := off/size, (off+int64(len(p))-1)/size
	blocks, err := f.blocks(first, last)
	if err != nil {
		return 0, err
	}
	for i, b := range blocks {
		<-b.done
		if b.err != nil {
			return n, b.err
		}
		n += copy(p[n:], b.data[max(0, off-(first+int64(i))*size):])
	}
	return n, nil
}

// blocks returns blocks of the file, and starts requests for those that are neither there nor on their way.
func (f *File) blocks(first, last int64) ([]*block, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed != nil {
		return nil, f.failed
	}
	blocks := make([]*block, 0, last-first+1)
	var run []*block // adjacent blocks to request, which end before the block i
	for i := first; i <= last; i++ {
		b, known := f.known(i)
		if known {
			f.start(i, run)
			run = nil
		} else {
			b = f.add(i)
			run = append(run, b)
		}
		blocks = append(blocks, b)
	}
	if len(run) > 0 {
		end := last + 1
		for range f.readAhead(end-int64(len(run)), end) {
			if f.pending[end] != nil || f.cache.Contains(end) {
				break
			}
			run = append(run, f.add(end))
			end++
		}
		f.start(end, run)
	}
	return blocks, nil
}

// known returns a block that is there or on its way. The caller holds mu.
func (f *File) known(i int64) (*block, bool) {
	if b, ok := f.pending[i]; ok {
		return b, true
	}
	return f.cache.Get(i)
}

// add returns a new block, of which the caller, who holds mu, starts a request.
func (f *File) add(i int64) *block {
	b := &block{done: make(chan struct{})}
	f.pending[i] = b
	return b
}

// readAhead returns how many blocks to request after those from first to end. The caller holds mu.
func (f *File) readAhead(first, end int64) int64 {
	s := &f.streams[0]
	newest := int64(0)
	for i := range f.streams {
		t := &f.streams[i]
		newest = max(newest, t.used)
		if t.next == first && t.used > 0 {
			s = t
		} else if t.used < s.used && !(s.next == first && s.used > 0) {
			s = t
		}
	}
	sequential := s.next == first && s.used > 0
	s.used = newest + 1
	if !sequential {
		s.next, s.ahead = end, 0
		return 0
	}
	// As much as has been requested, so that at most as much is in vain as was of use.
	most := max(0, int64(f.opts.MaxRequestBytes/f.opts.BlockBytes)-(end-first))
	s.ahead = min(2*s.ahead+end-first, most, (f.size-1)/int64(f.opts.BlockBytes)+1-end)
	s.next = end + s.ahead
	return s.ahead
}

// start fetches blocks that end before the block end. The caller holds mu.
func (f *File) start(end int64, run []*block) {
	if len(run) > 0 {
		f.work.Add(1)
		go f.fetch(end-int64(len(run)), run) // it ends with its blocks, after its attempts, or with the context
	}
}

// fetch requests adjacent blocks until all are there, or the attempts have been used.
func (f *File) fetch(first int64, run []*block) {
	defer f.work.Done()
	wait := retryWait
	for attempt := 1; len(run) > 0; attempt++ {
		n, err := f.fetchOnce(first, run)
		first, run = first+int64(n), run[n:]
		if err == nil {
			return
		}
		if n > 0 {
			attempt, wait = 1, retryWait
		}
		again, ok := errors.AsType[retryable](err)
		if ok && attempt < f.opts.Attempts && again.after <= maxRetryAfter {
			// A random part keeps many clients of one server from coming back together.
			if f.sleep(f.ctx, max(wait-rand.N(wait/2), again.after)) == nil {
				wait *= 2
				continue
			}
		}
		if cause := context.Cause(f.ctx); cause != nil {
			err = fmt.Errorf("%s: %w", Redacted(f.url), cause)
		}
		f.giveUp(first, run, err)
		return
	}
}

// fetchOnce makes one request, and returns how many blocks it completed.
func (f *File) fetchOnce(first int64, run []*block) (n int, err error) {
	select {
	case f.turns <- struct{}{}:
		defer func() { <-f.turns }()
	case <-f.ctx.Done():
		return 0, f.ctx.Err()
	}
	size := int64(f.opts.BlockBytes)
	err = f.get(first*size, int64(len(run))*size, func(body io.Reader, length int64) error {
		for ; n < len(run) && (length > 0 || f.size == 0); n++ {
			data := make([]byte, min(length, size))
			if _, err := io.ReadFull(body, data); err != nil {
				return err
			}
			length -= int64(len(data))
			f.complete(first+int64(n), run[n], data)
		}
		return nil
	})
	return n, err
}

// complete sets the data of a block.
func (f *File) complete(i int64, b *block, data []byte) {
	b.data = data
	f.mu.Lock()
	delete(f.pending, i)
	f.cache.Add(i, b)
	f.mu.Unlock()
	close(b.done)
}

// giveUp sets the error of blocks that could not be fetched. Another read of them makes new requests, unless the file has changed.
func (f *File) giveUp(first int64, run []*block, err error) {
	if errors.Is(err, ErrChanged) {
		f.fail(err)
	}
	f.mu.Lock()
	for i := range run {
		delete(f.pending, first+int64(i))
	}
	f.mu.Unlock()
	for _, b := range run {
		b.err = err
		close(b.done)
	}
}

// fail makes all reads return err.
func (f *File) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed == nil {
		f.failed = err
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
