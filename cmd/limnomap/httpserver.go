package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// maxStreams is how many requests of one HTTP/2 connection are answered at once: a map view is 20 to 60 tiles, and
	// RFC 9113, section 6.5.2, advises against fewer than 100.
	maxStreams = 128
	// receiveBuffer bounds what is kept of bodies, which no request needs. It is what a client may send before it has read
	// the server's settings (RFC 9113, section 6.9.2): less would be taken for a client's fault.
	receiveBuffer = 64 << 10
	// maxFrame is the least that RFC 9113, section 4.2, allows. The longest header fits, and net/http sets aside the whole
	// length of a frame, by default up to 1 MiB, as soon as it is announced.
	maxFrame = 16 << 10
	// pingAfter is how long an HTTP/2 client may be silent before it is asked whether it is still there, and
	// writeStall how long it may take none of what it is sent. Either ends a connection that no timeout of a single
	// request can end, because what is to be written last cannot be written.
	pingAfter  = 30 * time.Second
	writeStall = 30 * time.Second
)

// newHTTPServer bounds what one connection may cost. A tile or a page is answered in milliseconds; the write timeout
// leaves a phone with bad reception time for the largest prepared body.
//
// HTTP/2 is agreed on within TLS, or begun without it by a proxy that knows that it will be understood (RFC 9113,
// section 3.3). An HTTP/1 request cannot be upgraded to it: a proxy that passes such a request on, as many do, would
// open a tunnel past its own rules.
func newHTTPServer(h http.Handler, log *slog.Logger) *http.Server {
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
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// serveOn answers the connections of l until s is shut down or l, which is no error either, is closed: with TLS if s has
// a configuration of it.
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

// shutDown ends the servers as soon as their requests are answered. All close their doors at the same time: a long answer
// of one must neither keep another one open nor use up its time. What is not answered when ctx ends is cut off.
func shutDown(ctx context.Context, servers []*http.Server) error {
	var group errgroup.Group // whose goroutines end with ctx at the latest
	for _, s := range servers {
		group.Go(func() error {
			err := s.Shutdown(ctx)
			if err == nil || errors.Is(err, net.ErrClosed) {
				return nil // all is answered, and a listener that a drain has closed cannot be closed once more
			}
			return errors.Join(err, s.Close())
		})
	}
	return group.Wait()
}

// addressOf returns where s answers on l, as a browser on this machine takes it: a server on every address is at
// localhost.
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
