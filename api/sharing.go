package api

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// leaseTimeout is how long a request waits for the shared buckets before it is judged by this server's own: far more
	// than they take, and too little for anybody to notice.
	leaseTimeout = 100 * time.Millisecond
	// awayFor is for how long they are left alone once they have failed. So often at most does a request wait in vain.
	awayFor = time.Second
)

// A Quota keeps token buckets that several servers take from; *quota.Redis does.
type Quota interface {
	// Lease takes up to n tokens from the bucket of a client under a limit, which holds perMinute of them and takes a
	// minute to fill. It returns how many it took, and what is missing of a full bucket then, as the time it takes to fill.
	Lease(ctx context.Context, limit, client string, perMinute, n int) (granted int, missing time.Duration, err error)
}

// sharing is how the limiters of a server use a Quota. While that fails, each bucket goes on by itself, from what was
// last known of it: the servers are then as generous, together, as there are servers. It is safe for concurrent use.
type sharing struct {
	quota   Quota
	now     func() time.Time
	start   time.Time
	timeout time.Duration // of one question
	log     *slog.Logger
	failing prometheus.Gauge
	// next is when the quota is tried again after a failure, in nanoseconds since start; 0: it works.
	next atomic.Int64
}

// newSharing returns what limiters share through q, or nil if there is nothing.
func newSharing(q Quota, now func() time.Time, log *slog.Logger, reg prometheus.Registerer) *sharing {
	if q == nil {
		return nil
	}
	s := &sharing{quota: q, now: now, start: now(), timeout: leaseTimeout, log: log, failing: prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "limnomap_shared_limits_failing",
		Help: "1 while rate limits cannot be shared with other servers and this one goes by its own, else 0.",
	})}
	reg.MustRegister(s.failing)
	return s
}

// lease is Quota.Lease of n tokens for a client of l, and not ok while the quota fails. Of the requests that come
// during a failure one in a second tries; nobody else waits.
func (s *sharing) lease(ctx context.Context, l *limiter, client func() string, n int) (granted int, missing time.Duration, ok bool) {
	now := int64(s.now().Sub(s.start))
	next := s.next.Load()
	if next != 0 && (now < next && next-now <= int64(awayFor) || !s.next.CompareAndSwap(next, now+int64(awayFor))) {
		return 0, 0, false
	}
	// The tokens are for other requests too, and a client that leaves is no failure of the quota's.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	defer cancel()
	granted, missing, err := s.quota.Lease(ctx, l.name, client(), l.perMinute, n)
	switch {
	case err != nil:
		if s.next.Swap(max(int64(s.now().Sub(s.start)+awayFor), 1)) == 0 {
			s.failing.Set(1)
			s.log.LogAttrs(ctx, slog.LevelWarn, "rate limits cannot be shared, this server goes by its own", slog.Any("error", err))
		}
		return 0, 0, false
	case next != 0: // an answer to a question from before the failure says nothing of now
		s.next.Store(0)
		s.failing.Set(0)
		s.log.LogAttrs(ctx, slog.LevelInfo, "rate limits are shared again")
	}
	return granted, missing, true
}
