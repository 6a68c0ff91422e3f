package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/api/record"
	"limnomap/data"
	"limnomap/data/events/eventfeed"
	"limnomap/data/snapshot"
)

// eventHandlers answer requests about what has changed.
type eventHandlers struct {
	*common
	pages   *eventPages
	streams *eventStreams
}

// EventLog is the log of events.
type EventLog interface {
	// State returns the bounds of the log, and a channel that is closed when they are others.
	State() (data.EventState, <-chan struct{})
	// StoredState returns the bounds in the database, to which another server may have added since.
	StoredState(ctx context.Context) (data.EventState, error)
	Events(ctx context.Context, q data.EventQuery) ([]data.Event, error)
	// Changes returns a function that reports whether the record of Lakes[i] may be another one in snap than in the snapshot with the
	// version since. The error is [data.ErrNoMoment] or [data.ErrUncompared] if that is not known.
	Changes(ctx context.Context, snap *snapshot.Snapshot, since string) (changed func(i int) bool, err error)
}

const (
	pathEvents = "/api/v1/events"

	defaultEvents = 100
	maxEvents     = 1000
	// maxEventsRead is how many events one request reads from the log to find those that pass its filter: some tens of milliseconds of the
	// database. The answer says how far it got.
	maxEventsRead = 20_000
	// eventPage is how many are read at once.
	eventPage = 2000
)

// An eventRequest is what a request asks of the log.
type eventRequest struct {
	filter eventfeed.Filter
	limit  int
}

// eventRequestOf returns the filter and the limit of a request for events.
func eventRequestOf(p *params.Params, byDefault int) (e eventRequest) {
	e.limit = p.Integer("limit", 1, maxEvents, byDefault)
	if id := params.Parsed(p, "lake", "", data.ParseLakeID, mistakeInLakeID); id != "" {
		e.filter.Lakes = []data.LakeID{id}
	}
	if region, ok := p.Text("region"); ok && checkText(p, region) {
		e.filter.Region = region
	}
	if b, ok := bboxOf(p); ok {
		e.filter.Box = &b
	}
	if names, ok := p.Text("kind"); ok {
		var err error
		if e.filter.Kinds, err = eventfeed.ParseKinds(names); err != nil {
			p.Refuse("kind", "%v", err)
		}
	}
	e.filter.MinLevel = data.Level(p.Integer("min_level", 0, int(data.MaxLevel), 0))
	return e
}

// eventNumberOf returns the value of the parameter since, -1 if there is none.
func eventNumberOf(p *params.Params) int64 {
	return params.Parsed(p, "since", -1, parseEventNumber, mistakeInEventNumber)
}

const mistakeInEventNumber = "is not the number of an event: a whole number from 0 on"

func parseEventNumber(s string) (int64, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	return int64(n), err
}

// kept returns the bounds of a log that has all events after a number, or the error of checkKept. If the number is beyond the end that this server
// knows, the database is asked: a client may have it from another server.
func (h *eventHandlers) kept(r *http.Request, since int64, state data.EventState) (data.EventState, error) {
	if since > state.Newest {
		err := h.askStore(r, errEventStore, func(ctx context.Context) (err error) {
			state, err = h.opts.Events.StoredState(ctx)
			return err
		})
		if err != nil {
			return state, err
		}
	}
	return state, checkKept(since, state)
}

// checkKept returns an error if the log does not have all events after a number any more, or not yet.
func checkKept(since int64, state data.EventState) error {
	if since >= state.Oldest-1 && since <= state.Newest {
		return nil
	}
	detail := fmt.Sprintf("The events after %d are no longer kept; the oldest one is %d. Fetch the status, and go on with since=%d.", since, state.Oldest, state.Newest)
	if since > state.Newest {
		detail = fmt.Sprintf("The log ends with event %d, before %d: the database was replaced. Fetch the status, and go on with since=%[1]d.", state.Newest, since)
	}
	return &answer.Problem{Status: http.StatusGone, Detail: detail, Members: []answer.Member{{Name: "oldest", Value: state.Oldest}, {Name: "newest", Value: state.Newest}}}
}

// events answers with the events after a number, in the order in which they happened. Most clients ask for those after the newest one, most of the time:
// then nothing is read.
func (h *eventHandlers) events(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	e := eventRequestOf(&query, defaultEvents)
	since := eventNumberOf(&query)
	if err := query.Err(); err != nil {
		return err
	}
	state := h.state()
	if since < 0 {
		since = state.Oldest - 1
	}
	state, err := h.kept(r, since, state)
	if err != nil {
		return err
	}
	b := record.Object("{").Array("events")
	next, n := since, 0
	ended, err := h.readLog(r, data.EventQuery{After: since, Until: state.Newest, Lake: e.lake()}, func(event *data.Event) bool {
		next = event.Seq
		if e.filter.Matches(event, p.snap) {
			if n > 0 {
				b = append(b, ',')
			}
			b = appendEvent(b, event, p.snap)
			n++
		}
		return n < e.limit
	})
	if err != nil {
		return err
	}
	if ended {
		next = state.Newest
	}
	b = b.Close("]").Int("next", int(next)).Int("oldest", int(state.Oldest)).Int("newest", int(state.Newest)).Close("}\n")
	return h.sender.SendBytes(w, r, jsonKind, b)
}

// state returns the bounds of the log. If the log ends earlier than before, the database was replaced, perhaps by a backup: then the pages that
// were read are of another log.
func (h *eventHandlers) state() data.EventState {
	state, _ := h.opts.Events.State()
	if h.pages.newest.Swap(state.Newest) > state.Newest {
		h.pages.pages.Purge()
	}
	return state
}

// appendEvent appends the record of an event.
func appendEvent(b []byte, e *data.Event, snap *snapshot.Snapshot) []byte {
	record := eventfeed.RecordOf(e, snap)
	text, err := json.Marshal(&record)
	if err != nil {
		panic("api: an event must marshal: " + err.Error())
	}
	return append(b, text...)
}

// readLog calls each with the events of a query, page by page, until it returns false or maxEventsRead events were read. It reports whether
// there are no more.
func (h *eventHandlers) readLog(r *http.Request, q data.EventQuery, each func(*data.Event) bool) (ended bool, err error) {
	q.Limit = eventPage
	for read := 0; read < maxEventsRead && q.After < q.Until; read += eventPage {
		page, err := h.pages.read(r, q)
		if err != nil {
			return false, err
		}
		for i := range page {
			if !each(&page[i]) {
				return false, nil
			}
		}
		if len(page) < q.Limit {
			return true, nil
		}
		if last := page[len(page)-1].Seq; q.Descending {
			q.Until = last - 1
		} else {
			q.After = last
		}
	}
	return false, nil
}

// newestEvents returns the newest events that pass the filter, up to the limit, the newest first.
func (h *eventHandlers) newestEvents(r *http.Request, p *published, e *eventRequest, state data.EventState) (events []data.Event, err error) {
	if state.Newest < state.Oldest {
		return nil, nil
	}
	_, err = h.readLog(r, data.EventQuery{Until: state.Newest, Lake: e.lake(), Descending: true}, func(event *data.Event) bool {
		if e.filter.Matches(event, p.snap) {
			events = append(events, *event)
		}
		return len(events) < e.limit
	})
	return events, err
}

// lake returns the lake that the request asks for, empty for all.
func (e *eventRequest) lake() data.LakeID {
	if len(e.filter.Lakes) == 0 {
		return ""
	}
	return e.filter.Lakes[0]
}

// subject returns what the events of the request are about, in words.
func (e *eventRequest) subject(p *published) string {
	var of []string
	if id := e.lake(); id != "" {
		name := string(id)
		if lake, ok := p.snap.Lake(id); ok {
			name = lake.Name
		}
		of = append(of, name)
	}
	if e.filter.Region != "" {
		of = append(of, e.filter.Region)
	}
	if e.filter.Box != nil {
		of = append(of, "box "+e.filter.Box.String())
	}
	return cmp.Or(strings.Join(of, ", "), "all lakes")
}

// query returns the filter as a query, always in the same order, without the limit.
func (e *eventRequest) query() url.Values {
	q := url.Values{}
	set := func(name, value string) {
		if value != "" {
			q.Set(name, value)
		}
	}
	set("lake", string(e.lake()))
	set("region", e.filter.Region)
	if e.filter.Box != nil {
		set("bbox", e.filter.Box.String())
	}
	set("kind", e.filter.Kinds.String())
	if e.filter.MinLevel > 0 {
		set("min_level", strconv.Itoa(int(e.filter.MinLevel)))
	}
	return q
}
