package hdf5

import (
	"bytes"
	"testing"
)

// openBytes opens a file in memory.
func openBytes(t testing.TB, raw []byte) *File {
	t.Helper()
	f, err := Open(bytes.NewReader(raw), int64(len(raw)), nil)
	must(t, err)
	return f
}

// must ends the test if err is not nil.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
