package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"limnomap/api/answer"
	"limnomap/api/joinwrites"
	"limnomap/api/params"
	"limnomap/api/record"
	"limnomap/data"
	"limnomap/tiles/admission"
)

const (
	pathEventStream = answer.PathEventStream

	// maxStreams and streamShare bound the open streams: an open stream is a request in flight, for up to maxStreamAge, and most of those must
	// be left to others. A client may have half of the streams that the others leave free.
	maxStreams  = 1024
	streamShare = 8 // the part of the requests in flight for streams is 1/streamShare
	// heartbeat is how often a stream without events sends a comment, so that proxies keep it open, some for 15 seconds only, and a client
	// that is gone is noticed.
	heartbeat = 10 * time.Second
	// streamWriteTimeout bounds a write to a client that does not read.
	streamWriteTimeout = 10 * time.Second
	// maxStreamAge is when a stream ends. Its client connects again, perhaps to another server, and goes on after its last event.
	maxStreamAge = time.Hour
	// streamPage is how many events of the log a stream reads and sends at once: some 100 kB, which it holds while its client does not read.
	streamPage = 200
	// streamRetry is when a stream that could not read the log tries again.
	streamRetry = 2 * time.Second
)

// eventStreams are the open streams.
type eventStreams struct {
	budget *admission.Budget
	ended  chan struct{} // is closed when the server is to be stopped
	end    sync.Once
}

// newEventStreams returns the streams of a server that answers so many requests at once.
func newEventStreams(requests int) *eventStreams {
	n := min(max(requests/streamShare, 1), maxStreams)
	return &eventStreams{budget: admission.NewBudget(int64(n)), ended: make(chan struct{})}
}

// close ends all streams, and refuses further ones.
func (s *eventStreams) close() { s.end.Do(func() { close(s.ended) }) }

// stream answers with the events after a number, and with each later one when it happens, as server-sent events.
func (h *eventHandlers) stream(w http.ResponseWriter, r *http.Request) error {
	p, err := h.published()
	if err != nil {
		return err
	}
	query := params.Of(r)
	e := eventRequestOf(&query, maxEvents)
	since := eventNumberOf(&query)
	if id := r.Header.Get("Last-Event-ID"); id != "" { // a client that connects again; its address still has the first since
		if since, err = parseEventNumber(id); err != nil {
			query.Refuse("Last-Event-ID", "%s %s", params.Quote(id), mistakeInEventNumber)
		}
	}
	if err := query.Err(); err != nil {
		return err
	}
	state, _ := h.opts.Events.State()
	if since < 0 {
		since = state.Newest
	}
	if _, err := h.kept(r, since, state); err != nil {
		return err
	}
	select {
	case <-h.streams.ended:
		return errDraining
	default:
	}
	hold, err := h.streams.budget.Hold(answer.ClientOf(r), 1)
	if err != nil {
		return errStreams
	}
	defer hold.Release()

	header := w.Header()
	header.Set("Content-Type", answer.TypeEventStream)
	header.Set("Cache-Control", answer.CacheNever)
	header.Set("X-Accel-Buffering", "no") // nginx would collect the events
	if r.Method == http.MethodHead {
		return nil
	}
	joinwrites.Stop(r)
	s := &eventStream{eventHandlers: h, w: w, out: http.NewResponseController(w), request: e, since: since}
	s.run(r, p)
	return nil
}

// An eventStream is one client's.
type eventStream struct {
	*eventHandlers
	w        http.ResponseWriter
	out      *http.ResponseController
	request  eventRequest
	since    int64
	snapshot string // the last one that the client was told
	b        []byte
}

// run sends until the client leaves, the server stops, or the stream is old.
func (s *eventStream) run(r *http.Request, p *published) {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	old := time.NewTimer(maxStreamAge)
	defer old.Stop()
	defer func() { _ = s.setDeadline(streamWriteTimeout) }() // for the end of the answer, which net/http writes

	s.b = append(s.b, "retry: 5000\n\n"...) // milliseconds
	s.appendSnapshot(p)
	for {
		state, news := s.opts.Events.State()
		var again <-chan time.Time
		switch err := s.send(r, state); {
		case err == nil:
		case errors.Is(err, errEventStore) || errors.Is(err, admission.ErrBusy) || errors.Is(err, context.DeadlineExceeded):
			again = time.After(streamRetry)
		default:
			return
		}
		select {
		case <-news:
		case <-again:
		case <-beat.C:
			s.b = append(s.b, ":\n\n"...)
		case <-old.C:
			return
		case <-s.streams.ended:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// send sends what is new up to a state of the log. A client that is too far behind is told so by the end of the stream: it connects again,
// and gets 410.
func (s *eventStream) send(r *http.Request, state data.EventState) error {
	defer func() { s.b = nil }() // a stream without news holds no memory for them
	for {
		p, err := s.published()
		if err != nil {
			return err
		}
		if s.since >= state.Newest {
			s.appendSnapshot(p)
			return s.flush()
		}
		if err := checkKept(s.since, state); err != nil {
			return err
		}
		page, err := s.pages.read(r, data.EventQuery{After: s.since, Until: state.Newest, Lake: s.request.lake(), Limit: streamPage})
		if err != nil {
			return errors.Join(err, s.flush())
		}
		for i := range page {
			if e := &page[i]; s.request.filter.Matches(e, p.snap) {
				s.b = append(s.b, "id: "...)
				s.b = strconv.AppendInt(s.b, e.Seq, 10)
				s.b = append(s.b, "\ndata: "...)
				s.b = appendEvent(s.b, e, p.snap)
				s.b = append(s.b, "\n\n"...)
			}
		}
		if s.since = state.Newest; len(page) == streamPage {
			s.since = page[streamPage-1].Seq
		}
		if err := s.flush(); err != nil {
			return err
		}
	}
}

// appendSnapshot tells the client of another snapshot. The number of the event lets it connect again there.
func (s *eventStream) appendSnapshot(p *published) {
	if p.snap.Version == s.snapshot {
		return
	}
	s.snapshot = p.snap.Version
	s.b = append(s.b, "event: snapshot\nid: "...)
	s.b = strconv.AppendInt(s.b, s.since, 10)
	s.b = append(s.b, "\ndata: {"...)
	s.b = record.Object(s.b).Text("snapshot", s.snapshot).Close("}\n\n")
}

// flush sends what was appended.
func (s *eventStream) flush() error {
	if len(s.b) == 0 {
		return nil
	}
	if err := s.setDeadline(streamWriteTimeout); err != nil {
		return err
	}
	if _, err := s.w.Write(s.b); err != nil {
		return err
	}
	s.b = s.b[:0]
	if err := s.out.Flush(); err != nil {
		return err
	}
	return s.setDeadline(0) // HTTP/2 resets the stream at its deadline, also if nothing is being written
}

// setDeadline bounds the time of the next write, or not if it is zero.
func (s *eventStream) setDeadline(timeout time.Duration) error {
	var deadline time.Time
	if timeout > 0 {
		deadline = time.Now().Add(timeout)
	}
	if err := s.out.SetWriteDeadline(deadline); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}
