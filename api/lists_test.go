package api

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"limnomap/api/answer"
)

func TestRecordsAreCopiesOfTheItems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		step := rapid.IntRange(1, 1000).Draw(t, "step")
		list := answer.List{
			Head:    []byte(rapid.StringN(0, 20, -1).Draw(t, "head")),
			Append:  func(b []byte, i int) []byte { return fmt.Appendf(b, `{"n":%d}`, i*step) },
			Between: ",",
			Tail:    listTail,
			Len:     rapid.IntRange(0, 50).Draw(t, "items"),
		}
		r := newRecords(list)
		if want := list.Bytes(); string(r.content) != string(want) {
			t.Fatalf("content = %q, want %q", r.content, want)
		}
		for i := range list.Len {
			want := string(list.Append(nil, i))
			if got := string(r.append(nil, i)); got != want {
				t.Fatalf("record %d of %d = %q, want %q", i, list.Len, got, want)
			}
			if got := r.size(i); got != len(want)+len(",") {
				t.Fatalf("size of record %d of %d = %d, want that of %q and a comma", i, list.Len, got, want)
			}
		}
	})
}
