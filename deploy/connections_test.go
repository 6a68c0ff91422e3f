//go:build long

package deploy

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"limnomap/api/connections"
	"limnomap/cmd/limnomap/limnomaptest"
)

// A connection that waits for a request takes no more memory than the default bound assumes. With CONNECTIONS=5000 the test
// logs the figures of docs/limits.md.
func TestMemoryOfConnections(t *testing.T) {
	n := 300
	if text := os.Getenv("CONNECTIONS"); text != "" {
		if _, err := fmt.Sscan(text, &n); err != nil {
			t.Fatalf("CONNECTIONS=%s: %v", text, err)
		}
	}
	cert, key := limnomaptest.Certificate(t)
	for _, test := range []struct {
		name, protocol string // of TLS; "" is without
		http2, silent  bool
	}{
		{"without a request", "", false, true},
		{"HTTP/1", "", false, false},
		{"HTTP/2 without TLS", "", true, false},
		{"HTTP/1 over TLS", "http/1.1", false, false},
		{"HTTP/2 over TLS", "h2", true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := []string{"--max-connections", fmt.Sprint(2 * n), "--max-connections-per-address", fmt.Sprint(2 * n), "--api-rate", "0", "--cache-disk", "0"}
			if test.protocol != "" {
				args = append(args, "--tls-cert", cert, "--tls-key", key)
			}
			s := limnomaptest.Start(t, args...)
			_, address, _ := strings.Cut(s.Base, "://")
			before := memoryOf(t, s)
			for range n {
				conn, err := net.Dial("tcp", address)
				must(t, err)
				defer conn.Close()
				must(t, conn.SetDeadline(time.Now().Add(patience)))
				if test.protocol != "" {
					conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{test.protocol}})
				}
				if !test.silent {
					askOnce(t, conn, test.http2)
				}
			}
			state := "idle"
			if test.silent {
				state = "new"
			}
			limnomaptest.Within(t, patience, "all connections wait", func() bool {
				return s.Metric(t, `limnomap_connections{listener="public",state="`+state+`"}`) == float64(n)
			})
			after := memoryOf(t, s)
			resident, used := (after.resident-before.resident)/float64(n), (after.used-before.used)/float64(n)
			t.Logf("%d connections: %.1f kB of memory each, %.1f kB of it in use", n, resident/1e3, used/1e3)
			// The resident memory of few connections is mostly garbage.
			const bound, few = connections.ConnectionBytes, 2000
			if used <= 0 || used > bound || n >= few && resident > bound {
				t.Errorf("a connection takes %.0f bytes, %.0f of them in use, want at most %d", resident, used, bound)
			}
		})
	}
}

// askOnce sends a request for /healthz and reads the answer.
func askOnce(t *testing.T, conn net.Conn, isHTTP2 bool) {
	t.Helper()
	if !isHTTP2 {
		if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: lakes\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		must(t, err)
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("/healthz: %s, %v", resp.Status, err)
		}
		return
	}
	framer := http2.NewFramer(conn, conn)
	_, err := io.WriteString(conn, http2.ClientPreface)
	if err == nil {
		err = framer.WriteSettings()
	}
	if err == nil {
		// GET /healthz of https://lakes, from the static table of HPACK except for two values.
		header := append([]byte{0x82, 0x87, 0x04, 8}, "/healthz"...)
		header = append(append(header, 0x01, 5), "lakes"...)
		err = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: header, EndStream: true, EndHeaders: true})
	}
	for ended := false; !ended; {
		var frame http2.Frame
		if err == nil {
			frame, err = framer.ReadFrame()
		}
		must(t, err)
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				err = framer.WriteSettingsAck()
			}
		case *http2.DataFrame:
			ended = f.StreamEnded()
		}
	}
}

// A memory has what a server uses, in bytes.
type memory struct{ resident, used float64 }

// memoryOf returns the memory of s after garbage collection.
func memoryOf(t *testing.T, s *limnomaptest.Server) memory {
	t.Helper()
	limnomaptest.Get(t, s.Admin+"/debug/pprof/heap?gc=1")
	return memory{
		resident: s.Metric(t, "process_resident_memory_bytes"),
		used:     s.Metric(t, "go_memstats_heap_alloc_bytes") + s.Metric(t, "go_memstats_stack_inuse_bytes"),
	}
}
