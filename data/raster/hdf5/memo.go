package hdf5

import "sync"

// A memo keeps what was decoded at addresses: small entries up to maxMemo bytes, after which it begins again, and the last large entry.
// It is safe for concurrent use.
type memo[T any] struct {
	mu      sync.Mutex // guards the fields below
	entries map[uint64]T
	bytes   int
	large   map[uint64]T // of one entry
}

const maxMemo = 2 << 20 // bytes, as callers estimate them

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
