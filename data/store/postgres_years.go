package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"limnomap/data"
)

// The years with their own partition. All earlier years share one partition, and so do all later ones, so that a file with
// dates of ten thousand years creates no more partitions.
const firstYear, lastYear = 1970, 2099

// A partition is a year, or firstYear-1 or lastYear+1 for all earlier or later years.
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

// bounds returns the first date of a partition and the first date after it, in SQL.
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
	fresh    bool // whether this import created it, so that it holds nothing else
	attached bool // whether it is attached to observations, with a primary key
	written  int  // number of rows
}

// yearOf returns the partition of a date, and creates it if necessary. It has no primary key until rows must be looked up
// in it: creating the key is many times quicker when all rows are there.
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

// attach attaches a partition to observations, which creates its key too. It neither waits for readers nor blocks them,
// while CREATE TABLE … PARTITION OF would lock observations until the end of the import.
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

// vacuumRows is the number of written rows from which a vacuum takes little time compared with the import.
const vacuumRows = 10_000

// vacuum marks the rows of years with many new rows as visible to all, so that histories are read from their indexes only.
// PostgreSQL does so too, but later: with weekly imports only after ten of them. Errors are ignored.
func (t *postgresTx) vacuum(ctx context.Context) {
	for p, y := range t.years {
		if y.written >= vacuumRows {
			_, _ = t.store.primary.Exec(ctx, "VACUUM (ANALYZE, SKIP_LOCKED, TRUNCATE false) "+p.table().Sanitize())
		}
	}
}
