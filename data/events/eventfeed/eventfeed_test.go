package eventfeed_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/events/eventfeed"
)

// places are lakes by id.
type places map[data.LakeID]*data.Lake

func (p places) Lake(id data.LakeID) (*data.Lake, bool) {
	l, ok := p[id]
	return l, ok
}

var lakes = places{"a": {ID: "a", Name: "Klarer See", Region: "Bayern", Point: orb.Point{11.5, 48}}, "b": {ID: "b", Name: "Westsee", Point: orb.Point{-179.5, -16}}}

var noon = time.Date(2026, time.July, 6, 12, 0, 0, 0, time.UTC)

func value(chl float64, level data.Level) data.EventValue {
	c, _ := data.ChlorophyllOf(chl)
	return data.EventValue{Chlorophyll: c, Level: level, MeasuredAt: data.Known(noon.Unix())}
}

// examples are one event of each kind, and what they say.
var examples = []struct {
	event         data.Event
	title, detail string
}{
	{data.Event{LakeID: "a", Kind: data.ClassUp, Before: value(5, 0), After: value(60.5, 2)},
		"Klarer See: risk rose from low (level 0, 5 µg/l) to high (level 2, 61 µg/l)", "Measured at 2026-07-06T12:00:00Z."},
	{data.Event{LakeID: "a", Kind: data.ClassDown, Before: value(60.5, 2), After: value(12, 1)},
		"Klarer See: risk fell from high (level 2, 61 µg/l) to medium (level 1, 12 µg/l)", "Measured at 2026-07-06T12:00:00Z."},
	{data.Event{LakeID: "b", Kind: data.BecameCurrent, Before: data.NoEventValue(), After: value(5, 0)},
		"Westsee: there is a current value again, risk low (level 0, 5 µg/l)", "Measured at 2026-07-06T12:00:00Z."},
	{data.Event{LakeID: "gone", Kind: data.BecameStale, Before: value(5, 0), After: data.NoEventValue()},
		"gone: there is no current value any more (last known risk low (level 0, 5 µg/l)); this is not an all-clear", ""},
	{data.Event{LakeID: "a", Kind: data.AdvisoryIssued, Before: value(5, 0), After: value(5, 0),
		Advisory: data.EventAdvisory{ID: "s", Kind: data.Closure, Cause: data.Bacteria, Issuer: "Office", URL: "https://example.org/", ValidUntil: noon}},
		"Klarer See: closure because of bacteria issued by Office", "Valid until 2026-07-06T12:00:00Z."},
	{data.Event{LakeID: "a", Kind: data.AdvisoryChanged, Before: value(5, 0), After: value(5, 0), Advisory: data.EventAdvisory{ID: "s", Kind: data.Warning, Issuer: "Office"}},
		"Klarer See: warning changed by Office", "Its end is not known yet."},
	{data.Event{LakeID: "a", Kind: data.AdvisoryWithdrawn, Before: value(5, 0), After: value(5, 0), Advisory: data.EventAdvisory{ID: "s", Kind: data.Info, Issuer: "Office"}},
		"Klarer See: information withdrawn by Office", "Its end is not known yet."},
	{data.Event{LakeID: "a", Kind: data.AdvisoryExpired, Before: value(5, 0), After: value(5, 0), Advisory: data.EventAdvisory{ID: "s", Kind: data.Season, Issuer: "Office"}},
		"Klarer See: statement about the season by Office expired", "Its end is not known yet."},
	{data.Event{LakeID: "a", Kind: data.ForecastExceeds, Before: value(5, 0), After: value(5, 0), Forecast: data.EventForecast{Issued: 20640, Week: 2, Level: 1, Chance: 6250}},
		"Klarer See: forecast of risk medium (level 1) for 2026-07-20, probability 63 %", "Measured at 2026-07-06T12:00:00Z."},
	{data.Event{LakeID: "a", Kind: data.BloomShare, Before: value(5, 0), After: value(5, 0), ShareHigh: 4286},
		"Klarer See: 43 % of the water that the satellite saw has risk high; the value of the whole lake is low (level 0, 5 µg/l)", "Measured at 2026-07-06T12:00:00Z."},
}

// Each kind of event is a sentence that cannot be read as an all-clear where there is none.
func TestTitle(t *testing.T) {
	t.Parallel()
	if len(examples) != len(data.EventKinds()) {
		t.Fatalf("%d examples of %d kinds", len(examples), len(data.EventKinds()))
	}
	for _, tt := range examples {
		if got := eventfeed.Title(&tt.event, lakes, &data.Profiles()[0]); got != tt.title {
			t.Errorf("%s: %q, want %q", tt.event.Kind, got, tt.title)
		}
		if got := eventfeed.Details(&tt.event); got != tt.detail {
			t.Errorf("%s: details %q, want %q", tt.event.Kind, got, tt.detail)
		}
	}
}

func TestRecord(t *testing.T) {
	t.Parallel()
	for _, tt := range examples {
		e := tt.event
		e.Seq, e.ID, e.At, e.Snapshot = 7, "f7cbba8d721f87c7efaac7b7289be66e", noon, "v"
		text, err := json.Marshal(eventfeed.RecordOf(&e, lakes))
		if err != nil {
			t.Fatal(err)
		}
		begin := `{"seq":7,"id":"f7cbba8d721f87c7efaac7b7289be66e","at":"2026-07-06T12:00:00Z","kind":"` + e.Kind.String() + `","lake_id":"` + string(e.LakeID) + `",`
		var r eventfeed.Record
		if err := json.Unmarshal(text, &r); err != nil || !strings.HasPrefix(string(text), begin) {
			t.Errorf("%s, %v; want it to begin with %s", text, err, begin)
		}
		_, known := lakes.Lake(e.LakeID)
		if (r.LakeName != nil) != known || (r.Lat != nil) != known || (r.Advisory != nil) != e.Kind.OfAdvisory() || (r.Forecast != nil) != (e.Kind == data.ForecastExceeds) || (r.ShareHigh != nil) != (e.Kind == data.BloomShare) {
			t.Errorf("%s lacks or has a member that it should not", text)
		}
		if (r.Before.Chl != nil) != e.Before.Current() || (r.After.Level == nil) != (e.After.Level == data.NoLevel) || (r.After.Risk == nil) != (r.After.Level == nil) {
			t.Errorf("%s has other values than %+v, %+v", text, e.Before, e.After)
		}
	}
	e := examples[len(examples)-2].event
	e.At = noon
	if f := eventfeed.RecordOf(&e, lakes).Forecast; *f != (eventfeed.Forecast{IssuedAt: "2026-07-06", Week: 2, TargetDate: "2026-07-20", Level: 1, Risk: "medium", Probability: 0.625}) {
		t.Errorf("forecast %+v", f)
	}
}

func TestFilter(t *testing.T) {
	t.Parallel()
	box, west := data.Box{South: 40, West: 10, North: 50, East: 12}, data.Box{South: -20, West: 179, North: 0, East: -179}
	kinds, err := eventfeed.ParseKinds("class_up, advisory_issued,advisory_issued")
	if err != nil || kinds.String() != "class_up,advisory_issued" {
		t.Fatalf("kinds %q, %v", kinds, err)
	}
	for _, tt := range []struct {
		name   string
		filter eventfeed.Filter
		want   string // kinds of the examples that pass
	}{
		{"all", eventfeed.Filter{}, "class_up class_down became_current became_stale advisory_issued advisory_changed advisory_withdrawn advisory_expired forecast_exceeds bloom_share"},
		{"kinds", eventfeed.Filter{Kinds: kinds}, "class_up advisory_issued"},
		{"lakes", eventfeed.Filter{Lakes: []data.LakeID{"b", "gone"}}, "became_current became_stale"},
		{"level 1", eventfeed.Filter{MinLevel: 1}, "class_up class_down advisory_issued advisory_changed advisory_withdrawn advisory_expired forecast_exceeds bloom_share"},
		{"level 2", eventfeed.Filter{MinLevel: 2}, "class_up class_down advisory_issued advisory_changed advisory_withdrawn advisory_expired bloom_share"},
		{"level 3", eventfeed.Filter{MinLevel: 3}, "advisory_issued advisory_changed advisory_withdrawn advisory_expired"},
		{"region", eventfeed.Filter{Region: "BAYERN", Kinds: kinds}, "class_up advisory_issued"},
		{"other region", eventfeed.Filter{Region: "Bay"}, ""},
		{"box", eventfeed.Filter{Box: &box, Kinds: kinds}, "class_up advisory_issued"},
		{"box across the antimeridian", eventfeed.Filter{Box: &west}, "became_current"},
		{"box and region", eventfeed.Filter{Box: &west, Region: "Bayern"}, ""},
	} {
		var got []string
		for _, e := range examples {
			if tt.filter.Matches(&e.event, lakes) {
				got = append(got, e.event.Kind.String())
			}
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	for _, s := range []string{"", "class", "class_up,", ","} {
		if k, err := eventfeed.ParseKinds(s); err == nil {
			t.Errorf("kinds %q are %v", s, k)
		}
	}
}
