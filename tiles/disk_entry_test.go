package tiles

import (
	"bytes"
	"testing"
)

func entryOf(key Sum, png []byte) []byte { return append(appendHeader(nil, key, png), png...) }

func TestDecodeEntryReadsWhatWasWritten(t *testing.T) {
	key := Sum{1, 2, 3}
	want := newTile([]byte("a tile"))
	got, err := decodeEntry(entryOf(key, want.PNG), key)
	if err != nil || !sameTile(got, want) {
		t.Errorf("decodeEntry = %v, %v, want %v", got, err, want)
	}
}

func TestDecodeEntryRefuses(t *testing.T) {
	key := Sum{1, 2, 3}
	whole := entryOf(key, []byte("a tile"))
	refuse := func(name string, raw []byte) {
		t.Helper()
		if got, err := decodeEntry(raw, key); err != errDamaged {
			t.Errorf("decodeEntry of %s = %q, %v, want errDamaged", name, got.PNG, err)
		}
	}
	for i := range whole {
		for bit := range 8 {
			flipped := bytes.Clone(whole)
			flipped[i] ^= 1 << bit
			refuse("a flipped bit", flipped)
		}
		refuse("a torn entry", whole[:i])
	}
	refuse("an entry with something behind it", append(bytes.Clone(whole), 0))
	refuse("an entry of another key", entryOf(Sum{9}, []byte("a tile")))
	refuse("an entry without an image", entryOf(key, nil))
	refuse("an image too large", entryOf(key, make([]byte, maxPNG+1)))
}

func FuzzDecodeEntry(f *testing.F) {
	key := Sum{1, 2, 3}
	whole := entryOf(key, []byte("a tile"))
	f.Add(whole)
	f.Add(whole[:headerLen])
	f.Add([]byte{})
	f.Add(entryOf(Sum{9}, []byte("a tile")))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := decodeEntry(raw, key)
		if err != nil {
			return
		}
		if !bytes.Equal(entryOf(key, got.PNG), raw) {
			t.Errorf("decodeEntry accepts %q, which is not how %q is written", raw, got.PNG)
		}
		if want := newTile(got.PNG); !sameTile(got, want) {
			t.Errorf("decodeEntry(%q) = %v, want %v", raw, got, want)
		}
	})
}
