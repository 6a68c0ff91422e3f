package ingest

import (
	"context"
	"errors"
	"fmt"

	"limnomap/data"
	"limnomap/data/store"
)

// The columns of lakes, as indices.
const (
	lakeID = iota
	lakeExternalID
	lakeName
	lakeLat
	lakeLon
	lakeRegion
	lakeArea
)

func lakeColumns() []column {
	return []column{
		lakeID:         {name: "id", required: true},
		lakeExternalID: {name: "external_id"},
		lakeName:       {name: "name", required: true},
		lakeLat:        {name: "lat", required: true},
		lakeLon:        {name: "lon", required: true},
		lakeRegion:     {name: "region", alias: "state"},
		lakeArea:       {name: "area_km2"},
	}
}

func parseLake(r *row) (data.Lake, error) {
	var l data.Lake
	id, err := r.required(lakeID, "the lake's id")
	if err != nil {
		return l, err
	}
	if l.ID, err = data.ParseLakeID(id); err != nil {
		return l, err
	}
	for _, text := range []struct {
		to     *string
		column int
	}{{&l.ExternalID, lakeExternalID}, {&l.Name, lakeName}, {&l.Region, lakeRegion}} {
		if *text.to, err = r.line(text.column); err != nil {
			return l, err
		}
	}
	if l.ExternalID == "" {
		l.ExternalID = id
	}
	if l.Name == "" {
		return l, errors.New("name is missing: want the lake's name")
	}
	for _, axis := range []struct {
		to     *float64
		column int
		in     span
	}{
		{&l.Point[1], lakeLat, span{-90, 90, " degrees"}},
		{&l.Point[0], lakeLon, span{-180, 180, " degrees"}},
	} {
		var ok bool
		if *axis.to, ok, err = r.number(axis.column, axis.in); err != nil {
			return l, err
		}
		if !ok {
			return l, fmt.Errorf("%s is missing: want %s", r.columns[axis.column].name, axis.in)
		}
	}
	// The Caspian Sea, the largest lake, has 371,000 km².
	if l.AreaKM2, _, err = r.number(lakeArea, span{0, 400_000, " km²"}); err != nil {
		return l, err
	}
	return l, l.Check()
}

func lakeKind() kind[data.Lake, data.LakeID] {
	return kind[data.Lake, data.LakeID]{
		columns: lakeColumns(),
		parse:   parseLake,
		key:     func(l data.Lake) data.LakeID { return l.ID },
		id:      lakeID,
		name:    func(data.Lake) string { return "this id" },
		put: func(ctx context.Context, tx store.Tx, lakes []data.Lake, lacks func(int) bool) ([]store.Change, error) {
			return tx.PutLakes(ctx, lakes, store.LakeColumns{
				ExternalID: lacks(lakeExternalID), Region: lacks(lakeRegion), AreaKM2: lacks(lakeArea),
			})
		},
	}
}
