package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"limnomap/data"
	"limnomap/data/events/eventfeed"
	"limnomap/data/events/hook"
)

const hookColumns = "id, url, filter, secret, former, former_until, created_at, state, after_seq, failures, failing_since, next_at, error, delivered_at, " +
	"statement_seq, statement_failures, statement_failing_since, statement_next_at, statement_error, statement_delivered_at"

// setDeliveries sets the state and what follows it in hookColumns, from $2 on.
const setDeliveries = `state = $2, after_seq = $3, failures = $4, failing_since = $5, next_at = $6, error = $7, delivered_at = $8,
	statement_seq = $9, statement_failures = $10, statement_failing_since = $11, statement_next_at = $12, statement_error = $13, statement_delivered_at = $14`

const maxHookText = 1000 // characters of an error

// storedHookColumns are hookColumns, with NULL or the beginning only of a text that another program made too long.
var storedHookColumns = fmt.Sprintf("%s, %s, %s, %s, %s, former_until, created_at, %s, after_seq, failures, failing_since, next_at, substr(error, 1, %d), delivered_at, "+
	"statement_seq, statement_failures, statement_failing_since, statement_next_at, substr(statement_error, 1, %[7]d), statement_delivered_at",
	atMost("id", maxIDBytes), atMost("url", hook.MaxURLBytes), atMost("filter", maxFilterBytes), atMost("secret", maxIDBytes), atMost("former", maxIDBytes),
	atMost("state", maxIDBytes), maxHookText)

// maxFilterBytes is enough for the ids of as many lakes as a filter may have.
const maxFilterBytes = hook.MaxLakes*(64+3) + 2000

// A storedFilter is the JSON of a filter.
type storedFilter struct {
	Lakes    []data.LakeID `json:"lakes,omitempty"`
	Region   string        `json:"region,omitempty"`
	Box      string        `json:"bbox,omitempty"`
	Kinds    string        `json:"kinds,omitempty"`
	MinLevel data.Level    `json:"min_level,omitempty"`
}

func filterText(f *eventfeed.Filter) string {
	s := storedFilter{Lakes: f.Lakes, Region: f.Region, Kinds: f.Kinds.String(), MinLevel: f.MinLevel}
	if f.Box != nil {
		s.Box = f.Box.String()
	}
	text, _ := json.Marshal(&s) // texts and numbers cause no error
	return validText(string(text))
}

func parseFilter(text string) (f eventfeed.Filter, err error) {
	var s storedFilter
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return f, err
	}
	f = eventfeed.Filter{Lakes: s.Lakes, Region: s.Region, MinLevel: s.MinLevel}
	if s.Kinds != "" {
		if f.Kinds, err = eventfeed.ParseKinds(s.Kinds); err != nil {
			return f, err
		}
	}
	if s.Box != "" {
		b, err := data.ParseBox(s.Box)
		if err != nil {
			return f, fmt.Errorf("box %.80q %w", s.Box, err)
		}
		f.Box = &b
	}
	return f, nil
}

// A hookRow is a row with storedHookColumns.
type hookRow struct {
	hook.Hook
	broken error // another program wrote it: see [hook.ErrBroken]
}

func scanHook(row rowScanner) (h hookRow, err error) {
	var filter, state string
	var until, created sql.NullInt64
	var times [2]struct{ failing, next, delivered sql.NullInt64 }
	others, statements := &times[0], &times[1]
	text := func(to *string, name string, bytes int) any {
		return laxText[string]{textColumn[string]{to, name, bytes}, &h.broken}
	}
	secret := func(to *hook.Secret, name string) any {
		return laxText[hook.Secret]{textColumn[hook.Secret]{to, name, maxIDBytes}, &h.broken}
	}
	err = row.Scan(text(&h.ID, "id", maxIDBytes), text(&h.URL, "url", hook.MaxURLBytes), text(&filter, "filter", maxFilterBytes),
		secret(&h.Secret, "secret"), secret(&h.Former, "former"), &until, &created, text(&state, "state", maxIDBytes),
		&h.After, &h.Failures, &others.failing, &others.next, &h.LastError, &others.delivered,
		&h.Statements.After, &h.Statements.Failures, &statements.failing, &statements.next, &h.Statements.LastError, &statements.delivered)
	if err != nil {
		return h, err
	}
	h.FormerUntil, h.CreatedAt = timeOrZero(until), timeOrZero(created)
	for i, p := range []*hook.Progress{&h.Progress, &h.Statements} {
		p.FailingSince, p.NextAt, p.DeliveredAt = timeOrZero(times[i].failing), timeOrZero(times[i].next), timeOrZero(times[i].delivered)
	}
	if h.broken == nil {
		h.State, h.broken = hook.ParseState(state)
	}
	if h.broken == nil {
		h.Filter, h.broken = parseFilter(filter)
	}
	if h.broken != nil {
		h.broken = fmt.Errorf("webhook %.80q: %w: %w", h.ID, hook.ErrBroken, h.broken)
	}
	return h, nil
}

// hookValues are the values of hookColumns.
func hookValues(h *hook.Hook) []any {
	return append([]any{h.ID, validText(h.URL), filterText(&h.Filter), string(h.Secret), string(h.Former), unixOrNull(h.FormerUntil), h.CreatedAt.Unix()}, deliveryValues(h)...)
}

// deliveryValues are those of setDeliveries.
func deliveryValues(h *hook.Hook) []any {
	values := []any{h.State.String()}
	for _, p := range []*hook.Progress{&h.Progress, &h.Statements} {
		values = append(values, p.After, p.Failures, unixOrNull(p.FailingSince), unixOrNull(p.NextAt), begin(p.LastError, maxHookText), unixOrNull(p.DeliveredAt))
	}
	return values
}

// CreateHook stores a webhook, which begins after the newest event.
func (s *Store) CreateHook(ctx context.Context, h hook.Hook) error {
	return s.db.update(ctx, "create a webhook", func(q querier) error {
		var n int
		if err := q.queryRow(ctx, "SELECT count(*) FROM limnomap.hooks").Scan(&n); err != nil {
			return err
		}
		if n >= hook.MaxHooks {
			return callerError{fmt.Errorf("there are %d webhooks, and no more are allowed; delete some", n)}
		}
		last, err := lastMoment(ctx, q)
		if err != nil {
			return err
		}
		h.Skip(last.LastSeq)
		_, err = q.exec(ctx, "INSERT INTO limnomap.hooks ("+hookColumns+`, holder)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, '')`, hookValues(&h)...)
		return err
	})
}

// Hooks returns all webhooks that can be read, the oldest first. If some cannot, the error is [hook.ErrBroken] and names them.
func (s *Store) Hooks(ctx context.Context) (hooks []hook.Hook, err error) {
	rows, err := list(ctx, s, "read the webhooks", scanHook,
		fmt.Sprintf("SELECT %s FROM limnomap.hooks ORDER BY created_at, id LIMIT %d", storedHookColumns, hook.MaxHooks))
	var broken []error
	for i := range rows {
		if r := &rows[i]; r.broken != nil {
			broken = append(broken, r.broken)
		} else {
			hooks = append(hooks, r.Hook)
		}
	}
	if len(broken) > maxBrokenHooks {
		broken = append(broken[:maxBrokenHooks], fmt.Errorf("and %d more", len(broken)-maxBrokenHooks))
	}
	return hooks, errors.Join(append(broken, err)...)
}

// maxBrokenHooks is how many webhooks that cannot be read an error names.
const maxBrokenHooks = 10

// readHook reads a webhook, or returns [hook.ErrNoHook] or [hook.ErrBroken].
func readHook(ctx context.Context, q querier, id string) (hook.Hook, error) {
	h, err := scanHook(q.queryRow(ctx, "SELECT "+storedHookColumns+" FROM limnomap.hooks WHERE id = $1", validText(id)))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		err = noHook(id)
	case err == nil && h.broken != nil:
		err = callerError{h.broken}
	}
	return h.Hook, err
}

func noHook(id string) error { return callerError{fmt.Errorf("%w: %.80q", hook.ErrNoHook, id)} }

// UpdateHook changes a webhook in one transaction, and ends the lease of a process that is sending to it. The error is fn's, or
// [hook.ErrNoHook].
func (s *Store) UpdateHook(ctx context.Context, id string, fn func(h *hook.Hook) error) error {
	return s.db.update(ctx, "change a webhook", func(q querier) error {
		if err := hookLease(id, "").revoke(ctx, q); err != nil {
			return err
		}
		h, err := readHook(ctx, q, id)
		if err != nil {
			return err
		}
		if err := fn(&h); err != nil {
			return callerError{err}
		}
		w := writer{ctx: ctx, q: q}
		w.exec("UPDATE limnomap.hooks SET "+setDeliveries+" WHERE id = $1", append([]any{h.ID}, deliveryValues(&h)...)...)
		w.exec("UPDATE limnomap.hooks SET url = $2, filter = $3, secret = $4, former = $5, former_until = $6, created_at = $7 WHERE id = $1", hookValues(&h)[:7]...)
		return w.err
	})
}

// DeleteHook removes a webhook and its deliveries, or returns [hook.ErrNoHook].
func (s *Store) DeleteHook(ctx context.Context, id string) error {
	return s.db.update(ctx, "delete a webhook", func(q querier) error {
		w := writer{ctx: ctx, q: q}
		if n := w.exec("DELETE FROM limnomap.hooks WHERE id = $1", validText(id)); n == 0 && w.err == nil {
			return noHook(id)
		}
		w.exec("DELETE FROM limnomap.hook_deliveries WHERE hook = $1", validText(id))
		return w.err
	})
}

// LeaseHook gives a webhook that is active to holder, a unique name, until a time, unless another process has it. A lease that ends more than
// [MaxClockSkew] after this one would is ignored.
func (s *Store) LeaseHook(ctx context.Context, id, holder string, now, until time.Time) (h hook.Hook, taken bool, err error) {
	err = s.db.update(ctx, "take the lease of a webhook", func(q querier) (err error) {
		taken, err = hookLease(id, holder).take(ctx, q, now, until, "state = 'active'", "")
		if err == nil && taken {
			h, err = readHook(ctx, q, id)
		}
		return err
	})
	return h, taken && err == nil, err
}

// PutDelivery stores the state and the progress of a webhook, and the attempt from which they follow if it is not nil, and makes the lease end at until. The
// error is [data.ErrLeaseLost] if holder has no lease.
func (s *Store) PutDelivery(ctx context.Context, h *hook.Hook, holder string, until time.Time, d *hook.Delivery) error {
	return s.db.update(ctx, "store a delivery to a webhook", func(q querier) error {
		if err := hookLease(h.ID, holder).extend(ctx, q, until); err != nil {
			return err
		}
		w := writer{ctx: ctx, q: q}
		w.exec("UPDATE limnomap.hooks SET "+setDeliveries+" WHERE id = $1", append([]any{h.ID}, deliveryValues(h)...)...)
		if d == nil {
			return w.err
		}
		w.exec("INSERT INTO limnomap.hook_deliveries (hook, at, seq, event, attempt, status, error, duration) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
			h.ID, d.At.Unix(), d.Seq, string(d.Event), d.Attempt, d.Status, begin(d.Error, maxHookText), d.Duration.Milliseconds())
		w.exec(fmt.Sprintf(`DELETE FROM limnomap.hook_deliveries WHERE hook = $1 AND number <= (
			SELECT number FROM limnomap.hook_deliveries WHERE hook = $1 ORDER BY number DESC LIMIT 1 OFFSET %d)`, hook.MaxDeliveries), h.ID)
		return w.err
	})
}

// ReleaseHook ends holder's lease, if it has one.
func (s *Store) ReleaseHook(ctx context.Context, id, holder string) error {
	return s.db.update(ctx, "release a webhook", func(q querier) error {
		if err := hookLease(id, holder).end(ctx, q); !errors.Is(err, data.ErrLeaseLost) {
			return err
		}
		return nil
	})
}

// HookDeliveries returns the last attempts to send to a webhook, the newest first.
func (s *Store) HookDeliveries(ctx context.Context, id string, limit int) (deliveries []hook.Delivery, err error) {
	scan := func(row rowScanner) (d hook.Delivery, err error) {
		var at, milliseconds int64
		err = row.Scan(&at, &d.Seq, textColumn[data.EventID]{&d.Event, "event", maxIDBytes}, &d.Attempt, &d.Status, &d.Error, &milliseconds)
		d.At, d.Duration = time.Unix(at, 0).UTC(), time.Duration(milliseconds)*time.Millisecond
		return d, err
	}
	err = s.db.query(ctx, "read the deliveries to a webhook", func(q querier) (err error) {
		if _, err = readHook(ctx, q, id); err != nil {
			return err
		}
		deliveries, err = collect(ctx, q, scan, fmt.Sprintf(`SELECT at, seq, %s, attempt, status, substr(error, 1, %d), duration
			FROM limnomap.hook_deliveries WHERE hook = $1 ORDER BY number DESC LIMIT $2`, atMost("event", maxIDBytes), maxHookText), id, min(max(limit, 1), hook.MaxDeliveries))
		return err
	})
	return deliveries, err
}
