package refresh

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"limnomap/data"
	"limnomap/data/ingest"
	"limnomap/data/store"
)

// ErrBusy says that another process refreshes the database now.
var ErrBusy = errors.New("another process is refreshing the database")

const (
	// lease is for how long a refresh belongs to a process that gives no more sign of itself, and extendEvery how often
	// it does.
	lease       = 2 * time.Minute
	extendEvery = 30 * time.Second
	// The waits after a failed refresh double from the first to the second of these, unless the schedule comes before.
	firstRetry = time.Minute
	lastRetry  = time.Hour
	// lookAgain is how often the clock and the database are looked at while nothing is due: a machine may have slept.
	lookAgain = 10 * time.Minute
	// pause is for how long a database that does not answer is left alone.
	pause = time.Minute
	// endTimeout bounds the note that a refresh has failed, which is made even while the process is being stopped.
	endTimeout = 15 * time.Second
)

// A Schedule tells when the next refresh is due after one that began at the given time.
type Schedule interface {
	Next(time.Time) time.Time
}

// Options are the optional parameters of [New]. A nil *Options means all defaults.
type Options struct {
	// SkipBad imports the good rows; by default one bad row rejects the refresh.
	SkipBad bool
	// RequireChecksum rejects a file without a checksum.
	RequireChecksum bool
	// MaxBytes bounds a file of a URL. Zero means 2 GiB.
	MaxBytes int64
	// Timeout bounds one attempt at a file of a URL, and Stall each time in it during which nothing comes. Zero means an
	// hour and a minute.
	Timeout, Stall time.Duration
	// UserAgent is what servers are told of us.
	UserAgent string
	// Logger receives what becomes of refreshes, with the first rejected rows. Nil discards it.
	Logger *slog.Logger
	// Begin is told when a refresh begins, and by what it returns, how it ended; the refresh goes on in the context that it
	// returns. Nil: nobody is told.
	Begin func(context.Context) (_ context.Context, end func(error))
	// Transport is what URLs are asked through. Nil means one with the environment's proxies.
	Transport http.RoundTripper
}

// A Refresher refreshes one database from one source. It is for one goroutine.
type Refresher struct {
	store  store.Store
	from   []place
	opts   Options
	log    *slog.Logger
	client *http.Client
	now    func() time.Time
	sleep  func(context.Context, time.Duration) error
}

// New returns a Refresher of s from folders and URLs.
func New(s store.Store, from []string, opts *Options) (*Refresher, error) {
	if opts == nil {
		opts = &Options{}
	}
	r := &Refresher{store: s, opts: *opts, log: opts.Logger, now: time.Now, sleep: sleep}
	var err error
	if r.from, err = parsePlaces(from); err != nil {
		return nil, err
	}
	if r.opts.MaxBytes == 0 {
		r.opts.MaxBytes = 2 << 30
	}
	if r.opts.Timeout == 0 {
		r.opts.Timeout = time.Hour
	}
	if r.opts.Stall == 0 {
		r.opts.Stall = time.Minute
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	r.client = newClient(opts.Transport)
	return r, nil
}

// Check returns an error if [New] would not take from for a source.
func Check(from []string) error {
	_, err := parsePlaces(from)
	return err
}

func parsePlaces(from []string) ([]place, error) {
	switch n := len(from); {
	case n == 0:
		return nil, errors.New("refresh: there is no source: want a folder or an http:// or https:// URL")
	case n > maxFiles:
		return nil, fmt.Errorf("refresh: %d sources: %d are allowed", n, maxFiles)
	}
	var places []place
	seen := make(map[string]bool)
	for _, name := range from {
		p, err := parsePlace(name)
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
		places = append(places, p)
	}
	return places, nil
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
	// Unchanged says that the source is what it was at the last refresh that took all of it, and nothing was read.
	Unchanged bool
	Reports   ingest.Reports
}

// Once refreshes now, whatever the schedule. A rejected row is an error, unless SkipBad is set; Result tells of it.
// [ErrBusy] says that another process is at it.
func (r *Refresher) Once(ctx context.Context) (Result, error) {
	state, err := r.store.Refresh(ctx)
	if err != nil {
		return Result{}, err
	}
	result, err := r.refresh(ctx, state)
	if errors.Is(err, ErrBusy) {
		if now, serr := r.store.Refresh(ctx); serr == nil && !now.HeldUntil.IsZero() {
			err = fmt.Errorf("%w; if that process has ended, try again after %s", err, now.HeldUntil.UTC().Format(time.RFC3339))
		}
	}
	return result, err
}

// Run refreshes by the schedule, at once if that is due, until ctx ends. It starts no goroutine that outlives a refresh.
// What becomes of it is in the log and in the database.
func (r *Refresher) Run(ctx context.Context, every Schedule) {
	answered := true
	for ctx.Err() == nil {
		state, err := r.store.Refresh(ctx)
		if err != nil && ctx.Err() == nil {
			if answered {
				r.log.Warn("refresh: the database does not tell when it was refreshed last", slog.Any("error", err))
			}
			answered = false
			_ = r.sleep(ctx, pause)
			continue
		}
		answered = true
		if wait := r.due(state, every).Sub(r.now()); wait > 0 {
			_ = r.sleep(ctx, min(wait, lookAgain)) // ends with ctx, as the loop does
			continue
		}
		started := r.now()
		result, err := r.refresh(ctx, state)
		r.tell(ctx, result, err, r.now().Sub(started))
		if err != nil {
			// Of what failed the database knows, and when to try again; of what could not even begin it does not.
			if now, err := r.store.Refresh(ctx); err != nil || now.Turn == state.Turn {
				_ = r.sleep(ctx, pause)
			}
		}
	}
}

// due returns when the next refresh is due: by the schedule, or sooner after one that failed. A schedule that was missed
// is due at once.
func (r *Refresher) due(s data.Refresh, every Schedule) time.Time {
	switch {
	case s.HeldUntil.Sub(r.now()) > lease+store.MaxClockSkew:
		return r.now() // who began it lived in a future that may be years away
	case !s.HeldUntil.IsZero():
		return s.HeldUntil // another process is at it, or was
	case s.LastAttempt.IsZero(), s.LastAttempt.Sub(r.now()) > store.MaxClockSkew:
		return r.now()
	}
	next := every.Next(s.LastAttempt.UTC())
	if s.LastError == "" {
		return next
	}
	wait := lastRetry
	if doublings := max(s.Failures-1, 0); doublings < 6 { // 64 minutes are more than the last
		wait = firstRetry << doublings
	}
	if retry := s.LastAttempt.Add(wait); retry.Before(next) {
		return retry
	}
	return next
}

// refresh refreshes now, if nobody else has done so since state.
func (r *Refresher) refresh(ctx context.Context, state data.Refresh) (result Result, err error) {
	if r.opts.Begin != nil {
		within, end := r.opts.Begin(ctx)
		ctx = within
		defer func() { end(err) }()
	}
	holder := rand.Text()
	switch claimed, err := r.store.ClaimRefresh(ctx, state.Turn, holder, lease); {
	case err != nil:
		return Result{}, err
	case !claimed:
		return Result{}, ErrBusy
	}
	c := r.hold(ctx, holder)
	defer c.cancel(nil)
	result, err = r.take(c)
	if lost := c.release(); err != nil && lost != nil && ctx.Err() == nil {
		err = lost
	}
	if err != nil {
		r.fail(ctx, holder, result, err)
	}
	return result, err
}

// A claim is the right to refresh, for as long as it is held. Its context ends if another process takes it.
type claim struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	holder string
	// release stops extending the claim, and returns an error if it was lost. Whoever ends a refresh does so first:
	// to extend one that has just ended would look like having lost it.
	release func() error
}

// hold keeps a claim until it is released or cancelled.
func (r *Refresher) hold(ctx context.Context, holder string) *claim {
	held, lose := context.WithCancelCause(ctx)
	extending, stop := context.WithCancel(held)
	done := make(chan struct{})
	go func() { // ends with release, or when the claim is lost
		defer close(done)
		for sleep(extending, extendEvery) == nil {
			// While SQLite is being written to, this has to wait, and so has everybody who would take the claim over.
			asked, end := context.WithTimeout(extending, extendEvery)
			if err := r.store.ExtendRefresh(asked, holder, lease); errors.Is(err, store.ErrClaimLost) {
				lose(fault(claimReason, "%w", err))
			}
			end()
		}
	}()
	return &claim{held, lose, holder, func() error {
		stop()
		<-done
		return context.Cause(held)
	}}
}

// fail notes a failure.
func (r *Refresher) fail(ctx context.Context, holder string, result Result, err error) {
	reason := reasonOf(err)
	if ctx.Err() != nil {
		reason = interruptedReason
	}
	ended := data.RefreshResult{Error: reason}
	if n := result.Reports.Rejected(); n > 0 {
		ended.Rows = &data.RefreshRows{Rejected: int64(n)}
	}
	note, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if err := r.store.EndRefresh(note, holder, ended); err != nil {
		r.log.Warn("refresh: its failure could not be noted", slog.Any("error", err))
	}
}

// tell writes to the log what became of a refresh.
func (r *Refresher) tell(ctx context.Context, result Result, err error, took time.Duration) {
	if errors.Is(err, ErrBusy) || err != nil && ctx.Err() != nil {
		return
	}
	r.tellBad(result.Reports)
	log := r.log.With(slog.Any("source", r.names()), slog.Duration("took", took.Round(time.Millisecond)))
	rows := rowsOf(result.Reports)
	switch {
	case err != nil:
		log.Warn("refresh failed, nothing of it was taken", slog.Any("error", err))
	case result.Unchanged:
		log.Info("refresh: nothing new")
	default:
		log.Info("refreshed", slog.Int64("added", rows.Added), slog.Int64("changed", rows.Changed),
			slog.Int64("unchanged", rows.Unchanged), slog.Int64("rejected", rows.Rejected))
	}
}

// tellBad writes the first rejected rows to the log.
func (r *Refresher) tellBad(reports ingest.Reports) {
	for _, report := range []ingest.Report{reports.Lakes, reports.Observations} {
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
		Added:     int64(r.Lakes.Added + r.Observations.Added),
		Changed:   int64(r.Lakes.Changed + r.Observations.Changed),
		Unchanged: int64(r.Lakes.Unchanged + r.Observations.Unchanged),
		Rejected:  int64(r.Rejected()),
	}
}
