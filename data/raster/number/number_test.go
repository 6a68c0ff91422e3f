package number

import (
	"math"
	"slices"
	"testing"
)

func TestSmallFloats(t *testing.T) {
	for _, test := range []struct {
		name string
		bits int
		raw  uint64
		want float64
	}{
		{"half 1", 16, 0x3c00, 1},
		{"half -2", 16, 0xc000, -2},
		{"half largest", 16, 0x7bff, 65504},
		{"half smallest", 16, 1, math.Exp2(-24)},
		{"half -Inf", 16, 0xfc00, math.Inf(-1)},
		{"half NaN", 16, 0x7e00, math.NaN()},
		{"24 bits 1", 24, 0x3f0000, 1},
		{"24 bits -1.5", 24, 0xbf8000, -1.5},
		{"24 bits smallest", 24, 1, math.Exp2(-62 - 16)},
		{"24 bits Inf", 24, 0x7f0000, math.Inf(1)},
	} {
		c, ok := New(Format{Kind: Float, Bits: test.bits})
		if !ok {
			t.Fatalf("no converter of %d bits", test.bits)
		}
		if got := c.value(test.raw); got != test.want && !(math.IsNaN(got) && math.IsNaN(test.want)) {
			t.Errorf("%s = %g, want %g", test.name, got, test.want)
		}
	}
}

// Rows and planes of each format have the values that one number after the other has.
func TestRowsAndPlanes(t *testing.T) {
	raw := make([]byte, 6*8)
	for i := range raw {
		raw[i] = byte(37*i + 5)
	}
	formats := 0
	for kind := Kind(0); kind <= Float+1; kind++ {
		for bits := range 72 {
			for _, big := range []bool{false, true} {
				c, ok := New(Format{kind, bits, big})
				if !ok {
					continue
				}
				formats++
				planes := make([]byte, len(raw))
				for i := range 6 {
					for k := range c.size {
						planes[k*6+i] = raw[i*c.size+k]
					}
				}
				for stride := 1; stride <= 2; stride++ {
					var want []float64
					for i := 0; i < 6; i += stride {
						want = append(want, c.One(raw[i*c.size:]))
					}
					got := make([]float64, len(want))
					for name, convert := range map[string]func(){
						"Row": func() { c.Row(got, raw, stride) }, "Planes": func() { c.Planes(got, planes, 6, stride) },
					} {
						if convert(); !slices.Equal(got, want) {
							t.Errorf("%s of %+v with stride %d = %v, want %v", name, c.format, stride, got, want)
						}
					}
				}
			}
		}
	}
	if formats != 2*(4+4+4) {
		t.Errorf("%d formats, want 24", formats)
	}
}
