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

// lastRequests is how long requests that were sent before the listener closed may take to arrive: many round trips from
// a proxy.
const lastRequests = 250 * time.Millisecond

// A drain stops servers without losing a request. [http.Server.Shutdown] loses some: it closes idle connections while the
// next requests are on their way, and does not answer requests that it has not read completely.
type drain struct{ begun atomic.Bool }

// handler adds Connection: close to each answer once the drain has begun. Clients then open new connections, which a load
// balancer sends to another server. In HTTP/2 net/http sends a GOAWAY frame.
func (d *drain) handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.begun.Load() {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

// begin makes the answers from now on say that their connections close.
func (d *drain) begin() { d.begun.Store(true) }

// end waits until a load balancer has noticed that the drain has begun, then closes the listeners, and returns when all requests are answered or
// after finish.
func (d *drain) end(servers map[*http.Server]net.Listener, notice, finish time.Duration) error {
	time.Sleep(notice)
	var errs []error
	for _, l := range servers {
		errs = append(errs, l.Close())
	}
	time.Sleep(min(notice, lastRequests)) // 0 without a load balancer
	ctx, cancel := context.WithTimeout(context.Background(), finish)
	defer cancel()
	if err := shutDown(ctx, slices.Collect(maps.Keys(servers))); err != nil {
		errs = append(errs, fmt.Errorf("requests were aborted after --shutdown %v: %w", finish, err))
	}
	return errors.Join(errs...)
}
