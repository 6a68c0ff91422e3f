package refresh

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"limnomap/data"
	"limnomap/data/diskspace"
	"limnomap/data/ingest"
	"limnomap/data/ingest/rangefile"
	"limnomap/data/ingest/satellite"
	"limnomap/data/store"
)

// ErrBusy is returned if another process is refreshing the database.
var ErrBusy = errors.New("another process is refreshing the database")

const (
	// lease is how long a refresh is reserved for a process that does not extend its claim, and extendEvery how often it
	// extends it.
	lease       = 2 * time.Minute
	extendEvery = 30 * time.Second
	// The waits after failed refreshes double from the first to the second of these, unless the schedule is earlier.
	firstRetry = time.Minute
	lastRetry  = time.Hour
	// pollInterval is how often the clock and the database are read while nothing is due: the machine may have slept.
	pollInterval = 10 * time.Minute
	// pause is the wait after an error of the database.
	pause = time.Minute
	// maxExpansion is how many times Options.MaxTotal the files may have after decompression: tables compress to an eighth.
	maxExpansion = 8
	// besideOnce is how often a refresh without a schedule imports the tables again while it reads satellite files: other processes with
	// this database wait for it, and a closure must be known within a minute.
	besideOnce = time.Minute
	// endTimeout bounds storing a failure, which is done even while the process is being stopped.
	endTimeout = 15 * time.Second
)

// A Schedule returns when the next refresh is due after the one that began at the given time.
type Schedule interface {
	Next(time.Time) time.Time
}

// A period is a schedule by a fixed time.
type period time.Duration

func (p period) Next(t time.Time) time.Time { return t.Add(time.Duration(p)) }

// Options are the optional parameters of [New]. A nil *Options means all defaults.
type Options struct {
	// SkipBad imports the good rows; by default one bad row rejects the refresh.
	SkipBad bool
	// RequireChecksum rejects a file without a checksum.
	RequireChecksum bool
	// MaxBytes bounds a file of a URL. Zero means 2 GiB.
	MaxBytes int64
	// MaxTotal bounds all files of one refresh together, in folders and of URLs, as they are stored there; after
	// decompression they may have [maxExpansion] times as many bytes. Zero means 8 GiB.
	MaxTotal int64
	// ImportTimeout bounds the import of all files. Zero means [ingest.DefaultTimeout].
	ImportTimeout time.Duration
	// Timeout bounds the time to fetch the file of a URL, with all attempts, and four times as much that to fetch a satellite file or to
	// read it by ranges. Stall bounds each time without data, or with less than [rangefile.MinPace]. Zero means an hour and a minute.
	Timeout, Stall time.Duration
	// UserAgent is sent to servers.
	UserAgent string
	// Logger receives the results of refreshes, with the first rejected rows. Nil discards them.
	Logger *slog.Logger
	// Newest is how many dates of satellite files are read of a folder or a list, the newest ones. Zero means 12.
	Newest int
	// MaxRasterBytes bounds a satellite file that is downloaded. Zero means 8 GiB.
	MaxRasterBytes int64
	// CatalogueBase is where the s3_path of a file in a list is found over HTTP. Nil means nowhere.
	CatalogueBase *url.URL
	// Begin, if not nil, is called when a refresh begins. The refresh uses the context that it returns, and calls end with
	// its result.
	Begin func(context.Context) (_ context.Context, end func(error))
	// After, if not nil, is called after each refresh of this process, also if nothing was new, or not all satellite files could be used. Of
	// several processes the one that did the refresh calls it. [Refresher.Run] does not wait for it with the next refresh, after which it is called again.
	// If it fails and asks for it, it is called again after a minute, then after twice as long each time, up to an hour.
	After func(context.Context) (retry bool, err error)
	// Transport sends the requests. Nil means one with the environment's proxies.
	Transport http.RoundTripper
}

// A Store is the database to refresh: see [store.Store].
type Store interface {
	ingest.Store
	CheckSpace(files int64) error
	Latest(ctx context.Context, now time.Time) time.Time
	Refresh(ctx context.Context) (data.Refresh, error)
	RefreshFiles(ctx context.Context) ([]data.RefreshFile, error)
	LeaseRefresh(ctx context.Context, turn int64, holder string, lease time.Duration) (bool, error)
	ExtendRefresh(ctx context.Context, holder string, lease time.Duration) error
	EndRefresh(ctx context.Context, holder string, result data.RefreshResult) error
	RasterRecords(ctx context.Context) ([]data.RasterRecord, error)
	BeginRaster(ctx context.Context, holder string, record data.RasterRecord) error
	PutRaster(ctx context.Context, holder string, record data.RasterRecord) error
}

// A Refresher refreshes one database from one source. It is not safe for concurrent use.
type Refresher struct {
	store  Store
	from   []source
	opts   Options
	log    *slog.Logger
	client *http.Client
	now    func() time.Time
	sleep  func(context.Context, time.Duration) error
	space  func(dir string, need int64) error // diskspace.Check
	ranges rangefile.Options
	// extractFile is satellite.Collect.
	extractFile func(context.Context, satellite.File, []satellite.Lake, *satellite.Options) (*satellite.Values, error)
	late        string          // why satellite files, or a late table, could not be read by the last refresh; "" if they could
	lists       sync.Map        // keys of the URLs that had a list of satellite files
	away        map[string]bool // keys of the URLs of tables that the last refresh had to leave out
}

// A Source is where a Refresher finds files.
type Source struct {
	// From is a folder, or the http:// or https:// URL of a file or of a list of satellite files.
	From string
	// Satellite says how the satellite files of this source are read. Nil means the defaults.
	Satellite *satellite.Options
	// Table says how its tables write what their content does not show. Nil means that it is detected.
	Table *ingest.TableFormat
}

// New returns a Refresher of s.
func New(s Store, from []Source, opts *Options) (*Refresher, error) {
	if opts == nil {
		opts = &Options{}
	}
	r := &Refresher{store: s, opts: *opts, log: opts.Logger, now: time.Now, sleep: sleep, space: diskspace.Check, extractFile: satellite.Collect,
		ranges: rangefile.Options{UserAgent: opts.UserAgent}, away: make(map[string]bool)}
	var err error
	if r.from, err = parseSources(from); err != nil {
		return nil, err
	}
	r.opts.MaxBytes = cmp.Or(r.opts.MaxBytes, 2<<30)
	r.opts.MaxTotal = cmp.Or(r.opts.MaxTotal, 8<<30)
	r.opts.MaxRasterBytes = cmp.Or(r.opts.MaxRasterBytes, 8<<30)
	r.opts.Newest = cmp.Or(r.opts.Newest, 12)
	r.opts.ImportTimeout = cmp.Or(r.opts.ImportTimeout, ingest.DefaultTimeout)
	r.opts.Timeout = cmp.Or(r.opts.Timeout, time.Hour)
	r.opts.Stall = cmp.Or(r.opts.Stall, time.Minute)
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	r.client = newClient(opts.Transport)
	return r, nil
}

// Check returns an error if [New] would reject from.
func Check(from []Source) error {
	_, err := parseSources(from)
	return err
}

func parseSources(from []Source) ([]source, error) {
	switch n := len(from); {
	case n == 0:
		return nil, errors.New("refresh: there is no source: want a folder or an http:// or https:// URL")
	case n > maxFiles:
		return nil, fmt.Errorf("refresh: %d sources: at most %d are allowed", n, maxFiles)
	}
	var sources []source
	seen := make(map[string]bool)
	for _, s := range from {
		p, err := parseSource(s.From)
		if err != nil {
			return nil, fmt.Errorf("refresh: %w", err)
		}
		key := p.folder
		if p.url != nil {
			key = p.key()
		}
		if seen[key] {
			return nil, fmt.Errorf("refresh: %s is named twice", p)
		}
		seen[key] = true
		p.satellite, p.table = s.Satellite, s.Table
		if s.Table != nil {
			if err := s.Table.Check(); err != nil {
				return nil, fmt.Errorf("refresh: %s: %w", p, err)
			}
		}
		sources = append(sources, p)
	}
	return sources, nil
}

// sleep waits for d, or returns the error of ctx if that ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// A Result is what a refresh did.
type Result struct {
	// Unchanged is true if the source has not changed since the last complete refresh, so that nothing was imported.
	Unchanged bool
	Reports   ingest.Reports
	// Rasters are the satellite files that were read, in this order.
	Rasters []RasterResult
}

// RunOnce refreshes now, whatever the schedule. A rejected row is an error, unless SkipBad is set; the Result has the
// details. A satellite file that cannot be used is an error too, after the others were imported; those that could not be used before
// are read again. The error is [ErrBusy] while another process refreshes the database.
func (r *Refresher) RunOnce(ctx context.Context) (Result, error) {
	state, err := r.store.Refresh(ctx)
	if err != nil {
		return Result{}, err
	}
	result, err := r.refresh(ctx, state, true, period(besideOnce))
	var after error
	if r.opts.After != nil && imported(err) {
		_, after = r.opts.After(ctx)
	}
	if err == nil {
		err = rasterErrors(result.Rasters)
	}
	if after != nil {
		err = errors.Join(err, after)
	}
	if errors.Is(err, ErrBusy) {
		if now, serr := r.store.Refresh(ctx); serr == nil && !now.LeasedUntil.IsZero() {
			err = fmt.Errorf("%w; if that process has ended, try again after %s", err, now.LeasedUntil.UTC().Format(time.RFC3339))
		}
	}
	return result, err
}

// Run refreshes by the schedule until ctx ends, at once if a refresh is due. Results are logged and stored in the database.
func (r *Refresher) Run(ctx context.Context, every Schedule) {
	answered := true
	var after afterCalls
	defer after.end()
	for ctx.Err() == nil {
		after.begin(ctx, r)
		state, err := r.store.Refresh(ctx)
		if err != nil && ctx.Err() == nil {
			if answered && !errors.Is(err, data.ErrAway) { // who loads newer data tells of that
				r.log.Warn("refresh: cannot read the time of the last refresh", slog.Any("error", err))
			}
			answered = false
			_ = r.sleep(ctx, pause)
			continue
		}
		answered = true
		if wait := r.due(state, every).Sub(r.now()); wait > 0 {
			_ = r.sleep(ctx, min(wait, pollInterval)) // ends with ctx, as the loop does
			continue
		}
		started := r.now()
		result, err := r.refresh(ctx, state, false, every)
		r.logResult(ctx, result, err, r.now().Sub(started))
		if imported(err) {
			after.wanted = true
		}
		if err != nil {
			// The database knows about failed refreshes and when to try again, but not about refreshes that could not begin.
			if now, err := r.store.Refresh(ctx); err != nil || now.Turn == state.Turn {
				_ = r.sleep(ctx, pause)
			}
		}
	}
}

// imported reports whether a refresh that ended with that error has imported what it could.
func imported(err error) bool {
	_, isPartial := errors.AsType[partial](err)
	return err == nil || isPartial
}

// due returns when the next refresh is due: by the schedule, or sooner after a failed one. A missed refresh is due at
// once.
func (r *Refresher) due(s data.Refresh, every Schedule) time.Time {
	switch {
	case s.LeasedUntil.Sub(r.now()) > lease+store.MaxClockSkew:
		return r.now() // the clock of the process that began it was wrong
	case !s.LeasedUntil.IsZero():
		return s.LeasedUntil // another process is refreshing, or has ended during its refresh
	case s.LastAttempt.IsZero(), s.LastAttempt.Sub(r.now()) > store.MaxClockSkew:
		return r.now()
	}
	next := every.Next(s.LastAttempt.UTC())
	if s.LastError == "" {
		return next
	}
	wait := lastRetry
	if doublings := max(s.Failures-1, 0); doublings < 6 { // 64 minutes are more than lastRetry
		wait = firstRetry << doublings
	}
	if retry := s.LastAttempt.Add(wait); retry.Before(next) {
		return retry
	}
	return next
}

// refresh refreshes now, unless another process has done so since state. With force it also reads satellite files that could not be used.
// The tables are imported again by the schedule while it reads satellite files.
func (r *Refresher) refresh(ctx context.Context, state data.Refresh, force bool, every Schedule) (result Result, err error) {
	if r.opts.Begin != nil {
		within, end := r.opts.Begin(ctx)
		ctx = within
		defer func() { end(err) }()
	}
	holder := rand.Text()
	switch claimed, err := r.store.LeaseRefresh(ctx, state.Turn, holder, lease); {
	case err != nil:
		return Result{}, err
	case !claimed:
		return Result{}, ErrBusy
	}
	c := r.keepClaim(ctx, holder)
	defer c.late.end()
	defer c.cancel(nil)
	result, err = r.update(c, force, every)
	if _, ended := errors.AsType[partial](err); ended {
		return result, err
	}
	if lost := c.release(); err != nil && lost != nil && ctx.Err() == nil {
		err = lost
	}
	if err != nil {
		r.storeFailure(ctx, holder, result, err)
	}
	return result, err
}

// A claim is the right to refresh. Its context ends if another process takes it over.
type claim struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	holder string
	late   *lateTables
	// release stops extending the claim, and returns an error if it was lost. Call it before the end of a refresh:
	// extending a claim that has just ended looks the same as having lost it.
	release func() error
}

// keepClaim extends a claim until it is released or cancelled.
func (r *Refresher) keepClaim(ctx context.Context, holder string) *claim {
	held, lose := context.WithCancelCause(ctx)
	extending, stop := context.WithCancel(held)
	done := make(chan struct{})
	go func() { // ends with release, or if the claim is lost
		defer close(done)
		for sleep(extending, extendEvery) == nil {
			// While another process writes to SQLite this must wait; so must a process that would take over the claim.
			asked, end := context.WithTimeout(extending, extendEvery)
			if err := r.store.ExtendRefresh(asked, holder, lease); errors.Is(err, data.ErrLeaseLost) {
				lose(fault(claimReason, "%w", err))
			}
			end()
		}
	}()
	return &claim{held, lose, holder, r.newLateTables(held), func() error {
		stop()
		<-done
		return context.Cause(held)
	}}
}

// storeFailure stores a failure in the database.
func (r *Refresher) storeFailure(ctx context.Context, holder string, result Result, err error) {
	reason := reasonOf(err)
	if ctx.Err() != nil {
		reason = interruptedReason
	}
	note, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if err := r.store.EndRefresh(note, holder, failure(reason, result)); err != nil {
		r.log.Warn("refresh: cannot store the failure", slog.Any("error", err))
	}
}

// failure returns what the database stores of a failure.
func failure(reason string, result Result) data.RefreshResult {
	ended := data.RefreshResult{Error: reason}
	if n := result.Reports.Rejected(); n > 0 {
		ended.Rows = &data.RefreshRows{Rejected: int64(n)}
	}
	return ended
}

// logResult logs the result of a refresh.
func (r *Refresher) logResult(ctx context.Context, result Result, err error, took time.Duration) {
	if errors.Is(err, ErrBusy) || err != nil && ctx.Err() != nil {
		return
	}
	r.logRejected(result.Reports)
	log := r.log.With(slog.Any("source", r.names()), slog.Int64("duration_ms", took.Milliseconds()))
	rows := rowsOf(result.Reports)
	_, isPartial := errors.AsType[partial](err)
	switch {
	case isPartial, err != nil && len(result.Rasters) > 0:
		log.Warn("refresh: not all files were imported; trying again", slog.Any("error", err))
	case err != nil:
		log.Warn("refresh failed: nothing was imported", slog.Any("error", err))
	case result.Unchanged:
		log.Info("refresh: nothing new")
	default:
		log.Info("refreshed", slog.Int64("added", rows.Added), slog.Int64("changed", rows.Changed),
			slog.Int64("unchanged", rows.Unchanged), slog.Int64("rejected", rows.Rejected))
	}
}

// logRejected logs the first rejected rows.
func (r *Refresher) logRejected(reports ingest.Reports) {
	for _, report := range []ingest.Report{reports.Lakes, reports.Observations, reports.Advisories} {
		for _, bad := range report.Bad {
			r.log.Warn("refresh: row rejected", slog.String("row", bad.String()))
		}
	}
}

func (r *Refresher) names() []string {
	var names []string
	for _, p := range r.from {
		names = append(names, p.String())
	}
	return names
}

func rowsOf(r ingest.Reports) data.RefreshRows {
	return data.RefreshRows{
		Added:     int64(r.Lakes.Added + r.Observations.Added + r.Advisories.Added),
		Changed:   int64(r.Lakes.Changed + r.Observations.Changed + r.Advisories.Changed),
		Unchanged: int64(r.Lakes.Unchanged + r.Observations.Unchanged + r.Advisories.Unchanged),
		Rejected:  int64(r.Rejected()),
	}
}
