package main

import (
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"
)

// A heldListener lets its server learn only at the second Close that it is closed, as it may on a busy machine.
type heldListener struct {
	net.Listener
	asked, release chan struct{}
}

func (l *heldListener) Accept() (net.Conn, error) {
	close(l.asked) // once: nobody connects
	conn, err := l.Listener.Accept()
	<-l.release
	return conn, err
}

func (l *heldListener) Close() error {
	err := l.Listener.Close()
	if err != nil {
		close(l.release)
	}
	return err
}

// Without a notice the servers are shut down at once when their listeners are closed, be it before they know of that.
func TestDrainOfServersThatDoNotKnowYet(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &heldListener{tcp, make(chan struct{}), make(chan struct{})}
	s := newHTTPServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	served := make(chan error, 1)
	go func() { served <- serveOn(s, l) }() // ends with the second Close
	<-l.asked
	if err := new(drain).end(map[*http.Server]net.Listener{s: l}, 0, time.Minute); err != nil {
		t.Errorf("end = %v, want none: no request was cut off", err)
	}
	if err := <-served; err != nil {
		t.Errorf("serveOn = %v", err)
	}
}
