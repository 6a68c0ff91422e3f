package crs

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Well-known text is not parsed: files that have it also have a code, or spell the system out in GeoKeys or in attributes of CF.

// maxWKT bounds well-known text. That of compound systems with their areas of use has about 5,000 bytes.
const maxWKT = 1 << 16

var (
	// wktStart matches the keyword and the name of the whole system.
	wktStart = regexp.MustCompile(`^\s*([A-Za-z_]+)\s*[\[(]\s*"([^"]*)"`)
	// wktCode matches the code of the whole system, which is its last element.
	wktCode = regexp.MustCompile(`(?i)(?:AUTHORITY|ID)\s*[\[(]\s*"EPSG"\s*,\s*"?([0-9]{1,6})"?\s*[\])]\s*[\])][\s\x00]*$`)
)

// FromWKT returns the system of well-known text, version 1 or 2, by its EPSG code or, without a code, by its name in the EPSG dataset. A
// system whose parameters are only spelled out is an ErrUnsupported.
func FromWKT(wkt string) (*System, error) {
	start := wktStart.FindStringSubmatch(wkt)
	if start == nil || len(wkt) > maxWKT {
		return nil, fmt.Errorf("%w: well-known text %.60q of %d bytes, want a keyword and a name", ErrFormat, wkt, len(wkt))
	}
	keyword, name, code := strings.ToUpper(start[1]), start[2], 0
	if id := wktCode.FindStringSubmatch(wkt); id != nil {
		code, _ = strconv.Atoi(id[1]) // it has at most six digits
	} else {
		code = codeOf(name)
	}
	d, ok := definitionOf(code)
	switch {
	case ok && (d.method == geographic) == strings.HasPrefix(keyword, "GEO"):
		return d.system()
	case code != 0:
		return nil, unsupported("%.80q (EPSG:%d)", name, code)
	}
	return nil, unsupported("%.80q, of which the file has no EPSG code (gdal_edit.py -a_srs EPSG:CODE sets it)", name)
}
