package store

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

// scannedDetails are details as the databases have them.
var scannedDetails = []string{
	`{"quality":"good"}`,
	`{"flags": ["ice", "biased"], "n_total": 61, "n_valid": 0, "quality": "suspect", "chl_lower": 1.25, "chl_upper": 1200}`,
	`{"chl_upper":0.5,"below_limit":true,"method":"ISO 10260, Größe µm","version":"1.2","secchi_m":-0.05,"water_temperature_c":18.5,"turbidity_ntu":0,"scum_percent":10,"period_start":"2026-07-01","composite":"mean"}`,
}

// Details are scanned in the forms that the databases have.
func TestDetailsAreScanned(t *testing.T) {
	for _, text := range scannedDetails {
		if !new(detailsObject).scan([]byte(text)) {
			t.Errorf("%s is not scanned", text)
		}
	}
	for _, text := range []string{``, `{}`, `[]`, `{"quality":"good"`, `{"quality":"good"}}`, `{"quality":"\u0067ood"}`, "{\"method\":\"\xff\"}", `{"n_valid":1.5}`, `{"n_valid":4294967296}`, `{"chl_lower":01}`, `{"chl_lower":1e3}`,
		`{"chl_lower":.5}`, `{"flags":[]}`, `{"flags":["ice",]}`, `{"colour":"red"}`, `{"Quality":"good"}`, `{"below_limit":false}`, `{"quality":null}`} {
		if new(detailsObject).scan([]byte(text)) {
			t.Errorf("%s is scanned", text)
		}
	}
}

// What is scanned is what encoding/json reads.
func FuzzDetails(f *testing.F) {
	for _, text := range append(scannedDetails, `{"flags":["ice",""],"flags":["x"]}`, `{"n_valid":-0,"chl_lower":-0}`) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var got, want detailsObject
		if !got.scan(text) {
			return
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %+v, want %+v, %v", text, got, want, err)
		}
	})
}

func BenchmarkReadDetails(b *testing.B) {
	for _, text := range scannedDetails {
		b.Run(text[:12], func(b *testing.B) {
			b.ReportAllocs()
			o := fromPixels("", 1, 0)
			for b.Loop() {
				if err := readDetails(&o, []byte(text)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
