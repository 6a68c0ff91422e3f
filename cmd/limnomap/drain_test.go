package main

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"limnomap/cmd/limnomap/limnomaptest"
)

// These tests run parts of a graceful stop in this process. faulttest stops the real process under load.

// Shutdown waits for HTTP/2 requests in flight.
func TestShutdownFinishesStreams(t *testing.T) {
	cert, key := newPair(t, 1, nextYear())
	pair, err := tls.X509KeyPair(cert, key)
	mustDo(t, err)
	for name, tt := range map[string]struct {
		config *tls.Config
		set    func(*http.Protocols)
	}{
		"HTTP/2 over TLS":    {&tls.Config{Certificates: []tls.Certificate{pair}}, http2},
		"HTTP/2 without TLS": {nil, h2c},
	} {
		t.Run(name, func(t *testing.T) {
			entered, leave := make(chan struct{}), make(chan struct{})
			s, base := serveFor(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				close(entered)
				<-leave
				_, _ = io.WriteString(w, "to the end")
			}), tt.config)
			var body []byte
			asked := make(chan error, 1)
			go func() { // ends with the answer
				resp, err := clientOf(t, tt.set).Get(base + "/")
				if err == nil {
					defer resp.Body.Close()
					body, err = io.ReadAll(resp.Body)
				}
				asked <- err
			}()
			<-entered
			stopped := make(chan error, 1)
			go func() { stopped <- s.Shutdown(context.Background()) }() // ends when the request below is answered
			limnomaptest.Within(t, 2*time.Minute, "new connections are refused", func() bool { return !acceptsConnections(base) })
			close(leave)
			if err := <-asked; err != nil || string(body) != "to the end" {
				t.Errorf("the request in flight gets %q, %v", body, err)
			}
			if err := <-stopped; err != nil {
				t.Errorf("Shutdown = %v", err)
			}
		})
	}
}

// One slow answer does not delay the shutdown of other servers, and is cut off at the end.
func TestShutDownTogether(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	defer close(leave)
	slow, slowBase := serveFor(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(entered)
		<-leave
	}), nil)
	var servers []*http.Server
	var bases []string
	for range 3 {
		s, base := serveFor(t, http.NotFoundHandler(), nil)
		servers, bases = append(servers, s), append(bases, base)
	}
	asked := make(chan error, 1)
	go func() { // ends when it is cut off
		resp, err := clientOf(t, http1).Get(slowBase)
		if err == nil {
			resp.Body.Close()
		}
		asked <- err
	}()
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- shutDown(ctx, append([]*http.Server{slow}, servers...)) }() // ends with cancel
	for _, base := range bases {
		limnomaptest.Within(t, 2*time.Minute, "an idle server refuses new connections", func() bool { return !acceptsConnections(base) })
	}
	select {
	case err := <-stopped:
		t.Errorf("shutDown = %v before the last answer", err)
	case err := <-asked:
		t.Errorf("the request in flight gets %v before the deadline", err)
	default:
	}
	cancel()
	if err := <-stopped; !errors.Is(err, context.Canceled) {
		t.Errorf("shutDown = %v, want context.Canceled", err)
	}
	if err := <-asked; err == nil {
		t.Error("the request in flight is answered, want it cut off")
	}
}

// acceptsConnections reports whether a server listens at base.
func acceptsConnections(base string) bool {
	conn, err := net.Dial("tcp", base[strings.LastIndexByte(base, '/')+1:])
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// A heldListener reports that it is closed only after the second Close, as may happen on a busy machine.
type heldListener struct {
	net.Listener
	accepting, release chan struct{}
}

func (l *heldListener) Accept() (net.Conn, error) {
	close(l.accepting) // once: no client connects
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

// Without a notice period the servers are shut down right after their listeners are closed, even if they have not noticed
// that yet.
func TestDrainBeforeServersNotice(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	mustDo(t, err)
	l := &heldListener{tcp, make(chan struct{}), make(chan struct{})}
	s := newHTTPServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler), noAddresses)
	served := make(chan error, 1)
	go func() { served <- serveOn(s, l) }() // ends with the second Close
	<-l.accepting
	if err := new(drain).end(map[*http.Server]net.Listener{s: l}, 0, time.Minute); err != nil {
		t.Errorf("end = %v, want none: no request was cut off", err)
	}
	if err := <-served; err != nil {
		t.Errorf("serveOn = %v", err)
	}
}

// A whole server with all listeners and caches, stopped while clients send requests, leaves no goroutine behind.
func TestNoGoroutineLeftAfterStop(t *testing.T) {
	db := worldDB(t, 50)
	before := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	log := new(limnomaptest.Log)
	ended := make(chan error, 1)
	go func() { // ends with cancel
		ended <- run(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--drain", "0s", "--db", db,
			"--tile-rate", "0", "--api-rate", "0", "--cache-memory", "1MiB", "--cache-dir", filepath.Join(t.TempDir(), "tiles")}, io.Discard, log)
	}()
	var base, admin string
	limnomaptest.Within(t, 2*time.Minute, "serve logs its addresses", func() bool {
		open, url := openAddress.FindStringSubmatch(log.String()), adminAddress.FindStringSubmatch(log.String())
		if open == nil || url == nil {
			return false
		}
		base, admin = open[1], url[1]
		return true
	})
	transport := new(http.Transport)
	client := &http.Client{Transport: transport, Timeout: time.Minute}
	status := func(url string) (int, error) {
		resp, err := client.Get(url)
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode, err
	}
	limnomaptest.Within(t, 2*time.Minute, "ready", func() bool {
		got, err := status(base + "/readyz")
		return err == nil && got == http.StatusOK
	})
	urls := []string{admin + "/metrics", admin + "/debug/pprof/goroutine", base + "/", base + "/api/v1/legend.png"}
	for _, path := range []string{"bathing-lakes/status", "bathing-lakes/geojson", "bathing-lakes/status?risk=high",
		"tiles/3/4/2.png", "tiles/3/4/3@2x.png", "tiles/3/2/3.png?style=dots", "tiles/2/2/1.mvt"} {
		urls = append(urls, base+"/api/v1/"+path)
	}
	var asking errgroup.Group
	var once sync.Once
	for range 4 {
		asking.Go(func() error { // ends with the server
			for i := 0; ; i = (i + 1) % len(urls) {
				got, err := status(urls[i])
				if err != nil {
					return nil
				}
				if got != http.StatusOK {
					t.Errorf("%s: %d", urls[i], got)
					return nil
				}
				if i == len(urls)-1 {
					once.Do(cancel)
				}
			}
		})
	}
	if err := <-ended; err != nil {
		t.Errorf("serve = %v\n%s", err, log)
	}
	if err := asking.Wait(); err != nil {
		t.Error(err)
	}
	transport.CloseIdleConnections()
	goleak.VerifyNone(t, before)
}
