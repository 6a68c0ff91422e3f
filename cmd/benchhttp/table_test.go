package main

import (
	"strings"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{7}, 7},
		{[]float64{9, 1}, 1},
		{[]float64{9, 1, 5}, 5},
		{[]float64{4, 1, 3, 2}, 2},
	} {
		if got := median(test.values); got != test.want {
			t.Errorf("median(%v) = %v, want %v", test.values, got, test.want)
		}
	}
}

// A ratio compares results of the same round: here the machine is half as fast in the second and third round.
func TestRatiosAreOfOneRound(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	var table table
	table.add(benchCase{name: "tile"}, []server{{name: "limnomap"}, {name: "bare net/http"}}, [][]result{
		{{900, ms(1), ms(4)}, {450, ms(2), ms(8)}, {440, ms(2), ms(10)}},
		{{1000, ms(1), ms(5)}, {500, ms(2), ms(10)}, {500, ms(2), ms(10)}},
	})
	ours, bare := table.rows[0], table.rows[1]
	if ours.rate != 0.9 || ours.tail != 0.8 || ours.perSecond != 450 || ours.p50 != ms(2) || ours.p99 != ms(8) {
		t.Errorf("row of limnomap = %+v, want 0.9 of the rate, 0.8 of p99, 450/s, 2 ms and 8 ms", ours)
	}
	if bare.rate != 1 || bare.tail != 1 {
		t.Errorf("row of the bare server = %+v, want it to be 1 of itself", bare)
	}
	var out strings.Builder
	if err := table.print(&out); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); len(lines) != 3 || !strings.Contains(lines[1], "0.90") {
		t.Errorf("printed:\n%s\nwant a head and two rows, 0.90 in the first", &out)
	}
}
