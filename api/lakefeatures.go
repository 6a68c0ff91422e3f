package api

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"limnomap/api/cql2"
	"limnomap/api/features"
	"limnomap/api/record"
	"limnomap/data"
)

// lakeFeatureColumns are those of the lakes as features.
var lakeFeatureColumns = slices.Concat(lakeColumns[:2:2], record.Columns[lakeRecord]{
	record.Text("region", func(r lakeRecord) string { return r.lake.Region }).OrNull(),
	record.Number("area_km2", func(r lakeRecord) float64 { return record.Known(r.lake.AreaKM2, r.lake.AreaKM2 > 0) }).OrNull(),
	record.Word("water_id", func(r lakeRecord) string { return r.lake.WaterID }).OrNull(),
}, lakeColumns[2:])

// lakes are the lakes with their current state.
func (h *featureHandlers) lakes(p *published) *features.Collection {
	view := p.snap.Current
	return features.New(features.Collection{
		ID: "lakes", Title: "Lakes",
		Description: "All lakes with their current state. A lake without a current value has chl null, which never means clean water.",
		Outlines:    true, Sortable: true, Count: len(view.Lakes),
	}, lakeFeatureColumns, h.lakeSource(p))
}

// lakeSource returns where the lakes of a snapshot are from.
func (h *featureHandlers) lakeSource(p *published) features.Source[lakeRecord] {
	view := p.snap.Current
	return features.Source[lakeRecord]{
		Walk: func(r *http.Request, _ *features.Query, after string, visit func(lakeRecord) bool) (string, error) {
			return "", h.searchLakes(r, p, func() {
				for i := lakeAfter(view.Lakes, after); i < len(view.Lakes) && visit(h.encoder.lake(view, i)); i++ {
				}
			})
		},
		Find: func(_ *http.Request, key string) (lakeRecord, bool, error) {
			i, ok := p.snap.Index(data.LakeID(key))
			if !ok {
				return lakeRecord{}, false, nil
			}
			return h.encoder.lake(view, i), true, nil
		},
		Key:   func(l lakeRecord) string { return string(l.lake.ID) },
		Shape: func(l lakeRecord, outlines bool) (cql2.Shape, bool) { return shapeOf(l.lake, outlines) },
		Time: func(l lakeRecord) cql2.Value {
			if l.state.Risk == data.RiskUnknown {
				return cql2.Value{}
			}
			return cql2.TimeValue(time.Unix(l.state.MeasuredAt(), 0))
		},
		CheckKey: checkBy(data.ParseLakeID),
	}
}

// lakeAfter returns the index of the first lake whose id is greater.
func lakeAfter(lakes []data.Lake, id string) int {
	i, found := slices.BinarySearchFunc(lakes, id, func(l data.Lake, id string) int { return strings.Compare(string(l.ID), id) })
	if found {
		i++
	}
	return i
}
