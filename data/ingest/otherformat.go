package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Files in other formats are refused with their name and the command that converts them.

// What to do with a file, whose name replaces %s. RFC7946 gives WGS 84.
const (
	ogr2ogr   = "with ogr2ogr -f GeoJSON -lco RFC7946=YES %s.geojson %s"
	toGeoJSON = "convert it " + ogr2ogr
	toCSV     = "save it as CSV (UTF-8), or convert it with ogr2ogr -f CSV %s.csv %s"
	toUTF8    = "save it as UTF-8"
	unpack    = "unpack it, or save it as CSV (UTF-8)"
	raster    = "limnomap import rasters reads it"
)

// A format is one of files that are neither a table nor JSON.
type format struct {
	marks []string // its files have one of them
	name  string
	to    string // what to do with such a file
}

var (
	// The first bytes of files.
	formats = []format{
		{[]string{"\xff\xfe\x00\x00", "\x00\x00\xfe\xff"}, "UTF-32", toUTF8},
		{[]string{"\xff\xfe", "\xfe\xff"}, "UTF-16", toUTF8},
		{[]string{"BZh", "\xfd7zXZ\x00"}, "a file compressed by bzip2 or xz", "want gzip or zstd, or a file that is not compressed"},
		{[]string{"7z\xbc\xaf\x27\x1c", "Rar!\x1a\x07"}, "a 7z or RAR archive", unpack},
		// ESRI Shapefile Technical Description, 1998.
		{[]string{"\x00\x00\x27\x0a"}, "a shapefile", "convert its .shp, with .dbf and .prj beside it, " + ogr2ogr},
		{[]string{"\x03"}, "a dBASE table, as of a shapefile", "convert the .shp beside it, or the table: " + toCSV},
		{[]string{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"}, "a spreadsheet of Excel 97 to 2003 (.xls)", toCSV},
		{[]string{"PAR1"}, "a Parquet file", toGeoJSON + " if it has geometries, or else write it as CSV"},
		{[]string{"fgb\x03fgb"}, "FlatGeobuf", toGeoJSON},
		{[]string{"CDF\x01", "CDF\x02", "CDF\x05", "\x89HDF", "II*\x00", "MM\x00*", "II+\x00", "MM\x00+"}, "a raster (NetCDF, HDF5 or TIFF)", raster},
		{[]string{"%PDF"}, "a PDF", "want its table as CSV"},
		{[]string{"RDX2", "RDX3", "X\n\x00\x00"}, "an R data file", "write it with write.csv(..., fileEncoding = \"UTF-8\")"},
	}
	// Words, in small letters, in texts that begin with <.
	markups = []format{
		{[]string{"<kml", "/kml/2"}, "KML", toGeoJSON},
		{[]string{"<gpx"}, "GPX", toGeoJSON},
		{[]string{"/gml", "<gml"}, "GML", toGeoJSON},
		{[]string{"<!doctype html", "<html"}, "an HTML page, as a server answers with an error or a form", "download the file itself"},
		{[]string{"<?xml"}, "XML", "want CSV or GeoJSON; ogr2ogr converts many formats"},
	}
	// Names of files, in small letters, in zip archives.
	archives = []format{
		{[]string{"[content_types].xml", "xl/"}, "an Excel workbook (.xlsx)", toCSV},
		{[]string{"application/vnd.oasis.opendocument"}, "an OpenDocument spreadsheet (.ods)", toCSV},
		{[]string{".kml"}, "KMZ", toGeoJSON},
		{[]string{".shp"}, "a zip archive with a shapefile", "convert it with ogr2ogr -f GeoJSON -lco RFC7946=YES %s.geojson /vsizip/%s"},
		{[]string{""}, "a zip archive or a spreadsheet", unpack},
	}
	geopackage = format{name: "a GeoPackage", to: toGeoJSON}
	database   = format{name: "an SQLite database", to: "export its tables as CSV"}
	binary     = format{name: "a binary file, or UTF-16", to: "want a text; save it as UTF-8"}
)

// formatOf returns the format of a file by its beginning; one without a name if it can be a table or JSON.
func formatOf(start []byte) format {
	lower := bytes.ToLower(start[:min(len(start), 4096)])
	find := func(among []format, has func(mark []byte) bool) (f format) {
		if i := slices.IndexFunc(among, func(f format) bool {
			return slices.ContainsFunc(f.marks, func(mark string) bool { return has([]byte(mark)) })
		}); i >= 0 {
			f = among[i]
		}
		return f
	}
	within := func(mark []byte) bool { return bytes.Contains(lower, mark) }
	switch {
	case bytes.HasPrefix(start, []byte("SQLite format 3\x00")):
		// The application id of a GeoPackage is GPKG, and before version 1.2 GP10 or GP11 (OGC 12-128r18, requirement 2).
		if len(start) >= 72 && string(start[68:70]) == "GP" {
			return geopackage
		}
		return database
	case bytes.HasPrefix(start, []byte("PK\x03\x04")), bytes.HasPrefix(start, []byte("PK\x05\x06")):
		return find(archives, within)
	case bytes.HasPrefix(bytes.TrimSpace(start), []byte("<")):
		if f := find(markups, within); f.name != "" {
			return f
		}
	}
	f := find(formats, func(mark []byte) bool { return bytes.HasPrefix(start, mark) })
	if f.name == "" && bytes.IndexByte(start, 0) >= 0 {
		return binary
	}
	return f
}

// otherFormat returns an error if the beginning of a file, which may be all of it, is not that of a text that can be a table or JSON.
func otherFormat(start []byte, file string) error {
	f := formatOf(start)
	if f.name == "" {
		return nil
	}
	whole := filepath.Base(file)
	if whole == "." || strings.ContainsAny(whole, " \t'\"$`\\&;|<>()*?[]") { // also of standard input
		whole = "FILE" + filepath.Ext(whole)
	}
	base, _, _ := strings.Cut(whole, ".")
	to := f.to
	if strings.Contains(to, "%s") {
		to = fmt.Sprintf(to, base, whole)
	}
	return errors.New("this is " + f.name + ": " + to)
}
