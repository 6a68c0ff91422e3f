package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// A table has a row for each case and server.
type table struct{ rows []row }

type row struct {
	name, server string
	perSecond    float64
	p50, p99     time.Duration
	// Compared with the bare server round by round, so that a slow minute of the machine affects both.
	rate, tail float64
}

// bareServer is the index of the server that the others are compared with.
const bareServer = 1

// add adds the medians of one case. Results are by server and round.
func (t *table) add(c benchCase, servers []server, results [][]result) {
	for i, s := range servers {
		var rate, tail []float64
		for round, r := range results[i] {
			bare := results[bareServer][round]
			rate = append(rate, r.perSecond/bare.perSecond)
			tail = append(tail, float64(r.p99)/float64(bare.p99))
		}
		t.rows = append(t.rows, row{
			name:      c.name,
			server:    s.name,
			perSecond: medianOf(results[i], func(r result) float64 { return r.perSecond }),
			p50:       medianOf(results[i], func(r result) time.Duration { return r.p50 }),
			p99:       medianOf(results[i], func(r result) time.Duration { return r.p99 }),
			rate:      median(rate),
			tail:      median(tail),
		})
	}
}

func medianOf[R any, T cmp.Ordered](results []R, of func(R) T) T {
	values := make([]T, len(results))
	for i, r := range results {
		values[i] = of(r)
	}
	return median(values)
}

// median returns the median, or the lower of the two middle values.
func median[T cmp.Ordered](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}

func (t *table) print(w io.Writer) error {
	if len(t.rows) == 0 {
		return nil
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "case\tserver\trequests/s\tof bare\tp50\tp99\tof bare\t")
	for _, r := range t.rows {
		fmt.Fprintf(tw, "%s\t%s\t%.0f\t%.2f\t%v\t%v\t%.2f\t\n", r.name, r.server, r.perSecond, r.rate, r.p50, r.p99, r.tail)
	}
	return tw.Flush()
}
