package api

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"limnomap/api/answer"
	"limnomap/api/ogc"
	"limnomap/api/record"
	"limnomap/data"
	"limnomap/data/snapshot"
)

// lists are the answers with all lakes of one snapshot. They are made before it is published, or soon after: then requests wait for them. They are
// made at most once, by the one who takes them.
type lists struct {
	taken           atomic.Bool
	status, geojson *preparedList
	// records are those of the status. They are nil until it is being made, if they are too many to hold, and after a newer snapshot is published. They
	// have memory of their own: a client that reads slowly keeps neither them nor the lists.
	records *atomic.Pointer[records]
}

// newLists returns lists that have not been made. Those before them may be nil.
func newLists(before *lists) *lists {
	l := &lists{status: newPreparedList(), geojson: newPreparedList(), records: new(atomic.Pointer[records])}
	if before != nil {
		l.status.sizes, l.geojson.sizes = before.status.likelySizes(), before.geojson.likelySizes()
	}
	return l
}

// take reports whether the caller is the first. Then it must finish the lists.
func (l *lists) take() bool { return l.taken.CompareAndSwap(false, true) }

// finish ends the waiting for lists that have not been made: with an error, or, if it is nil, so that each request makes its own.
func (l *lists) finish(err error) {
	for _, list := range []*preparedList{l.status, l.geojson} {
		if list.waits() {
			list.set(nil, err)
		}
	}
}

// errPassedOver is the end of lists that are not made because a newer snapshot has been published.
var errPassedOver = errors.New("a newer snapshot has been published")

// A preparedList is an answer with all lakes that is made in advance.
type preparedList struct {
	sizes answer.Sizes  // of the last one that was made before
	made  chan struct{} // closed when body and err are set
	body  *answer.Body  // nil if it was not made
	err   error
}

func newPreparedList() *preparedList { return &preparedList{made: make(chan struct{})} }

// set sets the list, and lets the waiting requests go on. It must be called once.
func (l *preparedList) set(b *answer.Body, err error) {
	l.body, l.err = b, err
	close(l.made)
}

// listWait is how long after its start a request waits for a list: short enough to answer before the server gives up on the client.
const listWait = 20 * time.Second

// get waits until the list is made. If it could not be made, body and error are nil. The error is errPassedOver, errListNotMade after that time, or
// that of ctx when it ends.
func (l *preparedList) get(ctx context.Context, wait time.Duration) (*answer.Body, error) {
	if !l.waits() {
		return l.body, l.err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, wait, errListNotMade)
	defer cancel()
	select {
	case <-l.made:
		return l.body, l.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// waits reports whether a request for the list would have to wait.
func (l *preparedList) waits() bool {
	select {
	case <-l.made:
		return false
	default:
		return true
	}
}

// likelySizes returns about the sizes of the forms of the next list.
func (l *preparedList) likelySizes() answer.Sizes {
	if !l.waits() && l.body != nil {
		return l.body.Sizes()
	}
	return l.sizes
}

// prepareLists prepares the lists of p, which the caller has taken. Those that are too long to hold are prepared one after the other, since each takes
// memory meanwhile. If it fails, and after a panic, each request makes its own.
func (s *common) prepareLists(p *published) error {
	defer p.lists.finish(nil)
	all := everything(p.snap.Current)
	var held *records
	if len(p.snap.Lakes) <= heldRecords {
		held = newRecords(s.encoder.statusList(p.snap, all))
		p.lists.records.Store(held)
	}
	var b *answer.Body
	var err error
	if held != nil && s.sender.HoldsList(len(p.snap.Lakes)) {
		b, err = s.sender.Prepare(jsonKind, held.content)
	} else {
		status := p.statusList(s.encoder, all)
		status.Sizes = p.lists.status.sizes
		b, err = s.sender.PrepareList(jsonKind, status)
	}
	if err != nil {
		return err
	}
	p.lists.status.set(b, nil)
	geojson := s.encoder.featureList(p.snap.Current)
	geojson.Sizes = p.lists.geojson.sizes
	if b, err = s.sender.PrepareList(geoJSONKind, geojson); err != nil {
		return err
	}
	p.lists.geojson.set(b, nil)
	return nil
}

// finishLists prepares the lists of the published snapshot, and reports whether they were left to it.
func (s *common) finishLists() bool {
	s.preparing.Lock()
	defer s.preparing.Unlock()
	return s.finishListsOf(s.current.Load())
}

// finishListsOf is finishLists for p. The caller holds preparing. An error is only logged, since each request makes its own list then.
func (s *common) finishListsOf(p *published) bool {
	if !p.lists.take() {
		return false
	}
	if err := s.prepareLists(p); err != nil {
		s.opts.Logger.Error("lists of all lakes were not prepared", "error", err)
	}
	if s.current.Load().lists != p.lists {
		p.lists.records.Store(nil)
	}
	return true
}

// listTail ends each JSON answer that is a list of lakes.
const listTail = "]}\n"

// statusList returns the status envelope of the selection.
func (e *encoder) statusList(snap *snapshot.Snapshot, sel selection) answer.List {
	head := dataHead(snap, sel.view.Week).Int("total_lakes", sel.n).Int("lakes_with_data", sel.withData).Array("lakes")
	view := sel.view
	return sel.list(head, func(b []byte, i int) []byte { return e.lake(view, i).appendStatus(b) }, ",", listTail)
}

// listHead returns the first member of most answers.
func listHead(snap *snapshot.Snapshot) record.Object {
	return record.Object("{").Time("generated_at", generatedAt(snap))
}

// dataHead returns the first members of answers about the map of a week.
func dataHead(snap *snapshot.Snapshot, w data.Week) record.Object {
	return listHead(snap).TextOrNull("data_date", ogc.DataDate(snap, w))
}

// statusList is that of the encoder. It copies the records if they are held, which takes a third of the time.
func (p *published) statusList(e *encoder, sel selection) answer.List {
	list, records := e.statusList(p.snap, sel), p.lists.records
	held := records.Load()
	if held == nil || sel.view != p.snap.Current {
		return list
	}
	for i := range sel.n {
		list.Size += held.size(sel.lake(i))
	}
	encode := list.Append
	list.Append = func(b []byte, i int) []byte { // a client that reads it slowly must not keep p
		if held := records.Load(); held != nil {
			return held.append(b, sel.lake(i))
		}
		return encode(b, i)
	}
	return list
}

// heldRecords is up to how many lakes their records are held, some 50 MB.
const heldRecords = 1 << 17

// records are the records of the whole status in one piece of memory, from which other lists copy theirs.
type records struct {
	content []byte // the whole status
	starts  []int  // of the records, and where a further one would start
}

// newRecords makes the list, a status, and notes where each record starts.
func newRecords(l answer.List) *records {
	r := &records{starts: make([]int, 0, l.Len+1)}
	encode := l.Append
	l.Append = func(b []byte, i int) []byte {
		r.starts = append(r.starts, len(b))
		return encode(b, i)
	}
	r.content = l.Bytes()
	r.starts = append(r.starts, len(r.content)-len(listTail)+len(l.Between))
	return r
}

// size returns the size of the record of a lake, with the comma after it.
func (r *records) size(lake int) int { return r.starts[lake+1] - r.starts[lake] }

// append appends the record of a lake.
func (r *records) append(b []byte, lake int) []byte {
	return append(b, r.content[r.starts[lake]:r.starts[lake+1]-len(",")]...)
}

// featureList returns a view's lakes as GeoJSON features.
func (e *encoder) featureList(view *snapshot.View) answer.List {
	sel := everything(view)
	return sel.list([]byte(`{"type":"FeatureCollection","features":[`),
		func(b []byte, i int) []byte { return lakeProperties.AppendFeature(b, &view.Lakes[i], e.lake(view, i)) }, ",", listTail)
}
