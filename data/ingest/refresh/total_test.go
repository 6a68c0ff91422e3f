package refresh

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"limnomap/data/ingest"
	"limnomap/data/store/storetest"
)

// All files of a refresh together are bounded, in a folder and of URLs; the source with which they are too large is named.
func TestTotalSize(t *testing.T) {
	total := int64(len(lakes) + len(observations) + len(lakes))
	for _, test := range []struct {
		allowed int64
		reason  string
		named   string
	}{
		{total, "", ""},
		{total - 1, sizeReason, "/c.csv"},
		{total - int64(len(lakes)), sizeReason, "/c.csv"},
		{total - int64(len(lakes)) - 1, sizeReason, "/b.csv"},
		{int64(len(lakes)) - 1, sizeReason, "a.csv"},
	} {
		for _, length := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d bytes, length known: %t", test.allowed, length), func(t *testing.T) {
				s, o, dir := storetest.New(t), newOffice(t), t.TempDir()
				serve := func(path, text string) {
					o.serve(path, func(w http.ResponseWriter, r *http.Request) {
						if length {
							w.Header().Set("Content-Length", fmt.Sprint(len(text)))
						} else {
							w.(http.Flusher).Flush()
						}
						io.WriteString(w, text)
					})
				}
				write(t, dir, "a.csv", lakes)
				serve("/b.csv", observations)
				serve("/c.csv", strings.ReplaceAll(lakes, "a,See A", "c,See C"))
				g := newRig(t, s, []string{dir, o.URL + "/b.csv", o.URL + "/c.csv"}, Options{MaxTotal: test.allowed})
				_, _, err := g.once(t, test.reason)
				if test.reason == "" {
					holds(t, s, 1, 3, "5")
					return
				}
				if want := fmt.Sprintf("more than %d bytes together", test.allowed); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), test.named) {
					t.Errorf("error %v, want %q and %s", err, want, test.named)
				}
				holds(t, s, 0, 0)
			})
		}
	}
}

// After decompression the files may be eight times as large as MaxTotal.
func TestTotalSizeExpanded(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	io.WriteString(w, "id,name,lat,lon,note\n")
	for i := range 1000 {
		fmt.Fprintf(w, "lake_%d,A,50,10,%0100d\n", i, 0)
	}
	must(t, w.Close())
	for _, test := range []struct {
		allowed int64
		reason  string
	}{{200_000, ""}, {10_000, sizeReason}} {
		s, dir := storetest.New(t), t.TempDir()
		write(t, dir, "a.csv.gz", z.String())
		_, _, err := newRig(t, s, []string{dir}, Options{MaxTotal: test.allowed}).once(t, test.reason)
		if test.reason != "" && !strings.Contains(err.Error(), "expand to more than 80000 bytes") {
			t.Errorf("%d bytes allowed: error %v", test.allowed, err)
		}
	}
}

// A download does not fill the disk of temporary files: its length is checked before, and the free space while it goes on.
func TestFullTemporaryDisk(t *testing.T) {
	large := lakes + strings.Repeat("\n", 3*checkRoomEvery)
	for name, header := range map[string]func(http.ResponseWriter){
		"by Content-Length": func(w http.ResponseWriter) { w.Header().Set("Content-Length", fmt.Sprint(len(large))) },
		"while it goes on":  func(w http.ResponseWriter) { w.(http.Flusher).Flush() },
	} {
		t.Run(name, func(t *testing.T) {
			s, o := storetest.New(t), newOffice(t)
			o.serve("/lakes.csv", func(w http.ResponseWriter, r *http.Request) {
				header(w)
				io.WriteString(w, large)
			})
			g := newRig(t, s, []string{o.URL + "/lakes.csv"}, Options{})
			free := int64(2 * checkRoomEvery)
			g.space = func(dir string, need int64) error {
				if dir != os.TempDir() {
					t.Errorf("checked is %s, want the folder of temporary files", dir)
				}
				if free < need {
					return errors.New("too little is free")
				}
				free -= need
				return nil
			}
			_, _, err := g.once(t, diskReason)
			if err == nil || !strings.Contains(err.Error(), "too little is free") || !strings.Contains(err.Error(), "TMPDIR") || len(g.waited) > 0 {
				t.Errorf("error %v after waits %v, want one that says so, and no wait", err, g.waited)
			}
			holds(t, s, 0, 0)
		})
	}
}

// An import that takes too long ends, and the refresh says why.
func TestImportTimeout(t *testing.T) {
	s, dir := storetest.New(t), t.TempDir()
	write(t, dir, "a.csv", lakes)
	_, _, err := newRig(t, s, []string{dir}, Options{ImportTimeout: time.Nanosecond}).once(t, slowReason)
	if err == nil || !strings.Contains(err.Error(), "longer than allowed, 1ns") {
		t.Errorf("error %v, want the time that is allowed", err)
	}
	holds(t, s, 0, 0)
}

// Official statements are refreshed with the lakes that they are about, and counted with their rows.
func TestStatementsAreRefreshed(t *testing.T) {
	const statements = "id,lake_id,kind,cause,issuer,issued,valid_from,valid_until\ns1,a,closure,bacteria,Amt,2024-07-01,2024-07-01,\n"
	dir, s := t.TempDir(), storetest.New(t)
	write(t, dir, "lakes.csv", lakes)
	write(t, dir, "a_statements.csv", statements)
	g := newRig(t, s, []string{dir}, Options{})
	result, state, _ := g.once(t, "")
	if result.Reports.Advisories.Added != 1 || state.Rows.Added != 3 {
		t.Errorf("refreshed %+v, the database says %+v, want 3 rows added, of which one is a statement", result, state.Rows)
	}
	write(t, dir, "a_statements.csv", statements+"s2,c,closure,bacteria,Amt,2024-07-01,2024-07-01,\n")
	_, state, err := g.once(t, rowsReason)
	if err == nil || !strings.Contains(err.Error(), "1 of 4 rows rejected") || state.Rows.Rejected != 1 {
		t.Errorf("error %v, the database says %+v, want 1 of 4 rows rejected", err, state.Rows)
	}
	g.logRejected(ingest.Reports{Advisories: ingest.Report{Bad: []ingest.BadRow{{File: "s", Number: 3, Reason: "why"}}}})
	if !strings.Contains(g.log.String(), "s, line 3: why") {
		t.Errorf("the log is %s", g.log)
	}
	all, _, err := s.Advisories(t.Context())
	if err != nil || len(all) != 1 || all[0].ID != "s1" {
		t.Errorf("stored are %+v, %v, want s1", all, err)
	}
}
