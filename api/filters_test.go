package api

import (
	"math"
	"net/http"
	"net/url"
	"testing"
	"unicode/utf8"

	"limnomap/api/params"
	"limnomap/data"
)

func FuzzBox(f *testing.F) {
	for _, seed := range []string{
		"min_lat=47&max_lat=55&min_lon=5.5&max_lon=15.5", "min_lon=179&max_lon=-179", "min_lat=NaN", "max_lat=1e400",
		"bbox=5.5,47,15.5,55", "bbox=179,-17,-179,16", "bbox=1,2,3,NaN", "bbox=1,5,3,4", "bbox=1,2,3", "bbox=1,2,3,4&min_lat=1", "bbox=1e400,2,3,0x4p0",
		"min_lat=%2B1", "min_lat=0x1p3", "min_lat=1_0", "min%5flat=1&min_lat=2", "min_lat=%zz", "risk=low&risk=low", "risk=%00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		p := params.Of(&http.Request{URL: &url.URL{RawQuery: query}})
		b := bboxOrBoxOf(&p)
		risk := riskOf(&p)
		if err := p.Err(); err != nil {
			for _, e := range p.Errors() {
				if e.Detail == "" || !utf8.ValidString(e.Detail) || len(e.Detail) > 512 {
					t.Fatalf("detail of %q = %q", query, e.Detail)
				}
			}
			return
		}
		for _, v := range []float64{b.South, b.North, b.West, b.East} {
			if math.IsNaN(v) || math.Abs(v) > 180 {
				t.Fatalf("box of %q = %+v", query, b)
			}
		}
		if b.South > b.North || math.Abs(b.South) > 90 || math.Abs(b.North) > 90 {
			t.Fatalf("box of %q = %+v", query, b)
		}
		if risk > data.RiskHigh {
			t.Fatalf("risk of %q = %d", query, risk)
		}
		// The usual way to read a query finds the same parameters.
		if values, err := url.ParseQuery(query); err == nil && b != data.WholeWorld() {
			if values.Get("min_lat")+values.Get("max_lat")+values.Get("min_lon")+values.Get("max_lon")+values.Get("bbox") == "" {
				t.Fatalf("box of %q = %+v, but no bound is given", query, b)
			}
		}
	})
}
