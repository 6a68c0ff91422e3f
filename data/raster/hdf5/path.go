package hdf5

import (
	"errors"
	"fmt"
)

const (
	maxSearched      = 1 << 16 // objects
	maxSearchedBytes = 8 << 20 // of their paths
)

// A pathSearch looks for objects by their addresses, group by group from the root, and remembers what it came by.
type pathSearch struct {
	paths   map[uint64]string
	bytes   int
	waiting []uint64 // addresses of objects whose links were not read yet
	failed  error    // of the first group that could not be read
}

// PathOf returns the path of the object that an object reference refers to. An object with several paths has the shortest. If the file
// has no such object, the error is [ErrNotFound].
func (f *File) PathOf(reference uint64) (string, error) {
	f.searchMu.Lock()
	defer f.searchMu.Unlock()
	s := &f.search
	if s.paths == nil {
		s.paths = map[uint64]string{f.root.address: f.root.path}
		s.waiting = []uint64{f.root.address}
	}
	for {
		if path, ok := s.paths[reference]; ok {
			return path, nil
		}
		if len(s.waiting) == 0 {
			if s.failed != nil {
				return "", s.failed
			}
			return "", fmt.Errorf("no object at address %d: %w", reference, ErrNotFound)
		}
		if err := f.searchGroup(s.waiting[0]); err != nil {
			if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrUnsupported) {
				return "", err // of the reader: it may go away
			}
			if s.failed == nil {
				s.failed = err
			}
		}
		s.waiting = s.waiting[1:]
	}
}

// searchGroup adds the objects of a group, if the object at an address is one.
func (f *File) searchGroup(address uint64) error {
	s := &f.search
	h, err := f.header(address)
	if err != nil || !h.isGroup() {
		return err
	}
	links, err := f.readLinks(address)
	if err != nil {
		return err
	}
	for _, k := range links.links {
		if k.kind != hardLink || s.paths[k.address] != "" {
			continue
		}
		path := joinPath(s.paths[address], k.name)
		if s.bytes += len(path); len(s.paths) == maxSearched || s.bytes > maxSearchedBytes {
			return unsupported("a search among more than %d objects", maxSearched)
		}
		s.paths[k.address] = path
		s.waiting = append(s.waiting, k.address)
	}
	return nil
}
