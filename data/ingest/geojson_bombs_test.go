package ingest

import (
	"bufio"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"limnomap/data/store/storetest"
)

// A feature of 12 MiB, to which 50 kB can expand, takes little memory, whatever it repeats. All allocations are counted, not
// only those in use at a time.
func TestFeatureBombs(t *testing.T) {
	const (
		opened   = `{"type":"FeatureCollection","features":[`
		feature  = opened + `{"type":"Feature","geometry":null,"properties":{"id":"x","name":"X","lat":1,"lon":1}`
		property = opened + `{"type":"Feature","geometry":null,"properties":{"id":"x","name":"X","lat":1,"lon":1`
		outline  = property + `,"limnomap_outline":"`
		polygon  = opened + `{"type":"Feature","properties":{"id":"x","name":"X"},"geometry":{"type":"Polygon","coordinates":[`
		most     = 64 << 20
	)
	for _, tt := range []struct {
		name, start, repeated, end string
		bytes                      int
		want                       string // in the error; a row that is accepted if empty
	}{
		{"properties", property, `,"a":1`, `}}]}`, 12 << 20, "more than 1000 properties"},
		{"names", property, `,"name":"` + strings.Repeat("x", 60_000) + `"`, `}}]}`, 12 << 20, "name"},
		{"long names of properties", property, `,"` + strings.Repeat("x", 5_000) + `":1`, `}}]}`, 12 << 20, "more than 65536 bytes together"},
		{"properties of a value", property + `,"a":{"b":1`, `,"b":1`, `}}}]}`, 12 << 20, ""},
		{"array", property + `,"a":[1`, `,1`, `]}}]}`, 12 << 20, ""},
		{"array for a name", opened + `{"type":"Feature","geometry":null,"properties":{"id":"x","lat":1,"lon":1,"name":[1`, `,1`, `]}}]}`, 12 << 20, "name"},
		{"text", property + `,"a":"`, "x", `"}}]}`, 12 << 20, "does not end within"},
		{"text of 10 MiB", property + `,"a":"`, "x", `"}}]}`, 10 << 20, ""},
		{"number", property + `,"a":1`, "0", `}}]}`, 12 << 20, "does not end within"},
		{"white space", property, " ", `}}]}`, 12 << 20, "does not end within"},
		{"outline", outline, "A", `"}}]}`, 12 << 20, "does not end within"},
		{"outlines", property, `,"limnomap_outline":"` + strings.Repeat("A", 1<<20) + `"`, `}}]}`, 12 * (1<<20 + 22), "limnomap_outline"},
		{"members", feature, `,"a":1`, `}]}`, 12 << 20, "more than 100 members"},
		{"reference system", feature + `,"crs":[1`, `,1`, `]}]}`, 12 << 20, "crs"},
		{"members of a geometry", opened + `{"type":"Feature","geometry":{"a":1`, `,"a":1`, `}}]}`, 12 << 20, "more than 100 members"},
		{"points", polygon + `[[1,1]`, `,[1,1]`, `]]}}]}`, 12 << 20, "at most 200000 points"},
		{"numbers of a point", polygon + `[[1,1`, `,1`, `]]]}}]}`, 12 << 20, "at most 4 numbers"},
		{"rings", polygon + `[[1,1],[1,2],[2,1]]`, `,[[1,1],[1,2],[2,1]]`, `]}}]}`, 12 << 20, "at most 2000 rings"},
		{"members of the collection", `{"type":"FeatureCollection"`, `,"a":1`, `,"features":[]}`, 12 << 20, "more than 100 members"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := io.MultiReader(strings.NewReader(tt.start), &endless{text: tt.repeated, bytes: tt.bytes / len(tt.repeated) * len(tt.repeated)}, strings.NewReader(tt.end))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			rs, err := openRows(bufio.NewReaderSize(text, maxRowBytes), "a.json", charset{}, &layout{columns: lakeColumns(), json: featureCollection})
			var bad badRow
			var r *row
			for err == nil {
				if r, err = rs.next(); err == nil {
					_, err = lakeKind{}.parse(r)
				}
			}
			if errors.As(err, &bad) {
				if _, end := rs.next(); end != io.EOF {
					t.Errorf("after the bad feature: %v, want the end", end)
				}
			}
			runtime.ReadMemStats(&after)
			switch {
			case tt.want == "" && err != io.EOF:
				t.Errorf("error = %.300v, want none", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 1000):
				t.Errorf("error = %.300v, want a short one with %q", err, tt.want)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > most {
				t.Errorf("%d bytes were allocated, want at most %d", got, most)
			}
		})
	}
}

// A feature may have exactly as many members and properties as are allowed.
func TestFeatureBounds(t *testing.T) {
	geometry := `"geometry":{"type":"Point","coordinates":[1,1]` + strings.Repeat(`,"m":1`, maxMembers-2) + `}`
	full := `{"type":"Feature","properties":{"id":"x","name":"X"` + strings.Repeat(`,"p":1`, maxProperties-2) + `},` + geometry + strings.Repeat(`,"m":1`, maxMembers-3) + `}`
	if r := mustImport(t, Lakes, storetest.New(t), nil, features(full)); r.Added != 1 {
		t.Errorf("report: %v", r)
	}
	for name, text := range map[string]string{
		"feature":    strings.Replace(full, `"p":1`, `"p":1,"p":1`, 1),
		"properties": strings.Replace(full, `"m":1}`, `"m":1,"m":1}`, 1),
	} {
		if _, err := Lakes(t.Context(), storetest.New(t), files(features(full, text)), &Options{SkipBad: true}); err == nil || !strings.Contains(err.Error(), "a.csv: feature 2: more than 1") {
			t.Errorf("%s: error = %v, want feature 2 with more than allowed", name, err)
		}
	}
}
