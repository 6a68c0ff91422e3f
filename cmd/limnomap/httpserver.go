package main

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"
)

const (
	// maxStreams is how many requests of one HTTP/2 connection are answered at once: a map view is 20 to 60 tiles, and
	// RFC 9113, section 6.5.2, advises against fewer than 100.
	maxStreams = 128
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
			MaxConcurrentStreams: maxStreams,
			// No request has a body. These are the least that net/http allows for a connection, and a frame for a stream.
			MaxReceiveBufferPerConnection: 64 << 10,
			MaxReceiveBufferPerStream:     16 << 10,
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
