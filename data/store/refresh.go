package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"limnomap/data"
)

// refreshColumns has only the beginning of an error that another program stored: limnomap's own are a few words.
const refreshColumns = "turn, attempted_at, succeeded_at, substr(error, 1, 1000), failures, added, changed, unchanged, rejected, held_until, " +
	"rasters_taken, rasters_failed, raster_bytes, raster_taken_at, substr(raster_product, 1, 1000), raster_date, rasters_waiting, rasters_failing, rasters_skipped"

// Refresh returns the state of the refreshes.
func (s *Store) Refresh(ctx context.Context) (r data.Refresh, err error) {
	err = s.db.query(ctx, "read the last refresh", func(q querier) error {
		var attempted, succeeded, held, taken sql.NullInt64
		err := q.queryRow(ctx, "SELECT "+refreshColumns+" FROM limnomap.refresh").Scan(&r.Turn, &attempted, &succeeded, &r.LastError, &r.Failures,
			&r.Rows.Added, &r.Rows.Changed, &r.Rows.Unchanged, &r.Rows.Rejected, &held,
			&r.Rasters.Taken, &r.Rasters.Failed, &r.Rasters.Bytes, &taken, &r.Rasters.LastProduct, &r.Rasters.LastDate,
			&r.Rasters.Waiting, &r.Rasters.Failing, &r.Rasters.Skipped)
		r.LastAttempt, r.LastSuccess, r.LeasedUntil = timeOrZero(attempted), timeOrZero(succeeded), timeOrZero(held)
		r.Rasters.LastTaken = timeOrZero(taken)
		return err
	})
	return r, err
}

const refreshFileColumns = "key, sha256, etag, last_modified"

const (
	maxHeaderBytes  = 16 << 10 // of the value of a header field
	maxRefreshFiles = 100_000  // a refresh reads the others as new
)

// storedFileColumns are refreshFileColumns, with NULL for a value that is too long.
var storedFileColumns = fmt.Sprintf("%s, %s, %s, %s", atMost("key", maxTextBytes), atMost("sha256", sha256.Size),
	atMost("etag", maxHeaderBytes), atMost("last_modified", maxHeaderBytes))

// RefreshFiles returns the files of the last complete refresh, by key.
func (s *Store) RefreshFiles(ctx context.Context) ([]data.RefreshFile, error) {
	scan := func(row rowScanner) (f data.RefreshFile, err error) {
		var sum string
		err = row.Scan(textColumn[string]{&f.Key, "key", maxTextBytes}, textColumn[string]{&sum, "sha256", len(f.SHA256)},
			textColumn[string]{&f.ETag, "etag", maxHeaderBytes}, textColumn[string]{&f.LastModified, "last_modified", maxHeaderBytes})
		copy(f.SHA256[:], sum)
		return f, err
	}
	return list(ctx, s, "read the files of the last refresh", scan,
		fmt.Sprintf("SELECT %s FROM limnomap.refresh_files ORDER BY key LIMIT %d", storedFileColumns, maxRefreshFiles))
}

// LeaseRefresh begins a refresh for holder, a unique name, for the time of lease. It reports false if another process
// has a lease, or if the state's turn is no longer the given one. A lease that ends more than [MaxClockSkew] after
// this one would is ignored. A lease left by a process that ended expires, and then counts as a failure.
func (s *Store) LeaseRefresh(ctx context.Context, turn int64, holder string, lease time.Duration) (taken bool, err error) {
	now := s.now()
	err = s.db.update(ctx, "begin a refresh", func(q querier) (err error) {
		// A holder that is replaced has not ended its refresh, which counts as a failure. Of two concurrent calls the second
		// waits for the first, and then finds another turn.
		taken, err = refreshLease(holder).take(ctx, q, now, now.Add(lease), "turn = $6",
			"turn = turn + 1, failures = failures + CASE WHEN holder <> '' THEN 1 ELSE 0 END, attempted_at = $4, ", turn)
		return err
	})
	return taken && err == nil, err
}

// ExtendRefresh makes holder's lease end after lease from now; data.ErrLeaseLost if it has none.
func (s *Store) ExtendRefresh(ctx context.Context, holder string, lease time.Duration) error {
	return s.db.update(ctx, "extend a refresh", func(q querier) error { return refreshLease(holder).extend(ctx, q, s.now().Add(lease)) })
}

// EndRefresh ends holder's refresh without an import; data.ErrLeaseLost if it has none.
func (s *Store) EndRefresh(ctx context.Context, holder string, result data.RefreshResult) error {
	return s.db.update(ctx, "end a refresh", func(q querier) error { return endRefresh(ctx, q, s.now(), holder, result) })
}

func endRefresh(ctx context.Context, q querier, now time.Time, holder string, r data.RefreshResult) error {
	rows := r.Rows
	if rows == nil {
		rows = new(data.RefreshRows)
	}
	rasters := r.Rasters
	if rasters == nil {
		rasters = new(data.RasterCounts)
	}
	l := refreshLease(holder)
	ended := l.end
	if r.Continues {
		ended = l.check
	}
	if err := ended(ctx, q); err != nil {
		return err
	}
	w := writer{ctx: ctx, q: q}
	w.exec(`UPDATE limnomap.refresh SET turn = turn + CASE WHEN $12 THEN 0 ELSE 1 END, error = $1,
			failures = CASE WHEN NOT $14 THEN failures + 1 WHEN $12 THEN failures ELSE 0 END, attempted_at = COALESCE($13, attempted_at),
			succeeded_at = CASE WHEN $14 THEN $2 ELSE succeeded_at END,
			added = CASE WHEN $3 THEN $4 ELSE added END, changed = CASE WHEN $3 THEN $5 ELSE changed END,
			unchanged = CASE WHEN $3 THEN $6 ELSE unchanged END, rejected = CASE WHEN $3 THEN $7 ELSE rejected END,
			rasters_waiting = CASE WHEN $8 THEN $9 ELSE rasters_waiting END, rasters_failing = CASE WHEN $8 THEN $10 ELSE rasters_failing END,
			rasters_skipped = CASE WHEN $8 THEN $11 ELSE rasters_skipped END`,
		validText(cmp.Or(r.Error, r.Late)), now.Unix(), r.Rows != nil, rows.Added, rows.Changed, rows.Unchanged, rows.Rejected,
		r.Rasters != nil, rasters.Waiting, rasters.Failing, rasters.Skipped, r.Continues, unixOrNull(r.Began), r.Error == "")
	if r.Files != nil {
		w.exec("DELETE FROM limnomap.refresh_files")
	}
	for _, f := range r.Files {
		w.exec("INSERT INTO limnomap.refresh_files ("+refreshFileColumns+") VALUES ($1, $2, $3, $4)", f.Key, f.SHA256[:], f.ETag, f.LastModified)
	}
	return w.err
}

// validText returns text that both databases can store: PostgreSQL rejects a zero byte and invalid UTF-8, and an error may quote any bytes.
func validText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
