//go:build linux

package attacktest

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// An http2Client is a connection by HTTP/2 with prior knowledge, whose frames may be wrong.
type http2Client struct {
	net.Conn
	*http2.Framer
	assault *assault

	block   bytes.Buffer   // of encoder
	encoder *hpack.Encoder // writes into block
	next    uint32         // id of the next stream

	reading sync.WaitGroup
}

// http2 connects from an address and sends settings. Read answers with readAnswers.
func (a *assault) http2(from string, settings ...http2.Setting) (*http2Client, error) {
	conn, err := a.dial(from, true)
	if err != nil {
		return nil, err
	}
	_ = conn.SetWriteDeadline(time.Now().Add(a.hold + 10*time.Second))
	c := &http2Client{Conn: conn, assault: a, next: 1}
	c.Framer = http2.NewFramer(conn, conn)
	c.AllowIllegalWrites = true
	c.SetMaxReadFrameSize(1 << 20)
	c.encoder = hpack.NewEncoder(&c.block)
	if _, err = io.WriteString(conn, http2.ClientPreface); err == nil {
		err = c.WriteSettings(settings...)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

// readAnswers counts the statuses and errors that the server sends until the connection ends, and answers pings. It does not
// acknowledge settings: that would end a sequence of CONTINUATION frames, and no server waits for it.
func (c *http2Client) readAnswers() {
	pongs := http2.NewFramer(c.Conn, nil) // each frame is one write, so that two goroutines may write
	c.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	c.reading.Go(func() { // ends with the connection
		for {
			frame, err := c.ReadFrame()
			if err != nil {
				return
			}
			switch f := frame.(type) {
			case *http2.PingFrame:
				if !f.IsAck() {
					_ = pongs.WritePing(true, f.Data)
				}
			case *http2.MetaHeadersFrame:
				c.assault.count(f.PseudoValue("status"))
			case *http2.RSTStreamFrame:
				c.assault.count("stream: " + f.ErrCode.String())
			case *http2.GoAwayFrame:
				c.assault.count("connection: " + f.ErrCode.String())
			}
		}
	})
}

// end closes the connection.
func (c *http2Client) end() {
	c.Close()
	c.reading.Wait()
}

// fields encodes the header of a request. The fields are names and values in turn.
func (c *http2Client) fields(path string, fields ...string) []byte {
	c.block.Reset()
	for i, all := 0, append([]string{":method", "GET", ":scheme", "http", ":authority", "lakes", ":path", path}, fields...); i+1 < len(all); i += 2 {
		_ = c.encoder.WriteField(hpack.HeaderField{Name: all[i], Value: all[i+1]}) // a buffer accepts all
	}
	return c.block.Bytes()
}

// get sends a request on the next stream.
func (c *http2Client) get(path string, fields ...string) (stream uint32, err error) {
	stream = c.next
	c.next += 2
	return stream, c.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: c.fields(path, fields...), EndStream: true, EndHeaders: true})
}

// slowStreams requests a path on many streams of each of some connections, of one address or of many, and lets the server send
// no data.
func slowStreams(conns int, one bool, streams int, window uint32, pathOf func(i int) string) func(*assault) {
	return func(a *assault) {
		each(conns, conns, func(i int) {
			from := a.from(i)
			if one {
				from = a.from(0)
			}
			c, err := a.http2(from, http2.Setting{ID: http2.SettingInitialWindowSize, Val: window})
			if err != nil {
				a.count(failureOf(err))
				return
			}
			defer c.end()
			c.readAnswers()
			for k := range streams {
				if _, err := c.get(pathOf(i*streams + k)); err != nil {
					a.count(failureOf(err))
					return
				}
			}
			time.Sleep(a.hold)
		})
	}
}

// frames lets send write frames for as long as it wants, or until the server closes the connection, on n connections. With
// read, what the server sends is read and counted.
func frames(n int, read bool, send func(c *http2Client, open func() bool) error) func(*assault) {
	return func(a *assault) {
		each(n, n, func(i int) {
			c, err := a.http2(a.from(i))
			if err != nil {
				a.count(failureOf(err))
				return
			}
			defer c.end()
			if read {
				c.readAnswers()
			}
			end := time.Now().Add(a.hold)
			err = send(c, func() bool { return time.Now().Before(end) })
			if err != nil {
				a.count("writing: " + failureOf(err))
			} else {
				a.count("all sent")
			}
			if read {
				time.Sleep(min(200*time.Millisecond, a.hold)) // for the answers
			}
		})
	}
}

// http2Attacks are frames that RFC 9113 forbids, or allows but which cost a server more than a client.
var http2Attacks = []struct {
	name string
	read bool
	send func(c *http2Client, open func() bool) error
}{
	{"rapid reset", true, func(c *http2Client, open func() bool) error {
		for i := 0; open() && i < 20_000; i++ {
			stream, err := c.get(fmt.Sprintf(statusPath+"?max_lat=66&r=%d", i))
			if err == nil {
				err = c.WriteRSTStream(stream, http2.ErrCodeCancel)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}},
	{"resets by wrong window updates", true, func(c *http2Client, open func() bool) error {
		for i := 0; open() && i < 20_000; i++ {
			stream, err := c.get(fmt.Sprintf(statusPath+"?max_lat=66&w=%d", i))
			if err == nil {
				err = c.WriteWindowUpdate(stream, 0)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}},
	{"CONTINUATION without end", true, func(c *http2Client, open func() bool) error {
		err := c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: c.fields("/healthz")})
		part := bytes.Repeat([]byte("\x00\x01a\x01b"), 3000) // fields without indexing
		for open() && err == nil {
			err = c.WriteContinuation(1, false, part)
		}
		return err
	}},
	{"empty CONTINUATION", true, func(c *http2Client, open func() bool) error {
		err := c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: c.fields("/healthz")})
		for open() && err == nil {
			err = c.WriteContinuation(1, false, nil)
		}
		return err
	}},
	{"PING without reading", false, func(c *http2Client, open func() bool) (err error) {
		for open() && err == nil {
			err = c.WritePing(false, [8]byte{1})
		}
		return err
	}},
	{"SETTINGS without reading", false, func(c *http2Client, open func() bool) (err error) {
		for open() && err == nil {
			err = c.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 100})
		}
		return err
	}},
	{"large SETTINGS", true, func(c *http2Client, open func() bool) (err error) {
		many := make([]http2.Setting, 2000)
		for i := range many {
			many[i] = http2.Setting{ID: http2.SettingID(10 + i), Val: uint32(i)}
		}
		for open() && err == nil {
			err = c.WriteSettings(many...)
		}
		return err
	}},
	{"window changes with open streams", true, func(c *http2Client, open func() bool) (err error) {
		for i := range 100 {
			if _, err := c.get(fmt.Sprintf("/api/v1/tiles/5/16/10.png?n=%d", i)); err != nil {
				return err
			}
		}
		for i := uint32(0); open() && err == nil; i++ {
			err = c.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: i % 2})
		}
		return err
	}},
	{"window overflow of the connection", true, func(c *http2Client, open func() bool) (err error) {
		for i := 0; open() && err == nil && i < 100; i++ {
			err = c.WriteWindowUpdate(0, 1<<31-1)
		}
		return err
	}},
	{"window overflow of a stream", true, func(c *http2Client, open func() bool) error {
		stream, err := c.get(statusPath)
		for i := 0; open() && err == nil && i < 100; i++ {
			err = c.WriteWindowUpdate(stream, 1<<31-1)
		}
		return err
	}},
	{"one byte of window at a time", true, func(c *http2Client, open func() bool) error {
		err := c.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1})
		if err != nil {
			return err
		}
		stream, err := c.get(statusPath + "?max_lat=67&one=1")
		for open() && err == nil {
			err = c.WriteWindowUpdate(stream, 1)
			time.Sleep(time.Millisecond)
		}
		return err
	}},
	{"HPACK bomb", true, func(c *http2Client, open func() bool) error {
		// One field of 3,900 bytes in the table of the connection, then hundreds of references of one byte.
		for range 20 {
			if !open() {
				return nil
			}
			block := bytes.Clone(c.fields("/healthz", "x-bomb", strings.Repeat("b", 3900)))
			block = append(block, bytes.Repeat([]byte{0x80 | 62}, 8000)...)
			stream := c.next
			c.next += 2
			err := c.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block, EndStream: true, EndHeaders: true})
			if err != nil {
				return err
			}
		}
		return nil
	}},
	{"HPACK: table of 4 GiB", true, func(c *http2Client, _ func() bool) error {
		block := append([]byte{0x3f, 0xe1, 0xff, 0xff, 0xff, 0x0f}, c.fields("/healthz")...)
		return c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block, EndStream: true, EndHeaders: true})
	}},
	{"HPACK: string of 1 GiB", true, func(c *http2Client, _ func() bool) error {
		block := append(bytes.Clone(c.fields("/healthz")), 0x00, 0x7f, 0x81, 0xff, 0xff, 0xff, 0x03)
		return c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block, EndStream: true, EndHeaders: true})
	}},
	{"HPACK: unknown index", true, func(c *http2Client, _ func() bool) error {
		return c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0xff, 0x80, 0x01}, EndStream: true, EndHeaders: true})
	}},
	{"large headers", true, func(c *http2Client, open func() bool) error {
		for i := 0; open() && i < 200; i++ {
			if _, err := c.get("/healthz", "x-large", strings.Repeat("l", 15000)); err != nil {
				return err
			}
		}
		return nil
	}},
	{"thousands of fields", true, func(c *http2Client, _ func() bool) error {
		var fields []string
		for i := range 2000 {
			fields = append(fields, fmt.Sprintf("x-%d", i), "")
		}
		_, err := c.get("/healthz", fields...)
		return err
	}},
	{"cookies in crumbs", true, func(c *http2Client, _ func() bool) error {
		var fields []string
		for range 2000 {
			fields = append(fields, "cookie", "a=b")
		}
		_, err := c.get("/healthz", fields...)
		return err
	}},
	{"PRIORITY flood", true, func(c *http2Client, open func() bool) (err error) {
		for i := uint32(1); open() && err == nil; i += 2 {
			err = c.WritePriority(i&(1<<30-1)|1, http2.PriorityParam{StreamDep: i & 255 &^ 1, Weight: byte(i)})
		}
		return err
	}},
	{"a stream that depends on itself", true, func(c *http2Client, _ func() bool) error {
		return c.WritePriority(1, http2.PriorityParam{StreamDep: 1})
	}},
	{"PUSH_PROMISE of a client", true, func(c *http2Client, _ func() bool) error {
		return c.WritePushPromise(http2.PushPromiseParam{StreamID: 1, PromiseID: 2, BlockFragment: c.fields("/"), EndHeaders: true})
	}},
	{"empty DATA flood", true, func(c *http2Client, open func() bool) error {
		err := c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: c.fields("/healthz", "content-length", "9"), EndHeaders: true})
		for open() && err == nil {
			err = c.WriteData(1, false, nil)
		}
		return err
	}},
	{"DATA beyond the window", true, func(c *http2Client, open func() bool) error {
		err := c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: c.fields("/healthz"), EndHeaders: true})
		for open() && err == nil {
			err = c.WriteData(1, false, make([]byte, 16<<10))
		}
		return err
	}},
	{"DATA that is only padding", true, func(c *http2Client, open func() bool) error {
		err := c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: c.fields("/healthz"), EndHeaders: true})
		for open() && err == nil {
			err = c.WriteDataPadded(1, false, nil, make([]byte, 255))
		}
		return err
	}},
	{"DATA of an idle stream", true, func(c *http2Client, _ func() bool) error { return c.WriteData(7, true, []byte("a")) }},
	{"even stream", true, func(c *http2Client, _ func() bool) error {
		return c.WriteHeaders(http2.HeadersFrameParam{StreamID: 2, BlockFragment: c.fields("/healthz"), EndStream: true, EndHeaders: true})
	}},
	{"stream 0", true, func(c *http2Client, _ func() bool) error {
		return c.WriteHeaders(http2.HeadersFrameParam{StreamID: 0, BlockFragment: c.fields("/healthz"), EndStream: true, EndHeaders: true})
	}},
	{"streams in reverse", true, func(c *http2Client, _ func() bool) error {
		for _, stream := range []uint32{9, 7, 5} {
			err := c.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: c.fields("/healthz"), EndStream: true, EndHeaders: true})
			if err != nil {
				return err
			}
		}
		return nil
	}},
	{"1,000 streams at once", true, func(c *http2Client, _ func() bool) error {
		for i := range 1000 {
			if _, err := c.get(fmt.Sprintf(statusPath+"?max_lat=65&s=%d", i)); err != nil {
				return err
			}
		}
		return nil
	}},
	{"frame longer than allowed", true, func(c *http2Client, _ func() bool) error {
		return c.WriteRawFrame(http2.FrameData, 0, 1, make([]byte, 1<<20))
	}},
	{"announced frame of 16 MiB", true, func(c *http2Client, _ func() bool) error {
		_, err := c.Write([]byte{0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1})
		return err
	}},
	{"unknown frames", true, func(c *http2Client, open func() bool) (err error) {
		for open() && err == nil {
			err = c.WriteRawFrame(0xfa, 0xff, 1, make([]byte, 1000))
		}
		return err
	}},
	{"SETTINGS with wrong values", true, func(c *http2Client, _ func() bool) error {
		return c.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 31}, http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1})
	}},
	{"GOAWAY flood", true, func(c *http2Client, open func() bool) (err error) {
		for i := 0; open() && err == nil && i < 10_000; i++ {
			err = c.WriteGoAway(0, http2.ErrCodeNo, make([]byte, 1000))
		}
		return err
	}},
	{"pseudo-fields twice, upper case, connection fields", true, func(c *http2Client, _ func() bool) error {
		for _, fields := range [][]string{{":path", "/two"}, {"X-Upper", "a"}, {"connection", "close"}, {"transfer-encoding", "chunked"}, {"te", "gzip"}, {":status", "200"}} {
			if _, err := c.get("/healthz", fields...); err != nil {
				return err
			}
		}
		return nil
	}},
	{"line breaks in values and paths", true, func(c *http2Client, _ func() bool) error {
		for _, fields := range [][]string{{"x-split", "a\r\nX-Injected: b"}, {"x-nul", "a\x00b"}, {"x name", "a"}, {":path", "/\r\nX-Injected: b"}} {
			if _, err := c.get("/healthz", fields...); err != nil {
				return err
			}
		}
		_, err := c.get("/healthz HTTP/1.1\r\nX-Injected: b\r\n\r\n")
		return err
	}},
	{"body announced and other length", true, func(c *http2Client, _ func() bool) error {
		err := c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: c.fields("/healthz", "content-length", "5"), EndHeaders: true})
		if err != nil {
			return err
		}
		return c.WriteData(1, true, []byte("GET /smuggled HTTP/1.1\r\n\r\n"))
	}},
	{"preface and garbage", true, func(c *http2Client, _ func() bool) error {
		_, err := io.WriteString(c.Conn, strings.Repeat("GET / HTTP/1.1\r\nHost: lakes\r\n\r\n", 10))
		return err
	}},
}
