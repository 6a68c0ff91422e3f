package config

import (
	"strings"
	"testing"
	"time"
)

func TestSchedule(t *testing.T) {
	// A Wednesday.
	from := time.Date(2026, 7, 1, 12, 30, 15, 0, time.FixedZone("CEST", 2*3600))
	tests := []struct {
		in   string
		want string // the next time after from; empty for an error
	}{
		{"7d", "2026-07-08T10:30:15Z"},
		{"12h", "2026-07-01T22:30:15Z"},
		{"1s", "2026-07-01T10:30:16Z"},
		{"0 5 * * 1", "2026-07-06T05:00:00Z"},
		{"30 10 * * *", "2026-07-02T10:30:00Z"}, // in UTC: in Berlin it is 12:30 already
		{"*/15 * * * *", "2026-07-01T10:45:00Z"},
		{"0 0 1 */3 *", "2026-10-01T00:00:00Z"},
		{"0 4 * * MON-FRI", "2026-07-02T04:00:00Z"},
		{"0 0 29 2 *", "2028-02-29T00:00:00Z"},
		{"50/5 20-22/2 * * ?", "2026-07-01T20:50:00Z"},
		{"0 0 13 * 5", "2026-07-03T00:00:00Z"}, // the 13th or a Friday
		{"0 0 13 * */2", "2026-07-02T00:00:00Z"},
		{"0 0 */31 * 5", "2026-07-03T00:00:00Z"},
		{"5,7-9 1 1 jan,Mar *", "2027-01-01T01:05:00Z"},
		{"5-1 * * * *", ""}, {"5- * * * *", ""}, {"1, * * * *", ""}, {"* * * 0 *", ""}, {"*/x * * * *", ""}, {"*-5 * * * *", ""}, {"-5 * * * *", ""},
		{"", ""}, {"0s", ""}, {"500ms", ""}, {"-7d", ""}, {"7", ""}, {"weekly", ""}, {"@weekly", ""}, {"@every 7d", ""},
		{"* * * *", ""}, {"0 0 5 * * 1", ""}, {"60 5 * * 1", ""}, {"0 24 * * *", ""}, {"0 5 0 * *", ""}, {"0 5 * 13 *", ""},
		{"0 5 * * 8", ""}, {"0 0 30 2 *", ""}, {"0 5 * * x", ""}, {"TZ=UTC", ""}, {"TZ=0", ""}, {"CRON_TZ=Europe/Berlin 5 * * 1", ""},
		{"TZ=UTC 0 5 * * 1", ""}, {"*/0 * * * *", ""},
	}
	for _, test := range tests {
		var s Schedule
		err := s.UnmarshalText([]byte(test.in))
		if test.want == "" {
			if err == nil || s.times != nil || !strings.Contains(err.Error(), "want a period such as 7d") {
				t.Errorf("schedule %q = %v, %v; want an error that says what is allowed", test.in, s, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("schedule %q: %v", test.in, err)
			continue
		}
		if got := s.Next(from).UTC().Format(time.RFC3339); got != test.want {
			t.Errorf("schedule %q after %v = %s, want %s", test.in, from, got, test.want)
		}
	}
}
