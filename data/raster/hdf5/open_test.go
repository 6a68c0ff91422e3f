package hdf5

import (
	"bytes"
	"testing"
)

// openBytes opens a file in memory.
func openBytes(t testing.TB, raw []byte) *File {
	t.Helper()
	f, err := Open(bytes.NewReader(raw), int64(len(raw)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
