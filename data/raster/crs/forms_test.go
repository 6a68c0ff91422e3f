package crs

import (
	"errors"
	"math"
	"strings"
	"testing"
)

const (
	geogcs = `GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]`
	tm     = `PROJECTION["Transverse_Mercator"],PARAMETER["latitude_of_origin",0],PARAMETER["central_meridian",9],PARAMETER["scale_factor",0.9996],PARAMETER["false_easting",500000],PARAMETER["false_northing",0]`
	utm32  = `PROJCS["mine",` + geogcs + `,` + tm + `,UNIT["metre",1]]`
	// As GeoTools, the library of SNAP, writes it.
	geoTools = `PROJCS["WGS 84 / UTM zone 32N",
  GEOGCS["WGS 84",
    DATUM["World Geodetic System 1984",
      SPHEROID["WGS 84", 6378137.0, 298.257223563, AUTHORITY["EPSG","7030"]],
      AUTHORITY["EPSG","6326"]],
    PRIMEM["Greenwich", 0.0, AUTHORITY["EPSG","8901"]],
    UNIT["degree", 0.017453292519943295],
    AXIS["Geodetic longitude", EAST],
    AXIS["Geodetic latitude", NORTH]],
  PROJECTION["Transverse_Mercator", AUTHORITY["EPSG","9807"]],
  PARAMETER["central_meridian", 9.0],
  PARAMETER["latitude_of_origin", 0.0],
  PARAMETER["scale_factor", 0.9996],
  PARAMETER["false_easting", 500000.0],
  PARAMETER["false_northing", 0.0],
  UNIT["m", 1.0],
  AXIS["Easting", EAST],
  AXIS["Northing", NORTH]]`
)

// bodensee is a point in UTM zone 32, by PROJ.
var bodensee = struct{ lon, lat, x, y float64 }{9.4, 47.6, 530068.1003, 5271920.9491}

func isUTM32(s *System) bool {
	x, y, ok := s.Project(bodensee.lon, bodensee.lat)
	return ok && math.Hypot(x-bodensee.x, y-bodensee.y) < 2e-4
}

func isGeographic(s *System) bool {
	x, y, ok := s.Project(bodensee.lon, bodensee.lat)
	return ok && x == bodensee.lon && y == bodensee.lat && s.Geographic()
}

func isWebMercator(s *System) bool {
	x, y, ok := s.Project(180, 85.0511287798066)
	return ok && math.Hypot(x-20037508.342789244, y-20037508.342789244) < 1e-3
}

func TestFromWKT(t *testing.T) {
	code := func(text string) string { return strings.TrimSuffix(utm32, "]") + `,` + text + `]` }
	for _, c := range []struct {
		name, wkt string
		is        func(*System) bool // nil: an error
		err       error
		message   string
	}{
		{"a name of GeoTools", geoTools, isUTM32, nil, ""},
		{"a geographic name", geogcs, isGeographic, nil, ""},
		{"a code", code(`AUTHORITY["EPSG","3857"]`), isWebMercator, nil, ""},
		{"a code in WKT 2", code(`id["EPSG", 3857 ] `) + "\n\x00", isWebMercator, nil, ""},
		{"round brackets", strings.NewReplacer("[", "(", "]", ")").Replace(code(`AUTHORITY["EPSG","3857"]`)), isWebMercator, nil, ""},
		{"lower case and spaces", strings.Replace(strings.Replace(code(`AUTHORITY["EPSG","3857"]`), "PROJCS", " projcs\n", 1), ",", " ,\t", 3), isWebMercator, nil, ""},

		{"no code and no known name", utm32, nil, ErrUnsupported, `"mine", of which the file has no EPSG code (gdal_edit.py`},
		{"an unknown code", code(`AUTHORITY["EPSG","27700"]`), nil, ErrUnsupported, `"mine" (EPSG:27700); convert the file first: gdalwarp`},
		{"the code of a geographic system", code(`AUTHORITY["EPSG","4326"]`), nil, ErrUnsupported, "EPSG:4326"},
		{"the code of a projected system", strings.TrimSuffix(geogcs, "]") + `,AUTHORITY["EPSG","3857"]]`, nil, ErrUnsupported, "EPSG:3857"},
		{"a code of another authority", code(`AUTHORITY["ESRI","3857"]`), nil, ErrUnsupported, "no EPSG code"},
		{"the code of a part", strings.TrimSuffix(utm32, "]]") + `,AUTHORITY["EPSG","3857"]]]`, nil, ErrUnsupported, "no EPSG code"},
		{"a large code", code(`AUTHORITY["EPSG","32632000"]`), nil, ErrUnsupported, "no EPSG code"},
		{"no WKT", "EPSG:4326", nil, ErrFormat, "want a keyword and a name"},
		{"empty", "", nil, ErrFormat, "0 bytes"},
		{"open quote", `GEOGCS["WGS 84`, nil, ErrFormat, "want a keyword and a name"},
		{"long", geogcs + strings.Repeat(" ", 1<<17), nil, ErrFormat, "bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := FromWKT(c.wkt)
			if !errors.Is(err, c.err) || err != nil && (!strings.Contains(err.Error(), c.message) || len(err.Error()) > 600) {
				t.Fatalf("%+v, error %v, want %v with %q", s, err, c.err, c.message)
			}
			if err == nil && !c.is(s) {
				t.Errorf("is %+v", s)
			}
		})
	}
}

func TestFromCF(t *testing.T) {
	mapping := func(name string, pairs ...any) map[string]any {
		m := map[string]any{}
		if name != "" {
			m["grid_mapping_name"] = name
		}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	}
	utmPairs := []any{"latitude_of_projection_origin", 0., "longitude_of_central_meridian", 9., "scale_factor_at_central_meridian", []float64{0.9996}, "false_easting", 500000., "false_northing", 0.}
	with := func(more ...any) []any { return append(append([]any{}, utmPairs...), more...) }
	for _, c := range []struct {
		name    string
		mapping map[string]any
		is      func(*System) bool
		err     error
		message string
	}{
		{"geographic", mapping("latitude_longitude"), isGeographic, nil, ""},
		{"geographic on WGS 84", mapping("latitude_longitude", "semi_major_axis", 6378137., "inverse_flattening", 298.257223563), isGeographic, nil, ""},
		{"geographic on a sphere", mapping("latitude_longitude", "earth_radius", 6371229.), isGeographic, nil, ""},
		{"a shortened text", mapping("latitude_longitude", "spatial_ref", `GEOGCS["WGS 84",...]`), isGeographic, nil, ""},
		{"no ellipsoid", mapping("transverse_mercator", utmPairs...), isUTM32, nil, ""},
		{"both axes", mapping("transverse_mercator", with("semi_major_axis", 6378137., "semi_minor_axis", 6356752.314245179)...), isUTM32, nil, ""},
		{"a datum by name", mapping("transverse_mercator", with("horizontal_datum_name", "WGS_1984")...), isUTM32, nil, ""},
		{"well-known text first", mapping("latitude_longitude", "crs_wkt", geoTools), isUTM32, nil, ""},
		{"text without a code", mapping("transverse_mercator", with("crs_wkt", utm32, "semi_major_axis", 6378137., "inverse_flattening", 298.257223563)...), isUTM32, nil, ""},
		{"text without a code, and no ellipsoid", mapping("transverse_mercator", with("crs_wkt", utm32)...), nil, ErrUnsupported, "mine"},
		{"of SNAP", mapping("", "wkt", geoTools, "i2m", "300.0,0.0"), isUTM32, nil, ""},
		{"a code", mapping("", "epsg_code", "EPSG:32632"), isUTM32, nil, ""},
		{"a bad code", mapping("", "epsg_code", "EPSG:"), nil, ErrFormat, "neither"},
		{"a bad number", mapping("", "epsg_code", 0.5), nil, ErrFormat, "neither"},
		{"a number", mapping("", "epsg_code", 32632.), isUTM32, nil, ""},
		{"pseudo-Mercator", mapping("mercator", "longitude_of_projection_origin", 0., "standard_parallel", 0., "semi_major_axis", 6378137., "semi_minor_axis", 6378137.), isWebMercator, nil, ""},
		{"other types are ignored", mapping("transverse_mercator", with("false_easting_note", 3, "long_name", "x")...), isUTM32, nil, ""},

		{"nothing", mapping(""), nil, ErrFormat, "neither"},
		{"damaged text only", mapping("", "crs_wkt", "GEOGCS["), nil, ErrFormat, "crs_wkt"},
		{"unsupported text", mapping("latitude_longitude", "crs_wkt", `LOCAL_CS["site"]`), nil, ErrUnsupported, "site"},
		{"Mercator", mapping("mercator", "longitude_of_projection_origin", 0., "standard_parallel", 0.), nil, ErrUnsupported, "mercator"},
		{"rotated", mapping("rotated_latitude_longitude", "grid_north_pole_latitude", 40.), nil, ErrUnsupported, "rotated_latitude_longitude"},
		{"no longitude", mapping("transverse_mercator", "latitude_of_projection_origin", 0.), nil, ErrFormat, "longitude"},
		{"a datum by name", mapping("transverse_mercator", with("horizontal_datum_name", "NAD27")...), nil, ErrUnsupported, "NAD27"},
		{"another ellipsoid", mapping("latitude_longitude", "semi_major_axis", 6377397.155, "inverse_flattening", 299.1528128), nil, ErrUnsupported, "299.1528128"},
		{"a sphere", mapping("transverse_mercator", with("earth_radius", 6371229.)...), nil, ErrUnsupported, "6371229"},
		{"half an ellipsoid", mapping("transverse_mercator", with("semi_major_axis", 6378137.)...), nil, ErrFormat, "incomplete"},
		{"Paris", mapping("latitude_longitude", "longitude_of_prime_meridian", 2.33722917), nil, ErrUnsupported, "2.33722917"},
		{"three parallels", mapping("albers_conical_equal_area", "standard_parallel", []float64{1, 2, 3}, "latitude_of_projection_origin", 0., "longitude_of_central_meridian", 9.), nil, ErrFormat, "standard parallel"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := FromCF(c.mapping)
			if !errors.Is(err, c.err) || err != nil && !strings.Contains(err.Error(), c.message) {
				t.Fatalf("%+v, error %v, want %v with %q", s, err, c.err, c.message)
			}
			if err == nil && !c.is(s) {
				t.Errorf("is %+v", s)
			}
		})
	}
}

func TestFromGeoKeys(t *testing.T) {
	type keys = map[uint16]any
	user := uint16(userDefined)
	spelled := func(method uint16, more keys) keys {
		k := keys{1024: uint16(1), 2048: uint16(4326), 3072: user, 3074: user, 3075: method, 3076: uint16(9001),
			3080: []float64{9}, 3081: []float64{0}, 3082: []float64{500000}, 3083: []float64{0}, 3092: []float64{0.9996}}
		for id, v := range more {
			if v == nil {
				delete(k, id)
			} else {
				k[id] = v
			}
		}
		return k
	}
	for _, c := range []struct {
		name    string
		keys    keys
		is      func(*System) bool
		err     error
		message string
	}{
		{"geographic", keys{1024: uint16(2), 2048: uint16(4326)}, isGeographic, nil, ""},
		{"without a model", keys{2048: uint16(4326)}, isGeographic, nil, ""},
		{"projected without a model", keys{2048: uint16(4326), 3072: uint16(32632)}, isUTM32, nil, ""},
		{"code", keys{1024: uint16(1), 3072: uint16(32632), 3076: uint16(9001)}, isUTM32, nil, ""},
		{"UTM as a projection", keys{1024: uint16(1), 2048: uint16(4326), 3072: user, 3074: uint16(16032)}, isUTM32, nil, ""},
		{"spelled out", spelled(1, nil), isUTM32, nil, ""},
		{"by a datum", spelled(1, keys{2048: user, 2050: uint16(6326)}), isUTM32, nil, ""},
		{"by an ellipsoid", spelled(1, keys{2048: user, 2050: user, 2056: uint16(7030)}), isUTM32, nil, ""},
		{"by axes", spelled(1, keys{2048: user, 2050: user, 2056: user, 2057: []float64{6378137}, 2058: []float64{6356752.314245179}}), isUTM32, nil, ""},
		{"a metre by its size", spelled(1, keys{3076: user, 3077: []float64{1}}), isUTM32, nil, ""},
		{"a degree by its size", spelled(1, keys{2054: user, 2055: []float64{0.0174532925199433}}), isUTM32, nil, ""},
		{"an unknown code, spelled out", spelled(1, keys{3072: uint16(22222)}), isUTM32, nil, ""},
		{"a citation that is cut off", spelled(1, keys{3073: "ESRI PE String = " + utm32[:100]}), isUTM32, nil, ""},
		{"only a citation that is cut off", keys{1024: user, 3073: "ESRI PE String = " + utm32[:100]}, nil, ErrUnsupported, "no EPSG code"},
		{"as a citation", keys{1024: user, 3073: "ESRI PE String = " + geoTools}, isUTM32, nil, ""},

		{"no keys", keys{}, nil, ErrFormat, "no GeoKeys"},
		{"bad model", keys{1024: uint16(9)}, nil, ErrFormat, "1024"},
		{"wrong types", keys{1024: "x", 2048: []float64{4326}, 3072: uint16(0)}, nil, ErrFormat, "no GeoKeys"},
		{"geocentric", keys{1024: uint16(3)}, nil, ErrUnsupported, "geocentric"},
		{"an undescribed model", keys{1024: user, 2048: uint16(4326), 1026: "geostationary"}, nil, ErrUnsupported, "geostationary"},
		{"NAD27", keys{1024: uint16(2), 2048: uint16(4267)}, nil, ErrUnsupported, "NAD27"},
		{"unknown code", keys{1024: uint16(1), 3072: uint16(27700)}, nil, ErrUnsupported, "EPSG:27700 (OSGB36 / British National Grid)"},
		{"feet", keys{1024: uint16(1), 3072: uint16(32632), 3076: uint16(9003)}, nil, ErrUnsupported, "EPSG:9003"},
		{"radians", keys{1024: uint16(2), 2048: uint16(4326), 2054: uint16(9101)}, nil, ErrUnsupported, "EPSG:9101"},
		{"Paris", keys{1024: uint16(2), 2048: user, 2051: uint16(8903), 2056: uint16(7030)}, nil, ErrUnsupported, "EPSG:8903"},
		{"Paris as a longitude", keys{1024: uint16(2), 2048: user, 2061: []float64{2.33722917}, 2056: uint16(7030)}, nil, ErrUnsupported, "2.33722917"},
		{"shift", keys{1024: uint16(2), 2048: user, 2062: []float64{100, 0, 0}, 2056: uint16(7030)}, nil, ErrUnsupported, "shifted"},
		{"datum", keys{1024: uint16(2), 2048: user, 2050: uint16(6267)}, nil, ErrUnsupported, "EPSG:6267"},
		{"ellipsoid", keys{1024: uint16(2), 2048: user, 2056: uint16(7004)}, nil, ErrUnsupported, "EPSG:7004"},
		{"no ellipsoid", keys{1024: uint16(2), 2048: user}, nil, ErrFormat, "no datum"},
		{"Lambert", spelled(8, nil), nil, ErrUnsupported, "Lambert conformal conic"},
		{"unknown method", spelled(99, nil), nil, ErrUnsupported, "99"},
		{"no longitude", spelled(1, keys{3080: nil}), nil, ErrFormat, "longitude"},
		{"empty value", spelled(1, keys{3080: []float64{}}), nil, ErrFormat, "longitude"},
		{"not a number", spelled(1, keys{3081: []float64{math.NaN()}}), nil, ErrFormat, "latitude"},
		{"infinite", spelled(1, keys{3082: []float64{math.Inf(1)}}), nil, ErrFormat, "false easting"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := FromGeoKeys(c.keys)
			if !errors.Is(err, c.err) || err != nil && !strings.Contains(err.Error(), c.message) {
				t.Fatalf("%+v, error %v, want %v with %q", s, err, c.err, c.message)
			}
			if err == nil && !c.is(s) {
				t.Errorf("is %+v", s)
			}
		})
	}
}
