package crs

import (
	"fmt"
	"math"
	"strings"
)

// Ids of GeoKeys, and their values (OGC GeoTIFF 1.1, annexes B and C; the methods of projection and older keys are those of GeoTIFF 1.0,
// section 6.3.3.3).
const (
	keyModelType    = 1024
	keyCitation     = 1026
	keyGeographic   = 2048
	keyGeogCitation = 2049
	keyDatum        = 2050
	keyMeridian     = 2051
	keyAngularUnits = 2054
	keyAngularSize  = 2055
	keyEllipsoid    = 2056
	keySemiMajor    = 2057
	keySemiMinor    = 2058
	keyFlattening   = 2059
	keyMeridianLon  = 2061
	keyToWGS84      = 2062
	keyProjected    = 3072
	keyProjCitation = 3073
	keyProjection   = 3074
	keyMethod       = 3075
	keyLinearUnits  = 3076
	keyLinearSize   = 3077

	modelProjected  = 1
	modelGeographic = 2
	modelGeocentric = 3
	userDefined     = 32767
	unitMetre       = 9001
	greenwich       = 8901
	ellipsoidWGS84  = 7030
	ellipsoidGRS80  = 7019
	projectionUTM   = 16000 // and the zone; 100 more in the south

	metre    = 1
	degree   = math.Pi / 180
	maxShift = 2 // bounds the parameters of a shift to WGS 84 that is taken as none: each one means at most about 30 m

	// citationOfESRI is in front of the well-known text of a system that keys cannot describe.
	citationOfESRI = "ESRI PE String = "
)

// angularUnits are the codes of the degree.
var angularUnits = map[uint16]bool{9102: true, 9122: true}

// datums has the ellipsoids of datums in GeoTIFF's keys that need no shift. The codes from 6019 to 6030 are those of files that name
// only an ellipsoid.
var datums = map[uint16]ellipsoid{6326: wgs84, 6030: wgs84, 6258: grs80, 6269: grs80, 6019: grs80, 6167: grs80, 6283: grs80, 6674: grs80}

// keyMethods are the methods of projection, with the names of the others.
var keyMethods = map[uint16]method{1: transverseMercator, 10: lambertAzimuthalEqualArea, 11: albersEqualArea}

var otherKeyMethods = map[uint16]string{
	2: "modified transverse Mercator of Alaska", 3: "oblique Mercator", 4: "oblique Mercator of Laborde", 5: "oblique Mercator of Rosenmund",
	6: "oblique Mercator, spherical", 7: "Mercator", 8: "Lambert conformal conic", 9: "Lambert conformal conic, Helmert",
	12: "azimuthal equidistant", 13: "equidistant conic", 14: "stereographic", 15: "polar stereographic", 16: "oblique stereographic",
	17: "equirectangular", 18: "Cassini-Soldner", 19: "gnomonic", 20: "Miller cylindrical", 21: "orthographic", 22: "polyconic", 23: "Robinson",
	24: "sinusoidal", 25: "Van der Grinten", 26: "New Zealand map grid", 27: "transverse Mercator, south oriented", 28: "cylindrical equal-area",
}

// keyParameters has the keys of each parameter. Writers do not agree on which of natural origin, false origin and centre a
// projection has.
var keyParameters = []struct {
	name string
	keys []uint16
}{
	{"standard_parallel_1", []uint16{3078}},
	{"standard_parallel_2", []uint16{3079}},
	{"central_meridian", []uint16{3080, 3084, 3088}},
	{"latitude_of_origin", []uint16{3081, 3085, 3089}},
	{"false_easting", []uint16{3082, 3086, 3090}},
	{"false_northing", []uint16{3083, 3087, 3091}},
	{"scale_factor", []uint16{3092, 3093}},
}

// FromGeoKeys returns the system of the GeoKeys of a GeoTIFF by their ids. Values are of type uint16, []float64 or string. Keys of a
// vertical system are ignored.
func FromGeoKeys(keys map[uint16]any) (*System, error) {
	k := geoKeys(keys)
	model := k.short(keyModelType)
	if model == 0 || model == userDefined {
		described := strings.HasPrefix(k.text(keyProjCitation), citationOfESRI)
		switch {
		case described || k.short(keyProjected) != 0:
			model = modelProjected
		case model == userDefined: // a geographic system here is the base of one that is not described
			return nil, unsupported("%.80q, which GeoKeys do not describe", k.name(keyProjCitation, "PCS Name = "))
		case k.short(keyGeographic) != 0:
			model = modelGeographic
		}
	}
	switch model {
	case modelGeographic:
		return k.geographic()
	case modelProjected:
		return k.projected()
	case modelGeocentric:
		return nil, unsupported("geocentric coordinates")
	case 0:
		return nil, fmt.Errorf("%w: no GeoKeys of a coordinate system", ErrFormat)
	}
	return nil, fmt.Errorf("%w: GeoKey %d is %d, want 1 to 3", ErrFormat, keyModelType, model)
}

type geoKeys map[uint16]any

// short returns the value of a key that is a code, 0 if it is undefined.
func (k geoKeys) short(id uint16) uint16 {
	v, _ := k[id].(uint16)
	return v
}

func (k geoKeys) double(id uint16) (float64, bool) {
	if v, ok := k[id].([]float64); ok && len(v) > 0 {
		return v[0], true
	}
	return 0, false
}

func (k geoKeys) text(id uint16) string {
	v, _ := k[id].(string)
	return v
}

// name returns the name of the system in a citation. GDAL writes several fields into one, as NAME = VALUE|NAME = VALUE.
func (k geoKeys) name(id uint16, field string) string {
	for _, id := range []uint16{id, keyCitation} {
		text := k.text(id)
		if _, after, found := strings.Cut(text, field); found {
			text = after
		}
		text, _, _ = strings.Cut(text, "|")
		if text = strings.TrimSpace(text); text != "" {
			return text
		}
	}
	return "unnamed"
}

func (k geoKeys) geographic() (*System, error) {
	d := definition{name: k.name(keyGeogCitation, "GCS Name = ")}
	if err := d.readGeoKeys(k); err != nil {
		return nil, err
	}
	if known, ok := definitionOf(d.code); ok {
		d.name = known.name
	}
	return d.system()
}

// readGeoKeys reads the ellipsoid of the geographic system, and its code, and checks its units.
func (d *definition) readGeoKeys(k geoKeys) error {
	if u := k.short(keyAngularUnits); u != 0 && !angularUnits[u] {
		if size, ok := k.double(keyAngularSize); u != userDefined || !ok || size < degree*(1-1e-7) || size > degree*(1+1e-7) {
			return unsupported("%.80q with angles in units of EPSG:%d, want degrees", d.name, u)
		}
	}
	if m := k.short(keyMeridian); m != 0 && m != greenwich && m != userDefined {
		return unsupported("%.80q with longitudes from the meridian EPSG:%d", d.name, m)
	}
	if lon, ok := k.double(keyMeridianLon); ok && lon != 0 {
		return unsupported("%.80q with longitudes from the meridian of %g degrees", d.name, lon)
	}
	if shift, ok := k[keyToWGS84].([]float64); ok {
		for _, v := range shift {
			if !(v >= -maxShift && v <= maxShift) {
				return unsupported("%.80q, which is shifted against WGS 84", d.name)
			}
		}
	}
	if code := k.short(keyGeographic); code != 0 && code != userDefined {
		d.code = int(code)
		if known, ok := geographicSystems[d.code]; ok {
			d.ellipsoid = known.ellipsoid
			return nil
		}
	}
	datum := k.short(keyDatum)
	var ok bool
	if d.ellipsoid, ok = datums[datum]; ok {
		return nil
	}
	// The datum is not known, so its ellipsoid decides, if the file has it.
	if d.ellipsoid, ok = k.ellipsoid(); ok {
		if !d.ellipsoid.modern() {
			return unsupported("%.80q on an ellipsoid with a radius of %.10g m and a flattening of 1/%.12g", d.name, d.ellipsoid.a, d.ellipsoid.rf)
		}
		return nil
	}
	if d.code != 0 {
		return unsupportedCode(d.code)
	}
	if datum != 0 && datum != userDefined {
		return unsupported("%.80q on the datum EPSG:%d", d.name, datum)
	}
	if el := k.short(keyEllipsoid); el != 0 && el != userDefined {
		return unsupported("%.80q on the ellipsoid EPSG:%d", d.name, el)
	}
	return fmt.Errorf("%w: GeoKeys of %.80q have no datum or ellipsoid", ErrFormat, d.name)
}

// ellipsoid returns the ellipsoid that the keys name or describe. A sphere has an rf of 0.
func (k geoKeys) ellipsoid() (ellipsoid, bool) {
	switch k.short(keyEllipsoid) {
	case ellipsoidWGS84:
		return wgs84, true
	case ellipsoidGRS80:
		return grs80, true
	}
	a, hasA := k.double(keySemiMajor)
	b, hasB := k.double(keySemiMinor)
	rf, hasRF := k.double(keyFlattening)
	switch {
	case hasA && hasRF:
		return ellipsoid{a, rf}, true
	case hasA && hasB && a == b:
		return ellipsoid{a, 0}, true
	case hasA && hasB:
		return ellipsoid{a, a / (a - b)}, true
	}
	return ellipsoid{}, false
}

func (k geoKeys) projected() (*System, error) {
	d := definition{name: k.name(keyProjCitation, "PCS Name = "), parameters: missing}
	if u := k.short(keyLinearUnits); u != 0 && u != unitMetre {
		if size, ok := k.double(keyLinearSize); u != userDefined || !ok || size != metre {
			return nil, unsupported("%.80q in units of EPSG:%d, want metres", d.name, u)
		}
	}
	code := k.short(keyProjected)
	if known, ok := definitionOf(int(code)); ok && known.method != geographic {
		return known.system()
	}
	if code == userDefined {
		code = 0
	}
	if code != 0 && k.short(keyMethod) == 0 && k.short(keyProjection) == 0 {
		return nil, unsupportedCode(int(code))
	}
	if wkt, found := strings.CutPrefix(k.text(keyProjCitation), citationOfESRI); found {
		s, err := FromWKT(wkt)
		if err == nil || k.short(keyMethod) == 0 { // a citation may be cut off
			return s, err
		}
	}
	if err := d.readGeoKeys(k); err != nil {
		return nil, err
	}
	d.code = int(code)

	if p := k.short(keyProjection); p > projectionUTM && p <= projectionUTM+160 {
		number, south := int(p-projectionUTM), false
		if number > 100 {
			number, south = number-100, true
		}
		if number <= 60 {
			z := utm("", d.code, number, south, d.ellipsoid)
			z.name = d.name
			return z.system()
		}
	}
	m := k.short(keyMethod)
	var ok bool
	if d.method, ok = keyMethods[m]; !ok {
		if name := otherKeyMethods[m]; name != "" {
			return nil, unsupported("%.80q in the projection %s", d.name, name)
		}
		return nil, unsupported("%.80q in the projection method %d of GeoKey %d", d.name, m, keyMethod)
	}
	for _, p := range keyParameters {
		for _, id := range p.keys {
			if v, ok := k.double(id); ok {
				d.set(p.name, v)
				break
			}
		}
	}
	return d.system()
}
