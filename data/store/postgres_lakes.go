package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"limnomap/data"
)

func (t *postgresTx) PutLakes(ctx context.Context, lakes []data.Lake, keep LakeColumns) ([]Change, error) {
	changes := make([]Change, len(lakes))
	return changes, t.fail(ctx, t.putLakes(ctx, lakes, keep, changes), "write lakes")
}

func (t *postgresTx) putLakes(ctx context.Context, lakes []data.Lake, keep LakeColumns, changes []Change) error {
	idOf := func(i int) data.LakeID { return lakes[i].ID }
	if err := t.findKeys(ctx, len(lakes), idOf); err != nil {
		return err
	}
	var first, repeated []int
	added := make(map[data.LakeID]bool) // new lakes of this batch, which have no number yet
	for i, l := range lakes {
		key, known := t.keys[l.ID]
		switch {
		case known && t.imported.addLake(int64(key)), !known && !added[l.ID]:
			first = append(first, i)
			added[l.ID] = !known
		default:
			repeated = append(repeated, i)
		}
	}
	t.repeated = repeated
	compare := func(rows []int, query string) error {
		if len(rows) == 0 {
			return nil
		}
		if err := t.copyLakes(ctx, lakes, rows); err != nil {
			return err
		}
		if keep.Outline {
			if err := t.leaving(ctx, lakes, changes); err != nil {
				return err
			}
		}
		return t.readChanges(ctx, changes, query, keep.ExternalID, keep.Region, keep.AreaKM2, keep.Outline)
	}
	if err := compare(first, writeLakes); err != nil {
		return err
	}
	if err := t.findKeys(ctx, len(lakes), idOf); err != nil {
		return err
	}
	for id, isNew := range added {
		if isNew {
			t.imported.addLake(int64(t.keys[id]))
		}
	}
	return compare(repeated, compareLakes)
}

// copyLakes replaces the content of the temporary table by the given rows.
func (t *postgresTx) copyLakes(ctx context.Context, lakes []data.Lake, rows []int) error {
	if _, err := t.tx.Exec(ctx, "TRUNCATE incoming_lakes"); err != nil {
		return err
	}
	_, err := t.tx.CopyFrom(ctx, pgx.Identifier{"incoming_lakes"},
		[]string{"n", "id", "external_id", "name", "lon", "lat", "region", "area_km2", "outline"},
		pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
			l := lakes[rows[i]]
			return []any{rows[i], string(l.ID), l.ExternalID, l.Name, unsigned(l.Point[0]), unsigned(l.Point[1]),
				l.Region, unsigned(l.AreaKM2), []byte(l.Outline)}, nil
		}))
	return err
}

// leaving removes from the temporary table the lakes that would leave a stored outline that the import keeps.
func (t *postgresTx) leaving(ctx context.Context, lakes []data.Lake, changes []Change) error {
	// Only lakes that move, so that importing the same lakes again is quick.
	rows, err := t.tx.Query(ctx, `SELECT i.n, l.outline FROM incoming_lakes AS i JOIN limnomap.lakes AS l USING (id)
		WHERE l.outline <> '' AND (l.lon, l.lat) <> (i.lon, i.lat)`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var left []int
	for rows.Next() {
		var n int
		var outline []byte
		if err := rows.Scan(&n, &outline); err != nil {
			return err
		}
		if place := lakes[n].Point; !NearOutline(data.Outline(outline).Bound(), place) {
			changes[n] = LeavesOutline
			left = append(left, n)
		}
	}
	if err := rows.Err(); err != nil || len(left) == 0 {
		return err
	}
	_, err = t.tx.Exec(ctx, "DELETE FROM incoming_lakes WHERE n = ANY($1)", left)
	return err
}

// comparedLakes is for lakes what comparedObservations is for observations.
const comparedLakes = `
	WITH compared AS MATERIALIZED (
		SELECT i.n, i.id, l.key, i.name, i.lon, i.lat,
			CASE WHEN $1 AND l.key IS NOT NULL THEN l.external_id ELSE i.external_id END AS external_id,
			CASE WHEN $2 AND l.key IS NOT NULL THEN l.region ELSE i.region END AS region,
			CASE WHEN $3 AND l.key IS NOT NULL THEN l.area_km2 ELSE i.area_km2 END AS area_km2,
			CASE WHEN $4 AND l.key IS NOT NULL THEN l.outline ELSE i.outline END AS outline,
			CASE
				WHEN l.key IS NULL THEN 1 -- Added
				WHEN (l.name, l.lon, l.lat) <> (i.name, i.lon, i.lat) OR NOT $1 AND l.external_id <> i.external_id
					OR NOT $2 AND l.region <> i.region OR NOT $3 AND l.area_km2 <> i.area_km2 OR NOT $4 AND l.outline <> i.outline
					THEN 2 -- Changed
				ELSE 0
			END AS change
		FROM incoming_lakes AS i LEFT JOIN limnomap.lakes AS l ON l.id = i.id)`

const (
	writeLakes = comparedLakes + `, added AS (
		INSERT INTO limnomap.lakes (id, external_id, name, lon, lat, region, area_km2, outline)
		SELECT id, external_id, name, lon, lat, region, area_km2, outline FROM compared WHERE change = 1 ORDER BY n
	), changed AS (
		UPDATE limnomap.lakes AS l SET external_id = c.external_id, name = c.name, lon = c.lon, lat = c.lat, region = c.region,
			area_km2 = c.area_km2, outline = c.outline
		FROM compared AS c WHERE c.change = 2 AND l.key = c.key
	)
	SELECT n, change::smallint FROM compared WHERE change <> 0`
	compareLakes = comparedLakes + `
	SELECT n, (CASE change WHEN 2 THEN 6 ELSE change END)::smallint FROM compared WHERE change <> 0`
)
