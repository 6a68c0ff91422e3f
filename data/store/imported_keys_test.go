package store

import (
	"runtime"
	"testing"

	"limnomap/data"
)

func TestImportedKeys(t *testing.T) {
	k := newImportedKeys()
	const far = 1 << 40 // needs more than 32 bits
	for _, key := range []int64{1, 2, far + 1} {
		if !k.addLake(key) {
			t.Errorf("lake %d was added before", key)
		}
		for _, d := range []data.Date{-719528, 0, 2932896} {
			for _, kind := range data.AllDataTypes() {
				source := int64(kind) * 7
				for i, want := range []bool{true, false} {
					if got := k.addObservation(key, d, kind, source); got != want {
						t.Errorf("observation of lake %d on %s, %s, time %d: first is %t, want %t", key, d, kind, i, got, want)
					}
				}
			}
		}
		if k.addLake(key) {
			t.Errorf("lake %d was not added before", key)
		}
	}
}

// The memory must not grow like the number of rows: 10 weeks of 96,154 lakes, in the order of lakes.
func TestImportedKeysTakeLittleMemory(t *testing.T) {
	const lakes, weeks, most = 96_154, 10, 1 << 20
	before := heapInUse()
	k := newImportedKeys()
	for lake := range int64(lakes) {
		for week := range data.Date(weeks) {
			if !k.addObservation(lake, 19000+7*week, data.Satellite, 0) {
				t.Fatalf("lake %d was added before in week %d", lake, week)
			}
		}
	}
	if bytes := heapInUse() - before; bytes > most {
		t.Errorf("%d rows take %d bytes, want at most %d", lakes*weeks, bytes, most)
	}
	runtime.KeepAlive(k)
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkImportedKeys adds 104 weeks lake by lake, as in a file that is sorted by lake.
func BenchmarkImportedKeys(b *testing.B) {
	k := newImportedKeys()
	b.ReportAllocs()
	for i := int64(0); b.Loop(); i++ {
		k.addObservation(i/104, data.Date(19000+7*(i%104)), data.Satellite, 0)
	}
}
