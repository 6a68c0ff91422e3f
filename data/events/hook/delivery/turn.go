package delivery

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"

	"limnomap/data"
	"limnomap/data/events/eventfeed"
	"limnomap/data/events/hook"
)

// serve sends what is due to a webhook, until there is no more, what is next has failed, or others should get the place. A turn for official statements
// ends with them.
func (d *Deliverer) serve(ctx context.Context, id string, place *Place) (err error) {
	h, taken, err := d.Store.LeaseHook(ctx, id, d.Holder, d.now(), d.now().Add(lease))
	if err != nil || !taken {
		return err
	}
	defer func() {
		releasing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = errors.Join(err, d.Store.ReleaseHook(releasing, id, d.Holder))
	}()
	t := &hookTurn{d, &h, place, time.Now().Add(d.turn)}
	for went := true; went && !t.over(); {
		if went, err = t.send(ctx, &h.Statements); err == nil && !went && !place.Urgent {
			went, err = t.send(ctx, &h.Progress)
		}
		if err != nil || h.State != hook.Active {
			return err
		}
	}
	return nil
}

// A hookTurn is the turn of a webhook.
type hookTurn struct {
	*Deliverer
	hook  *hook.Hook
	place *Place
	until time.Time
}

func (t *hookTurn) over() bool { return !time.Now().Before(t.until) }

// send sends a page of the events about official statements, or of the others, which ends when there is such a statement. It reports whether it went on:
// not if nothing is due, or if an event failed.
func (t *hookTurn) send(ctx context.Context, p *hook.Progress) (went bool, err error) {
	h := t.hook
	newest, _, places, ok := t.Newest()
	statements := p == &h.Statements
	if statements {
		newest = min(newest, t.looked.Load().statement)
	}
	if !ok || p.After >= newest || !p.Due(t.now()) {
		return false, nil
	}
	q := data.EventQuery{After: p.After, Until: newest, Statements: statements, Limit: eventPage}
	if len(h.Filter.Lakes) == 1 {
		q.Lake = h.Filter.Lakes[0]
	}
	events, err := t.Store.Events(ctx, q)
	if err != nil {
		return false, err
	}
	passed := newest // all that the page does not have
	if len(events) == q.Limit {
		passed = events[len(events)-1].Seq
	}
	for i := range events {
		e := &events[i]
		if e.Kind.OfAdvisory() != statements || !h.Filter.Matches(e, places) {
			continue
		}
		if ok, err := t.deliver(ctx, p, e, places); err != nil || !ok {
			return false, err
		}
		if t.over() || !statements && t.urgent(h, t.now()) {
			return true, nil
		}
	}
	if p.After < passed || p.Failures > 0 { // what failed is no longer in the log, or not for this webhook
		*p = hook.Progress{After: max(p.After, passed), DeliveredAt: p.DeliveredAt}
		t.followed()
		err = t.Store.PutDelivery(ctx, h, t.Holder, t.now().Add(lease), nil)
	}
	return true, err
}

// followed notes that no statement waits before the other events, if that is so.
func (t *hookTurn) followed() {
	l := t.looked.Load()
	if s := &t.hook.Statements; s.After >= l.statement {
		s.After = max(s.After, min(t.hook.After, l.newest)) // after newest there may be one
	}
}

// deliver sends an event and stores what came of it. It reports whether it was delivered.
func (t *hookTurn) deliver(ctx context.Context, p *hook.Progress, e *data.Event, places eventfeed.Places) (ok bool, err error) {
	h := t.hook
	present := t.Present()
	at := present.Now
	attempt := hook.Delivery{At: at, Seq: e.Seq, Event: e.ID, Attempt: p.Failures + 1}
	began := time.Now()
	result := Send(ctx, t.client, h, string(e.ID), hook.Body(e, places), at, t.UserAgent, t.AllowHTTP)
	if ctx.Err() != nil { // the server stops: this was no attempt of the receiver's
		return false, ctx.Err()
	}
	attempt.Status, attempt.Error, attempt.Duration = result.Status, result.Error, time.Since(began)
	t.place.Answered(attempt.Status != 0 && attempt.Duration < SlowAfter)
	if ok = result.Error == ""; ok {
		*p = hook.Progress{After: e.Seq, DeliveredAt: at}
		t.followed()
	} else {
		t.fail(h, p, &result, present)
	}
	t.Attempted(ok)
	return ok, t.Store.PutDelivery(ctx, h, t.Holder, t.now().Add(lease), &attempt)
}

// fail notes a failed attempt. An event that the receiver refuses, while it takes official statements, makes no webhook dead, which would get none of them.
func (d *Deliverer) fail(h *hook.Hook, p *hook.Progress, r *Result, at data.Present) {
	p.Failures++
	p.FailingSince = FailingSince(p.FailingSince, at.Now)
	p.LastError = r.Error
	p.NextAt = at.Now.Add(max(WaitAfter(p.Failures), r.RetryAfter))
	since := p.FailingSince
	if took := h.Statements.DeliveredAt; took.After(since) && !took.After(at.Now) {
		since = took
	}
	if r.Status == http.StatusGone || GivenUp(p.Failures, since, at) {
		h.State = hook.Dead
		d.Logger.Error("webhook is dead: its receiver failed for too long or is gone", "hook", h.ID, "failing_since", p.FailingSince, "error", p.LastError)
	} else if p.Failures == 1 {
		d.Logger.Warn("webhook failed; it is tried again", "hook", h.ID, "error", p.LastError)
	}
}

// FailingSince returns since when a receiver fails that failed at a time. What is stored may be zero, or of a clock that was ahead.
func FailingSince(stored, at time.Time) time.Time {
	if stored.IsZero() || stored.After(at) {
		return at
	}
	return stored
}

// GivenUp reports whether a receiver has failed for too long. While the clock is in doubt, none has.
func GivenUp(failures int, since time.Time, at data.Present) bool {
	return !at.Doubtful() && failures >= leastAttempts && at.Now.Sub(since) >= GiveUpAfter
}

// WaitAfter returns the wait after so many failures in a row.
func WaitAfter(failures int) time.Duration {
	b := backoff.ExponentialBackOff{InitialInterval: firstWait, Multiplier: 2, RandomizationFactor: 0.5, MaxInterval: hook.LongestWait}
	b.Reset()
	wait := firstWait
	for range min(failures, 32) {
		wait = b.NextBackOff()
	}
	return wait
}
