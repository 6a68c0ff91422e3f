package ingest

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"limnomap/data/store/storetest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func gzipped(tb testing.TB, text string) string {
	tb.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.Copy(w, strings.NewReader(text)); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func zstandard(tb testing.TB, text string) string {
	tb.Helper()
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		tb.Fatal(err)
	}
	defer w.Close()
	return string(w.EncodeAll([]byte(text), nil))
}

const skippable = "\x5a\x2a\x4d\x18\x03\x00\x00\x00abc"

func TestCompressed(t *testing.T) {
	table := "\ufeffid;name;lat;lon\r\nm;Müritz;53,42;12,7\r\n" + strings.Repeat("x;X;50;10\r\n", 2_000)
	half := len(table) / 2
	collection := features(featureOf(`"id":"m","name":"Müritz"`, `{"type":"Point","coordinates":[12.7,53.42]}`),
		featureOf(`"id":"x","name":"X"`, `{"type":"Point","coordinates":[10,50]}`))
	plain := storetest.New(t)
	mustImport(t, Lakes, plain, nil, table)
	want, _ := stored(t, plain)
	for name, text := range map[string]string{
		"gzip":                       gzipped(t, table),
		"gzip in members":            gzipped(t, table[:half]) + gzipped(t, table[half:]),
		"zstd":                       zstandard(t, table),
		"zstd in frames":             zstandard(t, table[:half]) + zstandard(t, table[half:]),
		"zstd after a skipped frame": skippable + zstandard(t, table),
		"GeoJSON in gzip":            gzipped(t, collection),
		"GeoJSON in zstd":            zstandard(t, collection),
	} {
		t.Run(name, func(t *testing.T) {
			s := storetest.New(t)
			var last int64
			r := mustImport(t, Lakes, s, &Options{Progress: func(n int64) { last = n }}, text)
			if got, _ := stored(t, s); !slices.Equal(got, want) || r.Added != 2 {
				t.Errorf("stored %+v, report %+v, want %+v", got, r, want)
			}
			if last != int64(len(text)) {
				t.Errorf("progress up to %d, want the file's own %d bytes", last, len(text))
			}
			// The size of reads does not matter.
			if r, err := Lakes(t.Context(), s, []File{fileOf("a", func() io.Reader { return iotest.HalfReader(strings.NewReader(text)) })}, nil); err != nil || r.Unchanged != r.Read {
				t.Errorf("in small reads: %+v, %v", r, err)
			}
		})
	}
}

func TestBadCompression(t *testing.T) {
	z, zs := gzipped(t, aLake), zstandard(t, aLake)
	flipped := func(s string) string { return s[:len(s)-5] + string(s[len(s)-5]^1) + s[len(s)-4:] } // in the checksum, or just before it
	for _, test := range []struct{ name, text, want string }{
		{"gzip cut short", z[:len(z)-6], "this gzip file ends early"},
		{"gzip with a wrong sum", flipped(z), "this gzip file is damaged"},
		{"gzip and then something", z + "abc", "this gzip file"},
		{"zstd cut short", zs[:len(zs)-3], "this zstd file ends early"},
		{"zstd damaged", zs[:4] + "\xff" + zs[5:], "this zstd file"},
		{"gzip in gzip", gzipped(t, z), "compressed twice, the second time by gzip"},
		{"nothing in gzip", gzipped(t, ""), "the file is empty"},
		{"bzip2", "BZh91AY&SY", "bzip2 or xz: want gzip or zstd"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New(t)
			r, err := Lakes(t.Context(), s, files(test.text), &Options{SkipBad: true})
			if err == nil || r.Written || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "a.csv: ") {
				t.Errorf("Lakes = %+v, %v, want an error with %q", r, err, test.want)
			}
			if lakes, _ := stored(t, s); len(lakes) > 0 {
				t.Errorf("stored %v, want nothing", lakes)
			}
		})
	}
	// Errors of the expanded content are reported as usual.
	broken := errors.New("the disk is gone")
	file := fileOf("a", func() io.Reader { return io.MultiReader(strings.NewReader(z[:20]), iotest.ErrReader(broken)) })
	_, err := Lakes(t.Context(), storetest.New(t), []File{file}, nil)
	if !errors.Is(err, broken) || strings.Contains(err.Error(), "damaged") {
		t.Errorf("a file that cannot be read gave %v", err)
	}
}

// zeros returns zeros up to a length.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A file of a hundred kilobytes that expands to 128 MiB fails soon after the size that every file may have.
func TestBombs(t *testing.T) {
	const size = 128 << 20
	var z, zs bytes.Buffer
	g := gzip.NewWriter(&z)
	s, err := zstd.NewWriter(&zs, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.WriteCloser{g, s} {
		if _, err := io.Copy(w, io.LimitReader(zeros{}, size)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, bomb := range map[string]*bytes.Buffer{"gzip": &z, "zstd": &zs} {
		packed := int64(bomb.Len())
		r, end, err := expand(bomb)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, r)
		end()
		if most := freeExpansion + maxExpansion*packed + maxRowBytes; err == nil || n > most || n < freeExpansion || !strings.Contains(err.Error(), name+" file expands to more than 250 times") || !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %d of %d bytes, %v, want an error after at most %d", name, n, size, err, most)
		}
	}
}
