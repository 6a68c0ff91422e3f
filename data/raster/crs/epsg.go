package crs

import (
	"fmt"
	"sync"
)

// Parameters are from the EPSG Geodetic Parameter Dataset, https://epsg.org.

// geographicSystems are those in degrees whose datum is that of WGS 84 within about 2 m.
var geographicSystems = map[int]definition{
	4326: {name: "WGS 84", ellipsoid: wgs84},
	4258: {name: "ETRS89", ellipsoid: grs80},
	4269: {name: "NAD83", ellipsoid: grs80},
	4167: {name: "NZGD2000", ellipsoid: grs80},
	4283: {name: "GDA94", ellipsoid: grs80},
	4617: {name: "NAD83(CSRS)", ellipsoid: grs80},
	4674: {name: "SIRGAS 2000", ellipsoid: grs80},
	6318: {name: "NAD83(2011)", ellipsoid: grs80},
	7844: {name: "GDA2020", ellipsoid: grs80},
}

// utmFamilies are ranges of codes for the zones of UTM.
var utmFamilies = []struct {
	name        string
	base        int // code of zone 0
	first, last int
	south       bool
	ellipsoid   ellipsoid
}{
	{"WGS 84", 32600, 1, 60, false, wgs84},
	{"WGS 84", 32700, 1, 60, true, wgs84},
	{"ETRS89", 25800, 28, 38, false, grs80},
	{"NAD83", 26900, 1, 23, false, grs80},
}

var projected = map[int]definition{
	3857: {name: "WGS 84 / Pseudo-Mercator", method: pseudoMercator, ellipsoid: wgs84, parameters: parameters{scale: 1}},
	3035: {name: "ETRS89-extended / LAEA Europe", method: lambertAzimuthalEqualArea, ellipsoid: grs80,
		parameters: parameters{lon0: 10, lat0: 52, scale: 1, falseEasting: 4321000, falseNorthing: 3210000}},
	6931: {name: "WGS 84 / NSIDC EASE-Grid 2.0 North", method: lambertAzimuthalEqualArea, ellipsoid: wgs84, parameters: parameters{lat0: 90, scale: 1}},
	6932: {name: "WGS 84 / NSIDC EASE-Grid 2.0 South", method: lambertAzimuthalEqualArea, ellipsoid: wgs84, parameters: parameters{lat0: -90, scale: 1}},

	5070: conic("NAD83 / Conus Albers", -96, 23, 29.5, 45.5, 0, 0),
	6350: conic("NAD83(2011) / Conus Albers", -96, 23, 29.5, 45.5, 0, 0),
	3338: conic("NAD83 / Alaska Albers", -154, 50, 55, 65, 0, 0),
	3005: conic("NAD83 / BC Albers", -126, 45, 50, 58.5, 1e6, 0),
	3577: conic("GDA94 / Australian Albers", 132, 0, -18, -36, 0, 0),

	3006: zone("SWEREF99 TM", 15, 0),
	3067: zone("ETRS89 / TM35FIN(E,N)", 27, 0),
	2193: {name: "NZGD2000 / New Zealand Transverse Mercator 2000", method: transverseMercator, ellipsoid: grs80,
		parameters: parameters{lon0: 173, scale: 0.9996, falseEasting: 1600000, falseNorthing: 1e7}},
}

// conic returns the definition of an Albers projection.
func conic(name string, lon0, lat0, parallel1, parallel2, falseEasting, falseNorthing float64) definition {
	return definition{name: name, method: albersEqualArea, ellipsoid: grs80, parameters: parameters{lon0: lon0, lat0: lat0,
		parallel1: parallel1, parallel2: parallel2, scale: 1, falseEasting: falseEasting, falseNorthing: falseNorthing}}
}

// zone returns the definition of a transverse Mercator projection with the parameters of UTM.
func zone(name string, lon0, falseNorthing float64) definition {
	return definition{name: name, method: transverseMercator, ellipsoid: grs80,
		parameters: parameters{lon0: lon0, scale: 0.9996, falseEasting: 500000, falseNorthing: falseNorthing}}
}

// refusedNames has well-known codes that are refused.
var refusedNames = map[int]string{
	2056:  "CH1903+ / LV95",
	2154:  "RGF93 / Lambert-93",
	3031:  "WGS 84 / Antarctic Polar Stereographic",
	3034:  "ETRS89-extended / LCC Europe",
	3395:  "WGS 84 / World Mercator",
	3413:  "WGS 84 / NSIDC Sea Ice Polar Stereographic North",
	3978:  "NAD83 / Canada Atlas Lambert",
	3979:  "NAD83(CSRS) / Canada Atlas Lambert",
	3995:  "WGS 84 / Arctic Polar Stereographic",
	4267:  "NAD27",
	6933:  "WGS 84 / NSIDC EASE-Grid 2.0 Global",
	9311:  "NAD27 / US National Atlas Equal Area",
	2163:  "US National Atlas Equal Area",
	27700: "OSGB36 / British National Grid",
	28992: "Amersfoort / RD New",
	31370: "BD72 / Belgian Lambert 72",
	31467: "DHDN / 3-degree Gauss-Kruger zone 3",
}

// FromEPSG returns the system with a code of the EPSG dataset.
func FromEPSG(code int) (*System, error) {
	if d, ok := definitionOf(code); ok {
		return d.system()
	}
	return nil, unsupportedCode(code)
}

// unsupportedCode returns an ErrUnsupported for a code, with the name of the system if it is known.
func unsupportedCode(code int) error {
	if name := refusedNames[code]; name != "" {
		return unsupported("EPSG:%d (%s)", code, name)
	}
	return unsupported("EPSG:%d", code)
}

// systems returns the definitions of all systems that have a code of the EPSG dataset, by the code.
var systems = sync.OnceValue(func() map[int]definition {
	all := map[int]definition{}
	for _, some := range []map[int]definition{geographicSystems, projected} {
		for code, d := range some {
			d.code = code
			all[code] = d
		}
	}
	for _, f := range utmFamilies {
		for number := f.first; number <= f.last; number++ {
			all[f.base+number] = utm(f.name, f.base+number, number, f.south, f.ellipsoid)
		}
	}
	return all
})

// definitionOf returns the definition of a code of the EPSG dataset.
func definitionOf(code int) (definition, bool) {
	d, ok := systems()[code]
	return d, ok
}

// codeOf returns the code of a system with that name in the EPSG dataset, or 0.
func codeOf(name string) int {
	if name == "WGS_1984_Web_Mercator_Auxiliary_Sphere" { // which GeoKeys cannot describe: GDAL writes ESRI's name instead
		return 3857
	}
	for code, d := range systems() {
		if d.name == name {
			return code
		}
	}
	return 0
}

// utm returns the definition of a zone of UTM.
func utm(datum string, code, number int, south bool, el ellipsoid) definition {
	letter, falseNorthing := "N", 0.
	if south {
		letter, falseNorthing = "S", 1e7
	}
	d := zone(fmt.Sprintf("%s / UTM zone %d%s", datum, number, letter), float64(6*number-183), falseNorthing)
	d.code, d.ellipsoid = code, el
	return d
}
