package admission

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func client(i int) Client {
	return ClientOf(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}))
}

func TestClientOf(t *testing.T) {
	for _, test := range []struct{ addr, want string }{
		{"192.0.2.1", "192.0.2.1/32"},
		{"::ffff:192.0.2.1", "192.0.2.1/32"},
		{"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		{"fe80::1%eth0", "fe80::/64"},
	} {
		if got := ClientOf(netip.MustParseAddr(test.addr)); got.String() != test.want {
			t.Errorf("ClientOf(%s) = %s, want %s", test.addr, got, test.want)
		}
	}
	if got := ClientOf(netip.Addr{}); got != (Client{}) {
		t.Errorf("ClientOf(no address) = %s, want the zero client", got)
	}
}

func TestClientHoldsHalfOfTheRest(t *testing.T) {
	b := NewBudget(1000)
	hold, err := b.Hold(client(1), 500)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Hold(client(1), 1); !errors.Is(err, ErrBusy) {
		t.Errorf("holding more than half of the budget gives %v, want ErrBusy", err)
	}
	if _, err := b.Hold(client(2), 251); !errors.Is(err, ErrBusy) {
		t.Errorf("holding more than half of the rest gives %v, want ErrBusy", err)
	}
	if _, err := b.Hold(client(2), 250); err != nil {
		t.Errorf("holding half of the rest: %v", err)
	}
	if err := hold.Resize(100); err != nil {
		t.Error(err)
	}
	hold.Release()
	hold.Release()
	if got := b.Used(); got != 250 {
		t.Errorf("%d bytes are used, want 250", got)
	}
}

// However the clients hold and release, the sum is never above the total, no one is above their share when they take it, and
// what all give back is all there was.
func TestBudgetProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := NewBudget(1 << 20)
		holds := map[*Hold]bool{}
		t.Repeat(map[string]func(*rapid.T){
			"hold": func(t *rapid.T) {
				c, n := client(rapid.IntRange(1, 5).Draw(t, "client")), rapid.Int64Range(0, 1<<20).Draw(t, "bytes")
				others, first := b.Used()-b.held[c], b.Used() == 0
				h, err := b.Hold(c, n)
				if fits := b.held[c]+n <= (b.total-others)/2; err == nil && n > 0 && b.held[c] > (b.total-others)/2 && !first || err != nil && (fits || first) {
					t.Fatalf("Hold(%s, %d) = %v with %d held and %d used by others", c, n, err, b.held[c], others)
				}
				if err == nil {
					holds[h] = true
				}
			},
			"release": func(t *rapid.T) {
				for h := range holds {
					h.Release()
					delete(holds, h)
					return
				}
			},
			"": func(t *rapid.T) {
				sum := int64(0)
				for h := range holds {
					sum += h.bytes
				}
				if got := b.Used(); got != sum || got > b.Total() || got < 0 {
					t.Fatalf("%d bytes are used, the holds have %d", got, sum)
				}
			},
		})
		for h := range holds {
			h.Release()
		}
		if b.Used() != 0 || len(b.held) != 0 {
			t.Fatalf("after all released: %d bytes, %d clients", b.Used(), len(b.held))
		}
	})
}

// A hold larger than half of the budget is possible while there is no other.
func TestOneHoldMayTakeAll(t *testing.T) {
	b := NewBudget(1000)
	hold, err := b.Hold(client(1), 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := hold.Resize(1000); err != nil {
		t.Errorf("all for the only hold: %v", err)
	}
	if _, err := b.Hold(client(2), 1); !errors.Is(err, ErrBusy) {
		t.Errorf("a second hold = %v, want ErrBusy", err)
	}
	if err := hold.Resize(500); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Hold(client(1), 1); !errors.Is(err, ErrBusy) {
		t.Errorf("a second hold beyond the half of the client = %v, want ErrBusy", err)
	}
	if _, err := NewBudget(1000).Hold(client(1), 1001); !errors.Is(err, ErrBusy) {
		t.Errorf("more than all = %v, want ErrBusy", err)
	}
}

// The clients of one /48 of IPv6 leave a quarter to others.
func TestSiteCannotHoldAll(t *testing.T) {
	b := NewBudget(1 << 20)
	site := netip.MustParsePrefix("2001:db8:1::/48")
	addr := site.Addr().As16()
	for i := range 256 {
		addr[7] = byte(i)
		for {
			if _, err := b.Hold(ClientOf(netip.AddrFrom16(addr)), 1<<10); err != nil {
				break
			}
		}
	}
	if got := b.held[site]; got < 1<<19 || got > 3<<18 {
		t.Errorf("a /48 holds %d of %d, want from a half to three quarters", got, b.Total())
	}
	if _, err := b.Hold(ClientOf(netip.MustParseAddr("2001:db8:2::1")), 1<<16); err != nil {
		t.Errorf("a client of another /48: %v", err)
	}
}

// When a few greedy clients have all that they may, many others still get a little each, but not more.
func TestReserveIsForThoseWhoHoldLittle(t *testing.T) {
	const total, reserve, little, greedy = 1000, 200, 2, 10
	b := NewBudgetWithReserve(total, reserve, little)
	for i := range greedy {
		for {
			if _, err := b.Hold(client(i), 1); err != nil {
				break
			}
		}
	}
	if got := b.Used(); got < total-reserve-little || got > total-reserve+greedy*little {
		t.Fatalf("%d greedy clients hold %d, want all without the reserve of %d", greedy, got, reserve)
	}
	for i := range (total - b.Used()) / little {
		c := client(greedy + int(i))
		if _, err := b.Hold(c, little); err != nil {
			t.Fatalf("client %d: %v", i, err)
		}
		if _, err := b.Hold(c, 1); !errors.Is(err, ErrBusy) {
			t.Fatalf("more than little = %v, want ErrBusy", err)
		}
	}
	if _, err := b.Hold(client(255), little); !errors.Is(err, ErrBusy) {
		t.Errorf("from an empty reserve = %v, want ErrBusy", err)
	}
}

// take waits for a turn of c and takes that long.
func take(t *testing.T, turns *Turns, c Client, d time.Duration) {
	t.Helper()
	if err := turns.Do(t.Context(), c, func() error { time.Sleep(d); return nil }); err != nil {
		t.Errorf("turn of %s: %v", c, err)
	}
}

func TestTurnsAreFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(TurnsOptions{Count: 1, Waiting: 1000})
		defer turns.Close()
		var group sync.WaitGroup
		for range 500 {
			group.Go(func() { take(t, turns, client(1), 10*time.Millisecond) })
		}
		time.Sleep(100 * time.Millisecond)
		for _, c := range []Client{client(2), client(3)} {
			group.Go(func() {
				for range 3 {
					before := time.Now()
					take(t, turns, c, time.Millisecond)
					if waited := time.Since(before); waited > 25*time.Millisecond {
						t.Errorf("%s waited %v for its turn, more than two turns of the client with 500", c, waited)
					}
				}
			})
		}
		group.Wait()
	})
}

// What another client wants too comes with that client's turn, if that is earlier, and never later than before.
func TestSharedPlaceComesEarlier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(TurnsOptions{Count: 1, Waiting: 1000})
		defer turns.Close()
		var group sync.WaitGroup
		var order []int // of the tiles, as they are drawn, one at a time
		draw := func(c Client, p *Place, tile int) {
			group.Go(func() {
				err := turns.DoAt(t.Context(), p, c, func() error {
					time.Sleep(time.Millisecond)
					order = append(order, tile)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		places := make([]Place, 100)
		for i := range places {
			draw(client(1), &places[i], i)
		}
		draw(client(2), new(Place), 100)
		draw(client(2), new(Place), 101)
		var early Place
		turns.Share(&early, client(4))
		draw(client(1), &early, 102)
		turns.Share(&places[99], client(3)) // its turn is next, the hundredth of client 1 is not
		turns.Share(&places[1], client(2))  // the next of client 1; client 2 would have it third
		turns.Share(&places[0], client(3))  // has its turn already
		group.Wait()
		turns.Share(&places[50], client(3))
		// Who has used nothing comes first, in order of arrival; then all have used the same.
		want := []int{0, 100, 102, 99, 1, 101, 2}
		if len(order) != 103 || !slices.Equal(order[:len(want)], want) {
			t.Fatalf("%d are drawn, in the order %d, want 103 that begin with %d", len(order), order, want)
		}
		if turns.waiting != 0 || turns.taken != 0 || len(turns.queues) != 0 {
			t.Errorf("afterwards %d wait and %d have turns", turns.waiting, turns.taken)
		}
	})
}

// A client with long turns gets no more of the time than one with short ones.
func TestTurnsShareTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(TurnsOptions{Count: 1, Waiting: 100})
		defer turns.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var used [2]time.Duration
		var group sync.WaitGroup
		for i, d := range []time.Duration{100 * time.Millisecond, time.Millisecond} {
			for range 4 {
				group.Go(func() {
					for ctx.Err() == nil {
						_ = turns.Do(ctx, client(i), func() error { time.Sleep(d); used[i] += d; return nil })
					}
				})
			}
		}
		group.Wait()
		if ratio := used[0].Seconds() / used[1].Seconds(); ratio < 0.8 || ratio > 1.25 {
			t.Errorf("long turns took %v, short ones %v", used[0], used[1])
		}
	})
}

func TestFullQueueRefusesTheGreediest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(TurnsOptions{Count: 1, Waiting: 3})
		defer turns.Close()
		end := make(chan struct{})
		results := make(chan error, 10)
		ask := func(c Client) {
			go func() { results <- turns.Do(t.Context(), c, func() error { <-end; return nil }) }()
			synctest.Wait()
		}
		for range 4 { // one has the turn, three wait
			ask(client(1))
		}
		ask(client(2))
		select {
		case err := <-results:
			if !errors.Is(err, ErrBusy) {
				t.Errorf("refused with %v, want ErrBusy", err)
			}
		default:
			t.Fatal("no one was refused")
		}
		if n := len(turns.queues[client(2)]); n != 1 {
			t.Errorf("the newcomer has %d places, want 1", n)
		}
		close(end)
		for range 4 {
			if err := <-results; err != nil {
				t.Errorf("a waiter got %v", err)
			}
		}
	})
}

// A caller that left must not keep its place in a full queue until its goroutine runs again: a map that is moved leaves 20
// tiles and requests 20 others at once.
func TestFullQueueDropsWaitersThatLeft(t *testing.T) {
	turns := NewTurns(TurnsOptions{Count: 1, Waiting: 1})
	defer turns.Close()
	if _, err := turns.enqueue(t.Context(), new(Place), client(1)); err != nil {
		t.Fatal(err)
	}
	leaving, leave := context.WithCancel(t.Context())
	if _, err := turns.enqueue(leaving, new(Place), client(1)); err != nil {
		t.Fatal(err)
	}
	leave()
	w, err := turns.enqueue(t.Context(), new(Place), client(1))
	if err != nil {
		t.Fatal(err)
	}
	if len(w.turn) != 0 {
		t.Fatal("the newcomer was refused, or has a turn too early")
	}
	turns.release(client(1), 0)
	if len(w.turn) != 1 {
		t.Error("the waiter got no turn after the release")
	}
}

func TestTurnsEndWithTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(TurnsOptions{Count: 1, Waiting: 10})
		defer turns.Close()
		go take(t, turns, client(1), time.Second)
		synctest.Wait()
		cause := errors.New("too late")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, cause)
		defer cancel()
		if err := turns.Do(ctx, client(2), func() error { return nil }); !errors.Is(err, cause) {
			t.Errorf("a turn that comes too late gives %v, want %v", err, cause)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if turns.waiting != 0 || turns.taken != 0 || len(turns.queues) != 0 {
			t.Errorf("afterwards %d wait and %d have turns", turns.waiting, turns.taken)
		}
	})
}

// The memory for clients is bounded, however many there are.
func TestTurnsForgetClients(t *testing.T) {
	turns := NewTurns(TurnsOptions{Count: 2, Waiting: 10})
	defer turns.Close()
	for i := range 10 * maxFinished {
		c := ClientOf(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}))
		if err := turns.Do(t.Context(), c, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if len(turns.used) > maxFinished+1 {
		t.Errorf("%d clients are remembered, want %d at most", len(turns.used), maxFinished)
	}
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(TurnsOptions{Count: 1, Waiting: 1})
		defer turns.Close()
		for _, first := range []byte{1, 2} {
			for i := range maxInVain + 100 {
				c := ClientOf(netip.AddrFrom4([4]byte{10, first, byte(i >> 8), byte(i)}))
				if _, err := turns.enqueue(t.Context(), new(Place), c); err != nil {
					t.Fatal(err)
				}
			}
			c := ClientOf(netip.AddrFrom4([4]byte{10, first, 0, 9}))
			if _, ok := turns.inVain[c]; !ok || len(turns.inVain) > maxInVain {
				t.Errorf("%d clients that waited in vain are remembered, want %d at most, and %s among them", len(turns.inVain), maxInVain, c)
			}
			time.Sleep(inVainTime)
		}
	})
}

// A panic in a crowd comes back to its caller, and the turn ends.
func TestPanicInACrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(TurnsOptions{Count: 1, Waiting: 10})
		defer turns.Close()
		panics := 0
		var mu sync.Mutex
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				defer func() {
					mu.Lock()
					defer mu.Unlock()
					if recover() != nil {
						panics++
					}
				}()
				_ = turns.Do(t.Context(), client(1), func() error { time.Sleep(time.Millisecond); panic("drawing") })
			})
		}
		group.Wait()
		if panics != 8 || turns.taken != 0 {
			t.Errorf("%d panics came back and %d turns are taken, want 8 and 0", panics, turns.taken)
		}
	})
}

// TestNoOneStarvesInACrowd has thirty clients that ask again at once when they are refused, and three that wait a second, as
// Retry-After says, share a queue for ten.
func TestNoOneStarvesInACrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(TurnsOptions{Count: 1, Waiting: 10})
		defer turns.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		const hostile, honest = 30, 3
		var had [hostile + honest]int // turns
		var group sync.WaitGroup
		for i := range had {
			patience := 5 * time.Millisecond
			if i >= hostile {
				patience = time.Second
			}
			group.Go(func() {
				for ctx.Err() == nil {
					if err := turns.Do(ctx, client(i), func() error { time.Sleep(10 * time.Millisecond); return nil }); err != nil {
						time.Sleep(patience)
						continue
					}
					had[i]++
				}
			})
		}
		group.Wait()
		for i := hostile; i < len(had); i++ {
			if had[i] < 5 { // 11 to 22 in a hundred runs: which of equals is refused is chance
				t.Errorf("client %d, which waits a second when it is refused, had %d turns in 20 s", i, had[i])
			}
		}
	})
}

// A client that was refused, or whose wait has ended, counts as having come when it first did, until it has a turn.
func TestWaitInVainCounts(t *testing.T) {
	for name, ended := range map[string]func(error) bool{
		"refused": func(err error) bool { return errors.Is(err, ErrBusy) },
		"ended":   func(err error) bool { return errors.Is(err, context.DeadlineExceeded) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				waiting := 2
				if name == "ended" {
					waiting = 3
				}
				turns := NewTurns(TurnsOptions{Count: 1, Waiting: waiting})
				defer turns.Close()
				end := make(chan struct{})
				var order []int
				var group sync.WaitGroup
				ask := func(i int) {
					time.Sleep(time.Millisecond)
					group.Go(func() {
						err := turns.Do(t.Context(), client(i), func() error { <-end; order = append(order, i); return nil })
						if err != nil && (i < 5 || !errors.Is(err, ErrBusy)) {
							t.Errorf("client %d: %v", i, err)
						}
					})
					synctest.Wait()
				}
				ask(1) // has the turn
				ask(2)
				ask(3)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if err := turns.Do(ctx, client(4), func() error { return nil }); !ended(err) {
					t.Fatalf("client 4 got %v", err)
				}
				end <- struct{}{} // of 1: 2 has the turn, 3 waits
				synctest.Wait()
				for len(turns.queues) < waiting {
					ask(5 + len(turns.queues)) // newcomers
				}
				ask(4)
				close(end)
				group.Wait()
				if n := len(order); n != waiting+2 || !slices.Equal(order[:4], []int{1, 2, 3, 4}) {
					t.Errorf("the turns were of clients %v, want 4 to come before those that came after it", order)
				}
				if _, ok := turns.inVain[client(4)]; ok {
					t.Error("client 4 has had a turn, and still counts as having waited in vain")
				}
			})
		})
	}
}

// TestLongWorkComesLater has twenty clients with long work, and after them two hundred new ones with short work. The short does not wait for the long,
// which has its turns too.
func TestLongWorkComesLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(TurnsOptions{Count: 1, Waiting: 1000})
		defer turns.Close()
		const long = 300 * time.Millisecond
		var group sync.WaitGroup
		began := time.Now()
		for i := range 20 {
			group.Go(func() {
				if err := turns.DoLong(t.Context(), client(i), long, func() error { time.Sleep(long); return nil }); err != nil {
					t.Error(err)
				}
				if waited := time.Since(began); waited > mostLater+20*2*long { // half of the time is for the short work
					t.Errorf("client %d waited %v for its long turn", i, waited)
				}
			})
		}
		time.Sleep(time.Millisecond)
		for i := range 200 {
			group.Go(func() {
				before := time.Now()
				take(t, turns, ClientOf(netip.AddrFrom4([4]byte{198, 51, 100, byte(i)})), 5*time.Millisecond)
				if waited := time.Since(before); waited > 2*long {
					t.Errorf("short work of client %d waited %v", i, waited)
				}
			})
			time.Sleep(10 * time.Millisecond)
		}
		group.Wait()
	})
}
