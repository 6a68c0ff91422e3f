package store

import (
	"runtime"
	"testing"

	"limnomap/data"
)

func TestOnce(t *testing.T) {
	o := newOnce()
	const far = 1 << 40 // beyond what 32 bits hold
	for _, key := range []int64{1, 2, far + 1} {
		if !o.lake(key) {
			t.Errorf("lake %d has come before", key)
		}
		for _, d := range []data.Date{-719528, 0, 2932896} {
			for _, kind := range []data.DataType{data.Satellite, data.Forecast} {
				for i, want := range []bool{true, false} {
					if got := o.observation(key, d, kind); got != want {
						t.Errorf("observation of lake %d on %s, %s, time %d: first is %t, want %t", key, d, kind, i, got, want)
					}
				}
			}
		}
		if o.lake(key) {
			t.Errorf("lake %d has not come before", key)
		}
	}
}

// What an import remembers must not grow as its rows do: 10 weeks of 96,154 lakes, in the order of lakes.
func TestOnceIsSmall(t *testing.T) {
	const lakes, weeks, most = 96_154, 10, 1 << 20
	before := heapInUse()
	o := newOnce()
	for lake := range int64(lakes) {
		for week := range data.Date(weeks) {
			if !o.observation(lake, 19000+7*week, data.Satellite) {
				t.Fatalf("lake %d has come before in week %d", lake, week)
			}
		}
	}
	if bytes := heapInUse() - before; bytes > most {
		t.Errorf("%d rows are remembered in %d bytes, want %d at most", lakes*weeks, bytes, most)
	}
	runtime.KeepAlive(o)
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkOnce remembers 104 weeks of a lake after the other, as they stand in a file of one lake after the other.
func BenchmarkOnce(b *testing.B) {
	o := newOnce()
	b.ReportAllocs()
	for i := int64(0); b.Loop(); i++ {
		o.observation(i/104, data.Date(19000+7*(i%104)), data.Satellite)
	}
}
