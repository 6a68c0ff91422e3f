package api

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"limnomap/data"
)

// A pipeListener accepts connections that are pipes, on which the clock of synctest goes on.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { close(l.closed); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// A pipeConn has an address, as the connection of a client has.
type pipeConn struct{ net.Conn }

func (pipeConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1234} }

// A stream without events stays open longer than a write may take, and proxies that close a silent connection after 15 seconds see it alive.
func TestIdleEventStream(t *testing.T) {
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(proto, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(testNow())) // otherwise the log drops what is 26 years old
				w := newEventWorld(t)
				l := &pipeListener{make(chan net.Conn), make(chan struct{})}
				protocols := new(http.Protocols)
				protocols.SetHTTP1(proto == "HTTP/1.1")
				protocols.SetUnencryptedHTTP2(proto == "HTTP/2.0")
				server := &http.Server{Handler: w, Protocols: protocols, WriteTimeout: time.Minute}
				served := make(chan error)
				go func() { served <- server.Serve(l) }()
				transport := &http.Transport{Protocols: protocols, DialContext: func(context.Context, string, string) (net.Conn, error) {
					client, conn := net.Pipe()
					l.conns <- pipeConn{conn}
					return client, nil
				}}
				defer func() { _ = server.Close(); <-served; transport.CloseIdleConnections() }()
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://lakes.example"+eventsURL+"/stream", nil)
				if err != nil {
					t.Fatal(err)
				}
				resp, err := (&http.Client{Transport: transport}).Do(r)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				if resp.Proto != proto || resp.StatusCode != http.StatusOK {
					t.Fatalf("%s by %s", resp.Status, resp.Proto)
				}
				reader := streamReader{bufio.NewScanner(resp.Body), t}
				reader.next()
				for opened, last := time.Now(), time.Now(); time.Since(opened) < 5*time.Minute; last = time.Now() {
					if !reader.Scan() {
						t.Fatalf("the idle stream ended after %v: %v", time.Since(opened), reader.Err())
					}
					if silent := time.Since(last); silent > 12*time.Second {
						t.Fatalf("the stream was silent for %v", silent)
					}
				}
				w.set("de_by_clean", 60)
				w.publish()
				if _, id, _ := reader.next(); id != "1" {
					t.Errorf("after five idle minutes it has the event %s, want 1", id)
				}
			})
		})
	}
}

// A client that does not read loses its stream.
func TestEventStreamThatIsNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(testNow()))
		w := newEventWorld(t)
		l := &pipeListener{make(chan net.Conn), make(chan struct{})}
		server := &http.Server{Handler: w}
		served := make(chan error)
		go func() { served <- server.Serve(l) }()
		client, conn := net.Pipe()
		l.conns <- pipeConn{conn}
		if _, err := fmt.Fprintf(client, "GET %s/stream HTTP/1.1\r\nHost: lakes.example\r\n\r\n", eventsURL); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := w.handlers.events.streams.budget.Used(); n != 1 {
			t.Fatalf("%d streams are open, want 1", n)
		}
		time.Sleep(streamWriteTimeout + heartbeat)
		if n := w.handlers.events.streams.budget.Used(); n != 0 {
			t.Errorf("%d streams are open, want none: nothing was read", n)
		}
		_ = client.Close()
		_ = server.Close()
		<-served
	})
}

// A longLog has many events of one lake, and no news.
type longLog struct {
	noEvents
	newest int64
}

func (l longLog) State() (data.EventState, <-chan struct{}) {
	return data.EventState{Oldest: 1, Newest: l.newest}, nil
}

func (l longLog) Events(_ context.Context, q data.EventQuery) (events []data.Event, err error) {
	for seq := q.After + 1; seq <= q.Until && len(events) < q.Limit; seq++ {
		kind := data.ClassUp
		if seq%2 == 0 {
			kind = data.ClassDown
		}
		events = append(events, data.Event{Seq: seq, LakeID: "de_by_clean", Kind: kind})
	}
	return events, nil
}

// largestWrite counts the events of a stream, has the size of its largest write, and calls ended at the event last.
type largestWrite struct {
	*httptest.ResponseRecorder
	events, size int
	last         string
	ended        func()
}

func (w *largestWrite) Write(b []byte) (int, error) {
	w.size = max(w.size, len(b))
	w.events += strings.Count(string(b), "\ndata: {\"seq\"")
	if strings.Contains(string(b), w.last) {
		w.ended()
	}
	return len(b), nil
}

// A stream of a long log has each event once, and holds only some of them at a time: hundreds of clients that do not read may have one each.
func TestEventStreamOfALongLog(t *testing.T) {
	const events = 5000
	opts := testOptions(t)
	opts.Events = longLog{newest: events}
	s := newServer(t, opts, advisorySource(t))
	for _, tt := range []struct {
		query string
		want  int
	}{{"?since=0", events}, {"?since=4321", events - 4321}, {"?since=0&kind=class_down", events / 2}} {
		ctx, leave := context.WithCancel(t.Context())
		w := &largestWrite{ResponseRecorder: httptest.NewRecorder(), last: fmt.Sprintf("id: %d\n", events), ended: leave}
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, eventsURL+"/stream"+tt.query, nil).WithContext(ctx))
		if w.Code != http.StatusOK || w.events != tt.want {
			t.Errorf("%s: %d with %d events, want %d", tt.query, w.Code, w.events, tt.want)
		}
		if w.size > 200<<10 {
			t.Errorf("%s: a write of %d bytes", tt.query, w.size)
		}
	}
}

// Streams take a small part of the requests in flight: whoever opens as many as he may from many addresses leaves the rest to others.
func TestEventStreamsLeaveRoom(t *testing.T) {
	for _, tt := range []struct{ requests, want int }{{16 << 10, 1024}, {682, 85}, {512, 64}, {8, 1}, {1, 1}} {
		if got := newEventStreams(tt.requests).budget.Total(); got != int64(tt.want) {
			t.Errorf("of %d requests %d may be streams, want %d", tt.requests, got, tt.want)
		}
	}
	w := newEventWorld(t)
	if got := w.handlers.events.streams.budget.Total(); got != maxStreams {
		t.Errorf("by default %d streams may be open, want %d", got, maxStreams)
	}
	const requests = 64
	opts := testOptions(t)
	opts.Requests, opts.Events = requests, w.keeper
	s := newServer(t, opts, testSource(t))
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	refused, ended := 0, make(chan struct{})
	for i := range requests {
		client := netip.AddrFrom4([4]byte{198, 51, 100, byte(i)})
		r := httptest.NewRequest(http.MethodGet, eventsURL+"/stream", nil).WithContext(ctx)
		r.RemoteAddr = netip.AddrPortFrom(client, 1234).String()
		first := &firstWrite{ResponseRecorder: httptest.NewRecorder(), done: make(chan struct{})}
		go func() { s.ServeHTTP(first, r); ended <- struct{}{} }()
		<-first.done
		if first.Code != http.StatusOK {
			refused++
		}
	}
	if want := requests - requests/8; refused < want {
		t.Errorf("of %d streams %d were refused, want at least %d", requests, refused, want)
	}
	for i := range 20 { // readers of the map
		r := httptest.NewRequest(http.MethodGet, statusURL, nil)
		r.RemoteAddr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{203, 0, 113, byte(i)}), 1234).String()
		recorder := httptest.NewRecorder()
		s.ServeHTTP(recorder, r)
		if recorder.Code != http.StatusOK {
			t.Errorf("beside the streams: %d %s", recorder.Code, recorder.Body)
		}
	}
	leave()
	for range requests {
		<-ended
	}
}

// A firstWrite tells of the first write.
type firstWrite struct {
	*httptest.ResponseRecorder
	done chan struct{}
}

func (w *firstWrite) Write(b []byte) (int, error) {
	n, err := w.ResponseRecorder.Write(b)
	select {
	case <-w.done:
	default:
		close(w.done)
	}
	return n, err
}
