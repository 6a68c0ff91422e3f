package pixels

import (
	"fmt"
	"math"
)

// MaxSpreadBytes bounds the codes of which a [Spread] is computed: those of some 400,000 pixels, 36,000 km² at 300 m.
const MaxSpreadBytes = 256 << 10

// A Spread is how the values of the pixels of a lake are spread.
type Spread struct {
	Valid    int     // pixels with a value
	P10, P90 float64 // percentiles of the values in µg/l, of which those below the limit of detection are 0
	counts   [Codes]int
}

// SpreadOf returns the spread of the Codes of a [Packed].
func SpreadOf(packed []byte) (*Spread, error) {
	b, err := inflate(packed, MaxCodeBytes)
	if err != nil {
		return nil, fmt.Errorf("pixels: codes: %w", err)
	}
	codes, err := unpackAllCodes(b)
	if err != nil {
		return nil, fmt.Errorf("pixels: codes: %w", err)
	}
	s := new(Spread)
	for _, c := range codes {
		if !c.valid() {
			return nil, fmt.Errorf("pixels: codes: %w", errDamaged)
		}
		s.counts[c]++
		if _, ok := c.Value(); ok {
			s.Valid++
		}
	}
	s.P10, s.P90 = s.percentile(0.1), s.percentile(0.9)
	return s, nil
}

// percentile returns a percentile of the values, between two values in proportion, as numpy does; NaN without values.
func (s *Spread) percentile(p float64) float64 {
	if s.Valid == 0 {
		return math.NaN()
	}
	at, part := math.Modf(p * float64(s.Valid-1))
	return s.value(int(at))*(1-part) + s.value(min(int(at)+1, s.Valid-1))*part
}

// value returns the i-th value in ascending order.
func (s *Spread) value(i int) float64 {
	for c, n := range s.counts { // BelowLimit, which is 0, comes before all others with a value
		if chl, ok := Code(c).Value(); ok {
			if i -= n; i < 0 {
				return chl
			}
		}
	}
	return math.NaN()
}

// Each calls yield with each value that pixels have, in ascending order, and how many have it.
func (s *Spread) Each(yield func(chl float64, n int)) {
	for c, n := range s.counts {
		if chl, ok := Code(c).Value(); ok && n > 0 {
			yield(chl, n)
		}
	}
}
