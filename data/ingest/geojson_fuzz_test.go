package ingest

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

// FuzzCollection reads features without a store, which is a thousand times faster than FuzzLakes.
func FuzzCollection(f *testing.F) {
	for _, seed := range []string{
		features(featureOf(`"id":"a","name":"A"`, pointGeometry), featureOf(`"id":"b","name":"B","area_km2":null`, island), featureOf(`"id":"c"`, box)),
		features(featureOf(`"ID":1,"name":"\u00c4","state":"","lat":"53,42","lon":12.7,"x":[{}]`, box), featureOf("", "null"), "7"),
		`{"features":[{"type":"Feature","id":"x","properties":{"name":"X"},"geometry":{"type":"MultiPolygon","coordinates":` +
			`[[[[179,1],[180,1],[180,2]]],[[[-180,1],[-179,1],[-180,2,7]]]]}}],"type":"FeatureCollection","crs":{"properties":{"name":"EPSG:4326"}}}`,
		features(featureOf(`"id":"a","name":"A"`+strings.Repeat(`,"p":[{"q":null}]`, maxProperties-2), pointGeometry), featureOf(strings.Repeat(`"p":1,`, maxProperties)+`"p":1`, "null")),
		features(strings.Replace(featureOf(`"id":"a"`, box), "{", "{"+strings.Repeat(`"m":{"a":1,"a":true},`, maxMembers), 1)),
		features(featureOf(`"id":"a","name":"A"`, `{"coordinates":[[[1,1,1,1],[2,1],[1,1e999]],[[[]]]],"crs":null,"type":"Polygon"}`)),
		"{\"type\":\"FeatureCollection\",\"features\":[{\"\xff\":\"\\ud800\",\"type\":\"Feature\"},{}]}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rs, err := openRows(bufio.NewReaderSize(strings.NewReader(text), maxRowBytes), "a.json", charset{}, &layout{columns: lakeColumns(), json: featureCollection})
		if err != nil {
			return
		}
		if _, ok := rs.(*collection); !ok {
			return
		}
		for number := 1; ; number++ {
			r, err := rs.next()
			if err == io.EOF && !json.Valid([]byte(strings.TrimPrefix(text, "\ufeff"))) {
				t.Fatal("a file that is not JSON was read to its end")
			}
			var bad badRow
			if errors.As(err, &bad) {
				if bad == "" {
					t.Fatalf("feature %d is rejected without a reason", number)
				}
				continue
			}
			if err == io.EOF && rs.number() != number-1 {
				t.Fatalf("%d features at the end, want %d", rs.number(), number-1)
			}
			if err != nil {
				return
			}
			if rs.number() != number {
				t.Fatalf("number() = %d, want %d", rs.number(), number)
			}
			l, err := lakeKind{}.parse(r)
			if err != nil {
				continue
			}
			if err := l.Check(); err != nil {
				t.Fatalf("%+v: %v", l, err)
			}
			if l.Outline != "" && (r.has.lacks(lakeOutline) || r.has.lacks(lakeArea)) {
				t.Fatalf("the outline and area of %+v would not be stored", l)
			}
		}
	})
}
