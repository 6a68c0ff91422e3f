package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

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

func (p partition) table() pgx.Identifier { return pgx.Identifier{"limnomap", p.name()} }

// A year is what an import knows of a partition.
type year struct {
	fresh    bool // whether this import has made it, so that nothing else is in it
	attached bool // whether it is a part of observations, with its key
	written  int  // rows
}

// yearOf returns the partition of a date, which it makes if need be. For as long as nobody must look for rows in it, it
// has no key, to make which is many times quicker when all rows are there.
func (t *postgresTx) yearOf(ctx context.Context, d data.Date) (partition, error) {
	p := partitionOf(d)
	if t.years[p] != nil {
		return p, nil
	}
	var there bool
	if err := t.tx.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", p.table().Sanitize()).Scan(&there); err != nil {
		return p, err
	}
	if !there {
		if _, err := t.tx.Exec(ctx, "CREATE TABLE "+p.table().Sanitize()+" (LIKE limnomap.observations INCLUDING ALL EXCLUDING INDEXES)"); err != nil {
			return p, err
		}
	}
	t.years[p] = &year{fresh: !there, attached: there}
	return p, nil
}

// attach makes a partition a part of observations, which makes its key too. It waits for no reader and keeps none
// waiting, where CREATE TABLE … PARTITION OF would lock all observations until the import's end.
func (t *postgresTx) attach(ctx context.Context, p partition) error {
	y := t.years[p]
	if y.attached {
		return nil
	}
	from, to := p.bounds()
	_, err := t.tx.Exec(ctx, fmt.Sprintf("ALTER TABLE limnomap.observations ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s)", p.table().Sanitize(), from, to))
	y.attached = err == nil
	return err
}

// vacuumRows are so many that to have a year vacuumed costs little beside writing them.
const vacuumRows = 10_000

// vacuum has the years of which much was written noted as seen by all, so that histories are read from their keys alone.
// PostgreSQL does so by itself too, but later, and of weekly imports not before there are ten. What fails is left to it.
func (t *postgresTx) vacuum(ctx context.Context) {
	for p, y := range t.years {
		if y.written >= vacuumRows {
			_, _ = t.store.pool.Exec(ctx, "VACUUM (ANALYZE, SKIP_LOCKED, TRUNCATE false) "+p.table().Sanitize())
		}
	}
}
