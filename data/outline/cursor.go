package outline

// An cursor reads the numbers of an [Outline] one by one. At the end, or at an invalid number, it sets bad and from
// then on returns zeros only, so that loops over counts end.
type cursor struct {
	s   string // the unread rest
	bad bool
}

// format reads the first byte, which must be formatByte.
func (c *cursor) format() {
	if c.s == "" || c.s[0] != formatByte {
		c.fail()
		return
	}
	c.s = c.s[1:]
}

func (c *cursor) bound() corners {
	corner := point{c.varint(), c.varint()}
	width, height := c.uvarint(), c.uvarint()
	if width > fullTurn || height > fullTurn {
		c.fail()
		return corners{}
	}
	return corners{corner, point{corner.x + int64(width), corner.y + int64(height)}}
}

func (c *cursor) sizes() (sizes [sectionCount]uint64) {
	for i := range sizes {
		sizes[i] = c.uvarint()
	}
	return sizes
}

// count reads a number of items. Each item takes at least one byte, so a count above the remaining bytes is invalid.
func (c *cursor) count() uint64 {
	n := c.uvarint()
	if n > uint64(len(c.s)) {
		c.fail()
		return 0
	}
	return n
}

// point reads a point, relative to the one before.
func (c *cursor) point(from point) point {
	dx, dy := c.varint(), c.varint()
	return point{from.x + dx, from.y + dy}
}

// take reads n bytes.
func (c *cursor) take(n uint64) string {
	if n > uint64(len(c.s)) {
		c.fail()
		return ""
	}
	taken := c.s[:n]
	c.s = c.s[n:]
	return taken
}

// varint is binary.Varint of a string.
func (c *cursor) varint() int64 {
	u := c.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// uvarint is binary.Uvarint of a string: copying the string to a slice would allocate for each lake that is drawn.
// No number of an outline needs more than 5 bytes of 7 bits; longer ones are invalid.
func (c *cursor) uvarint() uint64 {
	const maxBytes = 5
	var u uint64
	for i := 0; i < min(len(c.s), maxBytes); i++ {
		b := c.s[i]
		u |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			c.s = c.s[i+1:]
			return u
		}
	}
	c.fail()
	return 0
}

func (c *cursor) fail() { c.s, c.bad = "", true }
