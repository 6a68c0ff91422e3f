package ingest

import (
	"fmt"
	"strings"
	"testing"

	"limnomap/data/store/storetest"
)

// TestCRS has the names that programs write for longitude and latitude in WGS 84, and others that must be rejected: of a
// system in metres, or in another country's degrees.
func TestCRS(t *testing.T) {
	named := func(name string) string {
		return fmt.Sprintf(`{"type":"name","properties":{"name":%q}}`, name)
	}
	for _, test := range []struct {
		crs string
		ok  bool
	}{
		{named("urn:ogc:def:crs:OGC:1.3:CRS84"), true}, // GDAL, QGIS
		{named("OGC:CRS84"), true},
		{named("http://www.opengis.net/def/crs/OGC/1.3/CRS84"), true},
		{named("urn:ogc:def:crs:EPSG::4326"), true}, // GeoServer
		{named("EPSG:4326"), true},                  // GeoTools
		{named("epsg:3857"), false},
		{named("EPSG:4258"), false}, // ETRS89, which German authorities use
		{`{"type":"link","properties":{"href":"http://www.opengis.net/def/crs/OGC/1.3/CRS84"}}`, false},
		{`null`, true}, // it says nothing
		{`"EPSG:4326"`, false},
	} {
		t.Run(test.crs, func(t *testing.T) {
			good := featureOf(`"id":"x","name":"X"`, pointGeometry)
			of := strings.Replace(features(good), "{", `{"crs":`+test.crs+",", 1)
			_, err := Lakes(t.Context(), storetest.New(t), files(of), nil)
			if err == nil != test.ok {
				t.Errorf("of the file: %v, want it taken: %v", err, test.ok)
			}
			if err != nil && !strings.Contains(err.Error(), "want longitudes and latitudes in WGS 84 (EPSG:4326)") {
				t.Errorf("of the file: %v, want the one system that is allowed", err)
			}
			r := mustImport(t, Lakes, storetest.New(t), nil, features(strings.Replace(good, "{", `{"crs":`+test.crs+",", 1)))
			if r.Written != test.ok {
				t.Errorf("of a feature: %v\nwant it taken: %v", r, test.ok)
			}
		})
	}
}
