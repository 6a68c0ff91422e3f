package answer

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"weak"
)

// TestListBeforeIsNotKept prepares a long list several times, as after refreshes: each body has the same bytes as one prepared without the
// former, and none keeps the former, whose list refers to a whole snapshot.
func TestListBeforeIsNotKept(t *testing.T) {
	sender := newSender(t, Options{PreparedItems: -1, MadeItems: -1})
	kind := NewKind("application/json", CacheRevisit)
	list := List{Head: []byte("["), Append: func(b []byte, i int) []byte {
		return append(b, strings.Repeat(string(rune('a'+i%26)), 50+i%7)...)
	}, Between: ",", Tail: "]", Len: 2000}
	want, err := sender.PrepareList(kind, list)
	if err != nil {
		t.Fatal(err)
	}
	before, err := sender.PrepareList(kind, list)
	if err != nil {
		t.Fatal(err)
	}
	former := weak.Make(before)
	list.Before = before
	got, err := sender.PrepareList(kind, list)
	if err != nil {
		t.Fatal(err)
	}
	if got.variants[Brotli] != nil {
		t.Error("a long list has a Brotli form")
	}
	for _, coding := range []Coding{Gzip, Zstd} {
		if !bytes.Equal(got.variants[coding].content, want.variants[coding].content) {
			t.Errorf("%s: other bytes with the former body", coding)
		}
	}
	before, list.Before = nil, nil
	for range 5 {
		runtime.GC()
	}
	if former.Value() != nil {
		t.Error("the body keeps the former one")
	}
	runtime.KeepAlive(got)
}
