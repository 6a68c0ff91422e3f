package api

import (
	"context"
	"time"

	"limnomap/api/answer"
	"limnomap/api/ogc"
	"limnomap/api/record"
	"limnomap/data"
	"limnomap/data/snapshot"
)

// A preparedList is an answer with all lakes that is made in advance: before its snapshot is published, or soon after.
type preparedList struct {
	made chan struct{} // closed when it is
	body *answer.Body  // nil if it could not be made: then each request makes its own
}

func newPreparedList() *preparedList { return &preparedList{made: make(chan struct{})} }

// set sets the list, and lets the waiting requests go on. It must be called once.
func (l *preparedList) set(b *answer.Body) {
	l.body = b
	close(l.made)
}

// listWait is how long a request waits for a list: short enough to answer before the server gives up on the client.
const listWait = 20 * time.Second

// get waits until the list is made. It returns errListNotMade after listWait, or the error of ctx when that ends.
func (l *preparedList) get(ctx context.Context) (*answer.Body, error) {
	if !l.waits() {
		return l.body, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, listWait, errListNotMade)
	defer cancel()
	select {
	case <-l.made:
		return l.body, nil
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

// prepareHeldLists prepares the lists of p, and the records that a filtered status copies.
func (s *common) prepareHeldLists(p *published) error {
	p.records = newRecords(s.encoder.statusList(p.snap, everything(p.snap.Current)))
	status, err := s.sender.Prepare(jsonKind, p.records.content)
	if err != nil {
		return err
	}
	geojson, err := s.sender.PrepareList(geoJSONKind, s.encoder.featureList(p.snap.Current))
	if err != nil {
		return err
	}
	p.status.set(status)
	p.geojson.set(geojson)
	return nil
}

// prepareLongLists prepares the lists of p, which are too long to hold, one after the other: each takes memory meanwhile. The former ones are
// those of before, unless it is nil.
func (s *common) prepareLongLists(p, before *published) error {
	status, geojson := s.encoder.statusList(p.snap, everything(p.snap.Current)), s.encoder.featureList(p.snap.Current)
	if before != nil {
		status.Before, geojson.Before = before.status.body, before.geojson.body
	}
	b, err := s.sender.PrepareList(jsonKind, status)
	if err != nil {
		return err
	}
	p.status.set(b)
	if b, err = s.sender.PrepareList(geoJSONKind, geojson); err != nil {
		return err
	}
	p.geojson.set(b)
	return nil
}

// finishLists prepares the lists of the published snapshot that are missing, and those of snapshots that are published meanwhile. If it runs already,
// it returns: the other one does this. An error is only logged, since each request makes its own list then.
func (s *common) finishLists() {
	for done := false; !done && s.current.Load().lacksLists() && s.preparing.TryLock(); {
		done = s.finishListsOnce()
		s.preparing.Unlock() // only then lacksLists: who could not lock before has published before
	}
}

// lacksLists reports whether lists are left to finishLists.
func (p *published) lacksLists() bool { return p.former != nil || p.status.waits() }

// leaveLists has each request for a list that is not prepared make its own. The caller holds preparing.
func (p *published) leaveLists() {
	for _, l := range []*preparedList{p.status, p.geojson} {
		if l.waits() {
			l.set(nil)
		}
	}
}

// finishListsOnce prepares the lists of the snapshot that is published now. It reports whether they cannot be prepared. The caller holds preparing.
func (s *common) finishListsOnce() (failed bool) {
	p := s.current.Load()
	if p.former != nil {
		return !s.finishLeftLists(p)
	}
	if !p.status.waits() {
		return false
	}
	defer p.leaveLists() // also after a panic: no request waits forever
	if err := s.prepareLongLists(p, nil); err != nil {
		s.opts.Logger.Error("lists of all lakes were not prepared", "err", err)
	}
	return false // they do not wait any longer
}

// finishLeftLists publishes p with its lists, unless another snapshot has been published meanwhile. It reports whether they could be prepared.
func (s *common) finishLeftLists(p *published) bool {
	done, former := *p, p.former
	former.leaveLists()
	done.status, done.geojson, done.former = newPreparedList(), newPreparedList(), nil
	var err error
	if s.sender.HoldsList(len(p.snap.Lakes)) {
		err = s.prepareHeldLists(&done)
	} else {
		err = s.prepareLongLists(&done, former)
	}
	if err != nil {
		s.opts.Logger.Error("lists of all lakes were not prepared", "err", err)
		return false
	}
	s.current.CompareAndSwap(p, &done)
	return true
}

// listTail ends each JSON answer that is a list of lakes.
const listTail = "]}\n"

// statusList returns the status envelope of the selection.
func (e *encoder) statusList(snap *snapshot.Snapshot, sel selection) answer.List {
	head := dataHead(snap, sel.view.Week).Int("total_lakes", sel.n).Int("lakes_with_data", sel.withData).Array("lakes")
	view := sel.view
	return sel.list(head, func(b []byte, i int) []byte { return statusMembers.AppendObject(b, record.Member, e.lake(view, i)) }, ",", listTail)
}

// listHead returns the first member of most answers.
func listHead(snap *snapshot.Snapshot) record.Object {
	return record.Object("{").Time("generated_at", generatedAt(snap))
}

// dataHead returns the first members of answers about the map of a week.
func dataHead(snap *snapshot.Snapshot, w data.Week) record.Object {
	return listHead(snap).TextOrNull("data_date", ogc.DataDate(snap, w))
}

// records are the records of the whole status in one piece of memory, from which a filtered status copies its own.
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
