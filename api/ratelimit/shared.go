package ratelimit

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

const (
	// leaseTimeout is how long a request waits for the shared buckets before this server's own bucket decides: far longer than
	// an answer takes, and too short for users to notice.
	leaseTimeout = 100 * time.Millisecond
	// retryAfterFailure is the pause before the next attempt to reach the shared buckets after a failure. One request in each
	// pause waits in vain.
	retryAfterFailure = time.Second
)

// A Quota keeps token buckets that several servers take from; *quota.Redis does.
type Quota interface {
	// Lease takes up to n tokens from the bucket of a client under a limit, which holds perMinute of them and takes a
	// minute to fill. It returns how many it took, and what the bucket then lacks, as the time that it takes to fill. An
	// error that has a method Refused() bool, which returns true, is an answer that only an operator can change.
	Lease(ctx context.Context, limit, client string, perMinute, n int) (granted int, missing time.Duration, err error)
}

// shared is how the limiters of a server use a Quota. While that fails, each bucket continues locally from its last known
// state: together the servers then allow as many times the limit as there are servers. It is safe for concurrent use.
type shared struct {
	quota   Quota
	now     func() time.Time
	start   time.Time
	timeout time.Duration // of one lease
	log     *slog.Logger
	failing prometheus.Gauge
	// retryAt is when the quota is tried again after a failure, in nanoseconds since start; 0: it works.
	retryAt atomic.Int64
	mu      sync.Mutex // guards refused
	refused bool       // the log has the reason why the quota refuses, since it last worked
}

// newShared returns the use of the quota of c, nil if there is none.
func newShared(c Config) *shared {
	if c.Quota == nil {
		return nil
	}
	failing := promauto.With(c.Registerer).NewGauge(prometheus.GaugeOpts{
		Name: "limnomap_shared_limits_failing",
		Help: "1 while rate limits cannot be shared with other servers and this one uses local limits, else 0.",
	})
	return &shared{quota: c.Quota, now: c.Now, start: c.Now(), timeout: leaseTimeout, log: c.Logger, failing: failing}
}

// lease is Quota.Lease of n tokens for a client of l. It is not ok while the quota fails. During a failure one request per
// second tries again; the others do not wait.
func (s *shared) lease(ctx context.Context, l *bucketLimit, client []byte, n int) (granted int, missing time.Duration, ok bool) {
	now := int64(s.now().Sub(s.start))
	retryAt := s.retryAt.Load()
	if retryAt != 0 && (now < retryAt && retryAt-now <= int64(retryAfterFailure) || !s.retryAt.CompareAndSwap(retryAt, now+int64(retryAfterFailure))) {
		return 0, 0, false
	}
	// The tokens are for other requests too, and a client that leaves is not a failure of the quota.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	defer cancel()
	granted, missing, err := s.quota.Lease(ctx, l.name, string(client), l.perMinute, n)
	switch {
	case err != nil:
		s.fail(err)
		return 0, 0, false
	case retryAt != 0: // an answer to a lease from before the failure says nothing about now
		s.mend()
	}
	return granted, missing, true
}

// fail notes that a lease failed. The log gets the first error since the quota last worked, and the first refusal: without the
// second, a lease that took too long on a busy machine would hide from an operator that Redis refuses all of them.
func (s *shared) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.retryAt.Swap(max(int64(s.now().Sub(s.start)+retryAfterFailure), 1)) == 0
	var answer interface{ Refused() bool }
	refused := errors.As(err, &answer) && answer.Refused() && !s.refused
	if refused {
		s.refused = true
	}
	if first || refused {
		s.failing.Set(1)
		s.log.Warn("rate limits cannot be shared: using local rate limits", slog.Any("error", err))
	}
}

// mend notes that the quota works again.
func (s *shared) mend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retryAt.Store(0)
	s.refused = false
	s.failing.Set(0)
	s.log.Info("rate limits are shared again")
}
