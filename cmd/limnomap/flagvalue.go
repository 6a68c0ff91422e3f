package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A byteSize is a number of bytes, written as 64MiB, 1GB or 4096.
type byteSize int64

// Multiples as IEC 80000-13 (KiB) and the SI (kB) have them.
var byteUnits = []struct {
	suffix string
	bytes  float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
	{"B", 1}, {"", 1},
}

func (s *byteSize) UnmarshalText(text []byte) error {
	for _, u := range byteUnits {
		number, ok := strings.CutSuffix(string(text), u.suffix)
		if !ok {
			continue
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(f >= 0 && f*u.bytes < math.MaxInt64) {
			break
		}
		*s = byteSize(f * u.bytes)
		return nil
	}
	return fmt.Errorf("size %q is not a number of bytes such as 64MiB, 1GiB or 500MB", text)
}

// A period is a length of time in which days may be counted: 28d, 36h, 90m.
type period time.Duration

const day = 24 * time.Hour

func (p *period) UnmarshalText(text []byte) error {
	if days, ok := strings.CutSuffix(string(text), "d"); ok {
		// The bound keeps the product within a time.Duration.
		n, err := strconv.Atoi(days)
		if err == nil && n >= 0 && n <= 36500 {
			*p = period(time.Duration(n) * day)
			return nil
		}
	} else if d, err := time.ParseDuration(string(text)); err == nil && d >= 0 {
		*p = period(d)
		return nil
	}
	return fmt.Errorf("period %q is not a length of time such as 28d, 36h or 90m", text)
}
