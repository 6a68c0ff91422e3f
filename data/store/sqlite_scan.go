package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"maps"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"limnomap/data"
)

const (
	// parallelLakes is from how many lakes on observations are read on several processors. With fewer it takes half a second on one.
	parallelLakes = 100_000
	// maxScanners bounds the connections that read at once: the observations are passed on by one processor, which is busy with three.
	maxScanners = 4
	// chunkLakes is how many lakes one query reads: enough that its preparation does not count, and few enough that others have not long
	// to wait for it.
	chunkLakes = 64
	// Memory holds chunkBatches batches of batchScanned observations, or fewer, for each connection.
	chunkBatches, batchScanned = 8, 1024
)

// A scanChunk is a part of the lakes, and their observations.
type scanChunk struct {
	lakes   []keyedLake
	batches chan []data.Observation // in order; closed at the end of the lakes, or by an error
	err     error                   // set before batches is closed
}

// scanParallel reads the observations of neighbouring lakes on several connections, and passes them on in the order of the lakes. The
// connections are not of the pool, which other scans could have emptied: two scans would wait for each other.
//
// Only the first scan of a Store does so: during a later one a server answers requests, which must not wait for a processor.
func (s *sqlite) scanParallel(ctx context.Context, revision data.Revision, lakes []keyedLake, sources *knownSources, pass func(data.Observation) error) (done bool, err error) {
	n := min(runtime.GOMAXPROCS(0), maxScanners)
	if n < 2 || len(lakes) < s.parallelLakes || s.scanned.Load() {
		return false, nil
	}
	pool, err := openPool(s.loc.url(sqliteParameters("_query_only", "on")), n)
	if err != nil {
		return false, nil // one connection reads them, or returns the error
	}
	defer pool.Close()
	scanners := make([]*sql.Conn, n)
	for i := range scanners {
		conn, tx, same := beginScanner(ctx, pool, revision)
		if conn != nil {
			defer conn.Close()
		}
		if tx != nil {
			defer tx.Rollback() // there is nothing to commit
		}
		if !same {
			return false, nil
		}
		scanners[i] = conn
	}
	err = passChunks(ctx, scanners, lakes, sources, pass)
	s.scanned.Store(err == nil)
	return true, err
}

// beginScanner begins a transaction on a new connection, and reports whether it sees that revision. What it returns must be ended in any case.
func beginScanner(ctx context.Context, pool *sql.DB, revision data.Revision) (conn *sql.Conn, tx *sql.Tx, same bool) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, nil, false
	}
	if tx, err = conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}); err != nil {
		return conn, nil, false
	}
	sees, err := readRevision(ctx, sqliteQuerier{db: tx}) // this fixes the state that the transaction sees
	return conn, tx, err == nil && sees.Number == revision.Number && sees.ChangedAt.Equal(revision.ChangedAt)
}

// passChunks passes the observations on in the caller's goroutine. Those that it starts end with it.
func passChunks(ctx context.Context, scanners []*sql.Conn, lakes []keyedLake, sources *knownSources, pass func(data.Observation) error) error {
	ctx, cancel := context.WithCancel(ctx)
	group, ctx := errgroup.WithContext(ctx)
	defer group.Wait() // after cancel
	defer cancel()
	ordered := make(chan *scanChunk, len(scanners)) // for passing on
	work := make(chan *scanChunk, len(scanners))    // the same, for the scanners
	group.Go(func() error {
		defer close(ordered)
		defer close(work)
		for part := range slices.Chunk(lakes, chunkLakes) {
			c := &scanChunk{lakes: part, batches: make(chan []data.Observation, chunkBatches)}
			for _, to := range [...]chan<- *scanChunk{ordered, work} {
				select {
				case to <- c:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
		return nil
	})
	used := make(chan []data.Observation, len(scanners)*chunkBatches) // to use their memory again
	for _, conn := range scanners {
		own := sources.clone()
		group.Go(func() error { return scanChunks(ctx, conn, work, used, own) })
	}
	for c := range ordered {
		for open := true; open; {
			var batch []data.Observation
			select {
			case batch, open = <-c.batches:
			case <-ctx.Done():
				return cmp.Or(group.Wait(), ctx.Err())
			}
			for i := range batch {
				if err := pass(batch[i]); err != nil {
					return callerError{err}
				}
			}
			if open {
				select {
				case used <- batch[:0]:
				default:
				}
			}
		}
		if c.err != nil {
			return c.err
		}
	}
	return group.Wait()
}

// scanChunks reads the chunks of work on one connection.
func scanChunks(ctx context.Context, conn *sql.Conn, work <-chan *scanChunk, used <-chan []data.Observation, sources *knownSources) error {
	return inDriver(conn, func(conn driver.ConnPrepareContext) error {
		stmt, err := conn.PrepareContext(ctx, chunkQuery)
		if err != nil {
			return err
		}
		defer stmt.Close()
		for c := range work {
			c.err = c.read(ctx, stmt.(driver.StmtQueryContext), used, sources)
			close(c.batches)
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		return nil
	})
}

// chunkQuery is scanQuery for the lakes from one id to another.
var chunkQuery = "SELECT " + observationColumns + sqliteDetails + `
	FROM lakes AS l CROSS JOIN observations AS o ON o.lake = l.key
	WHERE l.id BETWEEN ? AND ?
	ORDER BY l.id, o.date, o.type, o.source`

// read reads a chunk.
func (c *scanChunk) read(ctx context.Context, stmt driver.StmtQueryContext, used <-chan []data.Observation, sources *knownSources) error {
	rows, err := stmt.QueryContext(ctx, []driver.NamedValue{
		{Ordinal: 1, Value: string(c.lakes[0].id)},
		{Ordinal: 2, Value: string(c.lakes[len(c.lakes)-1].id)},
	})
	if err != nil {
		return err
	}
	var batch []data.Observation
	send := func() error {
		select {
		case c.batches <- batch:
			batch = nil
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err = readDriverRows(ctx, rows, func(rows rowIterator) error {
		return scanObservations(rows, c.lakes, sources, func(o data.Observation) error {
			if batch == nil {
				select {
				case batch = <-used:
				default:
					batch = make([]data.Observation, 0, batchScanned)
				}
			}
			if batch = append(batch, o); len(batch) < batchScanned {
				return nil
			}
			return send()
		})
	})
	if err == nil && len(batch) > 0 {
		err = send()
	}
	return err
}

// clone returns a copy for use on another goroutine.
func (k *knownSources) clone() *knownSources {
	return &knownSources{byNumber: maps.Clone(k.byNumber), preferred: k.preferred, order: k.order}
}
