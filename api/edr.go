package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/paulmach/orb"

	"limnomap/api/answer"
	"limnomap/api/cql2"
	"limnomap/api/edr"
	"limnomap/api/features"
	"limnomap/api/record"
	"limnomap/api/route"
	"limnomap/data"
)

// pathSeries is the folder of the queries for series.
const pathSeries = features.Path + "/observations/"

// series are the observations as series in time.
var series = &edr.Collection[*observationRecord]{
	ID: "observations", Title: "Observations", Things: "series",
	Kinds:   []edr.Kind{edr.Locations, edr.Position, edr.Radius, edr.Area, edr.Cube},
	Instead: "go through the pages of the items of this collection",
	Columns: observationFeatureColumns,
	About:   "lake_id,lake_name,data_type,source",
	Day:     "date",
	Key:     keyOfObservation,
	Place:   func(o *observationRecord) orb.Point { return o.lake.Point },
	Parameters: []edr.Parameter{
		{Column: "chl", Label: "Chlorophyll a", Unit: "ug/L", Symbol: "µg/l"},
		{Column: "who_level", Label: "Level of the World Health Organization"},
		{Column: "cell_density_cells_ml", Label: "Cells of cyanobacteria", Unit: "{cells}/mL", Symbol: "cells/ml"},
		{Column: "chl_lower", Label: "Chlorophyll a, lower end of its range", Unit: "ug/L", Symbol: "µg/l"},
		{Column: "chl_upper", Label: "Chlorophyll a, upper end of its range", Unit: "ug/L", Symbol: "µg/l"},
		{Column: "below_limit", Label: "Whether chlorophyll a is less than the value, the limit of detection", Categories: []string{"true"}},
		{Column: "n_valid", Label: "Pixels with a value", Unit: "1", Symbol: "pixels"},
		{Column: "n_total", Label: "Pixels", Unit: "1", Symbol: "pixels"},
		{Column: "quality", Label: "Quality", Categories: data.QualityNames()},
		{Column: "secchi_m", Label: "Secchi depth", Unit: "m", Symbol: "m"},
		{Column: "water_temperature_c", Label: "Temperature of the water", Unit: "Cel", Symbol: "°C"},
		{Column: "turbidity_ntu", Label: "Turbidity", Unit: "{NTU}", Symbol: "NTU"},
		{Column: "scum_percent", Label: "Part of the water with scum", Unit: "%", Symbol: "%"},
	},
}

// locationColumns are those of the lakes in the list of locations.
var locationColumns = record.Columns[lakeRecord]{
	record.Text("label", func(r lakeRecord) string { return r.lake.Name }),
	record.Text("region", func(r lakeRecord) string { return r.lake.Region }).OrNull(),
}

// locations returns a handler that answers with a page of the lakes whose series or pixels can be asked for.
func (h *featureHandlers) locations(collection string) func(http.ResponseWriter, *http.Request, *published) error {
	return func(w http.ResponseWriter, r *http.Request, p *published) error {
		source := h.lakeSource(p)
		source.Time = func(lakeRecord) cql2.Value { return cql2.PeriodValue(time.Time{}, time.Time{}) } // a lake is there all the time
		return h.service.Items(w, r, features.New(features.Collection{
			ID: collection, Items: string(edr.Locations), Title: "Lakes", Description: "The lakes whose data can be asked for.", Count: len(p.snap.Lakes),
		}, locationColumns, source), p.state.Updated)
	}
}

// series returns a handler that answers with the series of the lakes that a query asks for.
func (h *featureHandlers) series(kind edr.Kind) func(http.ResponseWriter, *http.Request, *published) error {
	return func(w http.ResponseWriter, r *http.Request, p *published) error {
		q, err := series.Parse(r, kind)
		if err != nil {
			return err
		}
		lakes, err := h.lakesOf(r, p, q, h.nearestLake, func(l *data.Lake) *cql2.Shape { return &cql2.Shape{Point: l.Point} })
		if err != nil {
			return err
		}
		return series.Answer(h.service, w, r, q, func(visit func(*observationRecord) bool) error {
			return h.askStore(r, errStore, func(ctx context.Context) error {
				for _, i := range lakes {
					if _, more, err := h.walkHistory(ctx, p, i, &q.Select, observationKey{}, visit); err != nil || !more {
						return err
					}
				}
				return nil
			})
		})
	}
}

// nearestLake returns the nearest lake that a position can mean whose outline is not there.
func (h *featureHandlers) nearestLake(p *published, place orb.Point) (lakes []int) {
	for _, n := range p.lookup.places.Nearest(p.snap.Lakes, place, grownMetres, 1) {
		lakes = append(lakes, n.Lake)
	}
	return lakes
}

// lakesOf returns which lakes a query asks for, by their index in the snapshot. At a position without an outline they are those that near returns, and in an
// area those whose shape meets it; around a point that has no area, those whose own point is that near.
func (h *featureHandlers) lakesOf(r *http.Request, p *published, q *edr.Query, near func(*published, orb.Point) []int, shapeOf func(*data.Lake) *cql2.Shape) (lakes []int, err error) {
	if q.Kind == edr.Locations {
		q.Lake = route.Values(r)[0]
	}
	cost := 0
	search := func() {
		switch {
		case q.Kind == edr.Locations:
			if i, ok := p.snap.Index(data.LakeID(q.Lake)); ok {
				lakes = []int{i}
			}
		case q.Kind == edr.Position:
			if i, ok := lakeAt(p.snap, q.Place); ok {
				lakes = []int{i}
				return
			}
			lakes = near(p, q.Place)
		case q.Select.Area == nil:
			for _, n := range p.lookup.places.Nearest(p.snap.Lakes, q.Place, q.Metres, edr.MaxLakes+1) {
				lakes = append(lakes, n.Lake)
			}
			slices.Sort(lakes)
		default:
			for i := 0; i < len(p.snap.Lakes) && len(lakes) <= edr.MaxLakes && cost <= edr.MaxCost; i++ {
				shape := shapeOf(&p.snap.Lakes[i])
				if cost += q.Select.Area.Cost(shape); q.Select.MayMatch(shape, nil) {
					lakes = append(lakes, i)
				}
			}
		}
	}
	if err := h.searchLakes(r, p, search); err != nil {
		return nil, err
	}
	switch {
	case len(lakes) == 0 && q.Kind == edr.Locations:
		return nil, data.ErrNoLake
	case len(lakes) == 0 && q.Kind == edr.Position:
		return nil, errNoLakeNear
	case len(lakes) > edr.MaxLakes:
		return nil, q.TooManyLakes()
	case cost > edr.MaxCost:
		return nil, q.TooComplex()
	}
	return lakes, nil
}

// errNoLakeNear is about a position.
var errNoLakeNear = &answer.Problem{Status: http.StatusNotFound, Detail: "No lake contains this position, and none is within 10 km of it.",
	Errors: []answer.ParameterError{{Parameter: "coords", Detail: "no lake within 10 km; ask for a radius to look further"}}}
