package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
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

// PutSubscription stores a subscription, or renews and changes that of the same endpoint. The error is [push.ErrManySubscriptions] or
// [push.ErrManyOfClient] if there are too many.
func (s *Store) PutSubscription(ctx context.Context, p push.Subscription) error {
	return s.db.update(ctx, "store a subscription", func(q querier) error {
		w := writer{ctx: ctx, q: q}
		n := w.exec(`UPDATE limnomap.push_subscriptions SET p256dh = $2, auth = $3, threshold = $4, daily = $5, zone = $6, renewed_at = $7, client = $8, lakes = $9 WHERE id = $1`,
			p.ID, p.P256dh, p.Auth, p.Threshold.String(), flag(p.Daily), p.Zone, p.RenewedAt.Unix(), p.Client, len(p.Lakes))
		if n == 0 && w.err == nil {
			w.exec(`INSERT INTO limnomap.push_subscriptions (id, endpoint, p256dh, auth, threshold, daily, zone, renewed_at, client, lakes)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`, p.ID, p.Endpoint, p.P256dh, p.Auth, p.Threshold.String(), flag(p.Daily), p.Zone, p.RenewedAt.Unix(), p.Client, len(p.Lakes))
		}
		if w.err != nil {
			return w.err
		}
		if err := checkRoom(ctx, q, p.Client, n == 0); err != nil {
			return err
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

// checkRoom returns an error if there are more subscriptions than are allowed, of all or of a client, after one was stored that may be added.
// Who renews one may always do so, but not with more lakes than there is room for.
func checkRoom(ctx context.Context, q querier, client string, added bool) error {
	var all, lakes, ofClient, lakesOfClient int64
	err := q.queryRow(ctx, `SELECT count(*), coalesce(sum(lakes), 0), coalesce(sum(CASE WHEN client = $1 THEN 1 ELSE 0 END), 0),
		coalesce(sum(CASE WHEN client = $1 THEN lakes ELSE 0 END), 0) FROM limnomap.push_subscriptions`, client).Scan(&all, &lakes, &ofClient, &lakesOfClient)
	switch {
	case err != nil:
		return err
	case added && all > push.MaxSubscriptions, lakes > push.MaxLakesOfAll:
		return callerError{push.ErrManySubscriptions}
	case client != "" && (added && ofClient > push.MaxOfClient || lakesOfClient > push.MaxLakesOfClient):
		return callerError{push.ErrManyOfClient}
	}
	return nil
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
	broken         error
}

func (r *subscriptionRow) columns() []any {
	p := &r.subscription
	text := func(to *string, name string, bytes int) any {
		return laxText[string]{textColumn[string]{to, name, bytes}, &r.broken}
	}
	return []any{text(&p.ID, "id", maxIDBytes), text(&p.Endpoint, "endpoint", push.MaxEndpointBytes), text(&p.P256dh, "p256dh", maxIDBytes),
		text(&p.Auth, "auth", maxIDBytes), text(&r.threshold, "threshold", maxIDBytes), &r.daily, text(&p.Zone, "zone", maxIDBytes), &r.renewed}
}

// read returns what was scanned, or why that is no subscription.
func (r *subscriptionRow) read() (p push.Subscription, err error) {
	if r.broken != nil {
		return p, r.broken
	}
	r.subscription.Daily, r.subscription.RenewedAt = r.daily != 0, timeOrZero(sql.NullInt64{Int64: r.renewed, Valid: true})
	r.subscription.Threshold, err = push.ParseThreshold(r.threshold)
	return r.subscription, err
}

// A wanted is an event of a lake that a subscription names.
type wanted struct {
	push.Subscription // without what is needed only to send
	event             data.Event
	broken            error // of the subscription: another program wrote it
}

const wantedFrom = `
	FROM limnomap.events AS e JOIN limnomap.event_moments AS m ON m.number = e.moment
		JOIN limnomap.push_lakes AS l ON l.lake = e.lake JOIN limnomap.push_subscriptions AS s ON s.id = l.subscription
	WHERE e.seq >= $1 AND e.seq <= $2 AND (e.seq > $1 OR s.id > $3)`

var (
	wantedQuery = fmt.Sprintf("SELECT %s, %s, %s, s.daily, %s", eventColumns, atMost("s.id", maxIDBytes), atMost("s.threshold", maxIDBytes), atMost("s.zone", maxIDBytes)) + wantedFrom
	wantedOrder = " ORDER BY e.seq, s.id LIMIT $4"
	// urgentQuery has all that push.Urgent reports, and few others.
	urgentQuery = wantedQuery + fmt.Sprintf(" AND e.kind IN (%d, %d)", data.AdvisoryIssued, data.AdvisoryChanged)
)

// A queueCursor says up to which pair of an event and a subscription the queue was filled, in the order of both.
type queueCursor struct {
	seq          sql.NullInt64 // not valid: not yet
	subscription string
}

// lastSubscription is after the id of each subscription.
const lastSubscription = "~"

// before reports whether there may be pairs up to an event after the cursor.
func (c *queueCursor) before(newest int64) bool {
	return c.seq.Int64 < newest || c.seq.Int64 == newest && c.subscription != lastSubscription
}

// advance sets the cursor after a page of pairs up to an event, and reports whether there may be more.
func (c *queueCursor) advance(pairs []wanted, newest int64) (more bool) {
	c.seq, c.subscription = sql.NullInt64{Int64: newest, Valid: true}, lastSubscription
	if more = len(pairs) == queuePage; more {
		last := &pairs[len(pairs)-1]
		c.seq.Int64, c.subscription = last.event.Seq, last.ID
	}
	return more
}

// QueueNotifications puts a page of the events up to newest that subscriptions want into the queue, and reports whether there are more. What is urgent
// comes first, on pages of its own.
func (s *Store) QueueNotifications(ctx context.Context, newest int64, now time.Time) (more, urgent bool, err error) {
	err = s.db.update(ctx, "queue notifications", func(q querier) error {
		more, urgent = false, false
		// Changing the row first lets one process at a time do this.
		if _, err := q.exec(ctx, "UPDATE limnomap.push_state SET one = 1"); err != nil {
			return err
		}
		var all, first queueCursor
		if err := q.queryRow(ctx, fmt.Sprintf("SELECT after_seq, %s, urgent_seq, %s FROM limnomap.push_state", atMost("after_subscription", maxIDBytes), atMost("urgent_subscription", maxIDBytes))).
			Scan(&all.seq, textColumn[string]{&all.subscription, "after_subscription", maxIDBytes}, &first.seq, textColumn[string]{&first.subscription, "urgent_subscription", maxIDBytes}); err != nil {
			return err
		}
		known := all.seq.Valid && first.seq.Valid
		if ahead := max(all.seq.Int64, first.seq.Int64); known && ahead > newest {
			if logged, err := lastMoment(ctx, q); err != nil || logged.LastSeq >= ahead {
				return err // another process was faster
			}
			known = false // the log was replaced, perhaps by a backup
		}
		if !known { // what the log has by now is no news
			all.advance(nil, newest)
			first.advance(nil, newest)
		}
		var pairs []wanted
		for _, page := range []struct {
			*queueCursor
			query  string
			urgent bool
		}{{&first, urgentQuery, true}, {&all, wantedQuery, false}} {
			if !page.before(newest) {
				continue
			}
			pairs, err = collect(ctx, q, scanWanted, page.query+wantedOrder, page.seq.Int64, newest, page.subscription, queuePage)
			if err != nil {
				return err
			}
			more = page.advance(pairs, newest)
			pairs = slices.DeleteFunc(pairs, func(p wanted) bool {
				return p.broken != nil || push.Urgent(&p.event) != page.urgent || !p.Wants(&p.event)
			})
			if urgent = page.urgent && len(pairs) > 0; urgent || more {
				break
			}
		}
		more = more || all.before(newest)
		if err := queuePairs(ctx, q, pairs, now); err != nil {
			return err
		}
		_, err := q.exec(ctx, "UPDATE limnomap.push_state SET after_seq = $1, after_subscription = $2, urgent_seq = $3, urgent_subscription = $4",
			all.seq.Int64, all.subscription, first.seq.Int64, first.subscription)
		return err
	})
	return more && err == nil, urgent && err == nil, err
}

func scanWanted(row rowScanner) (w wanted, err error) {
	var threshold string
	var daily int64
	w.event, err = scanEventAnd(row, laxText[string]{textColumn[string]{&w.ID, "id", maxIDBytes}, &w.broken},
		laxText[string]{textColumn[string]{&threshold, "threshold", maxIDBytes}, &w.broken}, &daily, laxText[string]{textColumn[string]{&w.Zone, "zone", maxIDBytes}, &w.broken})
	if err == nil && w.broken == nil {
		w.Daily = daily != 0
		w.Threshold, w.broken = push.ParseThreshold(threshold)
	}
	return w, err
}

// readyPage is how many subscriptions one statement makes ready.
const readyPage = 100

// queuePairs puts pairs into the queue, and makes their subscriptions ready: at once for what is urgent, otherwise not before their next attempt.
func queuePairs(ctx context.Context, q querier, pairs []wanted, now time.Time) error {
	if len(pairs) == 0 {
		return nil
	}
	ready := make(map[int64][]any) // the ids by the time
	_, err := q.insert(ctx, "push_queue", "subscription, seq, due_at", func(yield func([]any, error) bool) {
		for i := range pairs {
			p := &pairs[i]
			due := p.DueAt(&p.event, now).Unix()
			ready[due] = append(ready[due], p.ID)
			if !yield([]any{p.ID, p.event.Seq, due}, nil) {
				return
			}
		}
	}, " ON CONFLICT DO NOTHING")
	if err != nil {
		return err
	}
	const inTime = "CASE WHEN ready_at <= $1 THEN ready_at WHEN next_at > $1 THEN next_at ELSE $1 END"
	for due, ids := range ready {
		at := inTime
		if due == push.AtOnce.Unix() {
			at = "$1"
		}
		slices.SortFunc(ids, func(a, b any) int { return cmp.Compare(a.(string), b.(string)) })
		for page := range slices.Chunk(slices.Compact(ids), readyPage) {
			var list strings.Builder
			for i := range page {
				fmt.Fprintf(&list, ", $%d", i+2)
			}
			// Each row is changed, also to what it has: so EndNotifications cannot miss what was queued meanwhile.
			if _, err := q.exec(ctx, "UPDATE limnomap.push_subscriptions SET ready_at = "+at+" WHERE id IN ("+list.String()[2:]+")", append([]any{due}, page...)...); err != nil {
				return err
			}
		}
	}
	return nil
}

// DueSubscriptions returns the subscriptions that may be told of something now, in no order.
func (s *Store) DueSubscriptions(ctx context.Context, now time.Time) ([]push.Due, error) {
	hosts := make(map[string]string) // each is kept once, without the endpoint
	scan := func(row rowScanner) (d push.Due, err error) {
		var endpoint string
		var broken error // LeaseNotifications finds it
		err = row.Scan(laxText[string]{textColumn[string]{&d.ID, "id", maxIDBytes}, &broken}, laxText[string]{textColumn[string]{&endpoint, "endpoint", push.MaxEndpointBytes}, &broken},
			laxText[string]{textColumn[string]{&d.Client, "client", maxIDBytes}, &broken}, &d.Urgent, &d.Told, &d.Failing)
		host := push.HostOf(endpoint)
		if hosts[host] == "" {
			hosts[strings.Clone(host)] = strings.Clone(host)
		}
		d.Host = hosts[host]
		return d, err
	}
	return list(ctx, s, "find due notifications", scan, dueQuery, now.Unix(), now.Add(2*MaxClockSkew).Unix(), push.TooFar(now).Unix())
}

// dueQuery reads only what is due, from the index of ready_at. A lease that ends too late is from a wrong clock, and so is what waits too long.
var dueQuery = fmt.Sprintf(`SELECT %s, %s, %s, s.id IN (SELECT subscription FROM limnomap.push_queue WHERE due_at = %d), s.told > 0, s.failures > 0
	FROM limnomap.push_subscriptions AS s WHERE (s.ready_at <= $1 OR s.ready_at > $3) AND (s.holder = '' OR s.held_until <= $1 OR s.held_until > $2) LIMIT %d`,
	atMost("s.id", maxIDBytes), atMost("s.endpoint", push.MaxEndpointBytes), atMost("s.client", maxIDBytes), push.AtOnce.Unix(), push.MaxSubscriptions)

// LeaseNotifications gives a subscription that is due to holder, a unique name, until a time, unless another process has it, with the events
// that it may be told of, in order. The error is [push.ErrBroken] if the subscription cannot be read.
func (s *Store) LeaseNotifications(ctx context.Context, id, holder string, now, until time.Time) (n push.Pending, taken bool, err error) {
	err = s.db.update(ctx, "take the lease of notifications", func(q querier) (err error) {
		tooFar := push.TooFar(now).Unix() // from a wrong clock
		taken, err = notifyLease(id, holder).take(ctx, q, now, until, "(ready_at <= $4 OR ready_at > $6)", "", tooFar)
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
			return callerError{fmt.Errorf("%w: %w", push.ErrBroken, err)}
		}
		n.FailingSince = timeOrZero(failing)
		if _, err := q.exec(ctx, `DELETE FROM limnomap.push_queue WHERE subscription = $1 AND (due_at <= $2 OR due_at > $3)
			AND NOT EXISTS (SELECT 1 FROM limnomap.events AS e WHERE e.seq = limnomap.push_queue.seq)`, id, now.Unix(), tooFar); err != nil { // the log no longer has them
			return err
		}
		n.Events, err = collect(ctx, q, scanEvent, "SELECT "+eventColumns+` FROM limnomap.push_queue AS p JOIN limnomap.events AS e ON e.seq = p.seq
			JOIN limnomap.event_moments AS m ON m.number = e.moment WHERE p.subscription = $1 AND (p.due_at <= $2 OR p.due_at > $3) ORDER BY p.due_at, e.seq LIMIT $4`, id, now.Unix(), tooFar, maxPending)
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
		for _, seq := range o.Done {
			w.exec("DELETE FROM limnomap.push_queue WHERE subscription = $1 AND seq = $2", id, seq)
		}
		for _, seq := range o.Later {
			w.exec("UPDATE limnomap.push_queue SET due_at = $3 WHERE subscription = $1 AND seq = $2", id, seq, o.LaterAt.Unix())
		}
		if w.err != nil {
			return w.err
		}
		var ready sql.NullInt64
		if err := q.queryRow(ctx, "SELECT min(due_at) FROM limnomap.push_queue WHERE subscription = $1", id).Scan(&ready); err != nil {
			return err
		}
		if !o.NextAt.IsZero() {
			ready.Int64 = max(ready.Int64, o.NextAt.Unix())
		}
		w.exec("UPDATE limnomap.push_subscriptions SET failures = $2, failing_since = $3, next_at = $4, ready_at = $5, told = CASE WHEN $6 > 0 THEN 1 ELSE told END WHERE id = $1",
			id, o.Failures, unixOrNull(o.FailingSince), unixOrNull(o.NextAt), ready, flag(o.Told))
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
