package ingest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"limnomap/data"
	"limnomap/data/store"

	"github.com/paulmach/orb"
)

// The indices of the columns of lakes.
const (
	lakeID = iota
	lakeExternalID
	lakeName
	lakeLat
	lakeLon
	lakeRegion
	lakeArea
	lakeCategory
	lakeSite
	lakeSeason
	lakeWater
	lakeOutline // not in tables: it comes from a feature's geometry and the property that [FormatGeoJSON] adds
)

func lakeColumns() []column {
	return []column{
		lakeID:         {name: "id", aliases: []string{"bathingWaterIdentifier", "Location_Identifier", "MonitoringLocationIdentifier"}, required: true},
		lakeExternalID: {name: "external_id"},
		lakeName:       {name: "name", aliases: []string{"bathingWaterName", "nameText", "Location_Name", "MonitoringLocationName"}, required: true},
		lakeLat:        {name: "lat", in: span{-90, 90, " degrees"}, aliases: []string{"latitude", "Location_LatitudeStandardized", "Location_Latitude", "LatitudeMeasure"}, required: true},
		lakeLon:        {name: "lon", in: span{-180, 180, " degrees"}, aliases: []string{"longitude", "Location_LongitudeStandardized", "Location_Longitude", "LongitudeMeasure"}, required: true},
		lakeRegion:     {name: "region", aliases: []string{"state", "countryCode", "Location_State"}},
		lakeArea:       {name: "area_km2", in: areaKM2, of: areaUnits, bases: []string{"area", "lakearea"}},
		lakeCategory:   {name: "bwWaterCategory", aliases: []string{"bathingWaterType", "specialisedZoneType"}}, // before 2021, since 2025, and between
		lakeSite:       {name: "Location_Type", aliases: []string{"MonitoringLocationTypeName"}},
		lakeSeason:     {name: "season"},
		lakeWater:      {name: "water_id"},
		lakeOutline:    {name: "limnomap_outline", feature: true},
	}
}

func (k lakeKind) parse(r *row) (data.Lake, error) {
	checkCategory(r)
	checkSiteType(r, lakeSite)
	l := data.Lake{ID: r.lakeID(lakeID, "the lake's id"), ExternalID: r.line(lakeExternalID), Name: r.line(lakeName), Region: r.line(lakeRegion), WaterID: r.line(lakeWater)}
	if l.ExternalID == "" {
		l.ExternalID = string(l.ID)
	}
	if l.Name == "" {
		l.Name = string(l.ID)
	}
	k.checkSeason(r, l.ID)
	l.Point = parsePoint(r)
	area, ok := r.number(lakeArea, r.columns[lakeArea].in)
	if s := r.shape; s != nil {
		if l.Outline = s.outline; !ok {
			switch area = s.areaKM2(); {
			case !(area >= areaKM2.min && area <= areaKM2.max):
				r.fail(fmt.Errorf("the area of its polygons is %v km²: want %s", area, areaKM2))
			case area == 0 && s.outline != "": // stored as 0 it would mean that the area is unknown
				r.fail(errors.New("the area of its polygons is less than a square metre: want rings that do not cross themselves, or area_km2"))
			}
		}
	}
	if l.AreaKM2 = area; r.err == nil {
		r.err = l.CheckImport()
	}
	return l, r.err
}

// checkCategory leaves out the sea. The EEA lists bathing waters of four categories; older lists append
// BathingWater to them. Rivers are imported too, because a lake that a river runs through may be listed as a river. A list
// or a site without a category is imported.
func checkCategory(r *row) {
	s := r.text(lakeCategory)
	switch strings.TrimSuffix(strings.ToLower(s), "bathingwater") {
	case "", "lake", "river":
	case "coastal", "transitional":
		r.fail(errSea)
	default:
		r.bad(lakeCategory, s, "Lake, River, Coastal or Transitional, the last two of which are left out")
	}
}

// areaKM2 is the range of a lake's area. The Caspian Sea, the largest lake, has 371,000 km².
var areaKM2 = span{0, 400_000, " km²"}

// parsePoint returns the point of lat and lon, or otherwise of the geometry.
func parsePoint(r *row) orb.Point {
	var p orb.Point
	given := 0
	for _, axis := range []struct {
		to     *float64
		column int
	}{{&p[1], lakeLat}, {&p[0], lakeLon}} {
		in := r.columns[axis.column].in
		var ok bool
		if *axis.to, ok = r.number(axis.column, in); ok {
			given++
		} else if r.shape == nil || given > 0 {
			r.fail(fmt.Errorf("%s is missing: want %s", r.columns[axis.column].name, in))
			return p
		}
	}
	switch {
	case given == 0:
		return r.shape.lakePoint()
	case given == 1:
		r.fail(errors.New("lat is missing: want lat and lon, or neither if there is a geometry"))
	case r.shape != nil && !r.shape.near(p):
		r.fail(fmt.Errorf("lat %v, lon %v are more than %v degrees outside the feature's geometry: want a point inside it, or neither lat nor lon", p.Lat(), p.Lon(), store.OutlineMargin))
	}
	return p
}

// A lakeKind are lakes. One without a name has its id as name.
type lakeKind struct {
	*layout
	newest func() (seasons, error)
}

func newLakeKind(opts *Options, ids *idMaker) (kind[data.Lake], error) {
	l, err := opts.layout(lakeColumns(), lakeID, lakeName, ids)
	l.json = featureCollection
	return lakeKind{layout: l}, err
}

// key returns a copy, because the id is a substring of the whole row.
func (lakeKind) key(l data.Lake) string { return strings.Clone(string(l.ID)) }

func (lakeKind) lake(l data.Lake) data.LakeID { return l.ID }

func (lakeKind) name(data.Lake) string { return "this id" }

func (lakeKind) put(ctx context.Context, tx Tx, lakes []data.Lake, has columnSet) ([]store.Change, error) {
	return tx.PutLakes(ctx, lakes, store.LakeColumns{
		ExternalID: has.lacks(lakeExternalID), Region: has.lacks(lakeRegion), AreaKM2: has.lacks(lakeArea), Outline: has.lacks(lakeOutline),
		WaterID: has.lacks(lakeWater),
	})
}

// refusal explains the only change of a lake that a store rejects: LeavesOutline.
func (lakeKind) refusal(l data.Lake, _ store.Change) string {
	return fmt.Sprintf("lat %v, lon %v are more than %v degrees outside this lake's outline in the database: "+
		`want a point inside it, or import the outline too, as a polygon in GeoJSON, or delete it with "geometry": null`,
		l.Point.Lat(), l.Point.Lon(), store.OutlineMargin)
}
