package ingest

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"limnomap/data/store/storetest"
)

// zipOf returns an archive with empty files of these names.
func zipOf(t *testing.T, names ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range names {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if name == "mimetype" {
			if _, err := w.Write([]byte("application/vnd.oasis.opendocument.spreadsheet")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestOtherFormats(t *testing.T) {
	geopackage := "SQLite format 3\x00" + strings.Repeat("\x00", 52) + "GPKG" + strings.Repeat("\x00", 100)
	for _, test := range []struct {
		file, content string
		want          []string
	}{
		{"lakes.kml", "<?xml version=\"1.0\"?>\n<kml xmlns=\"http://www.opengis.net/kml/2.2\"><Document/></kml>", []string{"KML", "ogr2ogr -f GeoJSON -lco RFC7946=YES lakes.geojson lakes.kml"}},
		{"data/my lakes.kml", "\ufeff<kml></kml>", []string{"KML", "FILE.geojson FILE.kml"}},
		{"standard input", "<kml></kml>", []string{"KML", "FILE.geojson FILE"}},
		{"lakes.kmz", zipOf(t, "doc.kml"), []string{"KMZ", "lakes.geojson lakes.kmz"}},
		{"lakes.shp", "\x00\x00\x27\x0a" + strings.Repeat("\x00", 96), []string{"shapefile", "ogr2ogr -f GeoJSON -lco RFC7946=YES lakes.geojson lakes.shp"}},
		{"lakes.dbf", "\x03\x79\x07\x1a\x01\x00\x00\x00\x61\x00\x20\x00" + strings.Repeat("\x00", 90), []string{"dBASE", "ogr2ogr"}},
		{"lakes.zip", zipOf(t, "lakes.shp", "lakes.dbf", "lakes.prj"), []string{"zip archive with a shapefile", "ogr2ogr", "/vsizip/lakes.zip"}},
		{"lakes.gpkg", geopackage, []string{"GeoPackage", "lakes.geojson lakes.gpkg"}},
		{"lakes.db", "SQLite format 3\x00" + strings.Repeat("\x00", 200), []string{"SQLite database"}},
		{"lakes.xlsx", zipOf(t, "[Content_Types].xml", "xl/workbook.xml"), []string{".xlsx", "save it as CSV", "ogr2ogr -f CSV lakes.csv lakes.xlsx"}},
		{"lakes.ods", zipOf(t, "mimetype", "content.xml"), []string{".ods", "save it as CSV"}},
		{"lakes.xls", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", []string{".xls", "save it as CSV"}},
		{"lakes.zip", zipOf(t, "lakes.csv"), []string{"zip archive", "unpack it"}},
		{"lakes.parquet", "PAR1\x15\x04", []string{"Parquet", "ogr2ogr"}},
		{"lakes.fgb", "fgb\x03fgb\x00", []string{"FlatGeobuf", "ogr2ogr"}},
		{"lakes.gml", "<?xml version=\"1.0\"?><ogr:FeatureCollection xmlns:gml=\"http://www.opengis.net/gml\"/>", []string{"GML", "ogr2ogr"}},
		{"lakes.gpx", "<?xml version=\"1.0\"?><gpx/>", []string{"GPX", "ogr2ogr"}},
		{"lakes.csv", "\n<!DOCTYPE html>\n<html>", []string{"HTML"}},
		{"lakes.xml", "<?xml version=\"1.0\"?><lakes/>", []string{"XML"}},
		{"lakes.csv", "i\x00d\x00,\x00n\x00a\x00m\x00e\x00", []string{"UTF-16", "save it as UTF-8"}},
		{"lakes.csv", "\xfe\xff\x00i\x00d", []string{"UTF-16"}},
		{"chl.nc", "\x89HDF\r\n\x1a\n", []string{"raster", "import rasters"}},
		{"chl.tif", "II*\x00\x08\x00\x00\x00", []string{"raster", "import rasters"}},
		{"lakes.rds", "X\n\x00\x00\x00\x03", []string{"R data"}},
		{"lakes.pdf", "%PDF-1.7", []string{"PDF"}},
		{"lakes.7z", "7z\xbc\xaf\x27\x1c", []string{"7z", "unpack"}},
		{"lakes.bin", "id,name\x00", []string{"binary"}},
	} {
		for _, f := range []importFunc{Lakes, Observations, Advisories} {
			r, err := f(t.Context(), storetest.New(t), []File{textFile(test.file, test.content)}, nil)
			if err == nil || r.Read > 0 {
				t.Fatalf("%s: %v, %v, want an error", test.file, r, err)
			}
			for _, want := range append(test.want, test.file) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: error %q lacks %q", test.file, err, want)
				}
			}
		}
	}
}

func FuzzOtherFormat(f *testing.F) {
	for _, start := range []string{"PK\x03\x04", "SQLite format 3\x00", "<?xml", "\x03\x79\x07\x1a\x01\x00\x00\x00\x61\x00\x20\x00", "id,name\n", "i\x00d\x00"} {
		f.Add([]byte(start), "lakes.csv")
	}
	f.Fuzz(func(t *testing.T, start []byte, name string) {
		if err := otherFormat(start, name); err != nil && (len(err.Error()) > 400+2*len(name) || err.Error() == "") {
			t.Errorf("%q: %v", start, err)
		}
	})
}
