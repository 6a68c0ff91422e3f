package ingest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Files in other formats are refused with their name and the command that converts them.

// toGeoJSON is the command that converts a file of lakes; RFC7946 gives WGS 84. toCSV is one for tables.
const (
	toGeoJSON = "ogr2ogr -f GeoJSON -lco RFC7946=YES %s.geojson %s"
	toCSV     = "save it as CSV (UTF-8), or convert it with ogr2ogr -f CSV %s.csv %s"
)

// otherFormat returns an error if the beginning of a file, which may be all of it, is not that of a text that can be a table or JSON.
func otherFormat(start []byte, file string) error {
	has := func(magic string) bool { return bytes.HasPrefix(start, []byte(magic)) }
	name, to := formatOf(start, file, has)
	if name == "" {
		return nil
	}
	if to == "" {
		return errors.New("this is " + name)
	}
	if strings.Contains(to, "%s") {
		base := filepath.Base(file)
		if base == "." || strings.ContainsAny(base, " \t'\"$`\\&;|<>()*?[]") { // also of standard input
			base = "FILE" + filepath.Ext(base)
		}
		whole := base
		for ext := filepath.Ext(base); ext != "" && ext != base; ext = filepath.Ext(base) {
			base = strings.TrimSuffix(base, ext)
		}
		to = fmt.Sprintf(to, base, whole)
	}
	return fmt.Errorf("this is %s, no CSV or GeoJSON: %s", name, to)
}

// formatOf returns the name of a format, and what to do with it.
func formatOf(start []byte, file string, has func(string) bool) (name, to string) {
	ext := strings.ToLower(filepath.Ext(file))
	geo := "convert it with " + toGeoJSON
	switch {
	case has("\xff\xfe\x00\x00"), has("\x00\x00\xfe\xff"):
		return "UTF-32", "save it as UTF-8"
	case has("\xff\xfe"), has("\xfe\xff"):
		return "UTF-16", "save it as UTF-8"
	case has("PK\x03\x04"), has("PK\x05\x06"):
		return zipContent(start, ext, geo)
	case has("BZh"), has("\xfd7zXZ\x00"):
		return "compressed by bzip2 or xz: want gzip or zstd, or a file that is not compressed", ""
	case has("7z\xbc\xaf\x27\x1c"), has("Rar!\x1a\x07"):
		return "a 7z or RAR archive", "unpack it"
	case has("SQLite format 3\x00"):
		// The application id of a GeoPackage is GPKG, and before version 1.2 GP10 or GP11 (OGC 12-128r18, requirement 2).
		if len(start) >= 72 && (string(start[68:70]) == "GP") || ext == ".gpkg" {
			return "a GeoPackage", geo
		}
		return "an SQLite database", "export its tables as CSV"
	case has("\x00\x00\x27\x0a"): // of .shp and .shx (ESRI Shapefile Technical Description, 1998)
		return "a shapefile", "convert its .shp, with .dbf and .prj beside it, with " + toGeoJSON
	case isDBF(start):
		return "a dBASE table, as of a shapefile", "convert the .shp beside it with ogr2ogr -f GeoJSON, or the table: " + toCSV
	case has("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
		return "a spreadsheet of Excel 97 to 2003 (.xls)", toCSV
	case has("PAR1"):
		return "a Parquet file", "convert it with " + toGeoJSON + " if it has geometries, or else write it as CSV"
	case has("ARROW1"), has("FEA1"):
		return "a file of Apache Arrow", "write it as CSV"
	case has("fgb\x03fgb"):
		return "FlatGeobuf", geo
	case has("CDF\x01"), has("CDF\x02"), has("CDF\x05"), has("\x89HDF"), has("II*\x00"), has("MM\x00*"), has("II+\x00"), has("MM\x00+"):
		return "a raster (NetCDF, HDF5 or TIFF)", "limnomap import rasters reads it"
	case has("%PDF"):
		return "a PDF", "want its table as CSV"
	case has("RDX2"), has("RDX3"), has("X\n\x00\x00"), has("B\n\x03\x00\x00"):
		return "an R data file", "write it with write.csv(..., fileEncoding = \"UTF-8\")"
	case has("!table"), has("!TABLE"):
		return "a MapInfo file", geo
	}
	if name, to = markupOf(start, geo); name != "" {
		return name, to
	}
	switch {
	case isUTF16(start):
		return "UTF-16", "save it as UTF-8"
	case bytes.IndexByte(start, 0) >= 0:
		return "a binary file", "want a text"
	}
	return "", ""
}

// markupOf returns the format of a file in XML or HTML.
func markupOf(start []byte, geo string) (name, to string) {
	text := bytes.TrimSpace(start)
	if len(text) == 0 || text[0] != '<' {
		return "", ""
	}
	lower := bytes.ToLower(text[:min(len(text), 4096)])
	contains := func(tag string) bool { return bytes.Contains(lower, []byte(tag)) }
	switch {
	case contains("<kml"), contains("/kml/2"):
		return "KML", geo
	case contains("<gpx"):
		return "GPX", geo
	case contains("/gml"), contains("<gml"):
		return "GML", geo
	case contains("<!doctype html"), contains("<html"):
		return "an HTML page, as a server answers with an error or a form", "download the file itself"
	case contains("schemas-microsoft-com:office:spreadsheet"):
		return "a spreadsheet in XML", "save it as CSV (UTF-8)"
	case contains("<?xml"):
		return "XML", "want CSV or GeoJSON; ogr2ogr converts many formats"
	}
	return "", ""
}

// zipContent returns what is in a zip archive, by the names of its first files.
func zipContent(start []byte, ext, geo string) (name, to string) {
	var names []string
	rest := start
	for len(names) < 50 && len(rest) >= 30 && string(rest[:4]) == "PK\x03\x04" { // a local file header (PKWARE APPNOTE 4.3.7)
		size, length, extra := int(binary.LittleEndian.Uint32(rest[18:])), int(binary.LittleEndian.Uint16(rest[26:])), int(binary.LittleEndian.Uint16(rest[28:]))
		if len(rest) < 30+length {
			break
		}
		entry := string(rest[30 : 30+length])
		content := rest[min(30+length+extra, len(rest)):]
		if entry == "mimetype" && bytes.HasPrefix(content, []byte("application/vnd.oasis.opendocument")) {
			entry = "opendocument"
		}
		names = append(names, strings.ToLower(entry))
		if next := bytes.Index(content[min(size, len(content)):], []byte("PK\x03\x04")); next >= 0 {
			rest = content[min(size, len(content))+next:]
		} else {
			break
		}
	}
	has := func(what ...string) bool {
		for _, n := range names {
			for _, w := range what {
				if strings.HasPrefix(n, w) && w[0] != '.' || strings.HasSuffix(n, w) && w[0] == '.' {
					return true
				}
			}
		}
		return false
	}
	switch {
	case has("[content_types].xml", "xl/", "_rels/"), ext == ".xlsx", ext == ".xlsm":
		return "an Excel workbook (.xlsx)", toCSV
	case has("opendocument"), ext == ".ods":
		return "an OpenDocument spreadsheet (.ods)", toCSV
	case has(".kml"), ext == ".kmz":
		return "KMZ", geo
	case has(".shp", ".shx", ".dbf", ".prj"):
		return "a zip archive with a shapefile", "convert it with ogr2ogr -f GeoJSON -lco RFC7946=YES %s.geojson /vsizip/%s"
	case has(".gpkg"):
		return "a zip archive with a GeoPackage", "unpack it, and convert it with ogr2ogr -f GeoJSON -lco RFC7946=YES"
	}
	return "a zip archive or a spreadsheet", "unpack it, or save it as CSV (UTF-8)"
}

// isUTF16 reports whether a file without a byte-order mark is UTF-16, in which every other byte of ASCII is 0.
func isUTF16(start []byte) bool {
	if len(start) < 4 {
		return false
	}
	n := min(len(start), 64) &^ 1
	zeros := [2]int{}
	for i, c := range start[:n] {
		if c == 0 {
			zeros[i%2]++
		}
	}
	return zeros[0] == 0 && zeros[1]*4 >= n || zeros[1] == 0 && zeros[0]*4 >= n
}

// isDBF reports whether a file is a table of dBASE: its version, a date, and the sizes of its header and of its rows.
func isDBF(start []byte) bool {
	if len(start) < 33 || !strings.ContainsRune("\x02\x03\x04\x05\x30\x31\x43\x83\x8b\xcb\xf5", rune(start[0])) {
		return false
	}
	header, row := binary.LittleEndian.Uint16(start[8:]), binary.LittleEndian.Uint16(start[10:])
	return start[2] >= 1 && start[2] <= 12 && start[3] >= 1 && start[3] <= 31 && header >= 33 && row > 0 && (header%32 == 1 || header%32 == 0 || header%32 == 8)
}
