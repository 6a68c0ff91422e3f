package config

import (
	"errors"
	"strings"
	"testing"
)

func TestValuesAreChecked(t *testing.T) {
	tests := []struct {
		flag string
		want string // in the error; "" if the value is allowed
	}{
		{"--api-rate=0", ""}, {"--api-rate=-1", "--api-rate -1: want 0 or more"},
		{"--max-zoom=0", ""}, {"--max-zoom=20", ""}, {"--max-zoom=21", "--max-zoom 21: want 0 to 20"}, {"--max-zoom=-1", "--max-zoom -1: want 0 to 20"},
		{"--ratio=1", ""}, {"--ratio=1.1", "--ratio 1.1: want 0 to 1"}, {"--ratio=NaN", "--ratio NaN: want 0 to 1"}, {"--ratio=-Inf", "--ratio -Inf"},
		{"--drain=0s", ""}, {"--drain=-1s", "--drain -1s: want 0s or more"},
		{"--stale-after=24h", ""}, {"--stale-after=23h", "--stale-after 23h0m0s: want 1d or more"},
		{"--expires=1s", ""}, {"--expires=0", "--expires 0d: want 1s or more"},
		{"--cache-memory=1MiB", ""}, {"--cache-memory=1MB", "--cache-memory 1000000: want 1MiB or more"},
		{"--listen=", "--listen: want HOST:PORT"}, {"--listen=:80", ""},
		{"--redis=", ""}, {"--redis=redis://h", ""}, {"--redis=redis://<hidden>@h", "--redis: <hidden> was printed instead of a secret"}, {"--redis=•••", "--redis: ••• was printed instead of a secret"},
		{"--cors-origins=a,b", ""}, {"--cors-origins=a,x", "--cors-origins: want no x"},
		{"--profile=who1999", "--profile"},
		{"--db=", "--db is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.flag, func(t *testing.T) {
			_, _, err := parse(t, "serve", tt.flag)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want an error that contains %q", err, tt.want)
			}
		})
	}
	if _, _, err := parse(t, "serve", "--cors-origins=x"); !errors.Is(err, errNoX) {
		t.Errorf("%v does not wrap the error of the rule", err)
	}
}

// A tag that names an unknown rule is a mistake in the program.
func TestUnknownRule(t *testing.T) {
	var g struct {
		Serve struct {
			Name string `check:"absent"`
		} `cmd:""`
	}
	if _, err := Parse(&g, []string{"serve", "--name=a"}, &Options{}); err == nil || !strings.Contains(err.Error(), `no rule "absent"`) {
		t.Errorf("%v, want an error that names the rule", err)
	}
}
