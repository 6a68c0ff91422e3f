package ingest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/paulmach/orb"
	"pgregory.net/rapid"

	"limnomap/data"
	"limnomap/data/linetext"
	"limnomap/data/outline"
	"limnomap/data/snapshot"
	"limnomap/data/store"
	"limnomap/data/store/storetest"
)

// drawText draws texts that a lake may have and that file formats easily garble.
func drawText(rt *rapid.T, name string) string {
	words := rapid.SliceOfN(rapid.OneOf(
		rapid.StringMatching(`[A-Za-zäöüßÅłŒ0-9]{1,8}`),
		rapid.SampledFrom([]string{`"`, `""`, ",", ";", "'", "\\", "</b>", "{", "=1+1", "琵琶湖", "\ufeff", "é", "e\u0301", "–", "-", "NA", "N.A.", "<5", "1,5", "🏊", "null", "#"}),
	), 1, 5).Draw(rt, name)
	s := strings.Join(words, rapid.SampledFrom([]string{"", " "}).Draw(rt, "between"))
	if s == "-" || s == "NA" || s == "n.a." || linetext.Check(s) != nil { // these mean no value, and U+FEFF alone is invisible
		return "x" + s
	}
	return s
}

// drawVersion draws a text that is short enough for a version.
func drawVersion(rt *rapid.T) string {
	s := drawText(rt, "version")
	if utf8.RuneCountInString(s) > data.MaxVersionRunes {
		return "2.1.1"
	}
	return s
}

// drawOutline draws a lake with bays, and perhaps an island, a pond on the island, and a second basin.
func drawOutline(rt *rapid.T, middle orb.Point) outline.Outline {
	ring := func(centre orb.Point, radius float64) orb.Ring {
		n := rapid.IntRange(3, 60).Draw(rt, "points")
		var r orb.Ring
		for i := range n {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
			d := radius * rapid.Float64Range(0.8, 1).Draw(rt, "bay")
			r = append(r, orb.Point{centre[0] + d*cos, centre[1] + d*sin})
		}
		return append(r, r[0])
	}
	radius := rapid.Float64Range(0.0005, 0.09).Draw(rt, "radius")
	lake := orb.MultiPolygon{{ring(middle, radius)}}
	if rapid.Bool().Draw(rt, "island") {
		lake[0] = append(lake[0], ring(middle, radius/4))
		if rapid.Bool().Draw(rt, "pond") {
			lake = append(lake, orb.Polygon{ring(middle, radius/20)})
		}
	}
	if rapid.Bool().Draw(rt, "basin") {
		lake = append(lake, orb.Polygon{ring(orb.Point{middle[0] + 3*radius, middle[1]}, radius/2)})
	}
	o, err := outline.New(lake)
	if err != nil {
		rt.Fatal(err)
	}
	return o
}

func drawLake(rt *rapid.T, i int) data.Lake {
	l := data.Lake{
		ID:         data.LakeID(fmt.Sprintf("%s-%d", rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9_.-]{0,20}`).Draw(rt, "id"), i)),
		ExternalID: drawText(rt, "external id"),
		Name:       drawText(rt, "name"),
		Point:      orb.Point{rapid.Float64Range(-180, 180).Draw(rt, "lon"), rapid.Float64Range(-80, 80).Draw(rt, "lat")},
		AreaKM2:    rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 400_000)).Draw(rt, "area"),
	}
	if rapid.Bool().Draw(rt, "has a region") {
		l.Region = drawText(rt, "region")
	}
	if rapid.Bool().Draw(rt, "has an outline") {
		l.Outline = drawOutline(rt, l.Point)
	}
	return l
}

func drawObservations(rt *rapid.T, id data.LakeID) []data.Observation {
	var all []data.Observation
	for range rapid.IntRange(0, 4).Draw(rt, "observations") {
		o := data.Observation{LakeID: id, Date: data.Date(rapid.IntRange(-20_000, 20_000).Draw(rt, "date")),
			Type: data.DataType(rapid.IntRange(0, 2).Draw(rt, "type")), Chlorophyll: data.NoChlorophyll, Level: data.NoLevel, CellDensity: data.NoCellDensity}
		if rapid.Bool().Draw(rt, "has a value") {
			o.Chlorophyll = data.Chlorophyll(rapid.IntRange(0, int(data.MaxChlorophyll)).Draw(rt, "chl"))
			o.Level = data.Level(rapid.IntRange(-1, 3).Draw(rt, "level"))
			if rapid.Bool().Draw(rt, "was counted") {
				o.CellDensity = rapid.Float64Range(0, maxCellDensity).Draw(rt, "density")
			}
		}
		if rapid.Bool().Draw(rt, "has a time") {
			o.MeasuredAt = o.Date.Time().Add(time.Duration(rapid.IntRange(-6*86400, 6*86400).Draw(rt, "time")) * time.Second)
		}
		if rapid.Bool().Draw(rt, "has details") {
			drawDetails(rt, &o)
		}
		if !slices.ContainsFunc(all, func(b data.Observation) bool { return b.Date == o.Date && b.Type == o.Type && b.Source == o.Source }) {
			all = append(all, o)
		}
	}
	return all
}

// drawDetails draws what only some observations have. Each of it may be absent.
func drawDetails(rt *rapid.T, o *data.Observation) {
	has := func(name string) bool { return rapid.Bool().Draw(rt, "has "+name) }
	d := &o.Details
	if has("a source") {
		o.Source = drawText(rt, "source")
	}
	o.Quality = data.Quality(rapid.IntRange(0, 3).Draw(rt, "quality"))
	if o.Chlorophyll.Valid() {
		if has("a lower limit") {
			d.Lower = data.Known(data.Chlorophyll(rapid.IntRange(0, int(o.Chlorophyll)).Draw(rt, "lower")))
		}
		if has("an upper limit") {
			d.Upper = data.Known(data.Chlorophyll(rapid.IntRange(int(o.Chlorophyll), int(data.MaxChlorophyll)).Draw(rt, "upper")))
			d.BelowLimit = has("a limit of detection")
		}
	}
	if has("pixels") {
		d.TotalPixels = data.Known(rapid.Int32Range(0, data.MaxPixels).Draw(rt, "pixels"))
		d.ValidPixels = data.Known(rapid.Int32Range(0, d.TotalPixels.Value).Draw(rt, "valid pixels"))
	}
	d.Flags = data.Flags(rapid.IntRange(0, 1<<data.Biased<<1-1).Draw(rt, "flags"))
	if !o.Chlorophyll.Valid() {
		d.Flags &^= data.FlagsOf(data.Scum)
	}
	if has("a method") {
		d.Method = drawText(rt, "method")
	}
	if has("a version") {
		d.Version = drawVersion(rt)
	}
	if has("a depth") {
		d.Secchi = data.Known(data.Hundredths(rapid.IntRange(0, int(data.MaxSecchi)).Draw(rt, "depth")))
	}
	if has("a turbidity") {
		d.Turbidity = data.Known(data.Hundredths(rapid.IntRange(0, int(data.MaxTurbidity)).Draw(rt, "turbidity")))
	}
	if has("scum") {
		d.ScumPercent = data.Known(data.Hundredths(rapid.IntRange(0, int(data.MaxPercent)).Draw(rt, "scum")))
	}
	if has("a period") {
		d.PeriodStart = data.Known(o.Date - data.Date(rapid.IntRange(0, data.MaxPeriod).Draw(rt, "period")))
	}
	d.Composite = data.Composite(rapid.IntRange(0, int(data.MedianComposite)).Draw(rt, "composite"))
	if has("a temperature") {
		d.WaterTemperature = data.Known(data.Hundredths(rapid.IntRange(int(data.MinWaterTemperature), int(data.MaxWaterTemperature)).Draw(rt, "temperature")))
	}
}

// A checkTB is a test or a single run of a property test.
type checkTB interface {
	rapid.TB
	Context() context.Context
}

// fill puts lakes and observations directly into a store, without the importer.
func fill(tb checkTB, s *store.Store, lakes []data.Lake, observations []data.Observation) {
	err := s.Import(tb.Context(), func(tx store.Tx) error {
		if _, err := tx.PutLakes(tb.Context(), lakes, store.LakeColumns{}); err != nil {
			return err
		}
		_, err := tx.PutObservations(tb.Context(), observations, store.ObservationColumns{})
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
}

func scanned(tb checkTB, s *store.Store) (lakes []data.Lake, observations []data.Observation) {
	_, err := s.Scan(tb.Context(),
		func(l data.Lake) error { lakes = append(lakes, l); return nil },
		func(o data.Observation) error { observations = append(observations, o); return nil })
	if err != nil {
		tb.Fatal(err)
	}
	return lakes, observations
}

// Importing an export gives exactly the same data: the same snapshot version, which is a hash of lakes and satellite values,
// and the same forecasts, which are not part of it.
func TestExportIsLossless(t *testing.T) {
	dir := t.TempDir()
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		openStore := func(name string) *store.Store {
			s, err := store.Open(rt.Context(), filepath.Join(dir, fmt.Sprintf("%s-%d.db", name, run)), true)
			if err != nil {
				rt.Fatal(err)
			}
			rt.Cleanup(func() { s.Close() })
			return s
		}
		before, after := openStore("before"), openStore("after")
		var lakes []data.Lake
		var observations []data.Observation
		for i := range rapid.IntRange(0, 4).Draw(rt, "lakes") {
			lakes = append(lakes, drawLake(rt, i))
			observations = append(observations, drawObservations(rt, lakes[i].ID)...)
		}
		fill(rt, before, lakes, observations)
		format := Format(rapid.IntRange(0, 1).Draw(rt, "format"))
		var lakeFile, observationFile bytes.Buffer
		done, err := ExportLakes(rt.Context(), before, &lakeFile, format)
		if err != nil || done.Lakes != len(lakes) {
			rt.Fatalf("exported %+v, %v, want %d lakes", done, err, len(lakes))
		}
		n, err := ExportObservations(rt.Context(), before, &observationFile)
		if err != nil || n != len(observations) {
			rt.Fatalf("exported %d observations, %v, want %d", n, err, len(observations))
		}
		for _, f := range []struct {
			imp  importFunc
			text string
		}{{Lakes, lakeFile.String()}, {Observations, observationFile.String()}} {
			r, err := f.imp(rt.Context(), after, files(f.text), nil)
			if err != nil || r.Rejected > 0 || r.Added != r.Read || len(r.Ignored) > 0 {
				rt.Fatalf("import = %v, %v of\n%s", r, err, f.text)
			}
		}
		wantLakes, wantObservations := scanned(rt, before)
		lost := 0
		if format == FormatCSV {
			for i := range wantLakes {
				if wantLakes[i].Outline != "" {
					lost++
				}
				wantLakes[i].Outline = ""
			}
		}
		gotLakes, gotObservations := scanned(rt, after)
		if !slices.Equal(gotLakes, wantLakes) || done.OutlinesLost != lost {
			rt.Fatalf("%+v came back from\n%swant %+v, and %d outlines lost, not %d", gotLakes, &lakeFile, wantLakes, lost, done.OutlinesLost)
		}
		if !slices.Equal(gotObservations, wantObservations) {
			rt.Fatalf("%+v came back from\n%swant %+v", gotObservations, &observationFile, wantObservations)
		}
		if lost > 0 {
			return
		}
		if v, w := version(rt, after), version(rt, before); v != w {
			rt.Fatalf("the snapshot's version is %s, want %s", v, w)
		}
		// The same data give the same bytes.
		var again bytes.Buffer
		if _, err := ExportLakes(rt.Context(), after, &again, format); err != nil || !bytes.Equal(again.Bytes(), lakeFile.Bytes()) {
			rt.Fatalf("exported again, %v:\n%swant\n%s", err, &again, &lakeFile)
		}
	})
}

func version(tb checkTB, s *store.Store) string {
	snapshot, err := snapshot.Load(tb.Context(), s, &snapshot.Options{AsOf: snapshot.Newest})
	if err != nil {
		tb.Fatal(err)
	}
	return snapshot.Version
}

// exportedSquare is a square lake in the form of an export.
func exportedSquare(tb testing.TB) string {
	tb.Helper()
	s := storetest.New(tb)
	mustImport(tb, Lakes, s, nil, features(featureOf(`"id":"x","name":"X"`, `{"type":"Polygon","coordinates":[[[10,50],[10.01,50],[10.01,50.01],[10,50.01],[10,50]]]}`)))
	var b bytes.Buffer
	if _, err := ExportLakes(tb.Context(), s, &b, FormatGeoJSON); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// If the polygons of an export were edited, they count, and not the exported bytes of the outline.
func TestEditedShoreIsUsed(t *testing.T) {
	square := func(west float64) string {
		return fmt.Sprintf(`{"type":"Polygon","coordinates":[[[%v,50],[10.01,50],[10.01,50.01],[%v,50.01],[%v,50]]]}`, west, west, west)
	}
	exported := func(geometry string) (outline.Outline, string) {
		s := storetest.New(t)
		mustImport(t, Lakes, s, nil, features(featureOf(`"id":"x","name":"X"`, geometry)))
		var b bytes.Buffer
		if _, err := ExportLakes(t.Context(), s, &b, FormatGeoJSON); err != nil {
			t.Fatal(err)
		}
		lakes, _ := stored(t, s)
		return lakes[0].Outline, b.String()
	}
	_, file := exported(square(10))
	want, _ := exported(square(9.999))
	moved := strings.ReplaceAll(file, "[10,50", "[9.999,50")
	for name, text := range map[string]string{
		"moved":        moved,
		"broken bytes": strings.Replace(moved, `"limnomap_outline":"`, `"limnomap_outline":"!`, 1),
	} {
		s := storetest.New(t)
		mustImport(t, Lakes, s, nil, text)
		if lakes, _ := stored(t, s); len(lakes) != 1 || moved == file || lakes[0].Outline != want {
			t.Errorf("%s: stored %+v, want the shore of the geometry", name, lakes)
		}
	}
	// Without a geometry the bytes are ignored; a point keeps the stored outline.
	s := storetest.New(t)
	mustImport(t, Lakes, s, nil, file)
	before, _ := stored(t, s)
	start, end := strings.Index(file, `"geometry":`), strings.LastIndex(file, "}\n]")
	mustImport(t, Lakes, s, nil, file[:start]+`"geometry":{"type":"Point","coordinates":[10.005,50.005]}`+file[end:])
	if after, _ := stored(t, s); !slices.Equal(after, before) {
		t.Errorf("a point left %+v, want %+v", after, before)
	}
}

// Islands are holes, ponds on islands are separate polygons, and the direction of rings is that of RFC 7946.
func TestPolygonsOf(t *testing.T) {
	square := func(half float64, turn bool) orb.Ring {
		r := orb.Ring{{10 - half, 50 - half}, {10 + half, 50 - half}, {10 + half, 50 + half}, {10 - half, 50 + half}, {10 - half, 50 - half}}
		if turn {
			r.Reverse()
		}
		return r
	}
	o, err := outline.New(orb.MultiPolygon{{square(0.1, true), square(0.05, false)}, {square(0.01, true), square(0.005, true)}})
	if err != nil {
		t.Fatal(err)
	}
	polygons := polygonsOf(o)
	if len(polygons) != 2 || len(polygons[0]) != 2 || len(polygons[1]) != 2 {
		t.Fatalf("polygons %v, want two with a hole each", polygons)
	}
	for i, half := range []float64{0.1, 0.05, 0.01, 0.005} {
		ring := polygons[i/2][i%2]
		if want := []orb.Orientation{orb.CCW, orb.CW}[i%2]; ring.Orientation() != want || math.Abs(ring.Bound().Max[0]-10-half) > 1e-6 {
			t.Errorf("ring %d is %v, orientation %d, want %v and %d", i, ring, ring.Orientation(), half, want)
		}
	}
	if !isShoreOf(polygons, o) {
		t.Error("an outline does not know its own polygons")
	}
	for _, polygon := range polygons { // as other programs may reverse them
		for _, ring := range polygon {
			ring.Reverse()
		}
	}
	if !isShoreOf(polygons, o) {
		t.Error("an outline does not know its own polygons when they are turned")
	}
	polygons[1][1][2][0] += 1e-7
	if isShoreOf(polygons, o) {
		t.Error("an outline knows polygons that are not its own")
	}
}

// failing is a file on a full disk.
type failing struct{ room int }

func (f *failing) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestExportToAFullDisk(t *testing.T) {
	s := storetest.New(t)
	mustImport(t, Lakes, s, nil, aLake)
	mustImport(t, Observations, s, nil, "lake_id,date,chl,data_type\nx,2024-01-01,1,satellite\n")
	for _, format := range []Format{FormatCSV, FormatGeoJSON} {
		if _, err := ExportLakes(t.Context(), s, &failing{20}, format); err == nil {
			t.Errorf("lakes in format %d: want an error", format)
		}
	}
	if _, err := ExportObservations(t.Context(), s, &failing{20}); err == nil {
		t.Error("observations: want an error")
	}
}
