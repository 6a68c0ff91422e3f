package api

import (
	"strconv"
	"sync/atomic"

	"limnomap/api/answer"
	"limnomap/data"
)

// lists are the answers with all lakes that are made in advance. Until they are, each request makes its own.
type lists struct {
	status, geojson atomic.Pointer[answer.Body]
}

// prepareHeldLists prepares the lists of p, and the records that a filtered status copies.
func (s *common) prepareHeldLists(p *published) error {
	p.records = newRecords(s.encoder.statusList(p.snap, everything(p.snap.Current)))
	status, err := s.sender.Prepare(jsonKind, p.records.content)
	if err != nil {
		return err
	}
	geojson, err := s.sender.PrepareList(geoJSONKind, s.encoder.featureList(p.snap.Current))
	p.lists.status.Store(status)
	p.lists.geojson.Store(geojson)
	return err
}

// prepareLongLists prepares the lists of p, which are too long to hold, one after the other: each takes memory meanwhile. The former ones are
// those of before, unless it is nil.
func (s *common) prepareLongLists(p, before *published) error {
	status, geojson := s.encoder.statusList(p.snap, everything(p.snap.Current)), s.encoder.featureList(p.snap.Current)
	if before != nil {
		status.Before, geojson.Before = before.lists.status.Load(), before.lists.geojson.Load()
	}
	b, err := s.sender.PrepareList(jsonKind, status)
	if err != nil {
		return err
	}
	p.lists.status.Store(b)
	if b, err = s.sender.PrepareList(geoJSONKind, geojson); err != nil {
		return err
	}
	p.lists.geojson.Store(b)
	return nil
}

// prepareLists prepares the lists of the published snapshot that are missing, on a thread of low priority: requests are answered meanwhile.
// An error is only logged, since each request makes its own list then.
func (s *common) prepareLists() {
	p := s.current.Load()
	if p.lists.geojson.Load() != nil {
		return
	}
	err := inBackground(func() error { return s.prepareLongLists(p, nil) })
	if err != nil {
		s.opts.Logger.Error("lists of all lakes were not prepared", "err", err)
	}
}

// listTail ends each JSON answer that is a list of lakes.
const listTail = "]}\n"

// statusList returns the status envelope of the selection.
func (e *encoder) statusList(snap *data.Snapshot, sel selection) answer.List {
	head := append([]byte(nil), `{"generated_at":`...)
	head = appendTime(head, generatedAt(snap))
	head = append(head, `,"total_lakes":`...)
	head = strconv.AppendInt(head, int64(sel.n), 10)
	head = append(head, `,"lakes_with_data":`...)
	head = strconv.AppendInt(head, int64(sel.withData), 10)
	head = append(head, `,"lakes":[`...)
	view := sel.view
	return sel.list(head, func(b []byte, i int) []byte { return e.status(b, view, i) }, ",", listTail)
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
func (e *encoder) featureList(view *data.View) answer.List {
	sel := everything(view)
	return sel.list([]byte(`{"type":"FeatureCollection","features":[`),
		func(b []byte, i int) []byte { return e.feature(b, view, i) }, ",", listTail)
}
