package palettepng

// adler returns the Adler-32 checksum of data (RFC 1950, section 8.2). It reads eight bytes at a time and skips those that
// are all 0, as most are: hash/adler32 would take a third as long as the rest of an encoding. The sums are reduced only
// once, at the end: 64 bits hold them up to 300 MB.
func adler(data []byte) uint32 {
	const (
		prime = 65521
		// Every second byte of a word is in a lane of 16 bits. The highest lane of a product with such lanes is the sum of
		// all lanes, each times its weight. For the second sum the weights fall from 8, for the first byte of a word, to 1.
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
