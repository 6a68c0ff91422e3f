package store

import (
	"context"
	"database/sql"
	"fmt"

	"limnomap/data"
	"limnomap/data/linetext"
)

const rasterColumns = "key, name, stamp, error, failures, tried_at, retry_at, product, version, date, lakes, gaps, written, bytes"

const (
	maxRasters     = 100_000 // a refresh takes the others for new files
	maxRasterText  = 1000    // characters of an error, a name or a stamp
	maxProductText = 200     // of a product or a version
)

// storedRasterColumns are rasterColumns, with the beginning only of a text that another program stored.
var storedRasterColumns = fmt.Sprintf("%s, substr(name, 1, %d), substr(stamp, 1, %[2]d), substr(error, 1, %[2]d), failures, tried_at, retry_at, "+
	"substr(product, 1, %d), substr(version, 1, %[3]d), date, lakes, gaps, written, bytes", atMost("key", maxTextBytes), maxRasterText, maxProductText)

// RasterRecords returns the satellite files that refreshes have read, by key.
func (s *Store) RasterRecords(ctx context.Context) ([]data.RasterRecord, error) {
	scan := func(row rowScanner) (r data.RasterRecord, err error) {
		var tried int64
		var retry sql.NullInt64
		err = row.Scan(textColumn[string]{&r.Key, "key", maxTextBytes}, &r.Name, &r.Stamp, &r.Error, &r.Failures, &tried, &retry,
			&r.Product, &r.Version, &r.Date, &r.Lakes, &r.Gaps, &r.Written, &r.Bytes)
		r.Error = linetext.Escape(r.Error) // older versions stored what files say as it is
		r.TriedAt, r.RetryAt = timeOrZero(sql.NullInt64{Int64: tried, Valid: true}), timeOrZero(retry)
		return r, err
	}
	// The newest: an old one is not at the source any more.
	return list(ctx, s, "read the satellite files of refreshes", scan,
		fmt.Sprintf("SELECT %s FROM limnomap.rasters ORDER BY tried_at DESC, key LIMIT %d", storedRasterColumns, maxRasters))
}

// BeginRaster stores that holder begins to read a satellite file, without counting it: if the process ends meanwhile, the next
// one knows. data.ErrLeaseLost if holder has no lease.
func (s *Store) BeginRaster(ctx context.Context, holder string, record data.RasterRecord) error {
	return s.db.update(ctx, "store a satellite file", func(q querier) error {
		if err := refreshLease(holder).check(ctx, q); err != nil {
			return err
		}
		return storeRaster(ctx, q, record)
	})
}

// PutRaster stores the result of reading a satellite file; data.ErrLeaseLost if holder has no lease.
func (s *Store) PutRaster(ctx context.Context, holder string, record data.RasterRecord) error {
	return s.db.update(ctx, "store a satellite file", func(q querier) error { return putRaster(ctx, q, holder, record) })
}

// putRaster stores a record, and counts the file or the failure.
func putRaster(ctx context.Context, q querier, holder string, r data.RasterRecord) error {
	if err := refreshLease(holder).check(ctx, q); err != nil {
		return err
	}
	_, err := q.exec(ctx, `UPDATE limnomap.refresh SET raster_bytes = raster_bytes + $1,
			rasters_taken = rasters_taken + CASE WHEN $2 THEN 1 ELSE 0 END, rasters_failed = rasters_failed + CASE WHEN $2 THEN 0 ELSE 1 END,
			raster_taken_at = CASE WHEN $2 THEN $3 ELSE raster_taken_at END, raster_product = CASE WHEN $2 THEN $4 ELSE raster_product END,
			raster_date = CASE WHEN $2 THEN $5 ELSE raster_date END`, r.Bytes, r.Taken(), r.TriedAt.Unix(), begin(r.Product, maxProductText), int64(r.Date))
	if err != nil {
		return err
	}
	return storeRaster(ctx, q, r)
}

func storeRaster(ctx context.Context, q querier, r data.RasterRecord) error {
	_, err := q.exec(ctx, "INSERT INTO limnomap.rasters ("+rasterColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
		ON CONFLICT (key) DO UPDATE SET name = excluded.name, stamp = excluded.stamp, error = excluded.error, failures = excluded.failures,
			tried_at = excluded.tried_at, retry_at = excluded.retry_at, product = excluded.product, version = excluded.version, date = excluded.date,
			lakes = excluded.lakes, gaps = excluded.gaps, written = excluded.written, bytes = excluded.bytes`,
		r.Key, begin(r.Name, maxRasterText), begin(r.Stamp, maxRasterText), begin(r.Error, maxRasterText), r.Failures, r.TriedAt.Unix(), unixOrNull(r.RetryAt),
		begin(r.Product, maxProductText), begin(r.Version, maxProductText), int64(r.Date), r.Lakes, r.Gaps, r.Written, r.Bytes)
	return err
}

// begin returns the first characters of a text that may be of any bytes.
func begin(text string, characters int) string {
	text = validText(text)
	n := 0
	for i := range text {
		if n++; n > characters {
			return text[:i]
		}
	}
	return text
}
