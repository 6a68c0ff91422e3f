package api

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/paulmach/orb"

	"limnomap/api/answer"
	"limnomap/api/ogc"
	"limnomap/api/record"
	"limnomap/api/table"
	"limnomap/api/weekpage"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/index"
	"limnomap/data/snapshot"
	"limnomap/tiles"
	"limnomap/tiles/background"
)

// A published is a snapshot with everything that can be prepared for its answers. It is immutable, except that its lists may be set later.
type published struct {
	snap  *snapshot.Snapshot
	weeks *weekViews
	state *ogc.State // the snapshot, and what descriptions of the map say about it
	bound orb.Bound  // of the lakes

	lists  *lists
	dates  *answer.Body
	lookup *lookup
	counts *lru.Cache[countsKey, *answer.Body]
	// changes are those of the weeks that were asked for.
	changes *lru.Cache[data.Week, *weekpage.Changes]
	regions *lru.Cache[string, *weekpage.Region] // that were asked for, by name
	plans   *lru.Cache[planKey, []PlannedSample]
	years   *lru.Cache[yearsKey, []byte] // tables of years
	table   *table.Lakes

	readings *lru.Cache[int, *lakeReading] // for pages of lakes, by their index
}

// A lookup finds lakes by position, by name and by region, in some 84 bytes a lake.
type lookup struct {
	places  *index.PointIndex
	names   *index.NameIndex
	regions *regionLakes
}

// common is what the handlers have in common.
type common struct {
	opts      Options                    // with the first values of the adjustable ones
	options   atomic.Pointer[Adjustable] // their present values
	sender    *answer.Sender
	errors    *answer.Errors
	weeks     *weekViews
	issues    *issueCache
	ledgers   ledgers
	colormaps *colormaps
	styleIDs  []tiles.StyleID // the default first
	// forecastIDs are those of maps of the forecast.
	forecastIDs []tiles.StyleID
	encoder     *encoder
	prefix      string                    // of paths in answers
	current     atomic.Pointer[published] // nil before the first
	preparing   sync.Mutex                // held while lists of all lakes are prepared, which takes memory
}

func newCommon(opts Options) (*common, error) {
	maps, err := newColormaps(opts.Limits)
	if err != nil {
		return nil, err
	}
	s := &common{
		opts:      opts,
		errors:    answer.NewErrors(errorStatuses, opts.Logger),
		weeks:     newWeekViews(opts.Turns, opts.WeekReads, opts.Memory),
		issues:    &issueCache{source: opts.Issues, turns: opts.WeekReads, memory: opts.Memory},
		ledgers:   newLedgers(),
		sender:    answer.NewSender(opts.sending),
		colormaps: maps,
		encoder:   newEncoder(maps.byID[maps.ids[0]]),
		prefix:    prefixOf(opts.PublicURL, opts.BasePath),
	}
	for _, style := range opts.Styles {
		s.styleIDs = append(s.styleIDs, style.ID)
	}
	for _, style := range tiles.ForecastStyles() {
		s.forecastIDs = append(s.forecastIDs, style.ID)
	}
	s.options.Store(&opts.Adjustable)
	return s, nil
}

// adjustable returns the present values of the options that may change.
func (s *common) adjustable() *Adjustable { return s.options.Load() }

func (s *common) trustedProxies() []netip.Prefix { return s.adjustable().TrustedProxies }

// published returns the published snapshot, or errNoSnapshot.
func (s *common) published() (*published, error) {
	p := s.current.Load()
	if p == nil {
		return nil, errNoSnapshot
	}
	return p, nil
}

// onData returns a handler that passes the published snapshot to h. It loads it once, so that an answer is of one snapshot: with errPassedOver h asks for
// the newer one, and has written nothing.
func (s *common) onData(h func(w http.ResponseWriter, r *http.Request, p *published) error) answer.Handler {
	once := func(w http.ResponseWriter, r *http.Request) error {
		p, err := s.published()
		if err != nil {
			return err
		}
		r, info := answer.WithInfo(r)
		defer info.Release()
		info.TrueFor = s.trueFor(p.snap)
		p.state.SetDates(w.Header(), data.Optional[data.Week]{})
		return h(w, r, p)
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		for {
			if err := once(w, r); !errors.Is(err, errPassedOver) {
				return err
			}
		}
	}
}

// trueFor returns how long answers about the present will be true: until an official statement begins or ends. It is zero if that is
// not known.
func (s *common) trueFor(snap *snapshot.Snapshot) time.Duration {
	return trueUntil(snap.StatementsChangeAt(), s.opts.Now())
}

// trueUntil returns how long after now an answer is true that changes at next; zero if it never changes.
func trueUntil(next, now time.Time) time.Duration {
	if next.IsZero() {
		return 0
	}
	return max(next.Sub(now), 1)
}

// newCache returns a cache of the n entries that were used last.
func newCache[K comparable, V any](n int) *lru.Cache[K, V] {
	c, err := lru.New[K, V](n)
	if err != nil {
		panic("api: a cache of entries: " + err.Error()) // of none
	}
	return c
}

// inBackground runs f on a thread of low priority, and waits for it.
func inBackground(f func() error) error {
	done := make(chan error, 1)
	go func() { // ends with f, which is waited for
		background.Here()
		done <- f()
	}()
	return <-done
}

// publish makes snap the snapshot of every later request. It prepares the large answers, and what tiles have in common. For finishLists it leaves
// out those lists of the first snapshot that are too long to hold, and all lists of one with other official statements only.
func (s *common) publish(snap *snapshot.Snapshot) error {
	before := s.current.Load()
	if before != nil && before.snap.Current == snap.Current {
		p := *before // only the forecasts are different, and no prepared answer has them
		p.snap, p.state = snap, s.stateOf(snap)
		s.current.Store(&p)
		return nil
	}
	if before != nil && onlyStatements(before.snap, snap) {
		return s.publishStatements(before, snap)
	}
	s.preparing.Lock()
	defer s.preparing.Unlock()
	var listsBefore *lists
	if before != nil {
		s.finishListsOf(before) // to publish may take longer than requests wait
		listsBefore = before.lists
	}
	p := &published{snap: snap, weeks: s.weeks, state: s.stateOf(snap), bound: boundOf(snap.Lakes), lists: newLists(listsBefore),
		counts:   newCache[countsKey, *answer.Body](maxCounts),
		changes:  newCache[data.Week, *weekpage.Changes](maxChanges),
		regions:  newCache[string, *weekpage.Region](maxRegions),
		plans:    newCache[planKey, []PlannedSample](maxPlans),
		years:    newCache[yearsKey, []byte](maxYearTables),
		readings: newCache[int, *lakeReading](maxLakeReadings)}
	var err error
	if p.dates, err = s.sender.Prepare(jsonKind, weeksBody(snap)); err != nil {
		return err
	}
	parts := []func(){
		func() { p.lookup = s.lookupOf(snap.Lakes) },
		func() { s.opts.Tiles.PrepareVectors(snap.Current) },
		func() { s.opts.Tiles.Prepare(snap.Current) },
	}
	if (before != nil || s.sender.HoldsList(len(snap.Lakes))) && p.lists.take() {
		parts = append(parts, func() { err = s.prepareLists(p) })
	}
	if before != nil { // on this thread, which has a low priority
		for _, prepare := range parts {
			prepare()
		}
	} else { // no request waits for a processor
		var all sync.WaitGroup
		for _, prepare := range parts {
			all.Go(prepare)
		}
		all.Wait()
	}
	if err != nil {
		return err
	}
	p.table = lakesTable(snap, p.lookup)
	s.current.Store(p)
	if before != nil {
		before.lists.records.Store(nil)
	}
	return nil
}

func lakesTable(snap *snapshot.Snapshot, l *lookup) *table.Lakes {
	lasting := *snap
	lasting.Forecasts = nil // the table stays when there are others
	return table.NewLakes(&lasting, l.names)
}

// onlyStatements reports whether snap differs from before in official statements and forecasts only: then both share the states of their lakes.
func onlyStatements(before, snap *snapshot.Snapshot) bool {
	a, b := before.Current, snap.Current
	return a.AsOf == b.AsOf && len(a.States) > 0 && len(a.States) == len(b.States) && &a.States[0] == &b.States[0]
}

// publishStatements is publish for a snapshot with other official statements. It must be quick, also on a busy machine: until it is published, a closure
// is not told. So requests for a list of all lakes wait until finishLists has prepared them, as do those for the lists of the former one that are not
// being prepared.
func (s *common) publishStatements(before *published, snap *snapshot.Snapshot) (err error) {
	p := *before
	p.snap, p.state = snap, s.stateOf(snap)
	p.counts, p.lists = newCache[countsKey, *answer.Body](maxCounts), newLists(before.lists)
	p.changes = newCache[data.Week, *weekpage.Changes](maxChanges) // closed lakes are some of them
	p.regions = newCache[string, *weekpage.Region](maxRegions)     // as here
	p.readings = newCache[int, *lakeReading](maxLakeReadings)      // a closed site is no clearer one
	if p.dates, err = s.sender.Prepare(jsonKind, weeksBody(snap)); err != nil {
		return err
	}
	s.opts.Tiles.PrepareVectors(snap.Current)
	s.opts.Tiles.Prepare(snap.Current)
	p.table = lakesTable(snap, p.lookup)
	s.current.Store(&p)
	before.lists.records.Store(nil)
	if before.lists.take() {
		before.lists.finish(errPassedOver)
	}
	return nil
}

// stateOf returns what descriptions of the map say about a snapshot. The versions name the data and the renderer, since
// either changes a tile.
func (s *common) stateOf(snap *snapshot.Snapshot) *ogc.State {
	filled, extent := extentsOf(snap.Lakes)
	center := filled.Center()
	state := &ogc.State{
		Snapshot:      snap,
		MapVersion:    snap.Version + "-" + s.opts.RendererVersion,
		VectorVersion: snap.Version + "-" + tiles.VectorVersion,
		Bounds:        [4]float64{round(extent.Min.Lon()), round(extent.Min.Lat()), round(extent.Max.Lon()), round(extent.Max.Lat())},
		Center:        [2]float64{round(center.Lon()), round(center.Lat())},
		Zoom:          tiles.ZoomFor(filled),
		Updated:       string(record.AppendTime(nil, generatedAt(snap))),
		Credits:       s.opts.Credits(snap.Sources()),
		DateFields:    ogc.NewDateFields(snap),
	}
	if f := snap.Forecasts; f != nil {
		state.ForecastVersion = state.MapVersion + "-" + f.Version
	}
	return state
}

// lookupOf returns the lookup of lakes. An import of new values leaves the lakes as they were: then the previous lookup is
// used again, since sorting a million names takes seconds.
func (s *common) lookupOf(lakes []data.Lake) *lookup {
	if before := s.current.Load(); before != nil && slices.EqualFunc(before.snap.Lakes, lakes, foundAlike) {
		return before.lookup
	}
	return &lookup{places: index.NewPointIndex(lakes), names: index.NewNameIndex(lakes), regions: newRegionLakes(lakes)}
}

// foundAlike reports whether two lakes are found by the same position, names and region.
func foundAlike(a, b data.Lake) bool {
	return a.ID == b.ID && a.ExternalID == b.ExternalID && a.Name == b.Name && a.Point == b.Point && a.Region == b.Region
}

// generatedAt returns when the snapshot's data were committed: equal data give equal bytes, on every replica.
func generatedAt(snap *snapshot.Snapshot) time.Time { return snap.Revision.ChangedAt }

// colormaps are all colour maps.
type colormaps struct {
	ids  []colormap.ID // the default first; without those of the forecast
	byID map[colormap.ID]*colormap.Map
	// forecasts are those of the forecast, by the risk whose probability they show.
	forecasts map[data.Risk]*colormap.Map
}

func newColormaps(limits colormap.Limits) (*colormaps, error) {
	maps := &colormaps{ids: colormap.IDs(), byID: make(map[colormap.ID]*colormap.Map)}
	for _, id := range maps.ids {
		m, err := colormap.New(id, limits)
		if err != nil {
			return nil, fmt.Errorf("colour map %s: %w", id, err)
		}
		maps.byID[id] = m
	}
	maps.forecasts = map[data.Risk]*colormap.Map{data.RiskMedium: colormap.NewForecast(limits), data.RiskHigh: colormap.NewHighForecast(limits)}
	return maps, nil
}
