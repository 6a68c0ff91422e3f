package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"limnomap/api"
)

const (
	// maxStreams is how many requests of one HTTP/2 connection are answered at the same time: a map view is 20 to 60 tiles,
	// and RFC 9113, section 6.5.2, recommends at least 100.
	maxStreams = 128
	// receiveBuffer bounds the buffered part of request bodies, which no request needs. A client may send this much before it
	// has read the server's settings (RFC 9113, section 6.9.2); with less, such a client would get an error.
	receiveBuffer = 64 << 10
	// maxFrame is the least that RFC 9113, section 4.2, allows. The longest header fits. Net/http allocates the whole length
	// of a frame, by default up to 1 MiB, as soon as it is announced.
	maxFrame = 16 << 10
	// After pingAfter a silent HTTP/2 client gets a ping; after writeStall without reading anything it is disconnected. The
	// timeouts of requests do not end such connections, because the last frame cannot be written.
	pingAfter  = 30 * time.Second
	writeStall = 30 * time.Second
)

// newHTTPServer returns a server with a bound for all that one connection may cost. A tile or a page is answered in
// milliseconds; the write timeout gives a phone with bad reception time for the largest body.
//
// HTTP/2 is negotiated in TLS, or used without TLS by a proxy that knows the server (RFC 9113, section 3.3). An HTTP/1
// request cannot be upgraded: a proxy that forwards such a request, as many do, would open a tunnel around its own rules.
func newHTTPServer(h http.Handler, log *slog.Logger, addresses func() api.LogAddresses) *http.Server {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:           h,
		Protocols:         &protocols,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          maxStreams,
			MaxReadFrameSize:              maxFrame,
			MaxReceiveBufferPerConnection: receiveBuffer,
			MaxReceiveBufferPerStream:     receiveBuffer,
			SendPingTimeout:               pingAfter,
			WriteByteTimeout:              writeStall,
		},
		ErrorLog: newErrorLog(log, addresses),
	}
}

// newErrorLog returns where net/http writes its errors, of single clients mostly.
func newErrorLog(to *slog.Logger, addresses func() api.LogAddresses) *log.Logger {
	l := slog.NewLogLogger(to.Handler(), slog.LevelDebug)
	l.SetOutput(addressFilter{l.Writer(), addresses})
	return l
}

// An addressFilter logs the addresses in messages of net/http as those of requests.
type addressFilter struct {
	io.Writer
	addresses func() api.LogAddresses
}

// addressAndPort matches the addresses of connections.
var addressAndPort = regexp.MustCompile(`\[[0-9a-fA-F:.%\w]+\]:\d+|\d+\.\d+\.\d+\.\d+:\d+`)

func (f addressFilter) Write(message []byte) (int, error) {
	addresses := f.addresses()
	_, err := f.Writer.Write(addressAndPort.ReplaceAllFunc(message, func(text []byte) []byte {
		a, err := netip.ParseAddrPort(string(text))
		if err != nil || addresses == "full" {
			return text
		}
		return []byte(cmp.Or(addresses.Text(a.Addr().Unmap().WithZone("")), "-"))
	}))
	return len(message), err
}

// serveOn serves the connections of l, with TLS if s is configured for it. It returns nil when s is shut down or l is
// closed.
func serveOn(s *http.Server, l net.Listener) error {
	serve := s.Serve
	if s.TLSConfig != nil {
		serve = func(l net.Listener) error { return s.ServeTLS(l, "", "") }
	}
	if err := serve(l); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// shutDown stops all servers at the same time, each as soon as its requests are answered: a long answer of one must not use
// the time of the others. Requests that are not answered when ctx ends are aborted.
func shutDown(ctx context.Context, servers []*http.Server) error {
	var group errgroup.Group // its goroutines end with ctx at the latest
	for _, s := range servers {
		group.Go(func() error {
			err := s.Shutdown(ctx)
			if err == nil || errors.Is(err, net.ErrClosed) {
				return nil // all requests are answered; drain.end has already closed the listener
			}
			return errors.Join(err, s.Close())
		})
	}
	return group.Wait()
}

// addressOf returns the address of s for a browser on this machine: localhost, if s listens on all addresses.
func addressOf(s *http.Server, l net.Listener) string {
	scheme := "http://"
	if s.TLSConfig != nil {
		scheme = "https://"
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return scheme + net.JoinHostPort("localhost", strconv.Itoa(tcp.Port))
	}
	return scheme + l.Addr().String()
}
