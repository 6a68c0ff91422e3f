package delivery

import "sync"

// Shares hands out the places for requests in progress, so that receivers that hang delay no others. Each receiver may have a number of places that
// grows by one with each quick answer and halves without one, as Postfix does for mail servers
// (https://www.postfix.org/SCHEDULER_README.html, "concurrency feedback"). All receivers that have not shown yet that they answer, or no longer do,
// share a quarter of the places, of which second and later attempts get a half; other such attempts have a quarter too. It is safe for concurrent use.
type Shares struct {
	mu                       sync.Mutex
	total                    int
	taken, ordinary, retries int
	unproven                 int
	hosts                    map[string]*hostShare // without those that are as new
	clients                  map[string]int        // places taken, of those that have any
}

type hostShare struct{ taken, most int }

// A Turn is what needs a place.
type Turn struct {
	Host   string // of the receiver
	Client string // who chose the receiver; empty: the operator, who is not bounded
	Urgent bool
	Retry  bool // the last attempt failed
}

// Unknown is the client of all receivers of which it is not known who chose them. They may be of many, and have a quarter of the places.
const Unknown = "?"

// A Place is taken until Return is called.
type Place struct {
	Turn
	shares   *Shares
	host     *hostShare
	unproven bool
}

const (
	// newHost is how many places a receiver may have that is not known to answer: two, so that one request that is lost costs no turn.
	newHost = 2
	// maxHosts bounds what is known of receivers: some 100 bytes each.
	maxHosts = 10_000
)

// NewShares returns places, all of them free.
func NewShares(places int) *Shares {
	return &Shares{total: places, hosts: make(map[string]*hostShare), clients: make(map[string]int)}
}

// The most places of one kind. A turn may last as long as some requests, so each kind leaves some places to all others.
func (s *Shares) half() int    { return max(1, s.total/2) } // of one host
func (s *Shares) quarter() int { return max(1, s.total/4) } // of retries, and of hosts that are not known to answer
func (s *Shares) eighth() int  { return max(1, s.total/8) } // of one known client; of the places of a host, a client has half
func (s *Shares) ofClient(client string) int {
	if client == Unknown {
		return s.quarter()
	}
	return s.eighth()
}
func (s *Shares) threeQuarters() int { return max(1, s.total-s.quarter()) } // of what is not urgent

// Full reports whether no place is free.
func (s *Shares) Full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken >= s.total
}

// A Round hands out the free places once, in the order of what waits for them. A receiver that has all the places that it may have gets no more in the round,
// although one may be given back meanwhile: else what comes last, such as attempts after a failure, could take each place that a quick answer gives back.
type Round struct {
	shares *Shares
	full   map[string]bool // by host
}

// Round begins a round.
func (s *Shares) Round() *Round { return &Round{s, make(map[string]bool)} }

// Take takes a place, or returns nil if there is none for that turn.
func (r *Round) Take(t Turn) *Place {
	s := r.shares
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.hosts[t.Host]
	if h == nil {
		h = &hostShare{most: newHost}
	}
	if h.taken >= min(h.most, s.half()) {
		r.full[t.Host] = true
	}
	unproven := h.most <= newHost
	switch {
	case s.taken >= s.total,
		r.full[t.Host],
		unproven && (s.unproven >= s.quarter() || t.Retry && s.unproven >= s.eighth()),
		t.Retry && s.retries >= s.quarter(),
		!t.Urgent && s.ordinary >= s.threeQuarters(),
		t.Client != "" && s.clients[t.Client] >= min(s.ofClient(t.Client), h.most/2):
		return nil
	}
	p := &Place{Turn: t, shares: s, host: h, unproven: unproven}
	p.add(1)
	return p
}

// add adds 1 or -1 to what p takes.
func (p *Place) add(n int) {
	s := p.shares
	s.taken += n
	p.host.taken += n
	if p.unproven {
		s.unproven += n
	}
	if p.Retry {
		s.retries += n
	}
	if !p.Urgent {
		s.ordinary += n
	}
	if p.Client != "" {
		if s.clients[p.Client] += n; s.clients[p.Client] == 0 {
			delete(s.clients, p.Client)
		}
	}
	p.keep()
}

// Answered says that the receiver has answered a request quickly, or that it has not.
func (p *Place) Answered(quickly bool) {
	p.shares.mu.Lock()
	defer p.shares.mu.Unlock()
	if h := p.host; quickly {
		h.most = min(h.most+1, max(newHost+1, p.shares.half()))
	} else {
		h.most = max(newHost, h.most/2)
	}
	p.keep()
}

// keep keeps what is known of the host, unless it is as a new one.
func (p *Place) keep() {
	s := p.shares
	if p.host.taken == 0 && p.host.most == newHost {
		delete(s.hosts, p.Host)
		return
	}
	if len(s.hosts) >= maxHosts && s.hosts[p.Host] == nil {
		for name, h := range s.hosts {
			if h.taken == 0 {
				delete(s.hosts, name)
			}
		}
	}
	s.hosts[p.Host] = p.host
}

// Return gives the place back.
func (p *Place) Return() {
	p.shares.mu.Lock()
	defer p.shares.mu.Unlock()
	p.add(-1)
}
