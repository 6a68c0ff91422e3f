package delivery

import (
	"net/http"
	"time"
)

// Shorten gives a Deliverer so few places at once, and turns that are so short. It must be called before Run.
func (d *Deliverer) Shorten(atOnce int, turn time.Duration) {
	d.shares, d.turn = NewShares(atOnce), turn
}

// Hosts returns how many receivers are remembered.
func (s *Shares) Hosts() int { return len(s.hosts) }

// Use makes a Deliverer send by a transport of a test. It must be called before Run.
func (d *Deliverer) Use(transport http.RoundTripper) { d.client.Transport = transport }
