package snapshot_test

import (
	"fmt"
	"slices"
	"testing"

	"limnomap/data"
	"limnomap/data/snapshot"
)

func TestSources(t *testing.T) {
	of := func(lake, date string, chl float64, source string, change func(*data.Observation)) data.Observation {
		o := obs(t, data.LakeID(lake), date, chl)
		o.Source = source
		if change != nil {
			change(&o)
		}
		return o
	}
	poor := func(o *data.Observation) { o.Quality = data.Poor }
	sample := func(o *data.Observation) { o.Type = data.InSitu }
	src := &memory{lakes: lakes("a", "b"), observations: []data.Observation{
		of("a", "2025-07-20", 5, "a year ago", nil),
		of("a", "2025-07-21", 5, "within a year", nil),
		of("a", "2026-07-13", 5, "", nil),
		of("a", "2026-07-13", 5, "product", nil),
		of("a", "2026-07-13", 5, "laboratory", sample),
		of("a", "2026-07-20", -1, "gap", nil),
		of("a", "2026-07-20", 5, "poor", poor),
		of("b", "2026-07-06", 5, "another product", nil),
		of("b", "2026-07-06", 5, "product", nil),
	}}
	want := []string{"another product", "product", "within a year"}
	s := load(t, src, nil)
	if got := s.Sources(); !slices.Equal(got, want) {
		t.Errorf("Sources() = %q, want %q", got, want)
	}
	if got := s.At(data.At(s.Revision.ChangedAt)).Sources(); !slices.Equal(got, want) {
		t.Errorf("At: Sources() = %q, want %q", got, want)
	}
	// Weeks that are not in memory count too.
	if got := load(t, src, &snapshot.Options{Weeks: 1}).Sources(); !slices.Equal(got, want) {
		t.Errorf("with one week in memory: Sources() = %q, want %q", got, want)
	}
	if got := load(t, &memory{}, nil).Sources(); len(got) != 0 {
		t.Errorf("without data: Sources() = %q, want none", got)
	}

	many := &memory{lakes: lakes("a")}
	for i := range 1100 {
		many.observations = append(many.observations, of("a", "2026-07-13", 5, fmt.Sprintf("%04d", i), nil))
	}
	if got := load(t, many, nil).Sources(); len(got) != 1000 {
		t.Errorf("of 1,100 sources %d are in memory, want 1,000", len(got))
	}
}
