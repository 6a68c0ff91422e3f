package notify_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"limnomap/data"
	"limnomap/data/events/push"
	"limnomap/data/events/push/notify"
)

// statement is an event of an official statement.
func statement(id data.AdvisoryID, kind data.EventKind, before, of data.AdvisoryKind) data.Event {
	return data.Event{LakeID: "l00", Kind: kind, Before: value(2), After: value(2), Advisory: data.EventAdvisory{ID: id, Kind: of, KindBefore: before, Issuer: "Amt"}}
}

// What happened to a value or a statement is one message, closures first; and a closure is told beside all else.
func TestMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	closed := w.closed("l03", "standing")
	none := data.NoAdvisory
	for name, tt := range map[string]struct {
		events []data.Event
		want   []string // lake, kind, and statement
		closed bool     // with the closure of l03
	}{
		"rise":                                  {[]data.Event{changed("l00", 0, 2)}, []string{"l00 class_up"}, false},
		"rise and fall":                         {[]data.Event{changed("l00", 0, 2), changed("l00", 2, 0)}, nil, false},
		"rise by two steps":                     {[]data.Event{changed("l00", 0, 1), changed("l00", 1, 2)}, []string{"l00 class_up"}, false},
		"a high value vanishes and is low":      {[]data.Event{changed("l00", 2, -1), changed("l00", -1, 0)}, []string{"l00 class_down"}, false},
		"the warning becomes a closure by name": {[]data.Event{statement("c", data.AdvisoryIssued, none, data.Closure), statement("w", data.AdvisoryWithdrawn, none, data.Warning)}, []string{"l00 advisory_issued closure c", "l00 advisory_withdrawn warning w"}, false},
		"the closure comes last":                {[]data.Event{statement("a", data.AdvisoryWithdrawn, none, data.Warning), changed("l00", 2, 0), statement("c", data.AdvisoryIssued, none, data.Closure)}, []string{"l00 advisory_issued closure c", "l00 advisory_withdrawn warning a", "l00 class_down"}, false},
		"a statement of the night":              {[]data.Event{statement("w", data.AdvisoryIssued, none, data.Warning), statement("w", data.AdvisoryExpired, none, data.Warning)}, nil, false},
		"it grew worse":                         {[]data.Event{statement("w", data.AdvisoryIssued, none, data.Warning), statement("w", data.AdvisoryChanged, data.Warning, data.Closure)}, []string{"l00 advisory_issued closure w"}, false},
		"it is eased":                           {[]data.Event{statement("w", data.AdvisoryChanged, data.Closure, data.Info)}, []string{"l00 advisory_changed info w"}, false},
		"of a lake that is closed":              {[]data.Event{changed("l03", 2, 0)}, []string{"l03 class_down"}, true},
		"of a lake that is gone":                {[]data.Event{changed("gone", 0, 2)}, []string{"gone class_up"}, false},
	} {
		for i := range tt.events {
			tt.events[i].Seq = int64(i) + 1
		}
		var got []string
		messages, untold := notify.Messages(&push.Pending{Events: tt.events}, closed)
		for _, m := range messages {
			l := &m.Lakes[0]
			text := string(l.ID) + " " + l.Kind
			if l.Advisory != nil {
				text += " " + l.Advisory.Kind + " " + string(l.Advisory.ID)
			}
			got = append(got, text)
			if (l.Closure != nil) != tt.closed || tt.closed && l.Closure.Issuer != "Amt" {
				t.Errorf("%s: the closure is %+v", name, l.Closure)
			}
		}
		if !slices.Equal(got, tt.want) || (len(got) == 0) != (len(untold) == len(tt.events)) {
			t.Errorf("%s: %q and nothing of %v, want %q", name, got, untold, tt.want)
		}
	}
}

// A message has the value as people read it: two figures, or as many as its class needs.
func TestMessagesRound(t *testing.T) {
	t.Parallel()
	snap := newWorld(t).closed("l03", "standing")
	for chl, want := range map[data.Chlorophyll]float64{25_56: 26, 9_96: 9.96, 49_60: 49.6, 7: 0.07} {
		e := changed("l00", 0, 2)
		e.Seq, e.After.Chlorophyll = 1, chl
		messages, _ := notify.Messages(&push.Pending{Events: []data.Event{e}}, snap)
		if got := messages[0].Lakes[0].Chl; got == nil || *got != want {
			t.Errorf("%s µg/l: %v, want %v", chl, got, want)
		}
	}
}

// A daily summary is one message about all lakes, as many as fit, and closures do not wait for it.
func TestSummary(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var events []data.Event
	for i := range 12 {
		events = append(events, changed(data.LakeID(fmt.Sprintf("l%02d", i)), 0, 2))
	}
	events = append(events, closed("l12", data.AdvisoryIssued), changed("l00", 2, -1), changed("l01", 2, 0))
	for _, tt := range []struct {
		issuer string
		shown  int
	}{{"Amt", 8}, {strings.Repeat("<", 80), 6}} {
		for i := range events {
			events[i].Seq = int64(i) + 1
		}
		long := events
		if tt.issuer != "Amt" { // nothing but statements of a long name, with many escapes
			long = nil
			for i := range 9 {
				e := statement(data.AdvisoryID(fmt.Sprint("s", i)), data.AdvisoryIssued, data.NoAdvisory, data.Warning)
				e.LakeID, e.Advisory.Issuer = data.LakeID(fmt.Sprintf("l%02d", i)), tt.issuer
				long = append(long, e)
			}
		}
		messages, _ := notify.Messages(&push.Pending{Subscription: push.Subscription{Daily: true}, Events: long}, w.snap)
		m := messages[len(messages)-1]
		text, err := json.Marshal(m)
		if err != nil || len(text) > 3900 || !m.Daily || len(m.Lakes) > 8 || len(m.Lakes) < 3 || tt.issuer == "Amt" && (len(messages) != 2 || len(m.Lakes) != 8 || m.More != 3) {
			t.Errorf("%d messages, the summary has %d bytes, %v, %d lakes and %d more", len(messages), len(text), err, len(m.Lakes), m.More)
		}
		for _, l := range m.Lakes {
			if tt.issuer == "Amt" && (l.ID == "l00" && l.Kind != "became_stale" || l.ID == "l01" || l.ID == "l12") {
				t.Errorf("news %+v", l)
			}
		}
	}
}
