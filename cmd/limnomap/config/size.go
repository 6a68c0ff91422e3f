package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A ByteSize is a number of bytes, written as 64MiB, 1GB or 4096.
type ByteSize int64

// byteUnits are those of IEC 80000-13 (KiB) and of the SI (kB).
var byteUnits = []struct {
	suffix string
	bytes  float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
	{"B", 1}, {"", 1},
}

func (s *ByteSize) UnmarshalText(text []byte) error {
	for _, u := range byteUnits {
		number, ok := strings.CutSuffix(string(text), u.suffix)
		if !ok {
			continue
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(f >= 0 && f*u.bytes < math.MaxInt64) {
			break
		}
		*s = ByteSize(f * u.bytes)
		return nil
	}
	return fmt.Errorf("size %q is not a number of bytes such as 64MiB, 1GiB or 500MB", text)
}

// MarshalText writes the size in the largest binary unit that divides it.
func (s ByteSize) MarshalText() ([]byte, error) {
	unit := byteUnits[len(byteUnits)-1]
	for _, u := range byteUnits[:4] {
		if s != 0 && int64(s)%int64(u.bytes) == 0 {
			unit = u
		}
	}
	return []byte(strconv.FormatInt(int64(s)/int64(unit.bytes), 10) + unit.suffix), nil
}
