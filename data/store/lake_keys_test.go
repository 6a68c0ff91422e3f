package store

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"limnomap/data"
)

// TestLakeKeys compares lakeKeys with a map.
func TestLakeKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys, want := newLakeKeys(), make(map[data.LakeID]int64)
		for i := range rapid.IntRange(0, 4*leastSlots).Draw(t, "lakes") {
			id := data.LakeID(fmt.Sprint("lake", i%3000))
			keys.set(id, int64(-i))
			want[id] = int64(-i)
		}
		if keys.len() != len(want) {
			t.Fatalf("%d lakes, want %d", keys.len(), len(want))
		}
		for id, key := range want {
			if got, ok := keys.get(id); !ok || got != key {
				t.Fatalf("lake %s has the number %d, %v, want %d", id, got, ok, key)
			}
		}
		if _, ok := keys.get("another"); ok {
			t.Fatal("a lake that was not set has a number")
		}
		keys.clear()
		if _, ok := keys.get("lake0"); ok || keys.len() != 0 {
			t.Fatal("there are lakes after clear")
		}
	})
}
