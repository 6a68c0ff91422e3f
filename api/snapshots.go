package api

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"limnomap/api/answer"
	"limnomap/api/ogc"
	"limnomap/api/table"
	"limnomap/data"
	"limnomap/data/index"
	"limnomap/tiles"
)

// A published is a snapshot with everything that can be prepared for its answers. It is immutable.
type published struct {
	snap  *data.Snapshot
	state *ogc.State // the snapshot, and what descriptions of the map say about it

	status  *answer.Body
	geojson *answer.Body
	dates   *answer.Body

	records *answer.RenderedItems // those of the status; nil if they are too many to hold
	lookup  *lookup
	counts  *counts
	table   *table.Lakes
}

// A lookup finds lakes by position, by name and by region, in some 80 bytes a lake.
type lookup struct {
	places *index.PointIndex
	names  *index.NameIndex
}

// snapshots hold the published snapshot.
type snapshots struct {
	current         atomic.Pointer[published] // nil before the first
	sender          *answer.Sender
	encoder         *encoder
	rendererVersion string
}

// published returns the published snapshot, or errNoSnapshot. A handler asks once, so that its answer is of one snapshot.
func (s *snapshots) published() (*published, error) {
	p := s.current.Load()
	if p == nil {
		return nil, errNoSnapshot
	}
	return p, nil
}

// snapshot returns the published snapshot, nil before the first.
func (s *snapshots) snapshot() *data.Snapshot {
	if p := s.current.Load(); p != nil {
		return p.snap
	}
	return nil
}

// publish makes snap the snapshot of every later request.
func (s *snapshots) publish(snap *data.Snapshot) error {
	p := &published{snap: snap, state: s.stateOf(snap), lookup: s.lookupOf(snap.Lakes)}
	p.table = table.NewLakes(snap, p.lookup.names)
	var err error
	if p.counts, err = newCounts(); err != nil {
		return err
	}
	status := s.encoder.statusList(snap, everything(snap.Current))
	if s.sender.HoldsList(status.Len) {
		p.records = status.Render()
		p.status, err = s.sender.Prepare(jsonKind, p.records.Content)
	} else {
		p.status, err = s.sender.PrepareList(jsonKind, status)
	}
	if err != nil {
		return err
	}
	if p.geojson, err = s.sender.PrepareList(geoJSONKind, s.encoder.featureList(snap.Current)); err != nil {
		return err
	}
	if p.dates, err = s.sender.Prepare(jsonKind, appendDates(nil, snap)); err != nil {
		return err
	}
	s.current.Store(p)
	return nil
}

// stateOf returns what descriptions of the map say about a snapshot. The versions name the data and the renderer, since
// either changes a tile.
func (s *snapshots) stateOf(snap *data.Snapshot) *ogc.State {
	extent := extentOf(snap.Lakes)
	center := extent.Center()
	return &ogc.State{
		Snapshot:      snap,
		MapVersion:    snap.Version + "-" + s.rendererVersion,
		VectorVersion: snap.Version + "-" + tiles.VectorVersion,
		Bounds:        [4]float64{round(extent.Min.Lon()), round(extent.Min.Lat()), round(extent.Max.Lon()), round(extent.Max.Lat())},
		Center:        [2]float64{round(center.Lon()), round(center.Lat())},
		Zoom:          tiles.ZoomFor(extent),
		Updated:       string(appendTimeText(nil, generatedAt(snap))),
	}
}

// lookupOf returns the lookup of lakes. An import of new values leaves the lakes as they were: then the previous lookup is
// used again, since sorting a million names takes seconds.
func (s *snapshots) lookupOf(lakes []data.Lake) *lookup {
	if before := s.current.Load(); before != nil && slices.EqualFunc(before.snap.Lakes, lakes, foundAlike) {
		return before.lookup
	}
	return &lookup{places: index.NewPointIndex(lakes), names: index.NewNameIndex(lakes)}
}

// foundAlike reports whether two lakes are found by the same position, names and region.
func foundAlike(a, b data.Lake) bool {
	return a.ID == b.ID && a.ExternalID == b.ExternalID && a.Name == b.Name && a.Point == b.Point && a.Region == b.Region
}

// view returns the map of the given week, or the current one.
func (p *published) view(ctx context.Context, week data.Week, given bool) (*data.View, error) {
	if !given {
		return p.snap.Current, nil
	}
	return p.snap.View(ctx, week)
}

// generatedAt returns when the snapshot's data were committed: equal data give equal bytes, on every replica.
func generatedAt(snap *data.Snapshot) time.Time { return snap.Revision.ChangedAt }
