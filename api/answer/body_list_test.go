package answer

import (
	"bytes"
	"strings"
	"testing"
)

// TestListSizes prepares a long list with the sizes of a former one, which may be too small or too large: it has the same bytes.
func TestListSizes(t *testing.T) {
	sender := newSender(t, Options{HeldItems: -1})
	kind := NewKind("application/json", CacheRevisit)
	list := List{Head: []byte("["), Append: func(b []byte, i int) []byte {
		return append(b, strings.Repeat(string(rune('a'+i%26)), 50+i%7)...)
	}, Between: ",", Tail: "]", Len: 2000}
	want, err := sender.PrepareList(kind, list)
	if err != nil {
		t.Fatal(err)
	}
	if sizes := want.Sizes(); sizes[Gzip] == 0 || sizes[Zstd] == 0 || sizes[Identity] != 0 || sizes[Brotli] != 0 {
		t.Errorf("the sizes are %v, want those of gzip and Zstandard", sizes)
	}
	for _, sizes := range []Sizes{want.Sizes(), {Gzip: 1, Zstd: 1}, {Gzip: 1 << 20, Zstd: 1 << 20}} {
		list.Sizes = sizes
		got, err := sender.PrepareList(kind, list)
		if err != nil {
			t.Fatal(err)
		}
		for _, coding := range []Coding{Gzip, Zstd} {
			if !bytes.Equal(got.variants[coding].content, want.variants[coding].content) {
				t.Errorf("%s with sizes %v: other bytes", coding, sizes)
			}
		}
	}
}
