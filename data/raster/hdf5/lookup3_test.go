package hdf5

import "testing"

// The values are those of the comments of Jenkins' lookup3.c (driver5, with the initial value 0).
func TestLookup3(t *testing.T) {
	for _, test := range []struct {
		in   string
		want uint32
	}{
		{"", 0xdeadbeef},
		{"Four score and seven years ago", 0x17770551},
	} {
		if got := lookup3([]byte(test.in)); got != test.want {
			t.Errorf("lookup3(%q) = %08x, want %08x", test.in, got, test.want)
		}
	}
}
