package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"
)

// lastRequests is how long a request may take to arrive that was sent before the listener closed: many round trips on
// the way from a proxy, and nothing that an operator waits for.
const lastRequests = 250 * time.Millisecond

// A drain ends servers without losing a request. [http.Server.Shutdown] alone loses some: it closes kept connections
// while the next requests are under way on them, and does not answer those that it has not read to their ends.
type drain struct{ begun atomic.Bool }

// handler has each answer since the beginning of the drain say that its connection closes, so that clients come back on
// new ones, which a load balancer leads elsewhere. In HTTP/2 net/http says the same by a GOAWAY frame.
func (d *drain) handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.begun.Load() {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

// end lets the servers serve for as long as a load balancer may take to notice, then closes their listeners, and
// returns when what had reached them by then is answered, or when that takes longer than it may.
func (d *drain) end(servers map[*http.Server]net.Listener, notice, finish time.Duration) error {
	d.begun.Store(true)
	time.Sleep(notice)
	var errs []error
	for _, l := range servers {
		errs = append(errs, l.Close())
	}
	time.Sleep(min(notice, lastRequests)) // none if nobody's notice is waited for
	ctx, cancel := context.WithTimeout(context.Background(), finish)
	defer cancel()
	if err := shutDown(ctx, slices.Collect(maps.Keys(servers))); err != nil {
		errs = append(errs, fmt.Errorf("requests were cut off after --shutdown %v: %w", finish, err))
	}
	return errors.Join(errs...)
}
