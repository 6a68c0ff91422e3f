package tiles

import (
	"bytes"
	"testing"
)

func TestDecodeEntryReadsWhatWasWritten(t *testing.T) {
	key := numberedKey(1)
	want := newTile([]byte("a tile"))
	got, err := decodeEntry(encodeEntry(key, want.Bytes), key.Sum())
	if err != nil || !sameTile(got, want) {
		t.Errorf("decodeEntry = %v, %v, want %v", got, err, want)
	}
}

func TestDecodeEntryRefuses(t *testing.T) {
	key := numberedKey(1)
	whole := encodeEntry(key, []byte("a tile"))
	refuse := func(name string, raw []byte) {
		t.Helper()
		if got, err := decodeEntry(raw, key.Sum()); err != ErrDamaged {
			t.Errorf("decodeEntry of %s = %q, %v, want ErrDamaged", name, got.Bytes, err)
		}
	}
	for i := range whole {
		for flip := 1; flip < 256; flip++ {
			flipped := bytes.Clone(whole)
			flipped[i] ^= byte(flip)
			refuse("a changed byte", flipped)
		}
		refuse("a torn entry", whole[:i])
		refuse("an entry that lacks a byte", append(bytes.Clone(whole[:i]), whole[i+1:]...))
	}
	refuse("an entry with something behind it", append(bytes.Clone(whole), 0))
	refuse("an entry of another key", encodeEntry(numberedKey(9), []byte("a tile")))
	refuse("an entry without an image", encodeEntry(key, nil))
	refuse("an image too large", encodeEntry(key, make([]byte, maxPNG+1)))
	earlier := append([]byte("limnoPT\x01"), whole[len(entryMagic):]...)
	refuse("an entry of an earlier format", earlier)
}

func FuzzDecodeEntry(f *testing.F) {
	key := numberedKey(1)
	whole := encodeEntry(key, []byte("a tile"))
	f.Add(whole)
	f.Add(whole[:prefixLen])
	f.Add([]byte{})
	f.Add(encodeEntry(numberedKey(9), []byte("a tile")))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := decodeEntry(raw, key.Sum())
		if err != nil {
			return
		}
		if !bytes.Equal(encodeEntry(key, got.Bytes), raw) {
			t.Errorf("decodeEntry accepts %q, which is not how %q is written", raw, got.Bytes)
		}
		if want := newTile(got.Bytes); !sameTile(got, want) {
			t.Errorf("decodeEntry(%q) = %v, want %v", raw, got, want)
		}
	})
}
