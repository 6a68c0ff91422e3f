package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"limnomap/data"
)

// lakesAtOnce bounds the stored lakes in memory, because outlines are large.
const lakesAtOnce = 1000

func (t *postgresTx) PutLakes(ctx context.Context, lakes []data.Lake, keep LakeColumns) ([]Change, error) {
	changes := make([]Change, len(lakes))
	t.repeated = nil
	for from := 0; from < len(lakes); from += lakesAtOnce {
		to := min(from+lakesAtOnce, len(lakes))
		if err := t.putLakes(ctx, lakes[from:to], keep, from, changes[from:to]); err != nil {
			return nil, t.fail(ctx, err, "write lakes")
		}
	}
	return changes, t.counted(ctx, changes, nil, "write lakes")
}

// putLakes writes some lakes of a batch, from that index on.
func (t *postgresTx) putLakes(ctx context.Context, lakes []data.Lake, keep LakeColumns, from int, changes []Change) error {
	stored, err := t.readLakes(ctx, lakes)
	if err != nil {
		return err
	}
	var added []data.Lake
	changed := new(pgx.Batch)
	for i := range lakes {
		l := &lakes[i]
		before := stored[l.ID]
		if before == nil {
			stored[l.ID] = &storedLake{lake: *l, added: true}
			added, changes[i] = append(added, *l), Added
			continue
		}
		var merged data.Lake
		merged, changes[i] = mergeLakes(&before.lake, l, keep)
		switch {
		case before.added || !t.imported.addLake(int64(before.key)):
			t.repeated, changes[i] = append(t.repeated, from+i), ofRepeated(changes[i])
		case changes[i] == Changed:
			t.record.lake(int64(before.key), &before.lake)
			before.lake = merged
			changed.Queue("UPDATE limnomap.lakes SET (id, external_id, name, lon, lat, region, area_km2, outline, water_id) = ROW($2, $3, $4, $5, $6, $7, $8, $9, $10) WHERE key = $1",
				append([]any{before.key}, lakeValues(&merged)...)...)
		}
	}
	t.changed = t.changed || len(added) > 0 || changed.Len() > 0
	if err := t.tx.SendBatch(ctx, changed).Close(); err != nil {
		return err
	}
	return t.addLakes(ctx, added)
}

// A storedLake is a lake as it is stored when the batch is written.
type storedLake struct {
	key   int32
	lake  data.Lake
	added bool // by the batch; it has no number yet
}

// readLakes returns the stored lakes with the ids of these.
func (t *postgresTx) readLakes(ctx context.Context, lakes []data.Lake) (map[data.LakeID]*storedLake, error) {
	ids := make([]string, len(lakes))
	for i := range lakes {
		ids[i] = string(lakes[i].ID)
	}
	stored := make(map[data.LakeID]*storedLake)
	scanner := newLakeScanner()
	err := t.q.query(ctx, eachRow(func(row rowScanner) error {
		key, l, err := scanner.scan(row)
		if err == nil {
			stored[l.ID] = &storedLake{key: int32(key), lake: l}
		}
		return err
	}), "SELECT "+lakeColumns+" FROM limnomap.lakes WHERE id = ANY($1)", ids)
	return stored, err
}

// addLakes stores new lakes.
func (t *postgresTx) addLakes(ctx context.Context, lakes []data.Lake) error {
	if len(lakes) == 0 {
		return nil
	}
	_, err := t.tx.CopyFrom(ctx, pgx.Identifier{"limnomap", "lakes"},
		[]string{"id", "external_id", "name", "lon", "lat", "region", "area_km2", "outline", "water_id"},
		pgx.CopyFromSlice(len(lakes), func(i int) ([]any, error) { return lakeValues(&lakes[i]), nil }))
	if err == nil {
		err = t.findKeys(ctx, len(lakes), func(i int) data.LakeID { return lakes[i].ID })
	}
	for i := range lakes {
		key := int64(t.keys[lakes[i].ID])
		t.imported.addLake(key)
		t.record.lake(key, nil)
	}
	return err
}

func lakeValues(l *data.Lake) []any {
	return []any{string(l.ID), l.ExternalID, l.Name, unsigned(l.Point[0]), unsigned(l.Point[1]), l.Region, unsigned(l.AreaKM2), []byte(l.Outline), l.WaterID}
}
