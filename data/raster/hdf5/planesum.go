package hdf5

import "encoding/binary"

// A planeSum computes the Fletcher32 checksum of elements whose bytes were shuffled after it: the sums of words are sums of bytes with
// weights, in whatever order the bytes come.
type planeSum struct {
	order     *byteOrder
	count     int64  // elements of the chunk
	low, high uint64 // modulo 65535
	some      bool   // a byte was not 0
	stored    [checksumSize]byte
}

const modulus = 0xffff

// add adds data from a position in the shuffled data.
func (s *planeSum) add(at int64, data []byte) {
	for len(data) > 0 {
		plane, j := at/s.order.stride, at%s.order.stride
		n := min(int64(len(data)), s.order.stride-j, modulus)
		switch {
		case plane >= int64(s.order.size): // what does not fill a plane follows them as it is
			n = int64(len(data))
			s.store(j, data)
		case j >= s.count: // bytes of the checksum are shuffled too
			n = 1
			s.store((j-s.count)*int64(s.order.size)+plane, data[:1])
		default:
			n = min(n, s.count-j)
			sum, sums := uint64(0), uint64(0)
			for _, b := range data[:n] {
				sum += uint64(b)
				sums += sum
			}
			// Of byte i sums has n - i.
			s.addBytes(plane, j, sum, uint64(n)*sum-sums)
		}
		data = data[n:]
		at += n
	}
}

// addRun adds n bytes of one value.
func (s *planeSum) addRun(at, n int64, value byte) {
	for n > 0 {
		plane, j := at/s.order.stride, at%s.order.stride
		k := int64(1)
		if plane < int64(s.order.size) && j < s.count {
			k = min(n, s.count-j)
			a, b := uint64(k), uint64(k-1) // the sum of the numbers below k is a*b
			if a%2 == 0 {
				a /= 2
			} else {
				b /= 2
			}
			s.addBytes(plane, j, uint64(k)%modulus*uint64(value), a%modulus*(b%modulus)%modulus*uint64(value))
			s.some = s.some || value != 0
		} else {
			s.add(at, []byte{value})
		}
		at += k
		n -= k
	}
}

// addBytes adds bytes of a plane from element j on: their sum, and the sum of each times its number from there.
func (s *planeSum) addBytes(plane, j int64, sum, weighted uint64) {
	s.some = s.some || sum != 0
	factor := uint64(1)
	if plane%2 == 0 {
		factor = 256
	}
	// The library adds word i to the second sum as many times as there are words from i on.
	half := s.order.size / 2
	words := (s.count - j) * int64(half) % modulus
	left := uint64(words+modulus-plane/2) % modulus
	sum %= modulus
	back := weighted % modulus * uint64(half) % modulus
	s.low = (s.low + factor*sum) % modulus
	s.high = (s.high + factor*(left*sum%modulus+modulus-back)) % modulus
}

// store keeps bytes of the stored checksum.
func (s *planeSum) store(at int64, data []byte) {
	if at >= 0 && at < checksumSize {
		copy(s.stored[at:], data)
	}
}

// verify compares the checksums when all data were added.
func (s *planeSum) verify() error {
	return fletcher32{low: s.low, high: s.high, some: s.some}.verify(binary.LittleEndian.Uint32(s.stored[:]))
}
