package quota

import (
	"bytes"
	"errors"
	"net"
)

const (
	// maxReply bounds the bytes that Redis sends for one command: a lease takes some 30, and the text of an error fewer than this.
	maxReply = 4 << 10
	// maxCount bounds the length that a reply announces for an array. The client library allocates all of it at once.
	maxCount = 16
)

var errReply = errors.New("the reply is larger than any that a Redis server sends to limnomap")

// A boundedConn is a connection to Redis whose replies are bounded. The client library allocates as much memory as a reply
// announces, and recurses as deeply as its arrays: a few bytes from something that is not Redis would end the process.
type boundedConn struct {
	net.Conn
	left   int    // bytes that may still come before the next command
	header []byte // the beginning of the present line
}

func (c *boundedConn) Write(b []byte) (int, error) {
	c.left = maxReply
	return c.Conn.Write(b)
}

func (c *boundedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.left -= n; c.left < 0 || !c.accepts(b[:n]) {
		return 0, errReply
	}
	return n, err
}

// accepts reports whether no line of the protocol (RESP 2) announces more than a reply may have. The bytes of a string may look
// like such a line; no reply to limnomap has a string.
func (c *boundedConn) accepts(b []byte) bool {
	for _, char := range b {
		if char == '\n' {
			c.header = c.header[:0]
			continue
		}
		const longest = len("*99999\r")
		if len(c.header) < longest {
			c.header = append(c.header, char)
		}
		if !acceptsHeader(c.header) {
			return false
		}
	}
	return true
}

// acceptsHeader reports whether a line that begins like that announces no more than allowed.
func acceptsHeader(line []byte) bool {
	most := 0
	switch line[0] {
	case '$':
		most = maxReply
	case '*':
		most = maxCount
	default:
		return true
	}
	announced := 0
	for _, digit := range bytes.TrimSuffix(line[1:], []byte{'\r'}) {
		if digit < '0' || digit > '9' { // -1 for nothing; the library rejects everything else
			return true
		}
		if announced = 10*announced + int(digit-'0'); announced > most {
			return false
		}
	}
	return true
}
