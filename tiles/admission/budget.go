package admission

import (
	"fmt"
	"net/netip"
	"sync"
)

// siteBits is the length of the IPv6 prefix that an organisation gets (RFC 6177), with 65,536 clients in it.
const siteBits = 48

// A Budget is a number of bytes, or of other units, that clients share. A client may hold at most half of what the others leave
// free, and all clients of a /48 of IPv6 three quarters, so that there is something left for the next one, however much a few
// hold. If no one holds anything, one hold may take all: an answer larger than half could otherwise never be sent.
type Budget struct {
	total   int64
	reserve int64 // for clients that hold no more than little
	little  int64

	mu      sync.Mutex // guards what follows
	used    int64
	held    map[Client]int64 // of clients that hold something, and of the sites of those with IPv6
	refused int64
}

// NewBudget returns a budget of that many bytes.
func NewBudget(total int64) *Budget {
	return &Budget{total: total, held: make(map[Client]int64)}
}

// NewBudgetWithReserve returns a budget of that many units, of which the reserve is for clients that hold no more than little of the
// budget: however many others share the rest, they get that much.
func NewBudgetWithReserve(total, reserve, little int64) *Budget {
	b := NewBudget(total)
	b.reserve, b.little = reserve, little
	return b
}

// Total returns the size of the budget in bytes.
func (b *Budget) Total() int64 { return b.total }

// Used returns how many bytes are held.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Refused returns how many times more was asked for than a client may hold.
func (b *Budget) Refused() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused
}

// Hold reserves n bytes for c, until Release. The error is ErrBusy.
func (b *Budget) Hold(c Client, n int64) (*Hold, error) {
	h := &Hold{budget: b, client: c}
	return h, h.Resize(n)
}

// grow reserves n more units for a hold of c that has own.
func (b *Budget) grow(c Client, own, n int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	held, site := b.held[c], siteOf(c)
	free := b.total - (b.used - held) // what the others leave
	allowed := max((free-b.reserve)/2, min(free, b.little))
	if site.IsValid() {
		atSite := b.held[site]
		allowed = min(allowed, (b.total-(b.used-atSite))/4*3-(atSite-held))
	}
	if b.used == own {
		allowed = b.total
	}
	if held+n > allowed {
		b.refused++
		return fmt.Errorf("%w: %d more than the %d held would exceed the client's share of %d", ErrBusy, n, held, allowed)
	}
	b.add(c, n)
	return nil
}

func (b *Budget) release(c Client, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(c, -n)
}

// add adds n, which may be negative, to what c holds. b.mu must be held.
func (b *Budget) add(c Client, n int64) {
	b.used += n
	b.addTo(c, n)
	if site := siteOf(c); site.IsValid() {
		b.addTo(site, n)
	}
}

func (b *Budget) addTo(c Client, n int64) {
	if b.held[c] += n; b.held[c] == 0 {
		delete(b.held, c)
	}
}

// siteOf returns the /48 of a client with IPv6, and an invalid prefix for others.
func siteOf(c Client) netip.Prefix {
	if !c.Addr().Is6() {
		return netip.Prefix{}
	}
	site, _ := c.Addr().Prefix(siteBits) // IPv6 has as many bits
	return site
}

// A Hold is a part of a budget that a client holds. It is not safe for concurrent use.
type Hold struct {
	budget *Budget
	client Client
	bytes  int64
}

// Resize changes the hold to n bytes. The error is ErrBusy; the hold then keeps its size.
func (h *Hold) Resize(n int64) error {
	if n > h.bytes {
		if err := h.budget.grow(h.client, h.bytes, n-h.bytes); err != nil {
			return err
		}
	} else {
		h.budget.release(h.client, h.bytes-n)
	}
	h.bytes = n
	return nil
}

// Release gives back all bytes. A hold may be released twice.
func (h *Hold) Release() {
	if h.bytes > 0 {
		h.budget.release(h.client, h.bytes)
		h.bytes = 0
	}
}
