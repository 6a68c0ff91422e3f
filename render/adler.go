package render

// adler returns the Adler-32 checksum of data (RFC 1950, section 8.2). It takes eight bytes at a time, and passes over
// those that are 0, as most are: hash/adler32 would take as long as a third of the rest. Its sums are reduced but once,
// at the end: up to 300 MB, 64 bits hold them.
func adler(data []byte) uint32 {
	const (
		prime = 65521
		// Every other byte of a word makes a lane of 16 bits. A product with such lanes has in its highest one the sum
		// of all, each times its weight: 1, or how often the byte counts in the second sum, the first of a word 8 times.
		lanes = 0x00ff00ff00ff00ff
		ones  = 0x0001000100010001
		even  = 0x0008000600040002
		odd   = 0x0007000500030001
	)
	a, b := uint64(1), uint64(0)
	for ; len(data) >= 8; data = data[8:] {
		b += 8 * a
		if v := word(data); v != 0 {
			e, o := v&lanes, v>>8&lanes
			a += (e + o) * ones >> 48
			b += e*even>>48 + o*odd>>48
		}
	}
	for _, v := range data {
		a += uint64(v)
		b += a
	}
	return uint32(b%prime<<16 | a%prime)
}
