package delivery_test

import (
	"fmt"
	"testing"

	"limnomap/data/events/hook/delivery"
)

// take takes places for a turn until there are none, and at most 1,000.
func take(s *delivery.Shares, turn func(i int) delivery.Turn) (places []*delivery.Place) {
	round := s.Round()
	for i := range 1000 {
		if p := round.Take(turn(i)); p != nil {
			places = append(places, p)
		}
	}
	return places
}

func giveBack(places []*delivery.Place) {
	for _, p := range places {
		p.Return()
	}
}

// prove makes a host known to answer.
func prove(t *testing.T, s *delivery.Shares, host string, answers int) {
	t.Helper()
	for range answers {
		p := s.Round().Take(delivery.Turn{Host: host, Urgent: true})
		if p == nil {
			t.Fatalf("no place for %s", host)
		}
		p.Answered(true)
		p.Return()
	}
}

// A place that a receiver gives back during a round is for what comes first in the next one.
func TestRound(t *testing.T) {
	t.Parallel()
	s := delivery.NewShares(64)
	places := take(s, func(int) delivery.Turn { return delivery.Turn{Host: "a"} })
	round := s.Round()
	if round.Take(delivery.Turn{Host: "a"}) != nil {
		t.Fatal("a place beyond all that the host may have")
	}
	giveBack(places)
	if round.Take(delivery.Turn{Host: "a", Retry: true}) != nil {
		t.Error("what comes later takes the place that was given back for what waits before it")
	}
	if round.Take(delivery.Turn{Host: "b", Retry: true}) == nil || s.Round().Take(delivery.Turn{Host: "a"}) == nil {
		t.Error("another host has no place, or the next round has none")
	}
}

// Whatever takes places, some are left for a receiver that answers.
func TestShares(t *testing.T) {
	t.Parallel()
	const all = 64
	known := func(turn delivery.Turn) func(int) delivery.Turn {
		return func(i int) delivery.Turn {
			turn := turn
			turn.Host = fmt.Sprint("known", i%50)
			return turn
		}
	}
	for _, tt := range []struct {
		name string
		turn func(i int) delivery.Turn
		want int
	}{
		{"one host that is new", func(int) delivery.Turn { return delivery.Turn{Host: "new", Urgent: true} }, 2},
		{"many hosts that are new", func(i int) delivery.Turn { return delivery.Turn{Host: fmt.Sprint("new", i), Urgent: true} }, all / 4},
		{"many hosts that failed", func(i int) delivery.Turn { return delivery.Turn{Host: fmt.Sprint("new", i), Urgent: true, Retry: true} }, all / 8},
		{"one host that answers", func(int) delivery.Turn { return delivery.Turn{Host: "known0", Urgent: true} }, all / 2},
		{"retries", known(delivery.Turn{Urgent: true, Retry: true}), all / 4},
		{"one client", known(delivery.Turn{Urgent: true, Client: "c"}), all / 8},
		{"unknown clients", known(delivery.Turn{Urgent: true, Client: delivery.Unknown}), all / 4},
		{"what is not urgent", known(delivery.Turn{}), all * 3 / 4},
		{"all", known(delivery.Turn{Urgent: true}), all},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := delivery.NewShares(all)
			for i := range 50 {
				prove(t, s, fmt.Sprint("known", i), 100)
			}
			places := take(s, tt.turn)
			if len(places) != tt.want || s.Full() != (tt.want == all) {
				t.Errorf("%d places, full %v, want %d", len(places), s.Full(), tt.want)
			}
			if p := s.Round().Take(delivery.Turn{Host: "known9", Client: "other", Urgent: true}); (p == nil) != (tt.want == all) {
				t.Errorf("a place for another one: %v", p != nil)
			} else if p != nil {
				p.Return()
			}
			giveBack(places)
			if places := take(s, known(delivery.Turn{Urgent: true})); len(places) != all {
				t.Errorf("given back, %d places are free", len(places))
			}
		})
	}
}

// A receiver that stops to answer loses its places, and gets them again when it answers.
func TestSharesOfAHost(t *testing.T) {
	t.Parallel()
	s := delivery.NewShares(64)
	host := func(int) delivery.Turn { return delivery.Turn{Host: "a", Urgent: true} }
	count := func(want int) []*delivery.Place {
		t.Helper()
		places := take(s, host)
		if len(places) != want {
			t.Errorf("%d places, want %d", len(places), want)
		}
		return places
	}
	prove(t, s, "a", 100)
	places := count(32)
	for _, p := range places {
		p.Answered(false)
	}
	giveBack(places)
	giveBack(count(2))
	prove(t, s, "a", 5)
	giveBack(count(7))
	// However many answer, it is a bounded number that is remembered.
	for i := range 30_000 {
		prove(t, s, fmt.Sprint(i), 1)
	}
	if n := s.Hosts(); n > 10_000 {
		t.Errorf("%d hosts are remembered", n)
	}
}
