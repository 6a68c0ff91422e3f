//go:build unix && long

package faulttest

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"testing"

	"limnomap/data/testsize"
)

// TestRandomRequests sends requests with bytes changed, removed and repeated at random, and random bytes.
func TestRandomRequests(t *testing.T) {
	t.Parallel()
	n := testsize.Of(1000, 50000)
	s := start(t, "--api-rate", "0", "--tile-rate", "0", "--log-level", "debug")
	c := connectClients(t, s, 0, "")
	var clients sync.WaitGroup
	for client := range 4 {
		clients.Go(func() { // ends after its part of the requests
			random := rand.New(rand.NewPCG(uint64(client), 4))
			for range n / 4 {
				text := randomRequest(random)
				got, err := s.Converse(text, patience)
				if err != nil {
					t.Errorf("%q: %v", text, err)
					return
				}
				for _, status := range got.Statuses {
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
