package ratelimit

import (
	"context"
	"time"
)

// reserveShare is the share of a minute's tokens that a server may hold in advance of one client's shared bucket: those of one
// second.
//
// However a client spreads its requests, N servers grant it at most as much as one server would, plus N reserves: those that
// they may have held at the start. They grant at least as much as one server whose bucket is smaller by N reserves, because a
// client may miss what they hold at the end. A limit below reserveShare is exact, since nothing is held. Tokens in an answer
// that comes too late are lost: a client misses up to one reserve for each lease that is given up.
const reserveShare = 60

// takeShared takes one token out of the shared bucket of the client with that hash and id, if there is one. Nearly all
// tokens come from the reserve; the request that finds it low refills it while others use the rest. A request that finds it
// empty leases its own token.
func (l *bucketLimit) takeShared(ctx context.Context, client uint64, id []byte) grant {
	set := l.buckets.setOf(client)
	set.mu.Lock()
	now := l.now().Sub(l.start)
	b := set.find(client, now, l.size)
	have := b.held.tokens > 0
	if have {
		b.held.tokens--
	}
	// Other servers can only have taken more than is known here: if the known part is the whole bucket, there is nothing to lease.
	exhausted := l.missing(b, now) > l.size-l.interval
	reserve := b.held.reserve(l.reserve)
	low := int(b.held.tokens) <= reserve/4 && reserve > 0
	fill := !b.held.filling && (!have || low)
	if have && !fill || exhausted {
		g := l.describeShared(b, now, have)
		set.mu.Unlock()
		return g
	}
	wanted := 0
	if !have {
		wanted = 1
	}
	if fill {
		b.held.filling = true
		b.held.grow(l.reserve)
		wanted += max(reserve-int(b.held.tokens), 0)
	}
	set.mu.Unlock()

	granted, missing, ok := l.shared.lease(ctx, l, id, wanted)

	set.mu.Lock()
	defer set.mu.Unlock()
	now = l.now().Sub(l.start)
	b = set.find(client, now, l.size)
	if fill {
		b.held.filling = false
	}
	if ok {
		b.full = max(b.full, now+min(missing, l.size)) // an answer that was overtaken knows less
		if !have && granted > 0 {
			have, granted = true, granted-1
		}
		b.held.tokens = uint32(min(int(b.held.tokens)+granted, l.reserve))
	} else if !have {
		return l.spend(b, now)
	}
	return l.describeShared(b, now, have)
}

// describeShared returns the outcome for a request that got a token of a shared bucket or did not, as far as the state of the
// bucket is known here.
func (l *bucketLimit) describeShared(b *bucket, now time.Duration, have bool) grant {
	missing := l.missing(b, now)
	if !have {
		return grant{wait: max(missing-(l.size-l.interval), 1)}
	}
	left := (l.size - missing) / l.interval
	return grant{
		ok:        true,
		remaining: min(int64(left)+int64(b.held.tokens), int64(l.perMinute)-1),
		wait:      missing - (l.size - (left+1)*l.interval),
	}
}
