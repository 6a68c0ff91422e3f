package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/clock"
	"limnomap/data/events/eventlog"
	"limnomap/data/pixels"
	"limnomap/data/snapshot"

	"github.com/paulmach/orb"
	"pgregory.net/rapid"
)

// A world is a data.Source whose values and statements a test changes.
type world struct {
	snapshot.NoForecasts
	snapshot.NoPixels
	revision   data.Revision
	lakes      []data.LakeID
	values     map[observed]data.Chlorophyll
	scum       map[observed]bool
	statements map[data.AdvisoryID]data.Advisory
	blooms     map[observed]float64 // the part with a high risk, of passes whose pixels are kept
}

type observed struct {
	lake data.LakeID
	date data.Date
}

func newWorld(lakes ...data.LakeID) *world {
	return &world{revision: data.Revision{Number: 1}, lakes: lakes, values: make(map[observed]data.Chlorophyll), scum: make(map[observed]bool),
		statements: make(map[data.AdvisoryID]data.Advisory)}
}

// monday is the first day on which the tests observe lakes.
const monday data.Date = 20_003

// set imports a value in µg/l of a week, or a gap if it is negative.
func (w *world) set(id data.LakeID, week int, chl float64) {
	c, err := data.ChlorophyllOf(chl)
	if err != nil {
		c = data.NoChlorophyll
	}
	w.values[observed{id, monday + data.Date(7*week)}] = c
	w.revision.Number++
}

func (w *world) Revision(context.Context) (data.Revision, error) { return w.revision, nil }

func (w *world) Scan(_ context.Context, lake func(data.Lake) error, observation func(data.Observation) error) (data.Revision, error) {
	slices.Sort(w.lakes)
	for i, id := range w.lakes {
		if err := lake(data.Lake{ID: id, ExternalID: string(id), Name: "Lake " + string(id), Point: orb.Point{float64(i % 180), 48}}); err != nil {
			return data.Revision{}, err
		}
	}
	for _, id := range w.lakes {
		for date := monday - 7*20; date < monday+7*60; date += 7 {
			key := observed{id, date}
			c, ok := w.values[key]
			if !ok {
				continue
			}
			o := data.Observation{LakeID: id, Date: date, Chlorophyll: c, Level: data.NoLevel, CellDensity: data.NoCellDensity}
			if w.scum[key] && c.Valid() {
				o.Level = 3
			}
			if err := observation(o); err != nil {
				return data.Revision{}, err
			}
		}
	}
	return w.revision, nil
}

func (w *world) PixelState(context.Context) (data.PixelState, error) {
	return data.PixelState{Count: int64(len(w.blooms)), Digest: w.revision.Number}, nil
}

func (w *world) PixelSpreads(_ context.Context, _ data.Period, each func(data.LakeValue, *pixels.Spread) error) error {
	for key, share := range w.blooms {
		spread, err := pixels.UnpackSpread([]byte{10, 0, 0, 10 - byte(10*share), 0, 0, 0, 0, 0, byte(10 * share)})
		if err != nil {
			return err
		}
		if err := each(data.LakeValue{Lake: key.lake, Date: key.date, Chlorophyll: w.values[key]}, spread); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) Advisories(context.Context) ([]data.Advisory, data.Revision, error) {
	return slices.Collect(maps.Values(w.statements)), w.revision, nil
}

func (w *world) Past(context.Context, data.Period, func(data.Observation) error) (data.Revision, error) {
	return data.Revision{}, errors.New("the tests read no past weeks")
}

func (w *world) History(context.Context, data.LakeID, data.HistoryQuery) (data.Lake, []data.Observation, error) {
	return data.Lake{}, nil, errors.New("the tests read no history")
}

// A journal is a data.MomentTx in memory, with the moment that a database has beside it.
type journal struct {
	moment data.Moment
	blocks map[int][]byte
	events []data.Event
	put    int // blocks
	bloom  data.TenThousandths
}

func (j *journal) Block(i int) ([]byte, error) {
	b, ok := j.blocks[i]
	if !ok {
		return nil, fmt.Errorf("no block %d", i)
	}
	return b, nil
}

func (j *journal) PutBlock(i int, b []byte) error {
	if j.blocks == nil {
		j.blocks = make(map[int][]byte)
	}
	j.blocks[i] = slices.Clone(b)
	j.put++
	return nil
}

func (j *journal) PutEvent(e *data.Event) error {
	j.events = append(j.events, *e)
	return nil
}

// noon is when the tests begin.
var noon = time.Date(2025, 7, 1, 12, 0, 0, 0, time.UTC)

type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

// snapshot returns what is published of the world, with ages that count from its newest value.
func (w *world) snapshot(t fataler, now time.Time) *snapshot.Snapshot {
	t.Helper()
	return w.load(t, snapshot.Newest, now)
}

func (w *world) load(t fataler, asOf snapshot.AsOf, now time.Time) *snapshot.Snapshot {
	t.Helper()
	s, err := snapshot.Load(context.Background(), w, &snapshot.Options{AsOf: asOf, Present: data.ByClock(func() time.Time { return now })})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// publish compares the world with the last moment, and returns the events.
func (j *journal) publish(t fataler, s *snapshot.Snapshot, p data.Present) []data.Event {
	t.Helper()
	before := len(j.events)
	r, err := eventlog.Next(j.moment, j, s, eventlog.Settings{Snapshots: "settings", BloomShare: j.bloom}, p)
	if err != nil {
		t.Fatal(err)
	}
	j.moment = r.Moment
	return j.events[before:]
}

// describe writes an event without its snapshot and id.
func describe(e data.Event) string {
	text := fmt.Sprintf("%d %s %s: level %d to %d", e.Seq, e.LakeID, e.Kind, e.Before.Level, e.After.Level)
	if e.Kind == data.AdvisoryChanged {
		text = fmt.Sprintf("%d %s %s: %s %s to %s", e.Seq, e.LakeID, e.Kind, e.Advisory.ID, e.Advisory.KindBefore, e.Advisory.Kind)
	} else if e.Kind.OfAdvisory() {
		text = fmt.Sprintf("%d %s %s: %s %s", e.Seq, e.LakeID, e.Kind, e.Advisory.ID, e.Advisory.Kind)
	}
	return text
}

func describeAll(events []data.Event) (all []string) {
	for _, e := range events {
		all = append(all, describe(e))
	}
	return all
}

// Each change of what is published gives its event once, and nothing else does.
func TestNext(t *testing.T) {
	t.Parallel()
	w, j := newWorld("a", "b", "c"), new(journal)
	now := noon
	step := func(what string, change func(), want ...string) {
		t.Helper()
		change()
		w.revision.Number++
		now = now.Add(time.Hour)
		s := w.snapshot(t, now)
		got := j.publish(t, s, data.At(now))
		if !slices.Equal(describeAll(got), want) {
			t.Errorf("%s: %q, want %q", what, describeAll(got), want)
		}
		for _, e := range got {
			if e.Snapshot != s.Version || len(e.ID) != 32 || !e.At.Equal(now) {
				t.Errorf("%s: event %+v, want the snapshot %s", what, e, s.Version)
			}
		}
		if again := j.publish(t, s, data.At(now)); len(again) > 0 {
			t.Errorf("%s, published twice: %q", what, describeAll(again))
		}
	}
	statement := func(id data.AdvisoryID, kind data.AdvisoryKind, until time.Duration) data.Advisory {
		return data.Advisory{ID: id, LakeID: "c", Kind: kind, Issuer: "office", Issued: noon, ValidFrom: noon, ValidUntil: noon.Add(until)}
	}
	step("no values", func() {})
	step("the first values", func() { w.set("a", 0, 5); w.set("b", 0, 20) })
	step("the same again", func() { w.set("a", 0, 5) })
	step("a bloom", func() { w.set("a", 1, 60) }, "1 a class_up: level 0 to 2")
	step("a correction of an old week", func() { w.set("a", -3, 500) })
	step("a correction of today within its class", func() { w.set("a", 1, 70) })
	step("a correction of today", func() { w.set("a", 1, 30) }, "2 a class_down: level 2 to 1")
	step("and back", func() { w.set("a", 1, 60) }, "3 a class_up: level 1 to 2")
	step("and again", func() { w.set("a", 1, 30) }, "4 a class_down: level 2 to 1")
	step("scum", func() { w.set("b", 1, 60); w.scum[observed{"b", monday + 7}] = true }, "5 b class_up: level 1 to 3")
	step("a lake's first value", func() { w.set("c", 1, 11) }, "6 c became_current: level -1 to 1")
	step("a gap", func() { w.set("c", 2, -1) })
	step("a value that vanishes", func() { delete(w.values, observed{"c", monday + 7}) }, "7 c became_stale: level 1 to -1")
	step("a month passes", func() { w.set("a", 6, 5) }, "8 a class_down: level 1 to 0", "9 b became_stale: level 3 to -1")
	step("b is measured again", func() { w.set("b", 6, 5) }, "10 b became_current: level -1 to 0")
	step("a new lake", func() { w.lakes = append(w.lakes, "d"); w.set("d", 6, 5) }, "11 d became_current: level -1 to 0")
	step("a closure", func() { w.statements["s"] = statement("s", data.Closure, 100*time.Hour) }, "12 c advisory_issued: s closure")
	step("it is eased", func() { w.statements["s"] = statement("s", data.Warning, 100*time.Hour) }, "13 c advisory_changed: s closure to warning")
	step("another one, and a bloom", func() { w.statements["r"] = statement("r", data.Info, 100*time.Hour); w.set("c", 6, 60) },
		"14 c advisory_issued: r info", "15 c became_current: level -1 to 2")
	step("the first is withdrawn", func() { s := w.statements["s"]; s.Withdrawn = now; w.statements["s"] = s }, "16 c advisory_withdrawn: s warning")
	step("the other is not there any more", func() { delete(w.statements, "r") }, "17 c advisory_withdrawn: r info")
	step("a closure that begins later", func() {
		s := statement("q", data.Closure, 300*time.Hour)
		s.ValidFrom = noon.Add(200 * time.Hour)
		w.statements["q"] = s
	})
	step("a lake that is not there any more", func() { w.lakes = []data.LakeID{"a", "c", "d"} }, "18 b became_stale: level 0 to -1")
}

// A bloom in a part of a lake is an event once, also if the next pass has no pixels, and only with a limit.
func TestNextBloomShare(t *testing.T) {
	t.Parallel()
	for _, limit := range []data.TenThousandths{0, 3000} {
		w, j := newWorld("a"), &journal{bloom: limit}
		week, now := 0, noon
		step := func(share float64, want ...string) { // a negative one: no pixels
			t.Helper()
			w.set("a", week, 5)
			w.blooms = map[observed]float64{}
			if share >= 0 {
				w.blooms[observed{"a", monday + data.Date(7*week)}] = share
			}
			week, now = week+1, now.Add(time.Hour)
			if limit == 0 {
				want = nil
			}
			if got := describeAll(j.publish(t, w.snapshot(t, now), data.At(now))); !slices.Equal(got, want) {
				t.Errorf("limit %d, week %d: %q, want %q", limit, week, got, want)
			}
		}
		step(0)
		step(0.2)
		step(0.3, "1 a bloom_share: level 0 to 0")
		step(0.5)
		step(-1)
		step(0.4)
		step(0.1)
		step(0.4, "2 a bloom_share: level 0 to 0")
		if len(j.events) > 0 && j.events[1].ShareHigh != 4000 {
			t.Errorf("the event is %+v", j.events[1])
		}
	}
}

// A limit that is set or changed tells nothing of the lakes that are above it already, and leaves no other event out.
func TestNextBloomShareIsSet(t *testing.T) {
	t.Parallel()
	w, j := newWorld("a", "b"), new(journal)
	now := noon
	step := func(limit data.TenThousandths, a, b, chl float64, want ...string) {
		t.Helper()
		now = now.Add(time.Hour)
		w.set("a", 0, chl)
		w.set("b", 0, 5)
		w.blooms = map[observed]float64{{"a", monday}: a, {"b", monday}: b}
		j.bloom = limit
		if got := describeAll(j.publish(t, w.snapshot(t, now), data.At(now))); !slices.Equal(got, want) {
			t.Errorf("limit %d: %q, want %q", limit, got, want)
		}
	}
	step(0, 0.5, 0.2, 5)
	step(3000, 0.5, 0.2, 60, "1 a class_up: level 0 to 2")
	step(3000, 0.5, 0.4, 60, "2 b bloom_share: level 0 to 0")
	step(6000, 0.7, 0.7, 60)
	step(6000, 0.5, 0.7, 60)
	step(6000, 0.6, 0.7, 60, "3 a bloom_share: level 2 to 2")
	step(0, 0.6, 0.7, 60)
	step(6000, 0.6, 0.7, 60)
}

// Statements that are shown before the rest of an import is loaded are told at once, and nothing twice. A server that does not have them yet does
// not tell that they are gone, also when the clock changes what it shows.
func TestNextStatementsAhead(t *testing.T) {
	t.Parallel()
	w, j := newWorld("a"), new(journal)
	w.set("a", 0, 5)
	w.statements["begins"] = data.Advisory{ID: "begins", LakeID: "a", Kind: data.Info, Issuer: "office", Issued: noon, ValidFrom: noon.Add(time.Hour),
		ValidUntil: noon.Add(100 * time.Hour)}
	step := func(what string, s *snapshot.Snapshot, now time.Time, want ...string) {
		t.Helper()
		if got := describeAll(j.publish(t, s, data.At(now))); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	before := w.snapshot(t, noon)
	step("before", before, noon)
	w.statements["closed"] = data.Advisory{ID: "closed", LakeID: "a", Kind: data.Closure, Issuer: "office", Issued: noon, ValidFrom: noon,
		ValidUntil: noon.Add(100 * time.Hour)}
	ahead := w.snapshot(t, noon)
	ahead.StatementsOf++
	step("ahead", ahead, noon, "1 a advisory_issued: closed closure")
	step("a server that is behind", before, noon.Add(2*time.Hour))
	step("ahead, later", ahead, noon.Add(2*time.Hour), "2 a advisory_issued: begins info")
	w.set("a", 1, 60)
	step("everything", w.snapshot(t, noon), noon.Add(2*time.Hour), "3 a class_up: level 0 to 2")
}

// Without an import, statements begin and expire by the clock, also of a snapshot that was made before. A clock that is a few seconds behind
// does not issue them anew. One that is further behind does: the one before was wrong, and what was told by it is corrected.
func TestClock(t *testing.T) {
	t.Parallel()
	w, j := newWorld("a"), new(journal)
	w.set("a", 0, 5)
	w.statements["s"] = data.Advisory{ID: "s", LakeID: "a", Kind: data.Closure, Issuer: "office", Issued: noon, ValidFrom: noon.Add(time.Hour), ValidUntil: noon.Add(2 * time.Hour)}
	s := w.snapshot(t, noon)
	for _, tt := range []struct {
		after time.Duration
		want  []string
	}{
		{0, nil}, {59 * time.Minute, nil},
		{time.Hour, []string{"1 a advisory_issued: s closure"}},
		{time.Hour - clock.Tolerance, nil}, {119 * time.Minute, nil},
		{2 * time.Hour, []string{"2 a advisory_expired: s closure"}},
		{2*time.Hour - clock.Tolerance, nil}, {200 * time.Minute, nil},
		{90 * time.Minute, []string{"3 a advisory_issued: s closure"}},
		{2 * time.Hour, []string{"4 a advisory_expired: s closure"}},
	} {
		if got := describeAll(j.publish(t, s, data.At(noon.Add(tt.after)))); !slices.Equal(got, tt.want) {
			t.Errorf("after %s: %q, want %q", tt.after, got, tt.want)
		}
	}
}

// A clock that was a year ahead for a moment, and was believed, keeps nothing from being told afterwards. While it is in doubt, it tells nothing wrong.
func TestWrongClock(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	closure := func(id data.AdvisoryID, lake data.LakeID, from time.Time) data.Advisory {
		return data.Advisory{ID: id, LakeID: lake, Kind: data.Closure, Issuer: "office", Issued: from, ValidFrom: from, ValidUntil: from.Add(7 * 24 * time.Hour)}
	}
	for _, tt := range []struct {
		name  string
		wrong data.Present
		want  []string
	}{
		{"in doubt", data.Present{Now: noon.Add(time.Minute), Also: noon.Add(year)}, []string{
			"1 b advisory_issued: t closure"}},
		{"in doubt of the other", data.Present{Now: noon.Add(year), Also: noon.Add(time.Minute)}, []string{
			"1 a became_stale: level 0 to -1", "2 b became_stale: level 0 to -1", "3 a became_current: level -1 to 0", "4 b became_current: level -1 to 0",
			"5 b advisory_issued: t closure"}},
		{"believed", data.At(noon.Add(year)), []string{
			"1 a advisory_expired: s closure", "2 a became_stale: level 0 to -1", "3 b became_stale: level 0 to -1",
			"4 a advisory_issued: s closure", "5 a became_current: level -1 to 0", "6 b became_current: level -1 to 0", "7 b advisory_issued: t closure"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, j := newWorld("a", "b"), new(journal)
			w.set("a", 37, 5)
			w.set("b", 37, 5)
			w.statements["s"] = closure("s", "a", noon)
			s := w.load(t, snapshot.AsOf{}, noon)
			j.publish(t, s, data.At(noon))
			j.publish(t, s, tt.wrong)
			j.publish(t, s, data.At(noon.Add(3*time.Second)))
			w.statements["t"] = closure("t", "b", noon.Add(4*time.Second))
			w.revision.Number++
			j.publish(t, w.load(t, snapshot.AsOf{}, noon.Add(5*time.Second)), data.At(noon.Add(5*time.Second)))
			if got := describeAll(j.events); !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
			for i := range j.events {
				if j.events[i].Seq != int64(i)+1 {
					t.Errorf("event %d has the number %d", i+1, j.events[i].Seq)
				}
			}
		})
	}
}

// Without an import, a value becomes stale when it is too old by the clock. A new value makes it current again; a correction of the old
// value is not.
func TestAgeing(t *testing.T) {
	t.Parallel()
	w, j := newWorld("a", "b", "old"), new(journal)
	w.set("a", 2, 60)
	w.set("b", 1, 5)
	w.set("old", 0, 20)
	now := func(day float64) time.Time {
		return monday.Time().Add(time.Duration(day * 24 * float64(time.Hour)))
	}
	s := w.load(t, snapshot.AsOf{}, now(30))
	step := func(day float64, want ...string) {
		t.Helper()
		if got := describeAll(j.publish(t, s, data.At(now(day)))); !slices.Equal(got, want) {
			t.Errorf("on day %v: %q, want %q", day, got, want)
		}
	}
	step(30)
	step(35.9)
	step(36, "1 b became_stale: level 0 to -1")
	if e := j.events[0]; e.Snapshot != s.At(data.At(now(36))).Version || !e.After.MeasuredAt.Known || e.After.MeasuredAt != e.Before.MeasuredAt {
		t.Errorf("event %+v, want the time of measurement and the snapshot %s", e, s.Version)
	}
	step(36)
	step(42.5)
	w.set("b", 1, 60)
	s = w.load(t, snapshot.AsOf{}, now(42))
	step(42.6)
	step(44, "2 a became_stale: level 2 to -1")
	w.set("b", 5, 5)
	s = w.load(t, snapshot.AsOf{}, now(45))
	step(45, "3 b became_current: level -1 to 0")
	step(63.9)
	step(64, "4 b became_stale: level 0 to -1")
}

// Moments of other settings, and snapshots of earlier revisions, give no events. A new moment does not depend on what was before.
func TestNextFirst(t *testing.T) {
	t.Parallel()
	w, j := newWorld("a"), new(journal)
	w.set("a", 0, 5)
	earlier := w.snapshot(t, noon)
	j.publish(t, earlier, data.At(noon))
	w.set("a", 0, 60)
	s := w.snapshot(t, noon)
	r, err := eventlog.Next(j.moment, &journal{blocks: maps.Clone(j.blocks)}, s, eventlog.Settings{Snapshots: "others"}, data.At(noon))
	if err != nil || !r.First || !r.New || len(j.events) > 0 || r.Moment.Settings != "others" {
		t.Errorf("other settings: %+v, %v, %d events; want the first moment of others, without events", r, err, len(j.events))
	}
	if got := j.publish(t, s, data.At(noon)); len(got) != 1 {
		t.Errorf("%q, want a rise", describeAll(got))
	}
	last := j.moment
	if got := j.publish(t, earlier, data.At(noon)); len(got) > 0 || j.moment != last {
		t.Errorf("an earlier revision: %q", describeAll(got))
	}
}

// Many lakes take many blocks, of which only those that differ are written.
func TestNextBlocks(t *testing.T) {
	t.Parallel()
	const lakes = 20_000
	var ids []data.LakeID
	for i := range lakes {
		ids = append(ids, data.LakeID(fmt.Sprintf("lake_%05d", i)))
	}
	w, j := newWorld(ids...), new(journal)
	for _, id := range ids {
		w.values[observed{id, monday}] = 500
	}
	j.publish(t, w.snapshot(t, noon), data.At(noon))
	if j.moment.Blocks != 4 || j.moment.Measured != lakes || j.put != 4 {
		t.Fatalf("%+v, %d blocks written; want one of statements and three of lakes", j.moment, j.put)
	}
	j.put = 0
	w.set(ids[9_000], 0, 60)
	w.set(ids[19_999], 0, 60)
	got := j.publish(t, w.snapshot(t, noon), data.At(noon))
	if want := []string{"1 lake_09000 class_up: level 0 to 2", "2 lake_19999 class_up: level 0 to 2"}; !slices.Equal(describeAll(got), want) || j.put != 2 {
		t.Errorf("%q, %d blocks written, want %q and two blocks", describeAll(got), j.put, want)
	}
	w.lakes = w.lakes[:8192]
	got = nil
	w.revision.Number++
	if j.moment.ChangesSince != 1 {
		t.Errorf("changes are known since moment %d, want 1", j.moment.ChangesSince)
	}
	if got = j.publish(t, w.snapshot(t, noon), data.At(noon)); len(got) != lakes-8192 || j.moment.Blocks != 2 || j.moment.ChangesSince != j.moment.Number {
		t.Errorf("%d events, %d blocks and changes since moment %d when lakes are gone, want %d, 2 and %d", len(got), j.moment.Blocks, j.moment.ChangesSince,
			lakes-8192, j.moment.Number)
	}
	var changed []eventlog.LakeEntry
	if err := eventlog.Lakes(j.moment, j.Block, func(l *eventlog.LakeEntry) error { changed = append(changed, *l); return nil }); err != nil || len(changed) != 8192 {
		t.Errorf("%d lakes are stored, %v; want 8192", len(changed), err)
	}
}

// Whatever is imported, corrected, closed and forgotten: whoever follows the events from the first moment on knows the level of each lake and
// each valid statement, no event comes twice, and Changed tells which records differ.
func TestNextProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ids := []data.LakeID{"a", "b", "c", "d"}
		w, j := newWorld(append(ids, "z")...), new(journal)
		w.set("z", -3, 5) // an empty map that is filled gives no events
		noon := (monday - 300).Time()
		now := noon
		levels := map[data.LakeID]data.Level{}
		valid := map[data.AdvisoryID]data.AdvisoryKind{}
		records := map[data.LakeID]string{}
		changed := map[data.LakeID]int64{}
		seen := map[data.EventID]bool{}
		began := false
		all := w.lakes
		for range rapid.IntRange(1, 15).Draw(t, "moments") {
			now = now.Add(time.Duration(rapid.IntRange(0, 600).Draw(t, "minutes")) * time.Minute)
			for range rapid.IntRange(0, 4).Draw(t, "changes") {
				id := rapid.SampledFrom(ids).Draw(t, "lake")
				w.revision.Number++
				switch rapid.IntRange(0, 4).Draw(t, "change") {
				case 0:
					delete(w.values, observed{id, monday + data.Date(7*rapid.IntRange(-3, 9).Draw(t, "week"))})
				case 1:
					// A statement stays with its lake, as imports see to.
					s := data.Advisory{ID: data.AdvisoryID("of_" + id), LakeID: id, Issuer: "office", Issued: noon, ValidFrom: noon,
						Kind:       rapid.SampledFrom([]data.AdvisoryKind{data.Info, data.Warning, data.Closure}).Draw(t, "kind"),
						ValidUntil: noon.Add(time.Duration(rapid.IntRange(1, 3000).Draw(t, "until")) * time.Minute)}
					w.statements[s.ID] = s
				default:
					w.set(id, rapid.IntRange(-3, 9).Draw(t, "week"), rapid.SampledFrom([]float64{-1, 0, 5, 12, 60}).Draw(t, "chl"))
				}
			}
			s := w.snapshot(t, now)
			events := j.publish(t, s, data.At(now))
			for _, e := range events {
				if e.Seq != int64(len(seen))+1 || seen[e.ID] || e.ID != e.ContentID(s.Revision) {
					t.Fatalf("event %s comes with the number %d after %d events; known before: %v", e.ID, e.Seq, len(seen), seen[e.ID])
				}
				seen[e.ID] = true
				switch {
				case e.Kind == data.AdvisoryIssued || e.Kind == data.AdvisoryChanged:
					valid[e.Advisory.ID] = e.Advisory.Kind
				case e.Kind.OfAdvisory():
					delete(valid, e.Advisory.ID)
				case e.Before.Level != levels[e.LakeID]:
					t.Fatalf("%s, and the level was %d", describe(e), levels[e.LakeID])
				default:
					levels[e.LakeID] = e.After.Level
				}
			}
			wantValid := map[data.AdvisoryID]data.AdvisoryKind{}
			for id, a := range w.statements {
				if a.ActiveAt(now) {
					wantValid[id] = a.Kind
				}
			}
			for i, id := range all {
				state := s.Current.States[i]
				if !began { // whoever follows must know the first moment
					levels[id], valid = state.Level, maps.Clone(wantValid)
				}
				if levels[id] != state.Level {
					t.Fatalf("lake %s has the level %d, and by the events %d", id, state.Level, levels[id])
				}
				record := fmt.Sprintf("%+v", state)
				if a := s.At(data.At(now)).Current.Advisories.Of(i); a != nil {
					record += fmt.Sprintf("%+v", *a)
				}
				if record != records[id] {
					records[id], changed[id] = record, j.moment.Number
				}
			}
			began = true
			if !maps.Equal(valid, wantValid) {
				t.Fatalf("valid by the events: %v; of the source: %v", valid, wantValid)
			}
			got := map[data.LakeID]int64{}
			if err := eventlog.Lakes(j.moment, j.Block, func(l *eventlog.LakeEntry) error { got[l.ID] = l.Changed; return nil }); err != nil || !maps.Equal(got, changed) {
				t.Fatalf("the records changed in the moments %v, %v; want %v", got, err, changed)
			}
			if again := j.publish(t, s, data.At(now)); len(again) > 0 {
				t.Fatalf("published twice: %q", describeAll(again))
			}
		}
	})
}

// BenchmarkNext compares two weeks of 100,000 lakes, of which an eighth change their level.
func BenchmarkNext(b *testing.B) {
	const lakes = 100_000
	var ids []data.LakeID
	for i := range lakes {
		ids = append(ids, data.LakeID(fmt.Sprintf("lake_%06d", i)))
	}
	w := newWorld(ids...)
	for i, id := range ids {
		for week := range 10 {
			chl := data.Chlorophyll(5_00)
			if i%8 == 0 && week == 9 {
				chl = 60_00
			}
			w.values[observed{id, monday + data.Date(7*week)}] = chl
		}
	}
	after := w.snapshot(b, noon)
	for _, id := range ids {
		delete(w.values, observed{id, monday + 7*9})
	}
	w.revision.Number--
	before := w.snapshot(b, noon)
	first := new(journal)
	first.publish(b, before, data.At(noon))
	for b.Loop() {
		j := &journal{moment: first.moment, blocks: maps.Clone(first.blocks)}
		if events := j.publish(b, after, data.At(noon)); len(events) != lakes/8 {
			b.Fatalf("%d events, want %d", len(events), lakes/8)
		}
	}
}
