//go:build unix

package faulttest

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/internal/testsize"
)

// converse sends text on a new connection and returns the statuses of the answers, until the server closes the connection.
func converse(s *limnomaptest.Server, text string) (statuses []int, err error) {
	got, err := s.Converse(text, patience)
	return got.Statuses, err
}

// TestMalformedRequests sends requests that are wrong, and some that are rare.
func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	const host, end = "Host: lakes\r\n", "Connection: close\r\n\r\n"
	s := start(t, "--api-rate", "0", "--log-level", "debug")
	for _, test := range []struct {
		name, text string
		want       []int
	}{
		{"HTTP/1.0", "GET /healthz HTTP/1.0\r\n\r\n", []int{200}},
		{"absolute form", "GET http://elsewhere/healthz HTTP/1.1\r\n" + host + end, []int{200}},
		{"asterisk", "OPTIONS * HTTP/1.1\r\n" + host + end, []int{200}},
		{"CONNECT", "CONNECT lakes:443 HTTP/1.1\r\n" + host + end, []int{404}},
		{"TRACE", "TRACE /healthz HTTP/1.1\r\n" + host + end, []int{405}},
		{"invalid method", "G\x00T / HTTP/1.1\r\n" + host + end, []int{400}},
		{"unknown method", strings.Repeat("X", 1000) + " /healthz HTTP/1.1\r\n" + host + end, []int{405}},
		{"no version", "GET /healthz\r\n" + host + end, []int{400}},
		{"future version", "GET /healthz HTTP/9.9\r\n" + host + end, []int{505}},
		{"spaces", "GET  /healthz  HTTP/1.1\r\n" + host + end, []int{400}},
		{"no host", "GET /healthz HTTP/1.1\r\n" + end, []int{400}},
		{"two hosts", "GET /healthz HTTP/1.1\r\n" + host + host + end, []int{400}},
		{"invalid host", "GET /healthz HTTP/1.1\r\nHost: a b/c\r\n" + end, []int{400}},
		{"NUL in a header", "GET /healthz HTTP/1.1\r\n" + host + "X-Nul: a\x00b\r\n" + end, []int{400}},
		{"NUL in a path", "GET /a\x00b HTTP/1.1\r\n" + host + end, []int{400}},
		{"escaped NUL in a path", "GET /api/v1/bathing-lakes/history/%00 HTTP/1.1\r\n" + host + end, []int{404}},
		{"incomplete escape", "GET /%a HTTP/1.1\r\n" + host + end, []int{400}},
		{"path above the root", "GET /../../etc/passwd HTTP/1.1\r\n" + host + end, []int{404}},
		{"header too large", "GET /healthz HTTP/1.1\r\n" + host + "X-Large: " + strings.Repeat("a", 32<<10) + "\r\n" + end, []int{431}},
		{"too many headers", "GET /healthz HTTP/1.1\r\n" + host + strings.Repeat("X-Many: a\r\n", 200) + end, []int{431}},
		{"header without end", "GET /healthz HTTP/1.1\r\n" + host + strings.Repeat("X-Endless: a\r\n", 10000), []int{431}},
		{"address too long", "GET /" + strings.Repeat("a", 9000) + " HTTP/1.1\r\n" + host + end, []int{414}},
		{"folded header", "GET /healthz HTTP/1.1\r\n" + host + "X-Fold: a\r\n b\r\n" + end, []int{200}},
		{"header without a name", "GET /healthz HTTP/1.1\r\n" + host + ": a\r\n" + end, []int{400}},
		{"GET with a body", "GET /healthz HTTP/1.1\r\n" + host + "Content-Length: 3\r\n\r\nabc", []int{413}},
		{"invalid length", "GET /healthz HTTP/1.1\r\n" + host + "Content-Length: -3\r\n" + end, []int{400}},
		{"two lengths", "GET /healthz HTTP/1.1\r\n" + host + "Content-Length: 3\r\nContent-Length: 4\r\n" + end, []int{400}},
		{"length and chunks", "POST /healthz HTTP/1.1\r\n" + host + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", []int{405}},
		{"invalid chunks", "POST /healthz HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\nzz\r\nabc", []int{405}},
		{"unknown transfer coding", "POST /healthz HTTP/1.1\r\n" + host + "Transfer-Encoding: cipher\r\n" + end, []int{501}},
		{"garbage after a request", "GET /healthz HTTP/1.1\r\n" + host + "\r\n" + strings.Repeat("\xff\x00garbage\r\n", 10), []int{200, 400}},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", []int{400}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, err := converse(s, test.text); err != nil || fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("answered %v, %v, want %v", got, err, test.want)
			}
		})
	}
	wantAnswers(t, s)
	stopCleanly(t, s)
}

// TestEndlessBody sends a body with a GET request for as long as the server accepts it.
func TestEndlessBody(t *testing.T) {
	t.Parallel()
	s := start(t, "--api-rate", "0", "--log-level", "debug")
	// More than the buffers of the kernel, and than net/http reads of a body that no handler reads.
	const bound = 16 << 20
	for _, header := range []string{"Content-Length: 1000000000000", "Transfer-Encoding: chunked"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.Base, "http://"))
		must(t, err)
		defer conn.Close()
		must(t, conn.SetDeadline(time.Now().Add(patience)))
		_, err = io.WriteString(conn, "GET "+statusPath+" HTTP/1.1\r\nHost: lakes\r\n"+header+"\r\n\r\n")
		must(t, err)
		chunk := []byte("8000\r\n" + strings.Repeat("a", 0x8000) + "\r\n")
		accepted := 0
		for err == nil && accepted < bound {
			var n int
			n, err = conn.Write(chunk)
			accepted += n
		}
		if err == nil {
			t.Errorf("%s: the server accepted %d bytes of a body that it does not need", header, accepted)
		}
		wantAnswers(t, s)
	}
	stopCleanly(t, s)
}

// TestRandomRequests sends requests with bytes changed, removed and repeated at random, and random bytes.
func TestRandomRequests(t *testing.T) {
	t.Parallel()
	n := testsize.Of(1000, 50000)
	s := start(t, "--api-rate", "0", "--tile-rate", "0", "--log-level", "debug")
	c := connectClients(t, s, 0, 0, "")
	var clients sync.WaitGroup
	for client := range 4 {
		clients.Go(func() { // ends after its part of the requests
			random := rand.New(rand.NewPCG(uint64(client), 4))
			for range n / 4 {
				text := randomRequest(random)
				statuses, err := converse(s, text)
				if err != nil {
					t.Errorf("%q: %v", text, err)
					return
				}
				for _, status := range statuses {
					// net/http gives these two by itself.
					if status >= 500 && status != http.StatusHTTPVersionNotSupported && status != http.StatusNotImplemented {
						t.Errorf("%q is answered with %d", text, status)
					}
				}
			}
		})
	}
	clients.Wait()
	c.wantNothingLeft(t)
}

// randomRequest returns random bytes, or a request with random changes.
func randomRequest(random *rand.Rand) string {
	if random.IntN(10) == 0 {
		noise := make([]byte, random.IntN(4096))
		for i := range noise {
			noise[i] = byte(random.Uint32())
		}
		return string(noise)
	}
	paths := []string{
		"/", "/healthz", "/api/v1/bathing-lakes/status?min_lat=50&max_lat=51&risk=low", "/api/v1/bathing-lakes/history/de_1?limit=5",
		"/api/v1/tiles/6/33/21.png?style=dots&date=2026-01-01", "/api/v1/tiles/6/33/21@2x.png", "/api/v1/legend.png?width=300", "/api/v1/monitor/lakes",
	}
	text := []byte("GET " + paths[random.IntN(len(paths))] + " HTTP/1.1\r\nHost: lakes\r\nAccept-Encoding: gzip, br;q=0.5\r\n" +
		"If-None-Match: \"abc\", W/\"d\"\r\nRange: bytes=0-9\r\nX-API-Key: abc\r\nX-Forwarded-For: 192.0.2.1, ::1\r\nContent-Length: " + strconv.Itoa(random.IntN(3)) + "\r\n\r\n")
	text = bytes.Repeat(text, 1+random.IntN(3))
	for range random.IntN(6) {
		at := random.IntN(len(text))
		switch random.IntN(3) {
		case 0: // change a byte
			text[at] = byte(random.Uint32())
		case 1: // remove some bytes
			text = append(text[:at], text[min(len(text), at+1+random.IntN(8)):]...)
		default: // repeat some bytes
			text = append(text[:at:at], text[max(0, at-random.IntN(20)):]...)
		}
		if len(text) == 0 {
			break
		}
	}
	return string(text)
}
