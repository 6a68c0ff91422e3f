//go:build unix

package faulttest

import (
	"bytes"
	"net"
	"sync"
	"testing"
	"time"
)

// A wire is a proxy in front of a database or Redis that can be slow, or hang. It affects the bytes that the server sends;
// requests pass as they are.
type wire struct {
	address string

	mu      sync.Mutex
	changed *sync.Cond
	delay   time.Duration // of each answer
	piece   int           // bytes that are passed on at once; 0: all
	hung    bool
	hangAt  int64  // it hangs once that many bytes have passed; 0: never
	hangOn  string // it hangs before a piece with this text; empty: never
	passed  int64
	conns   map[net.Conn]bool // the clients'
	ended   bool
}

// newWire starts a proxy in front of the server at that address. It runs until the test ends.
func newWire(t testing.TB, to string) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	w := &wire{address: listener.Addr().String(), conns: make(map[net.Conn]bool)}
	w.changed = sync.NewCond(&w.mu)
	var group sync.WaitGroup
	group.Go(func() { // ends when the listener is closed
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil || !w.add(in) {
				in.Close()
				if err == nil {
					out.Close()
				}
				continue
			}
			group.Go(func() { w.pass(out, in, false) }) // both end with either connection
			group.Go(func() { w.pass(in, out, true) })
		}
	})
	t.Cleanup(func() {
		w.set(func() { w.ended, w.hung = true, false })
		listener.Close()
		w.cut()
		group.Wait()
	})
	return w
}

// add notes a connection, and reports false if the test has ended.
func (w *wire) add(conn net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns[conn] = true
	return !w.ended
}

// set changes the fields.
func (w *wire) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
	w.changed.Broadcast()
}

// cut closes all connections.
func (w *wire) cut() {
	w.set(func() {
		for conn := range w.conns {
			conn.Close()
		}
	})
}

// pass copies from one connection to another until either is closed.
func (w *wire) pass(to, from net.Conn, answers bool) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		for rest := buf[:n]; len(rest) > 0; {
			piece := len(rest)
			if answers {
				piece = w.gate(rest)
			}
			if _, err := to.Write(rest[:piece]); err != nil {
				w.forget(to, from)
				return
			}
			rest = rest[piece:]
		}
		if err != nil {
			w.forget(to, from)
			return
		}
	}
}

func (w *wire) forget(conns ...net.Conn) {
	w.set(func() {
		for _, conn := range conns {
			delete(w.conns, conn)
		}
	})
}

// gate waits as long as an answer must, and returns how many of its bytes may pass.
func (w *wire) gate(answer []byte) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(answer)
	if w.piece > 0 {
		n = min(n, w.piece)
	}
	if delay := w.delay; delay > 0 {
		w.mu.Unlock()
		time.Sleep(delay)
		w.mu.Lock()
	}
	if w.passed += int64(n); w.hangAt > 0 && w.passed >= w.hangAt {
		w.hung, w.hangAt = true, 0
	}
	if w.hangOn != "" && bytes.Contains(answer[:n], []byte(w.hangOn)) {
		w.hung, w.hangOn = true, ""
	}
	for w.hung {
		w.changed.Wait()
	}
	return n
}

// slow delays each answer, and passes on that many bytes at once; 0: all.
func (w *wire) slow(delay time.Duration, piece int) {
	w.set(func() { w.delay, w.piece = delay, piece })
}

// hang holds all answers back, and keeps the connections open.
func (w *wire) hang(hung bool) { w.set(func() { w.hung, w.hangAt, w.hangOn = hung, 0, "" }) }

// hangAfter hangs in the middle of the answers that follow.
func (w *wire) hangAfter(bytes int64) { w.set(func() { w.hangAt = w.passed + bytes }) }

// hangBefore hangs before an answer with a text.
func (w *wire) hangBefore(text string) { w.set(func() { w.hangOn = text }) }
