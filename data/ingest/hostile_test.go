package ingest

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"limnomap/data"
	"limnomap/data/store/storetest"
	"limnomap/data/testsize"
)

// endless repeats a text up to a number of bytes, and counts the bytes read.
type endless struct {
	text  string
	bytes int
	read  int
}

func (e *endless) Read(p []byte) (n int, err error) {
	if e.read >= e.bytes {
		return 0, io.EOF
	}
	for n < len(p) && e.read < e.bytes {
		c := copy(p[n:], e.text[e.read%len(e.text):])
		n, e.read = n+c, e.read+c
	}
	return n, nil
}

// Endless input is rejected after a bounded number of bytes and with bounded memory: a line, a quoted field, the name of a
// column, many columns, a value in GeoJSON, nested arrays, a number, an unknown member.
func TestEndlessFilesAreRejected(t *testing.T) {
	const (
		table  = "id,name,lat,lon\n"
		opened = `{"type":"FeatureCollection","features":[`
		half   = 512 << 20 // never read completely
	)
	type endlessFile struct {
		name, start, repeated string
		most                  int // bytes that may be read
		want                  string
	}
	for _, tt := range testsize.Cases(4, []endlessFile{
		{"line without end", table + "a,", "x", 4 << 20, "bytes"},
		{"zeros", "", "\x00", 4 << 20, ""},
		{"string without end", opened + `{"type":"`, "x", 80 << 20, "does not end within"},
		{"arrays in arrays", opened + `{"geometry":{"coordinates":`, "[", 80 << 20, "depth"},
		{"header without end", "", "x", 4 << 20, ""},
		{"columns without end", "id", ",name", 4 << 20, ""},
		{"quoted field without end", table + `a,"`, "x\n", 4 << 20, "bytes"},
		{"feature without end", opened, " ", 80 << 20, "does not end within"},
		{"number without end", opened + `{"properties":{"lat":1`, "0", 80 << 20, "does not end within"},
		{"a member that is none of ours", `{"type":"FeatureCollection","name":"`, "x", 80 << 20, "does not end within"},
		{"a name without end", `{"`, "x", 80 << 20, ""},
	}) {
		t.Run(tt.name, func(t *testing.T) {
			rest := &endless{text: tt.repeated, bytes: half}
			store := storetest.New(t)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			_, err := Lakes(t.Context(), store, []File{fileOf("hostile", func() io.Reader { return io.MultiReader(strings.NewReader(tt.start), rest) })}, nil)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 2000 {
				t.Errorf("error = %.300v, want a short one with %q", err, tt.want)
			}
			if rest.read > tt.most {
				t.Errorf("%d bytes were read, want %d at most", rest.read, tt.most)
			}
			// All allocations, not only what is in use: a decoder's buffer doubles, and all its sizes add up.
			if got := after.TotalAlloc - before.TotalAlloc; got > 8*uint64(tt.most) {
				t.Errorf("%d bytes were allocated for %d", got, rest.read)
			}
		})
	}
}

// An impossible number is one bad row, and takes no more time than others.
func TestImpossibleNumbers(t *testing.T) {
	for _, number := range []string{"1e999999999", "-1e400", "1e-999999999", strings.Repeat("9", 100_000), "0." + strings.Repeat("0", 100_000) + "1", "1e" + strings.Repeat("9", 10_000)} {
		text := `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"id":"a","name":"A","area_km2":` + number +
			`},"geometry":{"type":"Point","coordinates":[` + number + `,50]}}]}`
		got := mustImport(t, Lakes, storetest.New(t), &Options{SkipBad: true}, text)
		if got.Read != 1 || got.Rejected+got.Added != 1 {
			t.Errorf("%.20s: report = %+v, want one row, rejected or taken for zero", number, got)
		}
		if len(got.Bad) == 1 && len(got.Bad[0].Reason) > 500 {
			t.Errorf("%.20s: the reason has %d bytes", number, len(got.Bad[0].Reason))
		}
	}
}

// An import reads at most maxRows rows of all its files together. The next row is an error that says so, after the rows before
// it were passed on.
func TestRowsAreBounded(t *testing.T) {
	in := newInput(t.Context(), &Options{})
	in.rows = maxRows - 3 // read before
	lake := "id,name,lat,lon\nx,X,50,10\n"
	r := newReader(kind[data.Lake](lakeKind{layout: &layout{columns: lakeColumns()}}), in, files(lake, lake+"y,Y,50,10\nz,Z,50,10\n", lake))
	go r.read() // ends with the error
	taken, last := 0, batch[data.Lake]{}
	for last = range r.batches {
		taken += len(last.rows)
	}
	if taken != 3 || !errors.Is(last.err, errTooManyRows) || !strings.HasPrefix(last.err.Error(), "b.csv: ") {
		t.Errorf("%d rows were taken before %v; want 3, and %v of b.csv", taken, last.err, errTooManyRows)
	}
}

// The names of files and columns in a report cannot control a terminal or change the order of its text.
func TestReportIsSafe(t *testing.T) {
	report := mustImport(t, Lakes, storetest.New(t), nil, "id,name,lat,lon,\u202ex\x1b[2J\na,A\u202e,50,10,1\n")
	report.Bad[0].File = "lakes\u2067\x1b[31m.csv"
	text := report.String()
	if strings.ContainsAny(text, "\u202e\u2067\x1b") || !strings.Contains(text, `lakes\u2067\u001b[31m.csv, line 2 (a): name`) || !strings.Contains(text, "U+202E at character 2") {
		t.Errorf("the report is %q", text)
	}
}

// heapAtEnd is a table of n lakes with a long unknown column. At its end it measures the heap, while the import is going on.
type heapAtEnd struct {
	n, length int
	written   int
	row       strings.Reader
	heap      uint64
}

func (h *heapAtEnd) Read(p []byte) (int, error) {
	if h.row.Len() == 0 {
		if h.written == h.n {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			h.heap = m.HeapAlloc
			return 0, io.EOF
		}
		h.written++
		h.row.Reset(fmt.Sprintf("lake_%d,L,50,10,%s\n", h.written, strings.Repeat("x", h.length)))
	}
	return h.row.Read(p)
}

// What an import remembers of a row is not the whole row: new lakes with a long unknown column need no more memory than the
// batches that are in work.
func TestNewLakesDoNotKeepTheirRows(t *testing.T) {
	for _, lakes := range []int{100, 4000} {
		table := &heapAtEnd{n: lakes, length: 60_000}
		file := fileOf("lakes.csv", func() io.Reader { return io.MultiReader(strings.NewReader("id,name,lat,lon,note\n"), table) })
		report, err := Lakes(t.Context(), storetest.New(t), []File{file}, nil)
		if err != nil || report.Added != lakes {
			t.Fatalf("%d lakes added, want %d; error %v", report.Added, lakes, err)
		}
		t.Logf("%d lakes: heap of %d MB", lakes, table.heap>>20)
		if most := uint64(100 << 20); table.heap > most {
			t.Errorf("%d lakes with %d bytes each: %d bytes of heap, want at most %d", lakes, table.length, table.heap, most)
		}
	}
}
