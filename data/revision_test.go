package data

import (
	"testing"
	"time"
)

func TestOnlyStatementsSince(t *testing.T) {
	noon := time.Unix(43200, 0)
	before := Revision{Number: 41, ChangedAt: noon, Forecasts: 3, Statements: 7, OthersAt: noon, Generation: 1}
	for _, tt := range []struct {
		name   string
		change func(*Revision)
		want   bool
	}{
		{"nothing", func(*Revision) {}, false},
		{"two imports of statements", func(r *Revision) { r.Number, r.Statements = 43, 9 }, true},
		{"and other forecasts", func(r *Revision) { r.Number, r.Statements, r.Forecasts = 42, 8, 4 }, true},
		{"values", func(r *Revision) { r.Number, r.OthersAt = 42, noon.Add(time.Hour) }, false},
		{"values in the same second", func(r *Revision) { r.Number = 42 }, false},
		{"values and statements", func(r *Revision) { r.Number, r.Statements = 43, 8 }, false},
		{"an import by an older limnomap", func(r *Revision) { r.Number, r.ChangedAt = 42, noon.Add(time.Hour) }, false},
		{"a backup of before the statements", func(r *Revision) { r.Number, r.Statements = 40, 6 }, false},
		{"a backup, other values and statements", func(r *Revision) { r.Number, r.Statements, r.OthersAt = 42, 8, noon.Add(time.Hour) }, false},
		{"another file", func(r *Revision) { r.Number, r.Statements, r.Generation = 42, 8, 2 }, false},
	} {
		after := before
		tt.change(&after)
		if got := after.OnlyStatementsSince(before); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
