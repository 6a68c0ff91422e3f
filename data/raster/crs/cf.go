package crs

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// FromCF returns the system of the attributes of a grid mapping variable of the CF conventions. Values are of type string, float64 or
// []float64; others are ignored. The code or the name in the well-known text of the attributes crs_wkt, spatial_ref or wkt is used first; then
// the attributes of CF; then an epsg_code. A mapping without an ellipsoid is taken as WGS 84, unless it has well-known text, which may
// name another one. The coordinates of the file must be in metres, or in degrees.
func FromCF(mapping map[string]any) (*System, error) {
	var unknown error // what the well-known text is
	for _, attribute := range []string{"crs_wkt", "spatial_ref", "wkt"} {
		wkt, _ := mapping[attribute].(string)
		if strings.TrimSpace(wkt) == "" {
			continue
		}
		s, err := FromWKT(wkt)
		if err == nil {
			return s, nil
		}
		unknown = first(unknown, fmt.Errorf("attribute %s: %w", attribute, err))
	}
	if name, _ := mapping["grid_mapping_name"].(string); name != "" {
		if unknown != nil && !hasEllipsoid(mapping) {
			return nil, unknown
		}
		return fromGridMapping(name, mapping)
	}
	if code, ok := cfCode(mapping["epsg_code"]); ok {
		return FromEPSG(code)
	}
	if unknown != nil {
		return nil, unknown
	}
	return nil, fmt.Errorf("%w: grid mapping has neither grid_mapping_name nor crs_wkt", ErrFormat)
}

// hasEllipsoid reports whether a mapping has attributes of the figure of the Earth.
func hasEllipsoid(mapping map[string]any) bool {
	for _, attribute := range []string{"semi_major_axis", "semi_minor_axis", "inverse_flattening", "earth_radius"} {
		if _, ok := cfNumber(mapping[attribute]); ok {
			return true
		}
	}
	return false
}

// cfCode returns the code of an attribute such as "EPSG:32632", "32632" or 32632.
func cfCode(value any) (int, bool) {
	if v, ok := cfNumber(value); ok {
		return int(v), v == math.Trunc(v) && v > 0 && v < 1e6
	}
	text, _ := value.(string)
	text = strings.TrimSpace(text)
	if len(text) > 5 && strings.EqualFold(text[:5], "EPSG:") {
		text = text[5:]
	}
	code, err := strconv.Atoi(text)
	return code, err == nil
}

// cfNumber returns an attribute that is one number.
func cfNumber(value any) (float64, bool) {
	switch v := value.(type) {
	case float64:
		return v, true
	case []float64:
		if len(v) == 1 {
			return v[0], true
		}
	}
	return 0, false
}

func fromGridMapping(name string, mapping map[string]any) (*System, error) {
	d := definition{name: name, parameters: missing}
	for _, attribute := range []string{"projected_crs_name", "geographic_crs_name"} {
		if text, _ := mapping[attribute].(string); text != "" && !strings.EqualFold(text, "unknown") {
			d.name = text
			break
		}
	}
	if v, ok := cfNumber(mapping["longitude_of_prime_meridian"]); ok && v != 0 {
		return nil, unsupported("%.80q with longitudes from the meridian of %g degrees", d.name, v)
	}
	if err := d.readCFEllipsoid(mapping); err != nil {
		return nil, err
	}

	sphere := d.ellipsoid.rf == 0
	var ok bool
	switch d.method, ok = methods[simple(name)]; {
	case name == "latitude_longitude":
		if sphere { // products on regular grids often name one, and mean usual latitudes
			d.ellipsoid = wgs84
		}
		return d.system()
	case name == "mercator" && sphere && d.ellipsoid.a == wgs84.a:
		d.method, d.ellipsoid = pseudoMercator, wgs84
	case !ok:
		return nil, unsupported("grid mapping %.80q (%.80q)", name, d.name)
	}

	for _, attribute := range slices.Sorted(maps.Keys(mapping)) {
		value := mapping[attribute]
		if simple(attribute) == "standardparallel" {
			parallels, _ := value.([]float64)
			if v, ok := cfNumber(value); ok {
				parallels = []float64{v, v}
			}
			if len(parallels) == 2 {
				d.parallel1, d.parallel2 = parallels[0], parallels[1]
			}
		} else if v, ok := cfNumber(value); ok {
			d.set(attribute, v)
		}
	}
	return d.system()
}

// readCFEllipsoid reads the attributes of the figure of the Earth. A sphere has an rf of 0.
func (d *definition) readCFEllipsoid(mapping map[string]any) error {
	a, hasA := cfNumber(mapping["semi_major_axis"])
	b, hasB := cfNumber(mapping["semi_minor_axis"])
	rf, hasRF := cfNumber(mapping["inverse_flattening"])
	if r, ok := cfNumber(mapping["earth_radius"]); ok && !hasA {
		a, b, hasA, hasB = r, r, true, true
	}
	switch {
	case !hasA && !hasB && !hasRF:
		d.ellipsoid = wgs84
		for _, attribute := range []string{"horizontal_datum_name", "reference_ellipsoid_name", "geographic_crs_name"} {
			if text, _ := mapping[attribute].(string); text != "" && !modernNames[strings.TrimPrefix(simple(text), "d")] {
				return unsupported("%.80q with the %s %.80q", d.name, attribute, text)
			}
		}
	case !hasA || !hasB && !hasRF:
		return fmt.Errorf("%w: grid mapping %.80q has an incomplete ellipsoid, want semi_major_axis and inverse_flattening", ErrFormat, d.name)
	case hasRF && (rf != 0 || !hasB):
		d.ellipsoid = ellipsoid{a, rf}
	case a == b:
		d.ellipsoid = ellipsoid{a, 0}
	default:
		d.ellipsoid = ellipsoid{a, a / (a - b)}
	}
	if d.ellipsoid.rf != 0 && !d.ellipsoid.modern() {
		return unsupported("%.80q on an ellipsoid with a radius of %.10g m and a flattening of 1/%.12g", d.name, d.ellipsoid.a, d.ellipsoid.rf)
	}
	return nil
}

// modernNames has simplified names of datums, ellipsoids and geographic systems that need no shift.
var modernNames = map[string]bool{
	"wgs84": true, "wgs1984": true, "worldgeodeticsystem1984": true, "worldgeodeticsystem1984ensemble": true, "grs80": true, "grs1980": true,
	"etrs89": true, "etrs1989": true, "europeanterrestrialreferencesystem1989": true, "europeanterrestrialreferencesystem1989ensemble": true,
	"nad83": true, "northamerican1983": true, "northamericandatum1983": true, "unknown": true,
}
