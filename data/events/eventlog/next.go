package eventlog

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"strings"
	"time"

	"limnomap/data"
	"limnomap/data/clock"
	"limnomap/data/snapshot"
)

// Settings are those by which events are found.
type Settings struct {
	// Snapshots are those by which snapshots are made of the data.
	Snapshots string
	// BloomShare is from which part of a lake with a high risk on there is an event; 0: never.
	BloomShare data.TenThousandths
}

// bloomMark begins the limit of blooms in the settings of a moment.
const bloomMark = ", blooms from "

// String returns what a moment stores of the settings.
func (s Settings) String() string { return s.Snapshots + bloomText(s.BloomShare) }

func bloomText(limit data.TenThousandths) string {
	if limit == 0 {
		return ""
	}
	return bloomMark + strconv.FormatFloat(limit.Float(), 'f', -1, 64)
}

// splitSettings returns the settings of snapshots, and the limit of blooms as bloomText returns it.
func splitSettings(stored string) (snapshots, bloom string) {
	if at := strings.LastIndex(stored, bloomMark); at >= 0 {
		return stored[:at], stored[at:]
	}
	return stored, ""
}

// A Result is what [Next] found.
type Result struct {
	// Moment is the new one. If nothing is new, it is the last one.
	Moment data.Moment
	New    bool
	// First reports why there are no events: there was no moment, or one that cannot be compared.
	First bool
}

// Next compares a snapshot with the last moment and passes on what is different. Settings describe how the snapshot was made of the data: if
// they are not those of the last moment, the new one is the first of a series, without events. So is a moment with values after one without
// any: an empty map that is filled is no news about a lake.
//
// If the settings have a limit of blooms, a lake is an event when at least that part of it comes to have a high risk. With another limit than that of
// the last moment there are none of these: what is above it already is no news.
//
// Statements are valid or not as of p. A clock that is behind the last moment by no more than [clock.Tolerance] counts as that moment: it issues no statement
// anew. One that is further behind counts, because the clock of the last moment may have been wrong: what was told by it is then corrected. A snapshot of
// an earlier revision than the last moment's changes nothing, nor does one with earlier statements.
//
// With 1.4 million lakes, memory holds one block of some 8,000 at a time.
func Next(last data.Moment, store data.MomentTx, snap *snapshot.Snapshot, settings Settings, p data.Present) (Result, error) {
	r := snap.Revision
	if last.Number > 0 && (r.Number < last.Revision.Number || r.Forecasts < last.Revision.Forecasts || snap.StatementsOf < last.StatementsOf) {
		return Result{Moment: last}, nil
	}
	p.Now = p.Now.UTC().Truncate(time.Second)
	if behind := last.At.Sub(p.Now); behind > 0 && behind <= clock.Tolerance {
		p.Now = last.At
	}
	snap = snap.At(p)
	if last.Settings == settings.String() && last.Snapshot == snap.Version && last.Revision.Number == r.Number && last.Revision.Forecasts == r.Forecasts {
		return Result{Moment: last}, nil
	}
	before, bloomBefore := splitSettings(last.Settings)
	c := comparison{
		store: store, snap: snap, last: last, present: p, bloom: settings.BloomShare,
		first:     last.Number == 0 || before != settings.Snapshots,
		quiet:     last.Measured == 0,
		newBlooms: bloomBefore != bloomText(settings.BloomShare),
		next: data.Moment{Number: last.Number + 1, Revision: data.Revision{Number: r.Number, ChangedAt: r.ChangedAt, Forecasts: r.Forecasts},
			StatementsOf: snap.StatementsOf, Settings: settings.String(), Snapshot: snap.Version, At: p.Now, LastSeq: last.LastSeq, ChangesSince: last.ChangesSince},
	}
	if last.Blocks == 0 {
		c.next.ChangesSince = c.next.Number
	}
	if err := c.run(); err != nil {
		return Result{}, err
	}
	if c.next.Measured == 0 { // by a clock that is behind, all values may be of the future: what was told of them is corrected later
		c.next.Measured = last.Measured
	}
	return Result{Moment: c.next, New: true, First: c.first}, nil
}

// A comparison is one run of Next.
type comparison struct {
	store   data.MomentTx
	snap    *snapshot.Snapshot
	last    data.Moment
	next    data.Moment
	present data.Present // of its events
	bloom   data.TenThousandths

	first bool // no events
	quiet bool // no events of values

	newBlooms bool // the limit of blooms is another one: no events of them

	old           block // the block of the last moment that is being read
	oldIndex      int   // of the next one
	oldLake       int   // in old.lakes
	oldStatements []statementEntry

	made   block // the block of the new moment that is being made
	hashed []byte
}

// statementBlock is the index of the block that has all statements. Those of lakes follow.
const statementBlock = 0

func (c *comparison) run() error {
	if c.last.Blocks > 0 {
		b, err := c.block(statementBlock)
		if err != nil {
			return err
		}
		c.oldStatements, c.oldIndex = b.statements, statementBlock+1
	}
	c.next.Blocks = statementBlock + 1
	var statements []statementEntry
	for i := range c.snap.Lakes {
		if err := c.leave(c.snap.Lakes[i].ID); err != nil {
			return err
		}
		now := c.statementsOf(i)
		statements = append(statements, now...)
		if err := c.compareLake(i, now); err != nil {
			return err
		}
		if len(c.made.lakes) == lakesInBlock {
			if err := c.putLakes(); err != nil {
				return err
			}
		}
	}
	if err := c.leave(""); err != nil {
		return err
	}
	if err := c.putLakes(); err != nil {
		return err
	}
	return c.put(statementBlock, &block{statements: statements})
}

// block returns a block of the last moment.
func (c *comparison) block(index int) (block, error) {
	stored, err := c.store.Block(index)
	if err != nil {
		return block{}, err
	}
	b, err := decode(index, stored)
	if err != nil {
		err = fmt.Errorf("block %d: %w", index, err)
	}
	return b, err
}

// put stores a block if it differs from the stored one.
func (c *comparison) put(index int, b *block) error {
	made := b.encode()
	if index < c.last.Blocks {
		stored, err := c.store.Block(index)
		if err != nil || bytes.Equal(stored, made) {
			return err
		}
	}
	return c.store.PutBlock(index, made)
}

func (c *comparison) putLakes() error {
	if len(c.made.lakes) == 0 {
		return nil
	}
	err := c.put(c.next.Blocks, &c.made)
	c.next.Blocks++
	c.made.lakes = c.made.lakes[:0]
	return err
}

// oldest returns the next lake of the last moment, nil if there are no more.
func (c *comparison) oldest() (*LakeEntry, error) {
	for c.oldLake == len(c.old.lakes) {
		if c.oldIndex >= c.last.Blocks {
			return nil, nil
		}
		b, err := c.block(c.oldIndex)
		if err != nil {
			return nil, err
		}
		c.old, c.oldLake = b, 0
		c.oldIndex++
	}
	return &c.old.lakes[c.oldLake], nil
}

// leave passes over the lakes before id that are no longer published; all, if id is empty.
func (c *comparison) leave(id data.LakeID) error {
	for {
		old, err := c.oldest()
		if err != nil || old == nil || id != "" && old.ID >= id {
			return err
		}
		c.oldLake++
		c.next.ChangesSince = c.next.Number
		if err := c.compareStatements(old.ID, old.Value, nil); err != nil {
			return err
		}
		if old.Value.Current() {
			gone := data.NoEventValue()
			gone.MeasuredAt = old.Value.MeasuredAt
			if err := c.emitValue(data.Event{LakeID: old.ID, Kind: data.BecameStale, Before: old.Value, After: gone}); err != nil {
				return err
			}
		}
	}
}

// compareLake compares Lakes[i] with what was published of it last.
func (c *comparison) compareLake(i int, statements []statementEntry) error {
	id := c.snap.Lakes[i].ID
	state := &c.snap.Current.States[i]
	entry := LakeEntry{ID: id, Value: snapshot.EventValueOf(state), Record: c.record(i), Changed: c.next.Number}
	before := data.NoEventValue()
	exceeded, bloomed := false, false
	old, err := c.oldest()
	if err != nil {
		return err
	}
	if old != nil && old.ID == id {
		c.oldLake++
		before, exceeded, bloomed = old.Value, old.Exceeds, old.Bloom && !c.newBlooms
		if old.Record == entry.Record {
			entry.Changed = old.Changed
		}
	}
	if err := c.compareStatements(id, entry.Value, statements); err != nil {
		return err
	}
	if kind := data.KindOfChange(before, entry.Value); kind != data.NoEvent {
		if err := c.emitValue(data.Event{LakeID: id, Kind: kind, Before: before, After: entry.Value}); err != nil {
			return err
		}
	}
	forecast := c.forecast(i, state.Level)
	if entry.Exceeds = forecast.Week > 0; entry.Exceeds && !exceeded {
		if err := c.emitValue(data.Event{LakeID: id, Kind: data.ForecastExceeds, Before: entry.Value, After: entry.Value, Forecast: forecast}); err != nil {
			return err
		}
	}
	entry.Bloom = bloomed
	if shares, ok := c.snap.Current.Shares(i); ok && c.bloom > 0 {
		high := shares.Risks[data.RiskHigh]
		if entry.Bloom = high >= c.bloom; entry.Bloom && !bloomed && !c.newBlooms {
			if err := c.emitValue(data.Event{LakeID: id, Kind: data.BloomShare, Before: before, After: entry.Value, ShareHigh: high}); err != nil {
				return err
			}
		}
	}
	if entry.Value.MeasuredAt.Known {
		c.next.Measured++
	}
	c.made.lakes = append(c.made.lakes, entry)
	return nil
}

// forecast returns the first week whose median has a level above 0 and above that one; the zero value if there is none.
func (c *comparison) forecast(i int, level data.Level) (e data.EventForecast) {
	if c.snap.Forecasts == nil {
		return e
	}
	l, ok := c.snap.Forecasts.Of(i)
	if !ok {
		return e
	}
	profile := c.snap.Profile
	over := c.snap.ForecastWeeksOver()
	for k, w := range l.Weeks {
		if k < over || !w.Known() {
			continue
		}
		if reached := profile.Level(w.Chlorophyll()); reached > max(level, 0) {
			limit := profile.Limits[reached-1]
			chance := math.Round(10_000 * w.Prediction().Exceeds(limit.Float()))
			return data.EventForecast{Issued: c.snap.Forecasts.Issue.Issued, Week: k + 1, Level: reached, Chance: data.TenThousandths(chance)}
		}
	}
	return e
}

// emitValue passes on an event of a lake's value.
func (c *comparison) emitValue(e data.Event) error {
	if c.quiet {
		return nil
	}
	return c.emit(e)
}

func (c *comparison) emit(e data.Event) error {
	if c.first {
		return nil
	}
	c.next.LastSeq++
	e.Seq, e.At, e.Snapshot = c.next.LastSeq, c.next.At, c.next.Snapshot
	e.ID = e.ContentID(c.next.Revision)
	return c.store.PutEvent(&e)
}

// statementsOf returns the statements about Lakes[i] that are valid, in the order of their ids.
func (c *comparison) statementsOf(i int) (all []statementEntry) {
	statements := c.snap.Advisories.Of(i)
	for k := range statements {
		if s := &statements[k]; c.present.Valid(s) {
			all = append(all, statementEntry{lake: c.snap.Lakes[i].ID, EventAdvisory: data.EventAdvisoryOf(s), content: c.contentOf(s)})
		}
	}
	return all
}

// compareStatements compares the valid statements about a lake with those of the last moment. Both are in the order of their ids.
func (c *comparison) compareStatements(id data.LakeID, value data.EventValue, now []statementEntry) error {
	var before []statementEntry
	for len(c.oldStatements) > 0 && c.oldStatements[0].lake <= id {
		if c.oldStatements[0].lake == id { // of another lake, which is not published any more and never was: none
			before = append(before, c.oldStatements[0])
		}
		c.oldStatements = c.oldStatements[1:]
	}
	event := func(kind data.EventKind, s *statementEntry) error {
		return c.emit(data.Event{LakeID: id, Kind: kind, Before: value, After: value, Advisory: s.EventAdvisory})
	}
	for len(before) > 0 || len(now) > 0 {
		order := 0
		switch {
		case len(now) == 0:
			order = -1
		case len(before) == 0:
			order = 1
		default:
			order = strings.Compare(string(before[0].ID), string(now[0].ID))
		}
		var err error
		switch {
		case order < 0:
			err = event(c.endOf(&before[0]), &before[0])
		case order > 0:
			err = event(data.AdvisoryIssued, &now[0])
		case before[0].content != now[0].content:
			changed := now[0]
			changed.KindBefore = before[0].Kind
			err = event(data.AdvisoryChanged, &changed)
		}
		if err != nil {
			return err
		}
		if order <= 0 {
			before = before[1:]
		}
		if order >= 0 {
			now = now[1:]
		}
	}
	return nil
}

// endOf returns why a statement is not valid any more: its time is over, or it was withdrawn, or it is not there.
func (c *comparison) endOf(s *statementEntry) data.EventKind {
	if i, ok := c.snap.Index(s.lake); ok {
		for _, a := range c.snap.Advisories.Of(i) {
			if a.ID == s.ID {
				over := !a.ValidUntil.IsZero() && !a.ValidUntil.After(c.next.At)
				withdrawn := !a.Withdrawn.IsZero() && !a.Withdrawn.After(c.next.At)
				if over && (!withdrawn || !a.Withdrawn.Before(a.ValidUntil)) {
					return data.AdvisoryExpired
				}
			}
		}
	}
	return data.AdvisoryWithdrawn
}

// A sum collects what is hashed.
type sum struct{ b []byte }

func (s *sum) text(t string) {
	s.number(int64(len(t)))
	s.b = append(s.b, t...)
}

func (s *sum) number(n int64)  { s.b = binary.LittleEndian.AppendUint64(s.b, uint64(n)) }
func (s *sum) float(f float64) { s.number(int64(math.Float64bits(f))) }

// hash returns the hash of what was collected, and begins anew. A wrong one hides a change from a mirror; 64 bits make that unlikely.
func (s *sum) hash() uint64 {
	h := fnv.New64a()
	h.Write(s.b) // never fails
	s.b = s.b[:0]
	return h.Sum64()
}

// record returns a hash of what the record of Lakes[i] says, without its age, which follows from the time of measurement.
func (c *comparison) record(i int) uint64 {
	l, state := &c.snap.Lakes[i], &c.snap.Current.States[i]
	s := sum{c.hashed}
	s.text(l.ExternalID)
	s.text(l.Name)
	s.text(l.Region)
	for _, f := range []float64{l.Point.Lon(), l.Point.Lat(), l.AreaKM2, state.CountedCells} {
		s.float(f)
	}
	for _, n := range []int64{int64(state.Chlorophyll), int64(state.Level), int64(state.Risk), int64(state.Trophic), int64(state.TrophicBy), int64(state.MeasuredBy), int64(state.CellOrigin()), state.MeasuredAt()} {
		s.number(n)
	}
	if l.WaterID != "" {
		s.text(l.WaterID)
	}
	if shares, ok := c.snap.Current.Shares(i); ok {
		for _, n := range shares.Risks {
			s.number(int64(n))
		}
		for _, n := range []int64{int64(shares.P10), int64(shares.P90), int64(shares.Valid), int64(shares.Inside)} {
			s.number(n)
		}
	}
	if a := c.snap.Current.Advisories.Of(i); a != nil {
		s.number(int64(c.contentOf(a)))
	}
	h := s.hash()
	c.hashed = s.b
	return h
}

// contentOf returns a hash of what a statement says and until when it is valid.
func (c *comparison) contentOf(a *data.Advisory) uint64 {
	var s sum
	for _, text := range []string{string(a.ID), a.Issuer, a.TextEN, a.TextDE, a.URL} {
		s.text(text)
	}
	s.number(int64(a.Kind))
	s.number(int64(a.Cause))
	s.number(a.ValidUntil.Unix())
	return s.hash()
}

// Lakes calls each for each lake of the last moment, in ascending order of id. An error from each ends it and is returned.
func Lakes(last data.Moment, block func(index int) ([]byte, error), each func(*LakeEntry) error) error {
	for i := statementBlock + 1; i < last.Blocks; i++ {
		stored, err := block(i)
		if err != nil {
			return err
		}
		b, err := decode(i, stored)
		if err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
		for k := range b.lakes {
			if err := each(&b.lakes[k]); err != nil {
				return err
			}
		}
	}
	return nil
}
