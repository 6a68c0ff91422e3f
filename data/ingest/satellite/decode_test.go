package satellite

import (
	"math"
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
		chl    float64
		state  pixelState
	}{
		{"CyAN 0 is clean, not missing", cyanDecoder, 0, 0, belowLimit},
		{"CyAN 1 is never negative", cyanDecoder, 1, 0, belowLimit},
		{"CyAN 98", cyanDecoder, 98, 0, belowLimit},
		{"CyAN 130 is 12 µg/l", cyanDecoder, 130, 11.27, hasValue},
		{"CyAN 253", cyanDecoder, 253, 393.0, hasValue},
		{"CyAN land", cyanDecoder, 254, 0, landPixel},
		{"CyAN no data", cyanDecoder, 255, 0, noData},
		{"CyAN beyond a byte", cyanDecoder, 256, 0, outOfRange},
		{"CyAN between two", cyanDecoder, 130.5, 0, outOfRange},
		{"CyAN NaN is hidden by a mask", cyanDecoder, math.NaN(), 0, noData},
		{"index 0", noaaDecoder, 0, 0, belowLimit},
		{"index 130", noaaDecoder, 130, 12.10, hasValue},
		{"index 249", noaaDecoder, 249, 403.2, hasValue},
		{"index 250 is a flag", noaaDecoder, 250, 0, noData},
		{"index 254", noaaDecoder, 254, 0, landPixel},
		{"index 255", noaaDecoder, 255, 0, noData},
		{"trophic state index 50", tsiDecoder, 50, 7.22, hasValue},
		{"trophic state index 101", tsiDecoder, 101, 0, outOfRange},
	} {
		t.Run(test.name, func(t *testing.T) {
			chl, state := test.decode(test.dn)
			if state != test.state || math.Abs(chl-test.chl) > 0.005*test.chl {
				t.Errorf("%v is %.2f µg/l in state %d, want %.2f in state %d", test.dn, chl, state, test.chl, test.state)
			}
		})
	}
}

// A larger number never gives a smaller value.
func TestDecodeDNIsMonotonic(t *testing.T) {
	for name, decode := range map[string]decoder{"CyAN": cyanDecoder, "index": noaaDecoder} {
		before := 0.0
		for dn := range 250 {
			chl, state := decode(float64(dn))
			if !state.usable() || chl < before {
				t.Errorf("%s: %d is %v µg/l in state %d, after %v", name, dn, chl, state, before)
			}
			before = chl
		}
	}
}
