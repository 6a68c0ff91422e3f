package answer

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// TestListSizes prepares long lists with the sizes of a former one, which may be too small or too large: they have the same bytes. Only one of more than
// 16 MiB has no Brotli form.
func TestListSizes(t *testing.T) {
	sender := newSender(t, Options{HeldItems: -1})
	kind := NewKind("application/json", CacheRevisit)
	for n, codings := range map[int][]Coding{2000: {Gzip, Zstd, Brotli}, 400_000: {Gzip, Zstd}} {
		list := List{Head: []byte("["), Append: func(b []byte, i int) []byte {
			return append(b, strings.Repeat(string(rune('a'+i%26)), 50+i%7)...)
		}, Between: ",", Tail: "]", Len: n}
		want, err := sender.PrepareList(kind, list)
		if err != nil {
			t.Fatal(err)
		}
		for _, sizes := range []Sizes{want.Sizes(), {Gzip: 1, Zstd: 1, Brotli: 1}, {Gzip: 1 << 20, Zstd: 1 << 20}} {
			list.Sizes = sizes
			got, err := sender.PrepareList(kind, list)
			if err != nil {
				t.Fatal(err)
			}
			for coding, v := range got.variants {
				switch {
				case Coding(coding) == Identity:
				case (v != nil) != slices.Contains(codings, Coding(coding)):
					t.Errorf("%d items, %s: prepared is %v, want %v", n, Coding(coding), v != nil, v == nil)
				case v != nil && (!bytes.Equal(v.content, want.variants[coding].content) || want.Sizes()[coding] != len(v.content)):
					t.Errorf("%d items, %s with sizes %v: other bytes", n, Coding(coding), sizes)
				}
			}
		}
	}
}
