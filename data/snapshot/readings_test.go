package snapshot

import (
	"testing"
	"unsafe"

	"limnomap/data"
)

// The memory estimates depend on these two sizes.
func TestSizes(t *testing.T) {
	if got := unsafe.Sizeof(reading(0)); got != 8 {
		t.Errorf("a reading takes %d bytes, want 8", got)
	}
	if got := unsafe.Sizeof(State{}); int64(got) != stateBytes {
		t.Errorf("a State takes %d bytes, newViewCache reckons with %d", got, stateBytes)
	}
}

func TestViewCacheIsBounded(t *testing.T) {
	tests := []struct{ lakes, want int }{
		{0, maxViews}, {1892, maxViews}, {1_400_000, 2}, {100_000_000, minViews},
	}
	for _, tt := range tests {
		c, err := newViewCache(tt.lakes, defaultViewMemory/2)
		if err != nil {
			t.Fatal(err)
		}
		for w := range data.Week(2 * maxViews) {
			c.Add(w, &View{Week: w})
		}
		if got := c.Len(); got != tt.want {
			t.Errorf("newViewCache(%d) holds %d views, want %d", tt.lakes, got, tt.want)
		}
	}
}
