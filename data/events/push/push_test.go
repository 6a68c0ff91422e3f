package push_test

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tests do not depend on the machine's

	"limnomap/data"
	"limnomap/data/events/push"
)

// A key pair of a browser, from the example in RFC 8291, section 5.
const (
	exampleKey  = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
	exampleAuth = "BTBZMqHH6r4Tts7J_aSIgg"
)

func example() push.Subscription {
	return push.Subscription{Endpoint: "https://push.example.org/abc", P256dh: exampleKey, Auth: exampleAuth, Lakes: []data.LakeID{"a", "b"}, Zone: "Europe/Berlin"}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	good := example()
	if err := good.Check(); err != nil || good.ID != push.IDOf(good.Endpoint) || len(good.ID) != 32 {
		t.Errorf("%+v: %v", good, err)
	}
	for want, change := range map[string]func(s *push.Subscription){
		"endpoint: want":           func(s *push.Subscription) { s.Endpoint = "http://push.example.org/" },
		"endpoint: want the":       func(s *push.Subscription) { s.Endpoint = "https://u:p@push.example.org/" },
		"endpoint: want the https": func(s *push.Subscription) { s.Endpoint = "push" },
		"endpoint: 1123 bytes":     func(s *push.Subscription) { s.Endpoint += strings.Repeat("x", 1123-len(s.Endpoint)) },
		"keys.p256dh":              func(s *push.Subscription) { s.P256dh = s.P256dh[:80] },
		"keys.p256dh: want":        func(s *push.Subscription) { s.P256dh = "BC" + strings.Repeat("A", 85) },
		"keys.auth":                func(s *push.Subscription) { s.Auth = "AAAA" },
		"lakes: 0":                 func(s *push.Subscription) { s.Lakes = nil },
		"lakes: 101":               func(s *push.Subscription) { s.Lakes = make([]data.LakeID, 101) },
		"lakes: a is given twice":  func(s *push.Subscription) { s.Lakes = []data.LakeID{"a", "a"} },
		"lakes: ":                  func(s *push.Subscription) { s.Lakes = []data.LakeID{" "} },
		"zone: want":               func(s *push.Subscription) { s.Zone = "" },
		"zone: want an":            func(s *push.Subscription) { s.Zone = "../../etc/passwd" },
		"zone: want an IANA":       func(s *push.Subscription) { s.Zone = "Mars/Olympus" },
		"zone: want an IANA time":  func(s *push.Subscription) { s.Zone = "Local" },
		"zone: want an IANA time ": func(s *push.Subscription) { s.Zone = "+99:00" },
	} {
		s := example()
		change(&s)
		if err := s.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for zone, want := range map[string]string{"Etc/Unknown": "UTC", "+02:00": "+02:00", "-11:30": "-11:30", "Etc/GMT+3": "Etc/GMT+3", "UTC": "UTC"} {
		s := example()
		if s.Zone = zone; s.Check() != nil || s.Zone != want {
			t.Errorf("the zone %s is stored as %q, want %q", zone, s.Zone, want)
		}
	}
	for _, name := range []string{"medium", "high", "closures"} {
		if threshold, err := push.ParseThreshold(name); err != nil || threshold.String() != name {
			t.Errorf("threshold %s is %v, %v", name, threshold, err)
		}
	}
	if _, err := push.ParseThreshold("low"); err == nil {
		t.Error("a threshold low was read")
	}
}

func event(kind data.EventKind, before, after data.Level) *data.Event {
	value := func(level data.Level) data.EventValue {
		v := data.NoEventValue()
		if v.Level = level; level >= 0 {
			v.Chlorophyll = 500
		}
		return v
	}
	return &data.Event{LakeID: "a", Kind: kind, Before: value(before), After: value(after)}
}

func statement(kind data.EventKind, of data.AdvisoryKind) *data.Event {
	return &data.Event{LakeID: "a", Kind: kind, Advisory: data.EventAdvisory{Kind: of}}
}

func eased(from, to data.AdvisoryKind) *data.Event {
	e := statement(data.AdvisoryChanged, to)
	e.Advisory.KindBefore = from
	return e
}

func TestWants(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		event *data.Event
		want  string // of medium, high and closures
	}{
		{"low to medium", event(data.ClassUp, 0, 1), "yes no no"},
		{"low to high", event(data.ClassUp, 0, 2), "yes yes no"},
		{"high to low", event(data.ClassDown, 2, 0), "yes yes no"},
		{"medium to low", event(data.ClassDown, 1, 0), "yes no no"},
		{"current low", event(data.BecameCurrent, -1, 0), "no no no"},
		{"current high", event(data.BecameCurrent, -1, 3), "yes yes no"},
		{"high vanishes", event(data.BecameStale, 2, -1), "yes yes no"},
		{"low vanishes", event(data.BecameStale, 0, -1), "no no no"},
		{"forecast", event(data.ForecastExceeds, 0, 0), "no no no"},
		{"bloom in a part", event(data.BloomShare, 1, 2), "no no no"},
		{"closure", statement(data.AdvisoryIssued, data.Closure), "yes yes yes"},
		{"end of a closure", statement(data.AdvisoryExpired, data.Closure), "yes yes yes"},
		{"warning", statement(data.AdvisoryIssued, data.Warning), "yes yes no"},
		{"info", statement(data.AdvisoryIssued, data.Info), "no no no"},
		{"closure to info", eased(data.Closure, data.Info), "yes yes yes"},
		{"warning to info", eased(data.Warning, data.Info), "yes yes no"},
	} {
		var got []string
		for _, threshold := range []push.Threshold{push.FromMedium, push.FromHigh, push.ClosuresOnly} {
			s := push.Subscription{Threshold: threshold}
			got = append(got, map[bool]string{true: "yes", false: "no"}[s.Wants(tt.event)])
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// Nothing but closures is told at night, by the reader's clock, also when that is set forward or back.
func TestDueAt(t *testing.T) {
	t.Parallel()
	rise, closure, over := event(data.ClassUp, 0, 2), statement(data.AdvisoryIssued, data.Closure), statement(data.AdvisoryExpired, data.Closure)
	for _, tt := range []struct {
		zone  string
		now   string
		daily bool
		event *data.Event
		want  string
	}{
		{"Europe/Berlin", "2026-07-06T10:00:00Z", false, rise, "2026-07-06T10:00:00Z"},
		{"Europe/Berlin", "2026-07-06T19:59:59Z", false, rise, "2026-07-06T19:59:59Z"}, // 21:59:59
		{"Europe/Berlin", "2026-07-06T20:00:00Z", false, rise, "2026-07-07T05:00:00Z"}, // 22:00
		{"Europe/Berlin", "2026-07-06T23:30:00Z", false, rise, "2026-07-07T05:00:00Z"}, // 01:30
		{"Europe/Berlin", "2026-07-07T04:59:59Z", false, rise, "2026-07-07T05:00:00Z"},
		{"Europe/Berlin", "2026-07-07T05:00:00Z", false, rise, "2026-07-07T05:00:00Z"}, // 07:00
		{"Europe/Berlin", "2026-07-06T23:30:00Z", false, closure, "1970-01-01T00:00:00Z"},
		{"Europe/Berlin", "2026-07-06T23:30:00Z", false, over, "2026-07-07T05:00:00Z"}, // its end wakes no one
		{"Europe/Berlin", "2026-07-06T05:00:00Z", true, rise, "2026-07-06T06:00:00Z"},
		{"Europe/Berlin", "2026-07-06T10:00:00Z", true, rise, "2026-07-07T06:00:00Z"},
		{"Europe/Berlin", "2026-07-06T10:00:00Z", true, closure, "1970-01-01T00:00:00Z"},
		{"Europe/Berlin", "2026-03-28T22:00:00Z", false, rise, "2026-03-29T05:00:00Z"}, // the clock is set forward at 2
		{"Europe/Berlin", "2026-10-24T21:00:00Z", false, rise, "2026-10-25T06:00:00Z"}, // and back at 3
		{"Pacific/Auckland", "2026-07-06T10:00:00Z", false, rise, "2026-07-06T19:00:00Z"},
		{"America/St_Johns", "2026-07-07T01:00:00Z", false, rise, "2026-07-07T09:30:00Z"}, // 22:30
		{"+05:30", "2026-07-06T16:30:00Z", false, rise, "2026-07-07T01:30:00Z"},           // of a system without a zone: 22:00
		{"-02:30", "2026-07-07T01:00:00Z", false, rise, "2026-07-07T09:30:00Z"},
		{"Asia/Kolkata", "2026-07-06T16:29:00Z", false, rise, "2026-07-06T16:29:00Z"}, // 21:59
	} {
		now, err := time.Parse(time.RFC3339, tt.now)
		if err != nil {
			t.Fatal(err)
		}
		s := push.Subscription{Zone: tt.zone, Daily: tt.daily}
		if got := s.DueAt(tt.event, now).UTC().Format(time.RFC3339); got != tt.want {
			t.Errorf("%s in %s, daily %v, %s of %s: %s, want %s", tt.now, tt.zone, tt.daily, tt.event.Kind, tt.event.Advisory.Kind, got, tt.want)
		}
		if push.Urgent(tt.event) || tt.daily {
			continue
		}
		if night, until := s.Night(now); night != (tt.want != tt.now) || night && until.UTC().Format(time.RFC3339) != tt.want {
			t.Errorf("%s in %s is night: %v, until %s", tt.now, tt.zone, night, until)
		}
	}
}

// Messages are sent to known push services only.
func TestServices(t *testing.T) {
	t.Parallel()
	own, err := push.ParseServices([]string{"push.example.org", "*.Example.com", "127.0.0.1:8443", "*.example.net:444"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := push.ParseServices([]string{"*"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		services push.Services
		endpoint string
		ok       bool
	}{
		{push.DefaultServices, "https://fcm.googleapis.com/fcm/send/x", true},
		{push.DefaultServices, "https://jmt17.google.com/fcm/send/x", true},
		{push.DefaultServices, "https://updates.push.services.mozilla.com/wpush/v2/x", true},
		{push.DefaultServices, "https://wns2-par02p.notify.windows.com/w/?token=x", true},
		{push.DefaultServices, "https://web.push.apple.com/x", true},
		{push.DefaultServices, "https://FCM.googleapis.com:443/x", true},
		{push.DefaultServices, "https://fcm.googleapis.com.example.org/x", false},
		{push.DefaultServices, "https://evilpush.apple.com/x", false},
		{push.DefaultServices, "https://example.org/fcm.googleapis.com", false},
		{push.DefaultServices, "https://127.0.0.1/x", false},
		{push.DefaultServices, "https://fcm.googleapis.com:444/x", false}, // nothing answers there
		{push.DefaultServices, "https://a.push.apple.com:80/x", false},
		{push.DefaultServices, "https://fcm.googleapis.com:/x", true},
		{own, "https://push.example.org/x", true},
		{own, "https://a.b.example.com/x", true},
		{own, "https://example.com/x", false},
		{own, "https://127.0.0.1:8443/x", true},
		{own, "https://127.0.0.1/x", false},
		{own, "https://127.0.0.1:8444/x", false},
		{own, "https://a.example.net:444/x", true},
		{own, "https://a.example.net/x", false},
		{own, "https://fcm.googleapis.com/x", false},
		{all, "https://example.org/x", true},
		{all, "https://example.org:8443/x", false},
	} {
		if err := tt.services.Check(tt.endpoint); (err == nil) != tt.ok {
			t.Errorf("%s at %v: %v, want allowed: %v", tt.endpoint, tt.services, err, tt.ok)
		}
	}
	for _, wrong := range []string{"", "*.", "https://example.org", "example.org/x", "a*.example.org", "exa mple.org", "example.org:", "example.org:x", "*:8443"} {
		if s, err := push.ParseServices([]string{wrong}); err == nil {
			t.Errorf("%q is read as %v", wrong, s)
		}
	}
}
