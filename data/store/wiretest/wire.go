// Package wiretest makes the connection between a program under test and its database or Redis slow, or hang.
package wiretest

import (
	"bytes"
	"net"
	"sync"
	"testing"
	"time"
)

// A Wire is a proxy in front of a database or Redis that can be slow, or hang. It affects the bytes that the server sends;
// requests pass as they are.
type Wire struct {
	Address string

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

// New starts a proxy in front of the server at that address. It runs until the test ends.
func New(tb testing.TB, to string) *Wire {
	tb.Helper()
	return NewAt(tb, "127.0.0.1:0", to)
}

// NewAt is New for a proxy with an address.
func NewAt(tb testing.TB, address, to string) *Wire {
	tb.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		tb.Fatal(err)
	}
	w := &Wire{Address: listener.Addr().String(), conns: make(map[net.Conn]bool)}
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
	tb.Cleanup(func() {
		w.set(func() { w.ended, w.hung = true, false })
		listener.Close()
		w.Cut()
		group.Wait()
	})
	return w
}

// add notes a connection, and reports false if the test has ended.
func (w *Wire) add(conn net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns[conn] = true
	return !w.ended
}

// set changes the fields.
func (w *Wire) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
	w.changed.Broadcast()
}

// Cut closes all connections.
func (w *Wire) Cut() {
	w.set(func() {
		for conn := range w.conns {
			conn.Close()
		}
	})
}

// pass copies from one connection to another until either is closed.
func (w *Wire) pass(to, from net.Conn, answers bool) {
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

func (w *Wire) forget(conns ...net.Conn) {
	w.set(func() {
		for _, conn := range conns {
			delete(w.conns, conn)
		}
	})
}

// gate waits as long as an answer must, and returns how many of its bytes may pass.
func (w *Wire) gate(answer []byte) int {
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

// Slow delays each answer, and passes on that many bytes at once; 0: all.
func (w *Wire) Slow(delay time.Duration, piece int) {
	w.set(func() { w.delay, w.piece = delay, piece })
}

// Hang holds all answers back, and keeps the connections open.
func (w *Wire) Hang(hung bool) { w.set(func() { w.hung, w.hangAt, w.hangOn = hung, 0, "" }) }

// HangAfter hangs in the middle of the answers that follow.
func (w *Wire) HangAfter(bytes int64) { w.set(func() { w.hangAt = w.passed + bytes }) }

// HangBefore hangs before an answer with a text.
func (w *Wire) HangBefore(text string) { w.set(func() { w.hangOn = text }) }
