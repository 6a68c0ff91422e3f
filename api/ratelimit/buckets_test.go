package ratelimit

import (
	"hash/maphash"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"pgregory.net/rapid"

	"limnomap/api/apitest"
)

func hashAddr(seed maphash.Seed, a netip.Addr) uint64 {
	var room [16]byte
	return maphash.Bytes(seed, appendAddr(room[:0], a))
}

// crowd takes a token for each of n addresses, the i-th of which is 10.0.0.0 + i.
func crowd(l *bucketLimit, n int) (granted int) {
	for i := range n {
		if l.take(hashAddr(l.seed, netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}))).ok {
			granted++
		}
	}
	return granted
}

// heap returns the bytes in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestAMillionAddressesTakeNoMemory(t *testing.T) {
	const most = 2 << 20
	before := heap()
	l := newBucketLimit("api", 300, apitest.NewClock().Now, nil)
	if got := crowd(l, 1_000_000); got != 1_000_000 {
		t.Errorf("%d of a million clients are granted their first request", got)
	}
	if grown := heap() - before; grown > most {
		t.Errorf("a million addresses take %d bytes, want at most %d", grown, most)
	}
	runtime.KeepAlive(l)
}

// A client that has spent its share stays refused while a million others send requests, and is served after its wait.
func TestACrowdFreesNoOne(t *testing.T) {
	c := apitest.NewClock()
	l := newBucketLimit("api", 3, c.Now, nil)
	greedy := hashAddr(l.seed, netip.MustParseAddr("192.0.2.1"))
	for l.take(greedy).ok {
	}
	crowd(l, 1_000_000)
	if l.take(greedy).ok {
		t.Error("a crowd of others frees a client that has spent its share")
	}
	c.Advance(l.interval)
	if !l.take(greedy).ok {
		t.Error("refused after the wait")
	}
}

// Compared with limiters that remember all clients, one that forgets never grants a client less, and the same as long as it
// has to forget no one.
func TestForgettingRefusesNoOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clients := rapid.IntRange(1, 3*bucketWays).Draw(t, "clients")
		rate := rapid.IntRange(1, 20).Draw(t, "rate")
		c := apitest.NewClock()
		l := newBucketLimit("api", rate, c.Now, nil)
		all := make([]*bucketLimit, clients) // each client's own, which remembers it
		for i := range all {
			all[i] = newBucketLimit("api", rate, c.Now, nil)
		}
		ahead := make([]int, clients) // how much more l has granted it than its own
		for range rapid.IntRange(1, 300).Draw(t, "requests") {
			c.Advance(time.Duration(rapid.Int64Range(0, int64(5*time.Second)).Draw(t, "pause")))
			i := rapid.IntRange(0, clients-1).Draw(t, "client")
			got, want := l.take(uint64(i+1)*bucketSets), all[i].take(1) // all in one set
			if got.ok {
				ahead[i]++
			}
			if want.ok {
				ahead[i]--
			}
			if ahead[i] < 0 {
				t.Fatalf("client %d was granted less than by a limiter of its own", i)
			}
			if clients <= bucketWays && got != want {
				t.Fatalf("client %d: %+v, want %+v as by a limiter of its own", i, got, want)
			}
		}
	})
}

// If the clock is set back where it is not monotonic, no client is refused for longer than its bucket takes to fill.
func TestLimitWhenTheClockIsSetBack(t *testing.T) {
	for _, back := range []time.Duration{time.Second, 30 * time.Second, window, time.Hour, 1000 * time.Hour} {
		for _, spent := range []int{1, 3, 6} {
			c := apitest.NewClock()
			l := newBucketLimit("api", 6, c.Now, nil)
			for range spent {
				l.take(1)
			}
			c.Advance(-back)
			if g := l.take(1); !g.ok {
				if g.wait > window {
					t.Errorf("%d spent, %v back: refused for %v, want %v at most", spent, back, g.wait, window)
				}
				c.Advance(g.wait)
				if !l.take(1).ok {
					t.Errorf("%d spent, %v back: refused after the wait of %v", spent, back, g.wait)
				}
			}
			// The limit holds again at once, for this client and for others in its set.
			for client := range uint64(bucketWays) {
				key, granted := 1+client*bucketSets, 0
				for range 20 {
					if l.take(key).ok {
						granted++
					}
				}
				if granted > 6 || client > 0 && granted != 6 {
					t.Errorf("%d spent, %v back: client %d is granted %d at once, want 6", spent, back, client, granted)
				}
			}
		}
	}
}
