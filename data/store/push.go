package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"limnomap/data"
	"limnomap/data/events/push"
)

const (
	// queuePage is how many pairs of an event and a subscription go into the queue at once.
	queuePage = 2000
	// maxPending is how many events of one subscription are told at once: those of a hundred lakes in some weeks.
	maxPending = 500
)

// PutSubscription stores a subscription, or renews and changes that of the same endpoint. The error is [push.ErrManySubscriptions] if there
// are too many.
func (s *Store) PutSubscription(ctx context.Context, p push.Subscription) error {
	return s.db.update(ctx, "store a subscription", func(q querier) error {
		w := writer{ctx: ctx, q: q}
		n := w.exec(`UPDATE limnomap.push_subscriptions SET p256dh = $2, auth = $3, threshold = $4, daily = $5, zone = $6, renewed_at = $7 WHERE id = $1`,
			p.ID, p.P256dh, p.Auth, p.Threshold.String(), flag(p.Daily), p.Zone, p.RenewedAt.Unix())
		if n == 0 && w.err == nil {
			var count int
			if err := q.queryRow(ctx, "SELECT count(*) FROM limnomap.push_subscriptions").Scan(&count); err != nil {
				return err
			}
			if count >= push.MaxSubscriptions {
				return callerError{push.ErrManySubscriptions}
			}
			w.exec(`INSERT INTO limnomap.push_subscriptions (id, endpoint, p256dh, auth, threshold, daily, zone, renewed_at)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, p.ID, p.Endpoint, p.P256dh, p.Auth, p.Threshold.String(), flag(p.Daily), p.Zone, p.RenewedAt.Unix())
		}
		w.exec("DELETE FROM limnomap.push_lakes WHERE subscription = $1", p.ID)
		for _, id := range p.Lakes {
			w.exec("INSERT INTO limnomap.push_lakes (lake, subscription) VALUES ($1, $2)", string(id), p.ID)
		}
		// What waits is of lakes that are still wanted.
		w.exec(`DELETE FROM limnomap.push_queue WHERE subscription = $1 AND NOT EXISTS (SELECT 1 FROM limnomap.events AS e
			JOIN limnomap.push_lakes AS l ON l.lake = e.lake AND l.subscription = $1 WHERE e.seq = limnomap.push_queue.seq)`, p.ID)
		return w.err
	})
}

// flag returns 1 for true: PostgreSQL's booleans are not SQLite's.
func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// DeleteSubscription removes a subscription with all that waits for it, or returns [push.ErrNoSubscription].
func (s *Store) DeleteSubscription(ctx context.Context, id string) error {
	return s.db.update(ctx, "delete a subscription", func(q querier) error {
		n, err := q.exec(ctx, "DELETE FROM limnomap.push_subscriptions WHERE id = $1", validText(id))
		if err == nil && n == 0 {
			err = callerError{push.ErrNoSubscription}
		}
		return err
	})
}

var subscriptionColumns = fmt.Sprintf("%s, %s, %s, %s, %s, s.daily, %s, s.renewed_at", atMost("s.id", maxIDBytes), atMost("s.endpoint", push.MaxEndpointBytes),
	atMost("s.p256dh", maxIDBytes), atMost("s.auth", maxIDBytes), atMost("s.threshold", maxIDBytes), atMost("s.zone", maxIDBytes))

// A subscriptionRow is a row with subscriptionColumns.
type subscriptionRow struct {
	subscription   push.Subscription
	threshold      string
	daily, renewed int64
}

func (r *subscriptionRow) columns() []any {
	p := &r.subscription
	return []any{textColumn[string]{&p.ID, "id", maxIDBytes}, textColumn[string]{&p.Endpoint, "endpoint", push.MaxEndpointBytes},
		textColumn[string]{&p.P256dh, "p256dh", maxIDBytes}, textColumn[string]{&p.Auth, "auth", maxIDBytes}, textColumn[string]{&r.threshold, "threshold", maxIDBytes},
		&r.daily, textColumn[string]{&p.Zone, "zone", maxIDBytes}, &r.renewed}
}

// read returns what was scanned.
func (r *subscriptionRow) read() (push.Subscription, error) {
	var err error
	r.subscription.Daily, r.subscription.RenewedAt = r.daily != 0, timeOrZero(sql.NullInt64{Int64: r.renewed, Valid: true})
	r.subscription.Threshold, err = push.ParseThreshold(r.threshold)
	return r.subscription, err
}

// A wanted is an event of a lake that a subscription names.
type wanted struct {
	push.Subscription
	event data.Event
}

var wantedQuery = "SELECT " + eventColumns + ", " + subscriptionColumns + `
	FROM limnomap.events AS e JOIN limnomap.event_moments AS m ON m.number = e.moment
		JOIN limnomap.push_lakes AS l ON l.lake = e.lake JOIN limnomap.push_subscriptions AS s ON s.id = l.subscription
	WHERE e.seq >= $1 AND e.seq <= $2 AND (e.seq > $1 OR s.id > $3) ORDER BY e.seq, s.id LIMIT $4`

// QueueNotifications puts some of the events up to newest that subscriptions want into the queue, and reports whether there are more.
func (s *Store) QueueNotifications(ctx context.Context, newest int64, now time.Time) (more bool, err error) {
	err = s.db.update(ctx, "queue notifications", func(q querier) error {
		more = false
		// Changing the row first lets one process at a time do this.
		if _, err := q.exec(ctx, "UPDATE limnomap.push_state SET one = 1"); err != nil {
			return err
		}
		var after sql.NullInt64
		var last string
		if err := q.queryRow(ctx, "SELECT after_seq, "+atMost("after_subscription", maxIDBytes)+" FROM limnomap.push_state").
			Scan(&after, textColumn[string]{&last, "after_subscription", maxIDBytes}); err != nil {
			return err
		}
		var pairs []wanted
		if after.Valid && after.Int64 > newest {
			logged, err := lastMoment(ctx, q)
			if err != nil || logged.LastSeq >= after.Int64 {
				return err // another process was faster
			}
		} // otherwise the log was replaced, perhaps by a backup: what it has by then is no news, as at the first time
		if after.Valid && after.Int64 <= newest && (after.Int64 < newest || last != lastSubscription) {
			var err error
			if pairs, err = collect(ctx, q, scanWanted, wantedQuery, after.Int64, newest, last, queuePage); err != nil {
				return err
			}
		}
		w := writer{ctx: ctx, q: q}
		for i := range pairs {
			if p := &pairs[i]; p.Wants(&p.event) {
				w.exec("INSERT INTO limnomap.push_queue (subscription, seq, due_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
					p.ID, p.event.Seq, p.DueAt(&p.event, now).Unix())
			}
		}
		seq, subscription := newest, lastSubscription
		if more = len(pairs) == queuePage; more {
			seq, subscription = pairs[len(pairs)-1].event.Seq, pairs[len(pairs)-1].ID
		}
		w.exec("UPDATE limnomap.push_state SET after_seq = $1, after_subscription = $2", seq, subscription)
		return w.err
	})
	return more && err == nil, err
}

// lastSubscription is after the id of each subscription.
const lastSubscription = "~"

func scanWanted(row rowScanner) (w wanted, err error) {
	var of subscriptionRow
	if w.event, err = scanEventAnd(row, of.columns()...); err != nil {
		return w, err
	}
	w.Subscription, err = of.read()
	return w, err
}

// DueSubscriptions returns the ids of subscriptions that may be told of something now, at most as many as given: first those with something
// urgent, then those for which something has been due for the longest time.
func (s *Store) DueSubscriptions(ctx context.Context, now time.Time, limit int) ([]string, error) {
	scan := func(row rowScanner) (id string, err error) {
		err = row.Scan(textColumn[string]{&id, "id", maxIDBytes})
		return id, err
	}
	return list(ctx, s, "find due notifications", scan, "SELECT "+atMost("s.id", maxIDBytes)+` FROM limnomap.push_subscriptions AS s
		JOIN (SELECT subscription, min(due_at) AS due_at FROM limnomap.push_queue WHERE due_at <= $1 GROUP BY subscription) AS due ON due.subscription = s.id
		WHERE (s.next_at IS NULL OR s.next_at <= $1) AND (s.holder = '' OR s.held_until <= $1) ORDER BY due.due_at, s.id LIMIT $2`, now.Unix(), limit)
}

// LeaseNotifications gives a subscription that is due to holder, a unique name, until a time, unless another process has it, with the events
// that it may be told of, in order.
func (s *Store) LeaseNotifications(ctx context.Context, id, holder string, now, until time.Time) (n push.Pending, taken bool, err error) {
	err = s.db.update(ctx, "take the lease of notifications", func(q querier) (err error) {
		taken, err = notifyLease(id, holder).take(ctx, q, now, until, "(next_at IS NULL OR next_at <= $4)", "")
		if err != nil || !taken {
			return err
		}
		var row subscriptionRow
		var failing sql.NullInt64
		if err := q.queryRow(ctx, "SELECT "+subscriptionColumns+", s.failures, s.failing_since FROM limnomap.push_subscriptions AS s WHERE s.id = $1", id).
			Scan(append(row.columns(), &n.Failures, &failing)...); err != nil {
			return err
		}
		if n.Subscription, err = row.read(); err != nil {
			return err
		}
		n.FailingSince = timeOrZero(failing)
		if _, err := q.exec(ctx, `DELETE FROM limnomap.push_queue WHERE subscription = $1 AND due_at <= $2
			AND NOT EXISTS (SELECT 1 FROM limnomap.events AS e WHERE e.seq = limnomap.push_queue.seq)`, id, now.Unix()); err != nil { // the log no longer has them
			return err
		}
		n.Events, err = collect(ctx, q, scanEvent, "SELECT "+eventColumns+` FROM limnomap.push_queue AS p JOIN limnomap.events AS e ON e.seq = p.seq
			JOIN limnomap.event_moments AS m ON m.number = e.moment WHERE p.subscription = $1 AND p.due_at <= $2 ORDER BY p.due_at, e.seq LIMIT $3`, id, now.Unix(), maxPending)
		slices.SortFunc(n.Events, func(a, b data.Event) int { return cmp.Compare(a.Seq, b.Seq) })
		return err
	})
	return n, taken && err == nil, err
}

// EndNotifications ends holder's lease, and stores the outcome. The events that it does not name stay as they are.
func (s *Store) EndNotifications(ctx context.Context, id, holder string, o push.Outcome) error {
	return s.db.update(ctx, "store the delivery of notifications", func(q querier) error {
		if err := notifyLease(id, holder).end(ctx, q); errors.Is(err, data.ErrLeaseLost) {
			return nil
		} else if err != nil {
			return err
		}
		w := writer{ctx: ctx, q: q}
		w.exec("UPDATE limnomap.push_subscriptions SET failures = $2, failing_since = $3, next_at = $4 WHERE id = $1",
			id, o.Failures, unixOrNull(o.FailingSince), unixOrNull(o.NextAt))
		for _, seq := range o.Done {
			w.exec("DELETE FROM limnomap.push_queue WHERE subscription = $1 AND seq = $2", id, seq)
		}
		for _, seq := range o.Later {
			w.exec("UPDATE limnomap.push_queue SET due_at = $3 WHERE subscription = $1 AND seq = $2", id, seq, o.LaterAt.Unix())
		}
		return w.err
	})
}

// DropSubscriptions removes the subscriptions that were not renewed since a time, and returns how many.
func (s *Store) DropSubscriptions(ctx context.Context, renewedBefore time.Time) (n int64, err error) {
	err = s.db.update(ctx, "remove old subscriptions", func(q querier) (err error) {
		n, err = q.exec(ctx, "DELETE FROM limnomap.push_subscriptions WHERE renewed_at < $1", renewedBefore.Unix())
		return err
	})
	return n, err
}

// PushCounts returns the number of subscriptions, and of the events in the queue.
func (s *Store) PushCounts(ctx context.Context) (subscriptions, queued int64, err error) {
	err = s.db.query(ctx, "count subscriptions", func(q querier) error {
		return q.queryRow(ctx, "SELECT (SELECT count(*) FROM limnomap.push_subscriptions), (SELECT count(*) FROM limnomap.push_queue)").Scan(&subscriptions, &queued)
	})
	return subscriptions, queued, err
}
