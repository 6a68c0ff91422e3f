package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"limnomap/data"
)

const (
	// eventPage is how many events are written at once.
	eventPage = 4096
	// The longest values that are read, as in rows.go. The first block has all valid statements, with their texts and 600 bytes of ids and
	// numbers each; each other one has at most 8192 lakes of some 300 bytes.
	maxDetailBytes         = 16 << 10
	maxStatementBlockBytes = 2 * maxAdvisoryMemory
	maxLakeBlockBytes      = 4 << 20
	eventIDBytes           = 16
	maxVersion             = 200 // characters of a snapshot's version or of settings
)

const momentColumns = "number, revision, statements_of, changed_at, forecasts, substr(settings, 1, 200), substr(snapshot, 1, 200), at, last_seq, measured, blocks, changes_since"

func scanMoment(row rowScanner) (m data.Moment, err error) {
	var changed, at int64
	err = row.Scan(&m.Number, &m.Revision.Number, &m.StatementsOf, &changed, &m.Revision.Forecasts, &m.Settings, &m.Snapshot, &at, &m.LastSeq, &m.Measured, &m.Blocks, &m.ChangesSince)
	m.Revision.ChangedAt, m.At = time.Unix(changed, 0).UTC(), time.Unix(at, 0).UTC()
	return m, err
}

// lastMoment returns the zero value if there is none.
func lastMoment(ctx context.Context, q querier) (data.Moment, error) {
	m, err := scanMoment(q.queryRow(ctx, "SELECT "+momentColumns+" FROM limnomap.event_moments ORDER BY number DESC LIMIT 1"))
	if errors.Is(err, sql.ErrNoRows) {
		return data.Moment{}, nil
	}
	return m, err
}

func eventBlock(ctx context.Context, q querier, index int) (block []byte, err error) {
	err = q.queryRow(ctx, eventBlockQuery, index).Scan(&block)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil // no bytes are no block: whoever reads them finds the damage
	}
	return block, err
}

var eventBlockQuery = fmt.Sprintf("SELECT CASE WHEN octet_length(block) <= CASE WHEN number = 0 THEN %d ELSE %d END THEN block END FROM limnomap.event_blocks WHERE number = $1",
	maxStatementBlockBytes, maxLakeBlockBytes)

// NextMoment runs fn with the last moment, the zero value if there is none, and stores the one that fn returns, with the blocks and
// events that fn has put, all or nothing. If it has the number of the last one, nothing is stored. Of several processes one does this
// at a time; others get [data.ErrMomentBusy], or wait.
func (s *Store) NextMoment(ctx context.Context, fn func(last data.Moment, tx data.MomentTx) (data.Moment, error)) error {
	return s.db.update(ctx, "write to the log of events", func(q querier) error {
		if s.sql.tryMoment != "" {
			var free bool
			if err := q.queryRow(ctx, s.sql.tryMoment).Scan(&free); err != nil {
				return err
			}
			if !free {
				return callerError{data.ErrMomentBusy}
			}
		}
		last, err := lastMoment(ctx, q)
		if err != nil {
			return err
		}
		tx := momentTx{writer: writer{ctx: ctx, q: q}, moment: last.Number + 1}
		m, err := fn(last, &tx)
		if err != nil {
			return cmp.Or[error](tx.err, callerError{err})
		}
		if m.Number == last.Number {
			return nil
		}
		if err := tx.flush(); err != nil {
			return err
		}
		tx.exec("DELETE FROM limnomap.event_blocks WHERE number >= $1", m.Blocks)
		tx.exec(`INSERT INTO limnomap.event_moments (number, revision, statements_of, changed_at, forecasts, settings, snapshot, at, last_seq, measured, blocks,
			changes_since) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`, m.Number, m.Revision.Number, m.StatementsOf, m.Revision.ChangedAt.Unix(), m.Revision.Forecasts,
			begin(m.Settings, maxVersion), begin(m.Snapshot, maxVersion), m.At.Unix(), m.LastSeq, m.Measured, m.Blocks, m.ChangesSince)
		tx.exec(s.sql.notify)
		return tx.err
	})
}

// A momentTx writes events in pages.
type momentTx struct {
	writer // its err is that of the database
	moment int64
	page   []data.Event
}

func (t *momentTx) Block(index int) (block []byte, err error) {
	block, err = eventBlock(t.ctx, t.q, index)
	t.err = cmp.Or(t.err, err)
	return block, err
}

func (t *momentTx) PutBlock(index int, block []byte) error {
	t.exec("INSERT INTO limnomap.event_blocks (number, block) VALUES ($1, $2) ON CONFLICT (number) DO UPDATE SET block = excluded.block", index, block)
	return t.err
}

func (t *momentTx) PutEvent(e *data.Event) error {
	if t.page = append(t.page, *e); len(t.page) < eventPage {
		return nil
	}
	return t.flush()
}

func (t *momentTx) flush() error {
	if t.err != nil || len(t.page) == 0 {
		return t.err
	}
	_, t.err = t.q.insert(t.ctx, "events", eventNames, func(yield func([]any, error) bool) {
		var row []any
		var err error
		for i := range t.page {
			if row, err = eventValues(row[:0], t.moment, &t.page[i]); !yield(row, err) || err != nil {
				return
			}
		}
	}, "")
	t.page = t.page[:0]
	return t.err
}

// LastMoment runs fn with the last moment and its blocks, of one state of the database.
func (s *Store) LastMoment(ctx context.Context, fn func(last data.Moment, block func(index int) ([]byte, error)) error) error {
	return s.db.snapshot(ctx, "read the last moment of the log of events", func(ctx context.Context, q querier) error {
		last, err := lastMoment(ctx, q)
		if err != nil {
			return err
		}
		var failed error
		err = fn(last, func(index int) (block []byte, err error) {
			block, failed = eventBlock(ctx, q, index)
			return block, failed
		})
		if failed != nil {
			return failed
		}
		return asCallerError(err)
	})
}

// MomentNumber returns the number of the last moment with that snapshot, or [data.ErrNoMoment].
func (s *Store) MomentNumber(ctx context.Context, snapshot string) (int64, error) {
	return read(ctx, s, "find a snapshot in the log of events", func(ctx context.Context, q querier) (int64, error) {
		var last sql.NullInt64
		err := q.queryRow(ctx, "SELECT max(number) FROM limnomap.event_moments WHERE snapshot = $1", validText(snapshot)).Scan(&last)
		if err == nil && !last.Valid {
			err = callerError{data.ErrNoMoment}
		}
		return last.Int64, err
	})
}

const eventNames = "seq, id, moment, lake, kind, chl_before, level_before, measured_before, chl_after, level_after, measured_after, detail"

// An eventDetail is the JSON of the column detail.
type eventDetail struct {
	ID     data.AdvisoryID `json:"id,omitempty"`
	Kind   string          `json:"kind,omitempty"`
	Before string          `json:"before,omitempty"` // the kind
	Cause  string          `json:"cause,omitempty"`
	Issuer string          `json:"issuer,omitempty"`
	URL    string          `json:"url,omitempty"`
	Until  int64           `json:"until,omitempty"` // Unix seconds
	Issued data.Date       `json:"issued,omitempty"`
	Week   int             `json:"week,omitempty"`
	Level  data.Level      `json:"level,omitempty"`
	Chance int             `json:"chance,omitempty"` // ten-thousandths
	Share  int             `json:"share,omitempty"`  // ten-thousandths
}

// detailOf returns the detail of an event, nil for none.
func detailOf(e *data.Event) any {
	var d eventDetail
	switch {
	case e.Kind.OfAdvisory():
		a := &e.Advisory
		d = eventDetail{ID: a.ID, Kind: a.Kind.String(), Before: a.KindBefore.String(), Cause: a.Cause.String(), Issuer: a.Issuer, URL: a.URL}
		if !a.ValidUntil.IsZero() {
			d.Until = a.ValidUntil.Unix()
		}
	case e.Kind == data.ForecastExceeds:
		f := &e.Forecast
		d = eventDetail{Issued: f.Issued, Week: f.Week, Level: f.Level, Chance: int(f.Chance)}
	case e.Kind == data.BloomShare:
		d = eventDetail{Share: int(e.ShareHigh)}
	default:
		return nil
	}
	text, _ := json.Marshal(&d) // texts and numbers cause no error
	return string(text)
}

// read sets the statement, the forecast or the share of an event.
func (d *eventDetail) read(e *data.Event) (err error) {
	switch {
	case e.Kind.OfAdvisory():
		e.Advisory = data.EventAdvisory{ID: d.ID, Issuer: d.Issuer, URL: data.StoredURL(d.URL)}
		if d.Until != 0 {
			e.Advisory.ValidUntil = time.Unix(d.Until, 0).UTC()
		}
		if e.Advisory.Kind, err = data.ParseAdvisoryKind(d.Kind); err == nil && d.Before != "" {
			e.Advisory.KindBefore, err = data.ParseAdvisoryKind(d.Before)
		}
		if err == nil && d.Cause != "" {
			e.Advisory.Cause, err = data.ParseCause(d.Cause)
		}
		return err
	case e.Kind == data.BloomShare:
		if e.ShareHigh = data.TenThousandths(d.Share); d.Share < 0 || d.Share > 10_000 {
			return fmt.Errorf("a share of %d ten-thousandths: out of range", d.Share)
		}
		return nil
	case d.Week < 1 || d.Week > data.ForecastWeeks || d.Level < 0 || d.Level > data.MaxLevel || d.Chance < 0 || d.Chance > 10_000:
		return fmt.Errorf("forecast of level %d in week %d: out of range", d.Level, d.Week)
	}
	e.Forecast = data.EventForecast{Issued: d.Issued, Week: d.Week, Level: d.Level, Chance: data.TenThousandths(d.Chance)}
	return nil
}

// eventValues appends the values of a row, in the order of eventNames.
func eventValues(row []any, moment int64, e *data.Event) ([]any, error) {
	id, err := hex.DecodeString(string(e.ID))
	if err != nil {
		return nil, err
	}
	row = append(row, e.Seq, id, moment, string(e.LakeID), int16(e.Kind))
	for _, v := range []data.EventValue{e.Before, e.After} {
		var chl, level, measured any
		if v.Chlorophyll.Valid() {
			chl = int32(v.Chlorophyll)
		}
		if v.Level != data.NoLevel {
			level = int16(v.Level)
		}
		if v.MeasuredAt.Known {
			measured = v.MeasuredAt.Value
		}
		row = append(row, chl, level, measured)
	}
	return append(row, detailOf(e)), nil
}

// eventColumns are those of events e and of their moments m. A detail that another program made too long is NULL, which is then an error.
var eventColumns = fmt.Sprintf(`e.seq, %s, %s, e.kind, e.chl_before, e.level_before, e.measured_before, e.chl_after, e.level_after, e.measured_after, %s,
	m.at, substr(m.snapshot, 1, %d)`, atMost("e.id", eventIDBytes), atMost("e.lake", maxIDBytes), atMost("e.detail", maxDetailBytes), maxVersion)

func scanEvent(row rowScanner) (data.Event, error) { return scanEventAnd(row) }

// scanEventAnd scans eventColumns, and the caller's columns after them.
func scanEventAnd(row rowScanner, more ...any) (e data.Event, err error) {
	var id []byte
	var kind, at int64
	var values [2]struct{ chl, level, measured sql.NullInt64 }
	var detail sql.NullString
	b, a := &values[0], &values[1]
	columns := append([]any{&e.Seq, &id, textColumn[data.LakeID]{&e.LakeID, "lake", maxIDBytes}, &kind, &b.chl, &b.level, &b.measured, &a.chl, &a.level, &a.measured,
		&detail, &at, &e.Snapshot}, more...)
	if err := row.Scan(columns...); err != nil {
		return e, err
	}
	if len(id) != eventIDBytes || kind <= int64(data.NoEvent) || kind > int64(data.BloomShare) || at < minTime || at > maxTime {
		return e, fmt.Errorf("event %d has an id of %d bytes, kind %d and time %d: out of range", e.Seq, len(id), kind, at)
	}
	e.ID, e.Kind, e.At = data.EventID(hex.EncodeToString(id)), data.EventKind(kind), time.Unix(at, 0).UTC()
	for i, to := range []*data.EventValue{&e.Before, &e.After} {
		v := values[i]
		*to = data.NoEventValue()
		if v.chl.Valid {
			to.Chlorophyll = data.Chlorophyll(v.chl.Int64)
		}
		if v.level.Valid {
			to.Level = data.Level(v.level.Int64)
		}
		if v.measured.Valid {
			to.MeasuredAt = data.Known(v.measured.Int64)
		}
		if v.chl.Int64 < 0 || v.chl.Int64 > int64(data.MaxChlorophyll) || v.level.Int64 < 0 || v.level.Int64 > int64(data.MaxLevel) ||
			v.measured.Int64 < minTime || v.measured.Int64 > maxTime {
			return e, fmt.Errorf("event %d: %w", e.Seq, data.ErrImplausible)
		}
	}
	if !e.Kind.OfAdvisory() && e.Kind < data.ForecastExceeds {
		return e, nil
	}
	var d eventDetail
	if err = json.Unmarshal([]byte(detail.String), &d); err == nil {
		err = d.read(&e)
	}
	if err != nil {
		err = fmt.Errorf("detail of event %d: %w", e.Seq, err)
	}
	return e, err
}

// statementsOnly is the condition of the index events_statements.
var statementsOnly = fmt.Sprintf(" AND e.kind >= %d AND e.kind <= %d", data.AdvisoryIssued, data.AdvisoryExpired)

// Events returns events in ascending order of their numbers, or in descending order.
func (s *Store) Events(ctx context.Context, q data.EventQuery) ([]data.Event, error) {
	query, args := eventsQuery(q)
	return list(ctx, s, "read the log of events", scanEvent, query, args...)
}

func eventsQuery(q data.EventQuery) (query string, args []any) {
	if q.Limit < 1 || q.Limit > data.MaxEvents {
		q.Limit = data.MaxEvents
	}
	if q.Until == 0 {
		q.Until = math.MaxInt64
	}
	query = "SELECT " + eventColumns + " FROM limnomap.events AS e JOIN limnomap.event_moments AS m ON m.number = e.moment WHERE e.seq > $1 AND e.seq <= $2"
	args = []any{q.After, q.Until, q.Limit}
	if q.Lake != "" {
		query += " AND e.lake = $4"
		args = append(args, string(q.Lake))
	}
	if q.Statements {
		query += statementsOnly
	}
	query += " ORDER BY e.seq"
	if q.Descending {
		query += " DESC"
	}
	return query + " LIMIT $3", args
}

// EventState returns the bounds of the log.
func (s *Store) EventState(ctx context.Context) (state data.EventState, err error) {
	err = s.db.query(ctx, "read the bounds of the log of events", func(q querier) error {
		var oldest sql.NullInt64
		err := q.queryRow(ctx, `SELECT coalesce((SELECT max(number) FROM limnomap.event_moments), 0), (SELECT min(seq) FROM limnomap.events),
			coalesce((SELECT last_seq FROM limnomap.event_moments ORDER BY number DESC LIMIT 1), 0)`).Scan(&state.Moment, &oldest, &state.Newest)
		if state.Oldest = oldest.Int64; !oldest.Valid {
			state.Oldest = state.Newest + 1
		}
		return err
	})
	return state, err
}

// DropEvents removes the events before the first moment that is not before a time, at most as many as given and the oldest first, and returns how many.
// If it removes fewer, there are no more of them, and it also removes those moments. The order of moments is that of their numbers: one with the time of a
// wrong clock makes no other one old.
func (s *Store) DropEvents(ctx context.Context, before time.Time, most int) (dropped int64, err error) {
	err = s.db.update(ctx, "remove old events", func(q querier) (err error) {
		// The last moment stays, whatever its age: the next one is compared with it.
		const old = `FROM limnomap.event_moments WHERE number < coalesce((SELECT min(number) FROM limnomap.event_moments WHERE at >= $1),
			(SELECT max(number) FROM limnomap.event_moments))`
		dropped, err = q.exec(ctx, `DELETE FROM limnomap.events WHERE seq <= (SELECT coalesce(max(last_seq), 0) `+old+`)
			AND seq < (SELECT min(seq) FROM limnomap.events) + $2`, before.Unix(), most)
		if err != nil || dropped >= int64(most) {
			return err
		}
		_, err = q.exec(ctx, "DELETE "+old, before.Unix())
		return err
	})
	return dropped, err
}
