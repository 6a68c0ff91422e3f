package disk

import (
	"bytes"
	"encoding/hex"
	"testing"
)

func TestDecodeEntryReadsEncodedEntry(t *testing.T) {
	raw := encodeEntry(numberedKey(1), []byte("a tile"))
	got, err := decodeEntry(raw, numberedSum(1))
	clear(raw) // the body does not share its memory
	if err != nil || string(got.body) != "a tile" || got.digest != digestOf([]byte("a tile")) {
		t.Errorf("decodeEntry = %q, %v", got.body, err)
	}
	if want := bytes.Clone([]byte("a tile")); cap(got.body) != cap(want) {
		t.Errorf("the body has a capacity of %d, want %d: memory counts it", cap(got.body), cap(want))
	}
}

// TestEntryOfEarlierReleases keeps the folders of earlier releases readable.
func TestEntryOfEarlierReleases(t *testing.T) {
	const want = "6c696d6e6f5054020005000000066e750285b56a36e652664473531c48d96b65792031612074696c65"
	if got := hex.EncodeToString(encodeEntry(numberedKey(1), []byte("a tile"))); got != want {
		t.Errorf("an entry is %s, want %s: every folder of cached tiles would be useless after an upgrade", got, want)
	}
}

func TestDecodeEntryRefuses(t *testing.T) {
	key, sum := numberedKey(1), numberedSum(1)
	whole := encodeEntry(key, []byte("a tile"))
	refuse := func(name string, raw []byte) {
		t.Helper()
		if got, err := decodeEntry(raw, sum); err != ErrDamaged {
			t.Errorf("decodeEntry of %s = %q, %v, want ErrDamaged", name, got.body, err)
		}
	}
	for i := range whole {
		for flip := 1; flip < 256; flip++ {
			flipped := bytes.Clone(whole)
			flipped[i] ^= byte(flip)
			refuse("a changed byte", flipped)
		}
		refuse("a torn entry", whole[:i])
		refuse("an entry without one of its bytes", append(bytes.Clone(whole[:i]), whole[i+1:]...))
	}
	refuse("an entry with a byte appended", append(bytes.Clone(whole), 0))
	refuse("an entry of another key", encodeEntry(numberedKey(9), []byte("a tile")))
	refuse("an entry without a body", encodeEntry(key, nil))
	refuse("a body that is too large", encodeEntry(key, make([]byte, maxBody+1)))
	earlier := append([]byte("limnoPT\x01"), whole[len(entryMagic):]...)
	refuse("an entry of an earlier format", earlier)
}

func FuzzDecodeEntry(f *testing.F) {
	key, sum := numberedKey(1), numberedSum(1)
	whole := encodeEntry(key, []byte("a tile"))
	f.Add(whole)
	f.Add(whole[:prefixLen])
	f.Add([]byte{})
	f.Add(encodeEntry(numberedKey(9), []byte("a tile")))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := decodeEntry(raw, sum)
		if err != nil {
			return
		}
		if !bytes.Equal(encodeEntry(key, got.body), raw) {
			t.Errorf("decodeEntry accepts %q, which is not how %q is encoded", raw, got.body)
		}
		if got.digest != digestOf(got.body) {
			t.Errorf("decodeEntry(%q) returns a wrong digest", raw)
		}
	})
}
