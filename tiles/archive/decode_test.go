package archive

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"testing"
)

// A decoded is a PMTiles archive, read by a short decoder that follows the specification and shares no code with the writer.
// Other tests use readers that other projects have written.
type decoded struct {
	numbers  map[string]uint64 // of the header
	metadata map[string]any
	tiles    map[uint64]string // content by id
	order    []entry           // of all tiles
	leaves   int
}

func decode(t testing.TB, raw []byte) *decoded {
	t.Helper()
	d := &decoded{numbers: map[string]uint64{}, tiles: map[uint64]string{}}
	if err := d.decode(raw); err != nil {
		t.Fatalf("PMTiles: %v", err)
	}
	return d
}

func (d *decoded) decode(raw []byte) error {
	if len(raw) < 127 || string(raw[:8]) != "PMTiles\x03" {
		return fmt.Errorf("no header of version 3: %q", raw[:min(len(raw), 8)])
	}
	for i, name := range []string{"root", "rootLength", "metadata", "metadataLength", "leaves", "leavesLength", "data", "dataLength", "addressed", "entries", "contents"} {
		d.numbers[name] = binary.LittleEndian.Uint64(raw[8+8*i:])
	}
	for i, name := range []string{"clustered", "internal", "compression", "type", "minZoom", "maxZoom"} {
		d.numbers[name] = uint64(raw[96+i])
	}
	section := func(name string) []byte {
		return raw[d.numbers[name]:][:d.numbers[name+"Length"]]
	}
	if end := d.numbers["root"] + d.numbers["rootLength"]; end > 16384 {
		return fmt.Errorf("the root ends at %d, past the first 16,384 bytes", end)
	}
	if end := d.numbers["data"] + d.numbers["dataLength"]; end != uint64(len(raw)) {
		return fmt.Errorf("the sections end at %d of %d bytes", end, len(raw))
	}
	metadata, err := gunzip(section("metadata"))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(metadata, &d.metadata); err != nil {
		return err
	}
	root, err := decodeEntries(section("root"))
	if err != nil {
		return err
	}
	for _, e := range root {
		leaf := []entry{e}
		if e.run == 0 {
			d.leaves++
			if leaf, err = decodeEntries(section("leaves")[e.offset:][:e.length]); err != nil {
				return err
			}
			if leaf[0].id != e.id {
				return fmt.Errorf("the leaf of tile %d begins with tile %d", e.id, leaf[0].id)
			}
		}
		d.order = append(d.order, leaf...)
	}
	for _, e := range d.order {
		for id := e.id; id < e.id+uint64(e.run); id++ {
			if _, twice := d.tiles[id]; twice {
				return fmt.Errorf("tile %d comes twice", id)
			}
			d.tiles[id] = string(section("data")[e.offset:][:e.length])
		}
	}
	return nil
}

func decodeEntries(raw []byte) ([]entry, error) {
	plain, err := gunzip(raw)
	if err != nil {
		return nil, err
	}
	in := bytes.NewReader(plain)
	var fault error
	next := func() uint64 {
		n, err := binary.ReadUvarint(in)
		if err != nil && fault == nil {
			fault = err
		}
		return n
	}
	entries := make([]entry, next())
	var id uint64
	for i := range entries {
		id += next()
		entries[i].id = id
	}
	for i := range entries {
		entries[i].run = uint32(next())
	}
	for i := range entries {
		entries[i].length = uint32(next())
	}
	for i := range entries {
		if offset := next(); offset > 0 {
			entries[i].offset = offset - 1
		} else if i > 0 {
			entries[i].offset = entries[i-1].offset + uint64(entries[i-1].length)
		} else {
			return nil, fmt.Errorf("the first entry has no offset")
		}
	}
	if fault == nil && (len(entries) == 0 || in.Len() != 0) {
		fault = fmt.Errorf("%d entries, and %d bytes after them", len(entries), in.Len())
	}
	return entries, fault
}

func gunzip(raw []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if !z.ModTime.IsZero() || z.Name != "" {
		return nil, fmt.Errorf("the gzip header has the time %v and the name %q", z.ModTime, z.Name)
	}
	return io.ReadAll(z)
}
