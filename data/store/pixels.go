package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"strings"

	"limnomap/data"
	"limnomap/data/pixels"
	"limnomap/data/raster/georef"
)

// A pixelRow is the key of an observation of a satellite, whose pixels an import writes or removes.
type pixelRow struct {
	lake, source int64
	*data.Observation
}

// A pixelKey is the key of a pixelRow.
type pixelKey struct {
	lake, source int64
	date         data.Date
}

// putPixels writes the pixels of the observations that PutObservations has just stored, or found stored. Those of an observation that an import without
// pixels has changed are removed: they are not of the new value.
func (t *importTx) putPixels(ctx context.Context, observations []data.Observation, keep ObservationColumns, changes []Change) error {
	var stored []pixelRow
	latest := make(map[pixelKey]int) // index in stored of a key that may be repeated; empty if no row is
	for i := range observations {
		o, change := &observations[i], changes[i]
		isStored := change == Added || change == Changed || change == Unchanged && o.Pixels != nil
		if o.Type != data.Satellite || !isStored || o.Pixels == nil && change == Added {
			continue
		}
		_, repeated := slices.BinarySearch(t.repeated, i)
		if repeated && change != Changed || o.Pixels == nil && keep.Chlorophyll {
			continue
		}
		lake, known, err := t.lakeKey(ctx, o.LakeID)
		if err != nil || !known {
			return err
		}
		source, err := t.sources.of(ctx, t.q, o.Source)
		if err != nil {
			return err
		}
		row := pixelRow{lake, source, o}
		if len(t.repeated) > 0 { // of one key, the last row that was stored counts
			key := pixelKey{lake, source, o.Date}
			if at, ok := latest[key]; ok {
				stored[at] = row
				continue
			}
			latest[key] = len(stored)
		}
		stored = append(stored, row)
	}
	var with, without []pixelRow
	for _, r := range stored {
		if r.Pixels != nil {
			with = append(with, r)
		} else {
			without = append(without, r)
		}
	}
	if err := t.removePixels(ctx, without); err != nil || len(with) == 0 {
		return err
	}
	digest := func(r pixelRow) []byte {
		h := sha256.New()
		fmt.Fprintf(h, "%s\n%s", r.Pixels.Grid, r.Pixels.Mask)
		return h.Sum(nil)[:digestBytes]
	}
	masks := rowsOf(with, func(r pixelRow) []any { return []any{r.lake, digest(r), r.Pixels.Grid, r.Pixels.Mask} })
	if _, err := t.q.insert(ctx, "pixel_masks", "lake, digest, grid, mask", masks, " ON CONFLICT DO NOTHING"); err != nil {
		return err
	}
	rows := rowsOf(with, func(r pixelRow) []any {
		mask, spread := digest(r), spreadOf(r.Pixels)
		return []any{r.lake, int32(r.Date), r.source, mask, r.Pixels.Codes, rowDigest(r.Observation, mask, spread), spread}
	})
	written, err := t.q.insert(ctx, "pixels", "lake, date, source, mask, codes, digest, spread", rows, ` ON CONFLICT (lake, date, source)
		DO UPDATE SET mask = excluded.mask, codes = excluded.codes, digest = excluded.digest, spread = excluded.spread
		WHERE r.mask <> excluded.mask OR r.codes <> excluded.codes OR r.spread IS NULL AND excluded.spread IS NOT NULL`)
	t.changed = t.changed || written > 0
	return err
}

// digestBytes is the length of a digest of a mask. It tells the masks of one lake apart.
const digestBytes = 16

// rowDigest returns a positive number that tells rows of pixels apart; mask is the digest of their mask.
func rowDigest(o *data.Observation, mask, spread []byte) int32 {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%d\n%s\n%s%s%s", o.LakeID, o.Date, o.Source, mask, o.Pixels.Codes, spread)
	return int32(binary.BigEndian.Uint32(h.Sum(nil)) >> 1)
}

func rowsOf(all []pixelRow, columns func(pixelRow) []any) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		for _, r := range all {
			if !yield(columns(r), nil) {
				return
			}
		}
	}
}

// removePixels removes the pixels of observations, of which most databases have none.
func (t *importTx) removePixels(ctx context.Context, rows []pixelRow) error {
	if len(rows) == 0 {
		return nil
	}
	var some bool
	if err := t.q.queryRow(ctx, "SELECT EXISTS (SELECT 1 FROM limnomap.pixels)").Scan(&some); err != nil || !some {
		return err
	}
	w := writer{ctx: ctx, q: t.q}
	for _, r := range rows {
		w.exec(deletePixels, r.lake, int32(r.Date), r.source)
	}
	return w.err
}

const (
	deletePixels = "DELETE FROM limnomap.pixels WHERE lake = $1 AND date = $2 AND source = $3"
	// forgetPixels removes the pixels whose observation is no more.
	forgetPixels = `DELETE FROM limnomap.pixels AS p WHERE NOT EXISTS
		(SELECT 1 FROM limnomap.observations AS o WHERE o.lake = p.lake AND o.date = p.date AND o.type = 0 AND o.source = p.source)`
	// forgetMasks removes the masks that no pixels have any more. It reads all pixels once: an index would take as much room as the pixels of small lakes.
	forgetMasks = `DELETE FROM limnomap.pixel_masks WHERE (lake, digest) IN (SELECT lake, digest FROM limnomap.pixel_masks EXCEPT SELECT lake, mask FROM limnomap.pixels)`
)

// KeepPixels removes the pixels of a source of all dates before first, and the masks that no pixels have any more.
func (t *importTx) KeepPixels(ctx context.Context, source string, first data.Date) error {
	w := writer{ctx: ctx, q: t.q}
	if removed := w.exec("DELETE FROM limnomap.pixels WHERE date < $1 AND source = "+sourceKey("$2"), int32(first), source); removed > 0 {
		t.changed = true
		w.exec(forgetMasks)
	}
	return t.fail(ctx, w.err, "remove old pixels")
}

// sourceKey returns the expression of the number of a source, 0 for one that is not known.
func sourceKey(parameter string) string {
	return "coalesce((SELECT key FROM limnomap.sources WHERE name = " + parameter + "), 0)"
}

// Pixels returns the pixels of which a satellite's observation was made. It is not ok if they are not stored.
func (s *Store) Pixels(ctx context.Context, id data.LakeID, date data.Date, source string) (p pixels.Packed, ok bool, err error) {
	query := fmt.Sprintf(`SELECT %s, %s, %s FROM limnomap.lakes AS l JOIN limnomap.pixels AS p ON p.lake = l.key
		JOIN limnomap.pixel_masks AS m ON m.lake = p.lake AND m.digest = p.mask
		WHERE l.id = $1 AND p.date = $2 AND p.source = `+sourceKey("$3"),
		atMost("m.grid", georef.MaxTextBytes), atMost("m.mask", pixels.MaxMaskBytes), atMost("p.codes", pixels.MaxCodeBytes))
	all, err := list(ctx, s, "read the pixels of a lake", func(row rowScanner) (p pixels.Packed, err error) {
		return p, row.Scan(textColumn[string]{&p.Grid, "grid", georef.MaxTextBytes}, &p.Mask, &p.Codes)
	}, query, string(id), int32(date), source)
	if err != nil || len(all) == 0 {
		return p, false, err
	}
	return all[0], true, nil
}

// PixelState returns what tells whether any pixels have changed.
func (s *Store) PixelState(ctx context.Context) (data.PixelState, error) {
	return read(ctx, s, "read the state of the pixels", func(ctx context.Context, q querier) (p data.PixelState, err error) {
		return p, q.queryRow(ctx, "SELECT count, digest FROM limnomap.pixel_state").Scan(&p.Count, &p.Digest)
	})
}

// valuesAtATime bounds the values of which one query reads the pixels.
const valuesAtATime = 64

// PixelsOf returns for each value the pixels of which a satellite's observation with it was made; those without any are the zero value. Of several sources
// that have the same value it returns those of the first one that was stored.
func (s *Store) PixelsOf(ctx context.Context, values []data.LakeValue) ([]pixels.Packed, error) {
	found := make([]pixels.Packed, len(values))
	for first := 0; first < len(values); first += valuesAtATime {
		part := values[first:min(first+valuesAtATime, len(values))]
		var wanted strings.Builder
		var args []any
		for i, v := range part {
			if i > 0 {
				wanted.WriteString(", ")
			}
			fmt.Fprintf(&wanted, "(CAST(%d AS integer), CAST($%d AS text), CAST($%d AS integer), CAST($%d AS integer))", i, 3*i+1, 3*i+2, 3*i+3)
			args = append(args, string(v.Lake), int32(v.Date), int32(v.Chlorophyll))
		}
		// CROSS JOIN keeps SQLite from another order.
		query := fmt.Sprintf(`WITH wanted (n, id, date, chl) AS (VALUES %s)
			SELECT wanted.n, %s, %s, %s FROM wanted CROSS JOIN limnomap.lakes AS l CROSS JOIN limnomap.pixels AS p
			CROSS JOIN limnomap.observations AS o CROSS JOIN limnomap.pixel_masks AS m
			WHERE l.id = wanted.id AND p.lake = l.key AND p.date = wanted.date AND o.lake = p.lake AND o.date = p.date AND o.type = 0 AND o.source = p.source
			AND o.chl = wanted.chl AND m.lake = p.lake AND m.digest = p.mask ORDER BY p.source DESC`, wanted.String(),
			atMost("m.grid", georef.MaxTextBytes), atMost("m.mask", pixels.MaxMaskBytes), atMost("p.codes", pixels.MaxCodeBytes))
		_, err := list(ctx, s, "read the pixels of lakes", func(row rowScanner) (_ struct{}, err error) {
			var n int
			var p pixels.Packed
			if err = row.Scan(&n, textColumn[string]{&p.Grid, "grid", georef.MaxTextBytes}, &p.Mask, &p.Codes); err == nil {
				found[first+n] = p
			}
			return struct{}{}, err
		}, query, args...)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// spreadsQuery reads how the pixels of a source in a period are spread. CROSS JOIN keeps SQLite from another order; of BETWEEN it would use only the first
// day, as o.date is the same. PostgreSQL skips the partitions of other years by the dates of o.
var spreadsQuery = fmt.Sprintf(`SELECT %s, p.date, o.chl, %s FROM limnomap.pixels AS p CROSS JOIN limnomap.lakes AS l CROSS JOIN limnomap.observations AS o
	WHERE p.source = $1 AND p.date >= $2 AND p.date <= $3 AND l.key = p.lake
	AND o.lake = p.lake AND o.date = p.date AND o.date >= $2 AND o.date <= $3 AND o.type = 0 AND o.source = p.source AND o.chl IS NOT NULL`, atMost("l.id", maxIDBytes), atMost("p.spread", pixels.MaxSpreadBytes))

// PixelSpreads implements [limnomap/data/snapshot.Source]. It takes as long as the period has pixels: an index has those of each source by their dates.
func (s *Store) PixelSpreads(ctx context.Context, period data.Period, each func(data.LakeValue, *pixels.Spread) error) error {
	_, err := read(ctx, s, "read how pixels are spread", func(ctx context.Context, q querier) (_ struct{}, err error) {
		sources := []int64{0} // those without a name
		if err := q.query(ctx, eachRow(func(row rowScanner) error {
			var key int64
			err := row.Scan(&key)
			sources = append(sources, key)
			return err
		}), fmt.Sprintf("SELECT key FROM limnomap.sources ORDER BY key LIMIT %d", MaxSources)); err != nil {
			return struct{}{}, err
		}
		for _, source := range sources {
			if err := q.query(ctx, eachSpread(func(row rowScanner, spread *[]byte) (func(*pixels.Spread) error, error) {
				var date, chl int32
				var id data.LakeID
				err := row.Scan(textColumn[data.LakeID]{&id, "id", maxIDBytes}, &date, &chl, spread)
				return func(s *pixels.Spread) error {
					return each(data.LakeValue{Lake: id, Date: data.Date(date), Chlorophyll: data.Chlorophyll(chl)}, s)
				}, err
			}), spreadsQuery, source, int32(period.First), int32(period.Last)); err != nil {
				return struct{}{}, err
			}
		}
		return struct{}{}, nil
	})
	return err
}

// LakeSpreads calls each with how the pixels of each pass over a lake in a period are spread, and on which grid they are, of the newest date first. An error from each ends it and is returned.
func (s *Store) LakeSpreads(ctx context.Context, id data.LakeID, period data.Period, each func(date data.Date, source, grid string, spread *pixels.Spread) error) error {
	query := fmt.Sprintf(`SELECT p.date, coalesce(s.name, ''), %s, %s FROM limnomap.pixels AS p
		JOIN limnomap.pixel_masks AS m ON m.lake = p.lake AND m.digest = p.mask LEFT JOIN limnomap.sources AS s ON s.key = p.source
		WHERE p.lake = (SELECT key FROM limnomap.lakes WHERE id = $1) AND p.date BETWEEN $2 AND $3 ORDER BY p.date DESC`,
		atMost("m.grid", georef.MaxTextBytes), atMost("p.spread", pixels.MaxSpreadBytes))
	_, err := read(ctx, s, "read how the pixels of a lake are spread", func(ctx context.Context, q querier) (_ struct{}, err error) {
		return struct{}{}, q.query(ctx, eachSpread(func(row rowScanner, spread *[]byte) (func(*pixels.Spread) error, error) {
			var date int32
			var source, grid string
			err := row.Scan(&date, textColumn[string]{&source, "source", maxTextBytes}, textColumn[string]{&grid, "grid", georef.MaxTextBytes}, spread)
			return func(s *pixels.Spread) error { return each(data.Date(date), source, grid, s) }, err
		}), query, string(id), int32(period.First), int32(period.Last))
	})
	return err
}

// eachSpread returns what calls the function that scan returns for each row of a query that has a spread. Damaged ones are left out, as are those of rows of
// earlier versions.
func eachSpread(scan func(row rowScanner, spread *[]byte) (func(*pixels.Spread) error, error)) func(rowIterator) error {
	return eachRow(func(row rowScanner) error {
		var packed []byte
		each, err := scan(row, &packed)
		if err != nil {
			return err
		}
		if spread, err := pixels.UnpackSpread(packed); err == nil {
			return asCallerError(each(spread))
		}
		return nil
	})
}

// PixelPasses calls each with the pixels of a lake in a period, of the newest date first. An error from each ends it and is returned.
func (s *Store) PixelPasses(ctx context.Context, id data.LakeID, period data.Period, each func(date data.Date, source string, p pixels.Packed) error) error {
	query := fmt.Sprintf(`SELECT p.date, coalesce(s.name, ''), %s, %s, %s FROM limnomap.pixels AS p LEFT JOIN limnomap.sources AS s ON s.key = p.source
		JOIN limnomap.pixel_masks AS m ON m.lake = p.lake AND m.digest = p.mask
		WHERE p.lake = (SELECT key FROM limnomap.lakes WHERE id = $1) AND p.date BETWEEN $2 AND $3 ORDER BY p.date DESC, p.source`,
		atMost("m.grid", georef.MaxTextBytes), atMost("m.mask", pixels.MaxMaskBytes), atMost("p.codes", pixels.MaxCodeBytes))
	_, err := list(ctx, s, "read the pixels of a lake in a period", func(row rowScanner) (_ struct{}, err error) {
		var date int32
		var source string
		var p pixels.Packed
		if err = row.Scan(&date, textColumn[string]{&source, "source", maxTextBytes}, textColumn[string]{&p.Grid, "grid", georef.MaxTextBytes}, &p.Mask, &p.Codes); err == nil {
			err = each(data.Date(date), source, p)
		}
		return struct{}{}, err
	}, query, string(id), int32(period.First), int32(period.Last))
	return err
}

// spreadOf returns how pixels are spread, as it is stored; nil for damaged ones.
func spreadOf(p *pixels.Packed) []byte {
	spread, err := pixels.SpreadOf(p.Codes)
	if err != nil {
		return nil
	}
	return spread.Pack()
}
