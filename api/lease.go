package api

import (
	"context"
	"time"
)

// reserveShare of a minute's tokens is what a server may hold in advance of one client's bucket: a second's worth.
const reserveShare = 60

// share lets l take from buckets that other servers take from too. It has to be called before l's first request.
//
// However a client spreads its requests, N servers grant it at most what one would, and N reserves: those that they may
// have held when it began. What they hold at the end it may miss: they grant at least what one with a bucket smaller by N
// reserves would. A limit below reserveShare is kept exactly, since nothing is held. Tokens that an answer brings too late
// are spent by nobody: a client misses up to a reserve for each question that is given up.
func (l *limiter) share(s *sharing) {
	if s != nil {
		l.sharing, l.reserve = s, l.perMinute/reserveShare
	}
}

// takeShared takes one token out of the bucket of the client with that key and name, if there is one. Nearly all come
// from the reserve; the request that finds it run low fills it, while others go on with the rest. One that finds it
// empty asks for its own.
func (l *limiter) takeShared(ctx context.Context, key uint64, name func() string) grant {
	set := l.buckets.setOf(key)
	set.mu.Lock()
	now := l.now().Sub(l.start)
	b := set.find(key, now, l.size)
	have := b.held.tokens > 0
	if have {
		b.held.tokens--
	}
	// Others can only have taken more than is known here: where that is all, there is no need to ask.
	exhausted := l.missing(b, now) > l.size-l.interval
	reserve := b.held.reserve(l.reserve)
	low := int(b.held.tokens) <= reserve/4 && reserve > 0
	fill := !b.held.filling && (!have || low)
	if have && !fill || exhausted {
		g := l.shown(b, now, have)
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

	granted, missing, ok := l.sharing.lease(ctx, l, name, wanted)

	set.mu.Lock()
	defer set.mu.Unlock()
	now = l.now().Sub(l.start)
	b = set.find(key, now, l.size)
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
	return l.shown(b, now, have)
}

// shown returns the outcome for a request that has got a token of a shared bucket, or has not, as far as the bucket is
// known here.
func (l *limiter) shown(b *bucket, now time.Duration, have bool) grant {
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
