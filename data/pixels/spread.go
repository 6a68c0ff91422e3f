package pixels

import (
	"encoding/binary"
	"fmt"
	"math"
)

// limits are those of all profiles, in µg/l: a [Spread] has the number of pixels between them. No code has one of them as its value.
var limits = [...]float64{10, 12, 15, 24, 50, 75}

// A Spread is how the values of the pixels of a lake are spread.
type Spread struct {
	Inside   int     // pixels of the lake
	Valid    int     // of them with a value
	P10, P90 float64 // percentiles of the values in µg/l with two decimals, of which those below the limit of detection are 0; 0 without values
	counts   [len(limits) + 1]int
}

// MaxSpreadBytes is the most bytes of a packed Spread.
const MaxSpreadBytes = (1 + len(limits) + 1 + 2) * binary.MaxVarintLen32

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
	s := &Spread{Inside: len(codes)}
	var counts [Codes]int
	for _, c := range codes {
		if !c.valid() {
			return nil, fmt.Errorf("pixels: codes: %w", errDamaged)
		}
		counts[c]++
	}
	for c, n := range counts {
		if chl, ok := Code(c).Value(); ok {
			s.Valid += n
			s.counts[between(chl)] += n
		}
	}
	if s.Valid > 0 {
		s.P10, s.P90 = percentile(&counts, s.Valid, 0.1), percentile(&counts, s.Valid, 0.9)
	}
	return s, nil
}

// between returns how many limits are below a value.
func between(chl float64) (i int) {
	for i < len(limits) && chl > limits[i] {
		i++
	}
	return i
}

// percentile returns a percentile of the values, between two values in proportion, as numpy does, rounded to two decimals.
func percentile(counts *[Codes]int, valid int, p float64) float64 {
	at, part := math.Modf(p * float64(valid-1))
	return math.Round(100*(valueAt(counts, int(at))*(1-part)+valueAt(counts, min(int(at)+1, valid-1))*part)) / 100
}

// valueAt returns the i-th value in ascending order.
func valueAt(counts *[Codes]int, i int) float64 {
	for c, n := range counts { // BelowLimit, which is 0, comes before all others with a value
		if chl, ok := Code(c).Value(); ok {
			if i -= n; i < 0 {
				return chl
			}
		}
	}
	return math.NaN()
}

// Each calls yield with the number of the pixels whose values are above each limit of a profile and below the next, in ascending order; the first limit is 0.
func (s *Spread) Each(yield func(above float64, n int)) {
	above := 0.0
	for i, n := range s.counts {
		yield(above, n)
		if i < len(limits) {
			above = limits[i]
		}
	}
}

// Pack returns s in some ten bytes.
func (s *Spread) Pack() []byte {
	b := binary.AppendUvarint(nil, uint64(s.Inside))
	for _, p := range [...]float64{s.P10, s.P90} {
		b = binary.AppendUvarint(b, uint64(math.Round(100*p)))
	}
	for _, n := range s.counts {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

// UnpackSpread returns what Pack has packed. It checks all of it.
func UnpackSpread(b []byte) (*Spread, error) {
	var numbers [3 + len(limits) + 1]int
	for i := range numbers {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > MaxPixels {
			return nil, fmt.Errorf("pixels: spread: %w", errDamaged)
		}
		numbers[i], b = int(n), b[size:]
	}
	s := &Spread{Inside: numbers[0], P10: float64(numbers[1]) / 100, P90: float64(numbers[2]) / 100, counts: [len(limits) + 1]int(numbers[3:])}
	for _, n := range s.counts {
		s.Valid += n
	}
	if len(b) > 0 || s.Valid > s.Inside || s.P10 > s.P90 || s.P90 > most {
		return nil, fmt.Errorf("pixels: spread: %w", errDamaged)
	}
	return s, nil
}
