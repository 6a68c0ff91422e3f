package connections

import (
	"testing"
)

func TestDefaultTotal(t *testing.T) {
	const mib = 1 << 20
	for _, test := range []struct {
		memory, files uint64
		want          int
	}{
		{0, 0, maxTotal},
		{921 * mib, 1 << 20, 1842},
		{921 * mib, 1024, 768},
		{64 * mib, 1 << 20, 128},
		{16 * mib, 1 << 20, minTotal},
		{1 << 40, 1 << 62, maxTotal},
		{0, 20000, 20000 - spareFiles},
		{0, 64, 32},
		{0, 1, 1},
	} {
		if got := DefaultTotal(test.memory, test.files); got != test.want {
			t.Errorf("DefaultTotal(%d, %d) = %d, want %d", test.memory, test.files, got, test.want)
		}
	}
}

func TestNewBounds(t *testing.T) {
	for _, test := range []struct {
		total, perAddress                  int
		wantAddress, wantNetwork, reserved int
	}{
		{1842, 0, 460, 921, 115},
		{1000, 10, 10, 80, 62},
		{1000, 900, 900, 900, 62},
		{10, 50, 10, 10, 5},
		{1, 0, 1, 1, 0},
		{1 << 62, 1 << 61, 1 << 61, 1 << 61, 1 << 58},
	} {
		b := NewBounds(test.total, test.perAddress, nil)
		if b.PerAddress != test.wantAddress || b.PerNetwork != test.wantNetwork || b.Reserved() != test.reserved {
			t.Errorf("NewBounds(%d, %d) = %d and %d, reserved %d; want %d and %d, %d", test.total, test.perAddress,
				b.PerAddress, b.PerNetwork, b.Reserved(), test.wantAddress, test.wantNetwork, test.reserved)
		}
	}
}
