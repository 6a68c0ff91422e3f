package api

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/paulmach/orb"

	"limnomap/data"
)

// A published is a snapshot with all that can be known of its answers before they are asked for. It is immutable.
type published struct {
	snap *data.Snapshot
	// version is what ?v= says of a tile: the data's and the renderer's, since either changes what it shows.
	version string
	extent  orb.Bound

	status  *body
	geojson *body
	dates   *body

	records records // status records, in the order of snap.Lakes
}

// Publish makes snap the snapshot that every later request is answered from, with its big answers prepared.
func (s *Server) Publish(snap *data.Snapshot) error {
	p, err := s.prepare(snap)
	if err != nil {
		return fmt.Errorf("publish snapshot %s: %w", snap.Version, err)
	}
	s.current.Store(p)
	s.refreshFault.Store(nil)
	s.metrics.published(snap)
	return nil
}

func (s *Server) prepare(snap *data.Snapshot) (*published, error) {
	p := &published{
		snap:    snap,
		version: snap.Version + "-" + s.opts.RendererVersion,
		extent:  extentOf(snap.Lakes),
	}
	lakes, states := snap.Lakes, snap.Current.States
	p.records = newRecords(appendStatusHead(nil, snap, len(lakes), snap.Current.WithData), len(lakes),
		func(b []byte, i int) []byte { return s.encoder.status(b, &lakes[i], &states[i]) }, "]}\n")
	features := newRecords([]byte(`{"type":"FeatureCollection","features":[`), len(lakes),
		func(b []byte, i int) []byte { return s.encoder.feature(b, &lakes[i], &states[i]) }, "]}\n")

	var err error
	for _, big := range []struct {
		body    **body
		kind    kind
		content []byte
	}{
		{&p.status, jsonKind, p.records.bytes},
		{&p.geojson, geoJSONKind, features.bytes},
		{&p.dates, jsonKind, appendDates(nil, snap)},
	} {
		if *big.body, err = newBody(&s.compressor, big.kind, big.content); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// published returns what is published, or errNoSnapshot. A handler asks once, so that its answer is of one moment.
func (s *Server) published() (*published, error) {
	p := s.current.Load()
	if p == nil {
		return nil, errNoSnapshot
	}
	return p, nil
}

// view returns the map as it stood in the given week, or now.
func (p *published) view(ctx context.Context, week data.Week, given bool) (*data.View, error) {
	if !given {
		return p.snap.Current, nil
	}
	return p.snap.View(ctx, week)
}

// generatedAt returns when the snapshot's data were committed: equal data give equal bytes, on every replica.
func generatedAt(snap *data.Snapshot) time.Time { return snap.Revision.ChangedAt }

// records are JSON objects with commas between them, so that any run of them is a slice, inside the answer that has them
// all.
type records struct {
	bytes  []byte
	starts []int // of each record, and behind the comma of the last, had it one
}

// newRecords appends n records to head, and tail to them.
func newRecords(head []byte, n int, record func(b []byte, i int) []byte, tail string) records {
	r := records{bytes: head, starts: make([]int, 1, n+1)}
	r.starts[0] = len(head)
	for i := range n {
		r.bytes = append(record(r.bytes, i), ',')
		r.starts = append(r.starts, len(r.bytes))
		if i == 0 {
			// The others are about as long as the first; growing step by step would copy a million records five times.
			r.bytes = slices.Grow(r.bytes, (r.starts[1]-r.starts[0])*n*5/4+len(tail))
		}
	}
	if n > 0 {
		r.bytes = r.bytes[:len(r.bytes)-1]
	}
	r.bytes = append(r.bytes, tail...)
	return r
}

// slice returns the records from i up to j, with commas between them.
func (r *records) slice(i, j int) []byte {
	if i >= j {
		return nil
	}
	return r.bytes[r.starts[i] : r.starts[j]-1]
}
