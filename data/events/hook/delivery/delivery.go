// Package delivery sends events to webhooks. Each event reaches each receiver at least once: those about official statements in their order, and before
// all others, which have theirs; neither waits for one of the other kind that fails. A receiver that fails is asked again later and later. One that is slow
// delays no other: each webhook that is due gets its turn before another one has its next, and [Shares] keeps places for receivers that answer.
package delivery

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"limnomap/data"
	"limnomap/data/events/eventfeed"
	"limnomap/data/events/hook"
	"limnomap/data/fetchguard"
)

const (
	// GiveUpAfter is how long a receiver may fail before its webhook is dead, and leastAttempts how often it must have failed: three days have some
	// twenty attempts, so that a clock that jumps kills none.
	GiveUpAfter   = 3 * 24 * time.Hour
	leastAttempts = 10
	// firstWait is the wait after the first failure; then waits double to hook.LongestWait.
	firstWait = 5 * time.Second

	requestTimeout = 15 * time.Second
	// SlowAfter is when a receiver counts as one that does not answer, for its share of the places.
	SlowAfter = 5 * time.Second
	// maxAnswer is how much of an answer is read; only its status matters.
	maxAnswer = 4 << 10
	// atOnce is how many webhooks are sent to at the same time by one server.
	atOnce = 64
	// lease is how long a server has a webhook for itself without a sign of life: longer than any request.
	lease = 30 * time.Second
	// turn is how long a webhook with many events is sent to before others get its place.
	turn      = 30 * time.Second
	pollEvery = time.Second
	eventPage = 500
	maxError  = 300 // characters
)

// A Store has the webhooks and the log of events.
type Store interface {
	Events(ctx context.Context, q data.EventQuery) ([]data.Event, error)
	// Hooks returns all webhooks that can be read. If some cannot, the error is [hook.ErrBroken].
	Hooks(ctx context.Context) ([]hook.Hook, error)
	// LeaseHook gives a webhook that is active to a holder until a time, unless another one has it.
	LeaseHook(ctx context.Context, id, holder string, now, until time.Time) (h hook.Hook, taken bool, err error)
	// PutDelivery stores the progress, and an attempt unless it is nil, and extends the lease. The error is [data.ErrLeaseLost] if holder has none.
	PutDelivery(ctx context.Context, h *hook.Hook, holder string, until time.Time, d *hook.Delivery) error
	ReleaseHook(ctx context.Context, id, holder string) error
}

// Options configure a Deliverer. All fields are required but Allow and AllowHTTP.
type Options struct {
	Store     Store
	Holder    string // a unique name of this process
	AllowHTTP bool
	Allow     []netip.Prefix // private addresses that may be reached
	UserAgent string
	Present   func() data.Present
	Logger    *slog.Logger
	// Newest returns the number of the newest event, a channel that is closed when there is another one, and the lakes; false before they are known.
	Newest    func() (newest int64, news <-chan struct{}, places eventfeed.Places, ok bool)
	Attempted func(ok bool)           // is called after each attempt
	Known     func(hooks []hook.Hook) // is called after each look at the webhooks
}

// A Deliverer sends events to webhooks while a server runs.
type Deliverer struct {
	Options
	client *http.Client

	shares *Shares       // tests have fewer places
	turn   time.Duration // tests have shorter turns
	ended  chan struct{} // has a value when a turn ended

	looked atomic.Pointer[looked]

	mu   sync.Mutex
	busy map[string]bool // webhooks that are being sent to

	// Of Run only:
	due    []hook.Hook      // that have not had their turn since the last look
	turns  int64            // that have begun
	served map[string]int64 // the number of the last turn of each webhook
	broken bool             // the last look found webhooks that cannot be read
}

// looked is what is known of the log: the number of the newest event about an official statement, 0 for none, among those up to newest.
type looked struct{ newest, statement int64 }

// New returns a Deliverer that does nothing before Run.
func New(o Options) *Deliverer {
	d := &Deliverer{Options: o, client: NewClient(o.Allow), shares: NewShares(atOnce), turn: turn, ended: make(chan struct{}, 1), busy: make(map[string]bool), served: make(map[string]int64)}
	d.looked.Store(new(looked))
	return d
}

// CheckReached returns an error for an address that a client of [NewClient] would refuse, as far as that is known here and now.
func CheckReached(ctx context.Context, address string, allow []netip.Prefix) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	return fetchguard.CheckPublicName(ctx, u.Hostname(), allow)
}

// NewClient returns a client for requests to public addresses, and to those in allow. It follows no redirects, uses no proxy, and gives up after
// some seconds.
func NewClient(allow []netip.Prefix) *http.Client {
	return &http.Client{
		Transport: fetchguard.NewPublic(&http.Transport{
			TLSHandshakeTimeout:    10 * time.Second,
			ResponseHeaderTimeout:  requestTimeout,
			MaxResponseHeaderBytes: 64 << 10,
		}, allow),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       requestTimeout,
	}
}

// Run sends until ctx ends, and waits for the requests in progress.
func (d *Deliverer) Run(ctx context.Context) {
	var group sync.WaitGroup
	defer group.Wait()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	failed := false
	look := true
	for {
		newest, news, _, ok := d.Newest()
		if ok && look {
			err := d.look(ctx, newest)
			if errors.Is(err, data.ErrAway) {
				err = nil // who loads newer data tells of it
			}
			if err != nil && !failed && ctx.Err() == nil {
				d.Logger.Error("webhooks cannot be read", "error", err)
			}
			failed = err != nil
		}
		if ok {
			d.start(ctx, &group)
		}
		look = true
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-news:
		case <-d.ended:
			look = false
		}
	}
}

// look finds the webhooks that are due, first those with an official statement, and then those whose last turn is longest ago. Otherwise as many slow
// receivers with a backlog as there are places would keep all of them. One that cannot be read keeps no other from its turn.
func (d *Deliverer) look(ctx context.Context, newest int64) error {
	if newest != d.looked.Load().newest {
		last, err := d.Store.Events(ctx, data.EventQuery{Until: newest, Statements: true, Descending: true, Limit: 1})
		if err != nil {
			return err
		}
		l := &looked{newest: newest}
		if len(last) > 0 {
			l.statement = last[0].Seq
		}
		d.looked.Store(l)
	}
	hooks, err := d.Store.Hooks(ctx)
	broken := errors.Is(err, hook.ErrBroken)
	if err != nil && !broken {
		return err
	}
	if broken && !d.broken {
		d.Logger.Error("webhooks cannot be read and are passed over", "error", err)
	}
	d.broken = broken
	d.Known(hooks)
	served := make(map[string]int64, len(hooks)) // without those that are deleted
	for i := range hooks {
		served[hooks[i].ID] = d.served[hooks[i].ID]
	}
	d.served = served
	now := d.now()
	d.due = slices.DeleteFunc(slices.Clone(hooks), func(h hook.Hook) bool {
		return h.State != hook.Active || !d.urgent(&h, now) && (h.After >= newest || !h.Due(now))
	})
	slices.SortStableFunc(d.due, func(a, b hook.Hook) int {
		if urgent := d.urgent(&a, now); urgent != d.urgent(&b, now) {
			if urgent {
				return -1
			}
			return 1
		}
		return cmp.Compare(served[a.ID], served[b.ID])
	})
	return nil
}

// urgent reports whether an event about an official statement is due. The webhook may not want it.
func (d *Deliverer) urgent(h *hook.Hook, now time.Time) bool {
	return h.Statements.After < d.looked.Load().statement && h.Statements.Due(now)
}

// start starts a turn of each webhook that is due, as far as there are places.
func (d *Deliverer) start(ctx context.Context, group *sync.WaitGroup) {
	now, round := d.now(), d.shares.Round()
	d.due = slices.DeleteFunc(d.due, func(h hook.Hook) bool {
		if d.shares.Full() || !d.begin(h.ID) {
			return false
		}
		t := Turn{Host: hostOf(h.URL), Urgent: d.urgent(&h, now), Retry: h.Failures > 0}
		if t.Urgent {
			t.Retry = h.Statements.Failures > 0
		}
		place := round.Take(t)
		if place == nil {
			d.end(h.ID)
			return false
		}
		d.turns++
		d.served[h.ID] = d.turns
		group.Go(func() {
			if err := d.serve(ctx, h.ID, place); err != nil && ctx.Err() == nil && !errors.Is(err, data.ErrLeaseLost) {
				d.Logger.Error("webhook could not be served", "hook", h.ID, "error", err)
			}
			d.end(h.ID)
			place.Return()
			select {
			case d.ended <- struct{}{}:
			default:
			}
		})
		return true
	})
}

// hostOf returns the host and port of a webhook.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

func (d *Deliverer) now() time.Time { return d.Present().Now }

func (d *Deliverer) begin(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.busy[id] {
		return false
	}
	d.busy[id] = true
	return true
}

func (d *Deliverer) end(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.busy, id)
}

// A Result is what came of a request.
type Result struct {
	Status     int           // 0 without an answer
	Error      string        // empty if the receiver took the request; without secrets
	RetryAfter time.Duration // for which the receiver asks; 0 for none
}

// Send sends one request. A receiver takes it with a status of 200 to 299.
func Send(ctx context.Context, client *http.Client, h *hook.Hook, id string, body []byte, at time.Time, userAgent string, allowHTTP bool) (r Result) {
	fail := func(err error) Result {
		r.Error = printable(err.Error())
		if len(r.Error) > maxError {
			r.Error = strings.ToValidUTF8(r.Error[:maxError], "") + "…"
		}
		return r
	}
	if err := hook.CheckURL(h.URL, allowHTTP); err != nil {
		return fail(err)
	}
	signed, err := h.Sign(id, at, body)
	if err != nil {
		return fail(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return fail(WithoutURL(err))
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("webhook-id", signed.ID)
	req.Header.Set("webhook-timestamp", signed.Timestamp)
	req.Header.Set("webhook-signature", signed.Signature)
	resp, err := client.Do(req)
	if err != nil {
		return fail(WithoutURL(err))
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer)) // only to be polite: the status is known
	r.Status = resp.StatusCode
	switch {
	case r.Status >= 200 && r.Status < 300:
		return r
	case r.Status >= 300 && r.Status < 400:
		return fail(fmt.Errorf("the receiver answers with a redirect (%s); redirects are not followed", StatusText(r.Status)))
	}
	r.RetryAfter = RetryAfter(resp, at)
	return fail(fmt.Errorf("the receiver answers %s", StatusText(r.Status)))
}

// RetryAfter returns the wait that a receiver asks for at a time, at most [hook.LongestWait]; 0 for none.
func RetryAfter(resp *http.Response, at time.Time) time.Duration {
	return min(fetchguard.RetryAfter(resp.Header, at), hook.LongestWait)
}

// StatusText returns a status with the name that HTTP has for it. The receiver's own text may be anything.
func StatusText(status int) string {
	return strings.TrimRight(fmt.Sprintf("%d %s", status, http.StatusText(status)), " ")
}

// printable returns s with a replacement for each character that a terminal does not just show: an error of net/http may quote the receiver.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// WithoutURL returns the reason in an error of a client, without the URL: its path or query may be a secret.
func WithoutURL(err error) error {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("no answer within %v", requestTimeout)
	}
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
