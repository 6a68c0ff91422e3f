package satellite

import (
	"math"
	"strings"
	"testing"
)

var (
	cyanDecoder = indexDecoder(cyanFormula, 253)
	noaaDecoder = indexDecoder(indexFormula, 249)
)

func TestDecodeDN(t *testing.T) {
	for _, test := range []struct {
		name   string
		decode decoder
		dn     float64
		value  float64 // µg/l, or of an index 1e6 times the index
		state  pixelState
	}{
		{"CyAN 0 is clean, not missing", cyanDecoder, 0, 0, belowLimit}, {"CyAN 1 is the least", cyanDecoder, 1, 66.79, hasValue},
		{"CyAN 98", cyanDecoder, 98, 913.87, hasValue}, {"CyAN 130", cyanDecoder, 130, 2166.37, hasValue}, {"CyAN 253", cyanDecoder, 253, 59_779.9, hasValue},
		{"CyAN land", cyanDecoder, 254, 0, landPixel}, {"CyAN no data", cyanDecoder, 255, 0, noData}, {"CyAN beyond a byte", cyanDecoder, 256, math.NaN(), outOfRange},
		{"CyAN between two", cyanDecoder, 130.5, math.NaN(), outOfRange}, {"CyAN NaN is hidden by a mask", cyanDecoder, math.NaN(), 0, noData},
		{"index 0", noaaDecoder, 0, 0, belowLimit}, {"index 130", noaaDecoder, 130, 2290.87, hasValue}, {"index 249", noaaDecoder, 249, 61_376.2, hasValue},
		{"index 250 is a flag", noaaDecoder, 250, 0, noData}, {"index 254", noaaDecoder, 254, 0, landPixel}, {"index 255", noaaDecoder, 255, 0, noData},
		{"trophic state index 50", tsiDecoder, 50, 7.22, hasValue}, {"trophic state index 101", tsiDecoder, 101, math.NaN(), outOfRange},
	} {
		t.Run(test.name, func(t *testing.T) {
			value, state := test.decode(test.dn)
			if test.dn <= 253 && !strings.HasPrefix(test.name, "trophic") {
				value *= 1e6
			}
			if state != test.state || math.IsNaN(value) != math.IsNaN(test.value) || math.Abs(value-test.value) > 0.005*test.value {
				t.Errorf("%v is %.2f in state %d, want %.2f in state %d", test.dn, value, state, test.value, test.state)
			}
		})
	}
}

// A larger number never gives a smaller value.
func TestDecodeDNIsMonotonic(t *testing.T) {
	for name, decode := range map[string]decoder{"CyAN": cyanDecoder, "index": noaaDecoder} {
		before := 0.0
		for dn := range 250 {
			ci, state := decode(float64(dn))
			if !state.usable() || ci < before || chlorophyllOfCI(ci) < chlorophyllOfCI(before) || chlorophyllOfCI(ci) < 0 {
				t.Errorf("%s: %d is %v in state %d, after %v", name, dn, ci, state, before)
			}
			before = ci
		}
	}
}
