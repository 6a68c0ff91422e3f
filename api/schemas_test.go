package api

import (
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"limnomap/api/record"
)

// wantSchema fails unless the schema has exactly the columns, with their types, and requires those that are not optional.
func wantSchema[R any](t *testing.T, name string, schema *openapi3.SchemaRef, f record.Format, columns ...record.Columns[R]) {
	t.Helper()
	required, seen := slices.Clone(schema.Value.Required), map[string]bool{}
	for i, part := range columns {
		for _, c := range part {
			seen[c.Name] = true
			property := schema.Value.Properties[c.Name]
			if property == nil {
				t.Errorf("%s does not describe %s", name, c.Name)
				continue
			}
			want, nullable := c.Type, c.Nullable && !c.Optional
			if want == "object" && f == record.Property {
				want, nullable = "string", false
			}
			if !allows(property, want) || allows(property, "null") != nullable {
				t.Errorf("%s describes %s as %v, want %s, which may be null: %t", name, c.Name, property.Value.Type, want, nullable)
			}
			at := slices.Index(required, c.Name)
			if (at >= 0) == (c.Optional || i > 0) {
				t.Errorf("%s requires %s: %t", name, c.Name, at >= 0)
			}
			if at >= 0 {
				required = slices.Delete(required, at, at+1)
			}
		}
	}
	for property := range schema.Value.Properties {
		if !seen[property] {
			t.Errorf("%s describes %s, which no record has", name, property)
		}
	}
	if len(required) > 0 {
		t.Errorf("%s requires %v, which no record has", name, required)
	}
}

// allows reports whether a value of that type of JSON can match a schema.
func allows(schema *openapi3.SchemaRef, jsonType string) bool {
	s := schema.Value
	of := func(schema *openapi3.SchemaRef) bool { return allows(schema, jsonType) }
	switch {
	case len(s.OneOf) > 0:
		return slices.ContainsFunc(s.OneOf, of)
	case len(s.AnyOf) > 0:
		return slices.ContainsFunc(s.AnyOf, of)
	case s.Type == nil: // a constant or an enumeration
		return slices.ContainsFunc(append(s.Enum, s.Const), func(value any) bool {
			switch value.(type) {
			case nil:
				return false
			case bool:
				return jsonType == "boolean"
			}
			return jsonType == "string"
		})
	}
	return s.Type.Includes(jsonType)
}

func TestSchemasHaveTheColumns(t *testing.T) {
	schemas := document(t).Components.Schemas
	wantSchema(t, "Lake", schemas["Lake"], record.Member, statusMembers)
	wantSchema(t, "PixelValue", schemas["PixelValue"], record.Member, pixelMembers)
	wantSchema(t, "StatisticsYear", schemas["StatisticsYear"], record.Member, yearColumns)
	wantSchema(t, "StatisticsBandPoint", schemas["StatisticsBandPoint"], record.Member, bandColumns)
	wantSchema(t, "StatisticsTrend", schemas["StatisticsTrend"], record.Member, trendColumns)
	wantSchema(t, "StatisticsPlace", schemas["StatisticsPlace"], record.Member, placeColumns)
	wantSchema(t, "PlannedSample", schemas["PlannedSample"], record.Member, plannedColumns)
	wantSchema(t, "RegionClass", schemas["RegionClass"], record.Member, regionClassColumns)
	wantSchema(t, "RegionLake", schemas["RegionLake"], record.Member, regionLakeColumns)
	wantSchema(t, "RegionClosure", schemas["RegionClosure"], record.Member, regionClosureColumns)
	wantSchema(t, "RegionSeason", schemas["RegionSeason"], record.Member, seasonColumns)
	wantSchema(t, "Feature", schemas["Feature"].Value.Properties["properties"], record.Property, lakeProperties)
	wantSchema(t, "ForecastRecord", schemas["ForecastRecord"], record.Member, forecastRecordMembers)
	wantSchema(t, "ForecastFeature", schemas["ForecastFeature"].Value.Properties["properties"], record.Property, forecastProperties)
	wantSchema(t, "Observation", schemas["Observation"], record.Member, observationMembers, predictionColumns.Pick(forecastMembers))
	wantSchema(t, "Advisory", schemas["Advisory"], record.Member, statementColumns)
	wantSchema(t, "advisory of Lake", schemas["Lake"].Value.Properties["advisory"], record.Member, advisoryMembers)
	wantSchema(t, "MonitoredLake", schemas["MonitoredLakes"].Value.Properties["lakes"].Value.Items, record.Member, monitoredColumns)
}
