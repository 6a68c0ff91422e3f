package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"limnomap/data"
)

// The years that have a partition each. Those before share one and those after share one, so that a file with dates of ten
// thousand years makes no more than these.
const firstYear, lastYear = 1970, 2099

// A partition is the year of what it holds, or firstYear-1 or lastYear+1.
type partition int

func partitionOf(d data.Date) partition {
	return partition(min(max(d.Time().Year(), firstYear-1), lastYear+1))
}

func (p partition) name() string {
	switch {
	case p < firstYear:
		return fmt.Sprintf("observations_before_%d", firstYear)
	case p > lastYear:
		return fmt.Sprintf("observations_after_%d", lastYear)
	}
	return fmt.Sprintf("observations_%d", int(p))
}

// bounds returns the first date of a partition and the one after its last, in SQL.
func (p partition) bounds() (from, to string) {
	from, to = "MINVALUE", "MAXVALUE"
	if p >= firstYear {
		from = fmt.Sprint(int32(newYear(int(p))))
	}
	if p <= lastYear {
		to = fmt.Sprint(int32(newYear(int(p) + 1)))
	}
	return from, to
}

func newYear(year int) data.Date { return data.DateOf(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)) }

// makeYears makes the partitions that the given rows need. A table is made first and then attached: that waits for no
// reader and keeps none waiting, where CREATE TABLE … PARTITION OF would lock all observations until the import's end.
func (t *postgresTx) makeYears(ctx context.Context, observations []data.Observation, rows []int) error {
	var missing []partition
	for _, i := range rows {
		if p := partitionOf(observations[i].Date); !t.years[p] && !slices.Contains(missing, p) {
			missing = append(missing, p)
		}
	}
	for _, p := range missing {
		var there bool
		if err := t.tx.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", "limnomap."+p.name()).Scan(&there); err != nil {
			return err
		}
		if !there {
			from, to := p.bounds()
			_, err := t.tx.Exec(ctx, fmt.Sprintf(`CREATE TABLE limnomap.%[1]s (LIKE limnomap.observations INCLUDING ALL);
				ALTER TABLE limnomap.observations ATTACH PARTITION limnomap.%[1]s FOR VALUES FROM (%[2]s) TO (%[3]s)`, p.name(), from, to))
			if err != nil {
				return err
			}
		}
		t.years[p] = true
	}
	return nil
}
