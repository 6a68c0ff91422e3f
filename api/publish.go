package api

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/paulmach/orb"

	"limnomap/api/answer"
	"limnomap/api/table"
	"limnomap/data"
	"limnomap/tiles"
)

// A published is a snapshot with all that can be known of its answers before they are asked for. It is immutable.
type published struct {
	snap *data.Snapshot
	// version is what ?v= says of a tile: the data's and the renderer's, since either changes what it shows.
	version string
	// vectorVersion is the same of a vector tile.
	vectorVersion string
	extent        orb.Bound

	status  *answer.Body
	geojson *answer.Body
	dates   *answer.Body

	records *answer.RenderedItems // those of the status; nil if they are too many to hold
	lookup  *lookup
	counts  *counts
	table   *table.Lakes
}

// Publish makes snap the snapshot that every later request is answered from, with its big answers prepared.
func (s *Server) Publish(snap *data.Snapshot) error {
	p, err := s.prepare(snap)
	if err != nil {
		return fmt.Errorf("publish snapshot %s: %w", snap.Version, err)
	}
	s.current.Store(p)
	if since := s.reloadFailedSince.Swap(nil); since != nil {
		s.logger.Info("loading newer data works again", slog.String("snapshot", p.version), slog.Time("failed_since", *since))
	}
	return nil
}

func (s *Server) prepare(snap *data.Snapshot) (*published, error) {
	p := &published{
		snap:          snap,
		version:       snap.Version + "-" + s.opts.RendererVersion,
		vectorVersion: snap.Version + "-" + tiles.VectorVersion,
		extent:        extentOf(snap.Lakes),
		lookup:        s.lookupOf(snap.Lakes),
	}
	p.table = table.NewLakes(snap, p.lookup.names)
	var err error
	if p.counts, err = newCounts(); err != nil {
		return nil, err
	}
	status := s.statusList(snap, everything(snap.Current))
	if s.sender.HoldsList(status.Len) {
		p.records = status.Render()
		p.status, err = s.sender.Prepare(jsonKind, p.records.Content)
	} else {
		p.status, err = s.sender.PrepareList(jsonKind, status)
	}
	if err != nil {
		return nil, err
	}
	if p.geojson, err = s.sender.PrepareList(geoJSONKind, s.featureList(snap.Current)); err != nil {
		return nil, err
	}
	if p.dates, err = s.sender.Prepare(jsonKind, appendDates(nil, snap)); err != nil {
		return nil, err
	}
	return p, nil
}

// snapshot returns the published snapshot, nil before the first one.
func (s *Server) snapshot() *data.Snapshot {
	if p := s.current.Load(); p != nil {
		return p.snap
	}
	return nil
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
