package store

import (
	"context"
	"slices"

	"limnomap/data"
)

// compareFirst returns the given rows, which are the first of their keys, without those that are OlderVersion or WorseThanStored.
func (t *postgresTx) compareFirst(ctx context.Context, observations []data.Observation, rows []int, keep ObservationColumns, changes []Change) ([]int, error) {
	compared, err := t.precedence(ctx, observations, rows, keep)
	if len(compared) == 0 || err != nil {
		return rows, err
	}
	var kept []int
	for _, i := range rows {
		c := compared[i]
		if c != OlderVersion && c != WorseThanStored {
			kept = append(kept, i)
			continue
		}
		o := &observations[i]
		changes[i] = c
		t.imported.addOutranked(int64(t.keys[o.LakeID]), o.Date, t.sources.numbers[o.Source])
	}
	return kept, nil
}

// repeatedRows are rows with repeated keys, by index.
type repeatedRows struct {
	same  []int // to be compared with what is stored
	write []int // to be written, at most one for each key
	rest  []int // to be compared when those are written
}

// compareRepeated compares rows with repeated keys with the stored ones, in their order.
func (t *postgresTx) compareRepeated(ctx context.Context, observations []data.Observation, rows []int, keep ObservationColumns, changes []Change) (r repeatedRows, err error) {
	compared, err := t.precedence(ctx, observations, rows, keep)
	if err != nil {
		return r, err
	}
	type satelliteKey struct {
		lake   int32
		date   data.Date
		source int64
	}
	replaced := make(map[satelliteKey]bool)
	for _, i := range rows {
		o := &observations[i]
		if o.Type != data.Satellite {
			r.same = append(r.same, i)
			continue
		}
		key := satelliteKey{t.keys[o.LakeID], o.Date, t.sources.numbers[o.Source]}
		switch c := compared[i]; {
		case replaced[key]: // to be compared with that row, whose version may be absent
			r.rest = append(r.rest, i)
		case c == OlderVersion || c == WorseThanStored:
			changes[i] = c
		case t.imported.takeOutranked(int64(key.lake), key.date, key.source) || c == Changed:
			r.write = append(r.write, i)
			replaced[key] = true
		default:
			r.same = append(r.same, i)
		}
	}
	return r, nil
}

// precedence compares the rows of satellites with the stored ones. It returns only those of which one has precedence, by the number of the
// row: see [storedRow.precedence].
func (t *postgresTx) precedence(ctx context.Context, observations []data.Observation, rows []int, keep ObservationColumns) (map[int]Change, error) {
	if !slices.ContainsFunc(rows, func(i int) bool { return comparedRow(&observations[i], keep) }) {
		return nil, nil
	}
	if err := t.copyIncoming(ctx, observations, rows); err != nil {
		return nil, err
	}
	result, err := t.tx.Query(ctx, differentRows)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	found := make(map[int]Change)
	var n int
	var stored storedRow
	for result.Next() {
		if err := stored.scan(result, &n); err != nil {
			return nil, err
		}
		if c := stored.precedence(&observations[n], keep); c != Unchanged {
			found[n] = c
		}
	}
	return found, result.Err()
}

// differentRows selects the storedRow of each row whose version differs, or that is from pixels and differs in having a value or in its
// quality: only they can have precedence, or lack it. The subquery is evaluated for each row of the temporary table, so the planner cannot begin with all observations.
var differentRows = `
	SELECT i.n, stored.* FROM incoming AS i CROSS JOIN LATERAL (
		SELECT ` + storedColumns(postgresMember) + ` FROM limnomap.observations AS o
		WHERE o.lake = i.lake AND o.date = i.date AND o.type = i.type AND o.source = i.source OFFSET 0) AS stored
	WHERE i.type = 0 AND (stored.version <> '' AND stored.version <> i.details ->> 'version'
		OR stored.pixels AND i.details ?& '{n_valid,n_total}'
			AND (stored.chl < 0, stored.quality) <> (i.chl IS NULL, coalesce(i.details ->> 'quality', '')))`
