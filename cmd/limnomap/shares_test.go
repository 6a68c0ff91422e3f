package main

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"runtime"
	"testing"

	"limnomap/data/store"
	"limnomap/tiles/admission"
)

// However many connections a database has, histories leave some of them to the server, and at least one history is read.
func TestHistoryReaders(t *testing.T) {
	if n := historyReaders(nil); n != spareProcessor() {
		t.Errorf("the demo: %d at once, want one per processor", n)
	}
	usual := max(4, 2*runtime.GOMAXPROCS(0))
	const unreachable = "postgres://limnomap@127.0.0.1:1/limnomap" // it need not answer
	for db, want := range map[string]int{
		filepath.Join(t.TempDir(), "lakes.db"): usual,
		unreachable:                            usual,
		unreachable + "?pool_max_conns=1":      1,
		unreachable + "?pool_max_conns=4":      1,
		unreachable + "?pool_max_conns=6":      2,
		unreachable + "?pool_max_conns=50":     46,
	} {
		t.Run(fmt.Sprintf("%s %d", filepath.Base(db), want), func(t *testing.T) {
			s, err := store.Open(t.Context(), db, true)
			mustDo(t, err)
			defer s.Close()
			if n := historyReaders(s); n != want {
				t.Errorf("%d histories at once with %d connections, want %d", n, s.Readers(), want)
			}
		})
	}
}

// However many servers a process has, the runtime has one processor more than there are workers.
func TestSpareProcessor(t *testing.T) {
	first := spareProcessor()
	if again := spareProcessor(); again != first || runtime.GOMAXPROCS(0) != first+1 {
		t.Errorf("%d processors, then %d, of the %d of the runtime", first, again, runtime.GOMAXPROCS(0))
	}
}

// While many clients hold as much answer memory as they may, a client that holds nothing gets a short list.
func TestShortListsHaveAReserve(t *testing.T) {
	b := newAnswerBudget(256 << 20)
	for i := range 1000 {
		_, err := b.Hold(admission.ClientOf(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})), 1<<20)
		if err == nil {
			continue
		}
		for n := range 900 {
			if _, err := b.Hold(admission.ClientOf(netip.AddrFrom4([4]byte{192, 168, byte(n >> 8), byte(n)})), 64<<10); err != nil {
				t.Fatalf("short list %d: %v", n, err)
			}
		}
		return
	}
	t.Fatal("1,000 lists of 1 MiB fit into 256 MiB")
}
