package hdf5

import (
	"sync"
	"sync/atomic"
)

// A memo keeps what was decoded at addresses: small entries up to maxMemo bytes, after which it begins again, and the last large entry.
// It is safe for concurrent use.
type memo[T any] struct {
	work    *work
	mu      sync.Mutex // guards the fields below
	entries map[uint64]T
	bytes   int
	large   map[uint64]T // of one entry
}

const maxMemo = 2 << 20 // bytes, as callers estimate them

// A work bounds the bytes of a file that are decoded for memos, also again and again: thousands of objects may share one block.
type work struct {
	most int64
	done atomic.Int64
}

// The bytes that may be decoded are minWork and twice the file, of which workSize bytes count. A file of 16,384 variables with headers of
// a kilobyte, which are read five times, takes 80 MB.
const (
	minWork  = 64 << 20
	workSize = 32 << 20
)

func newWork(size int64) *work { return &work{most: minWork + 2*min(size, workSize)} }

// add returns an error if this is more than the file is worth.
func (w *work) add(n int) error {
	if w != nil && w.done.Add(int64(n)) > w.most { // it is nil for arrays, which have no such objects
		return unsupported("more than %d bytes of object headers, links and attributes, counted each time that they are read", w.most)
	}
	return nil
}

// get returns what is kept for an address, or what read returns together with the bytes that it takes.
func (m *memo[T]) get(address uint64, read func() (T, int, error)) (T, error) {
	m.mu.Lock()
	v, ok := m.entries[address]
	if !ok {
		v, ok = m.large[address]
	}
	m.mu.Unlock()
	if ok {
		return v, nil
	}
	v, n, err := read()
	if over := m.work.add(n); err == nil {
		err = over
	}
	if err != nil {
		return v, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if n > maxMemo/4 {
		m.large = map[uint64]T{address: v}
		return v, nil
	}
	if m.entries == nil || m.bytes+n > maxMemo {
		m.entries, m.bytes = map[uint64]T{}, 0
	}
	if _, ok := m.entries[address]; !ok {
		m.bytes += n
	}
	m.entries[address] = v
	return v, nil
}
