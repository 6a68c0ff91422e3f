package refresh

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"

	"limnomap/data/store/storetest"
)

func TestChecksumsOfURLs(t *testing.T) {
	sum := sha256.Sum256([]byte(lakes))
	field := "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
	wrongField := "sha-256=:" + strings.Repeat("A", 43) + "=:"
	html := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, "<h1>Seen</h1>")
	}
	tests := []struct {
		name    string
		field   string
		sumFile http.HandlerFunc
		require bool
		reason  string
	}{
		{"none", "", nil, false, ""},
		{"none where one is required", "", nil, true, noChecksumReason},
		{"in a field", field, nil, true, ""},
		{"a wrong field", wrongField, nil, false, checksumReason},
		{"a field that is none", "sha-256=x", nil, false, checksumReason},
		{"checksum file", "", plain(sumText(lakes, "lakes.csv")), true, ""},
		{"wrong checksum file", "", plain(sumText(observations, "lakes.csv")), false, checksumReason},
		{"of another file", "", plain(sumText(lakes, "seen.csv")), false, checksumReason},
		{"forbidden", "", code(403), false, ""},
		{"a page for every address", "", html, false, ""},
		{"unavailable at first", "", failing(1, code(503), plain(sumText(lakes, "lakes.csv"))), true, ""},
		{"cut", "", cutShort, false, cutReason},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, o := storetest.New(t), newOffice(t)
			o.serve("/lakes.csv", func(w http.ResponseWriter, _ *http.Request) {
				if test.field != "" {
					w.Header().Set("Repr-Digest", test.field)
				}
				io.WriteString(w, lakes)
			})
			if test.sumFile != nil {
				o.serve("/lakes.csv.sha256", test.sumFile)
			}
			newRig(t, s, []string{o.URL + "/lakes.csv"}, Options{RequireChecksum: test.require}).once(t, test.reason)
			if test.reason == "" {
				holds(t, s, 1, 2)
			} else {
				holds(t, s, 0, 0)
			}
		})
	}
}

// A file that the server has compressed is kept compressed: the checksum is of the compressed file.
func TestPackedFile(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(lakes)); err != nil {
		t.Fatal(err)
	}
	must(t, z.Close())
	for name, encoding := range map[string]string{"a file": "", "an encoding": "gzip"} {
		t.Run(name, func(t *testing.T) {
			s, o := storetest.New(t), newOffice(t)
			o.serve("/lakes", func(w http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get("Accept-Encoding"); got != "identity" {
					t.Errorf("Accept-Encoding %q", got)
				}
				if got := r.Header.Get("User-Agent"); got != "limnomap/test" {
					t.Errorf("User-Agent %q", got)
				}
				if encoding != "" {
					w.Header().Set("Content-Encoding", encoding)
				}
				w.Write(packed.Bytes())
			})
			o.serve("/lakes.sha256", plain(sumText(packed.String(), "lakes")))
			newRig(t, s, []string{o.URL + "/lakes"}, Options{RequireChecksum: true}).once(t, "")
			holds(t, s, 1, 2)
		})
	}
}
