package inflate

import "bytes"

// An adlerSum is the checksum of zlib data (RFC 1950, section 8.2).
type adlerSum struct{ a, b uint32 }

const (
	adlerModulus = 65521
	adlerBlock   = 2048 // bytes at most 5,552, which the sums of 32 bits can take before they are reduced
)

func (s *adlerSum) add(p []byte) {
	for len(p) > 0 {
		block := p[:min(len(p), adlerBlock)]
		p = p[len(block):]
		if bytes.Equal(block[1:], block[:len(block)-1]) { // compares many bytes at once
			s.addRun(block[0], int64(len(block)))
			continue
		}
		a, b := s.a, s.b
		for ; len(block) >= 8; block = block[8:] {
			// The sum of all sums, without waiting for each.
			b += 8*a + 8*uint32(block[0]) + 7*uint32(block[1]) + 6*uint32(block[2]) + 5*uint32(block[3]) +
				4*uint32(block[4]) + 3*uint32(block[5]) + 2*uint32(block[6]) + uint32(block[7])
			a += uint32(block[0]) + uint32(block[1]) + uint32(block[2]) + uint32(block[3]) +
				uint32(block[4]) + uint32(block[5]) + uint32(block[6]) + uint32(block[7])
		}
		for _, c := range block {
			a += uint32(c)
			b += a
		}
		s.a, s.b = a%adlerModulus, b%adlerModulus
	}
}

// addRun adds n bytes of one value. N is at most 2^27.
func (s *adlerSum) addRun(value byte, n int64) {
	v, k := uint64(value), uint64(n)
	b := uint64(s.b) + k*uint64(s.a) + k*(k+1)/2%adlerModulus*v
	s.a = uint32((uint64(s.a) + k*v) % adlerModulus)
	s.b = uint32(b % adlerModulus)
}

func (s *adlerSum) value() uint32 { return s.b<<16 | s.a }
