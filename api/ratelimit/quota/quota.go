// Package quota keeps token buckets in Redis, so that several servers share one limit for each client.
//
// As in the generic cell rate algorithm (ITU-T I.371, annex A) a bucket is stored as the time when it will be full again, by the
// clock of Redis: servers need not agree on the time. A Redis key exists until that time, at most a minute after the last
// request, and contains a hash of the client's address. Anyone can find the address of a hash by trying all addresses: the
// minute protects people, not the hash.
//
// After a restart of Redis without its data all buckets are full.
package quota

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"
)

const (
	// prefix starts all Redis keys, so that other programs may use the same Redis, and an ACL can name the keys.
	prefix = "limnomap:"
	// stepTimeout bounds each step of opening a connection (the network, TLS, each command of the login) and each command. A
	// caller stops waiting when its context ends.
	stepTimeout = time.Second
	// maxConnections bounds the connections to Redis. One of them carries tens of thousands of commands per second.
	maxConnections = 16
	// idleTime is how long an idle connection stays open.
	idleTime = 5 * time.Minute
)

// lease is the script that takes tokens. Redis runs nothing else during a script, so no token is granted twice.
//
//go:embed lease.lua
var leaseText string

var lease = redis.NewScript(1, leaseText)

// Redis keeps buckets in a Redis server. It is safe for concurrent use.
type Redis struct {
	pool    *redis.Pool
	address string
	timeout time.Duration // of each step

	opened time.Time
	// broken is when a connection last failed, in nanoseconds since opened; 0: none has. Connections that were idle then are
	// closed: when a server ends all of them break, and each would fail one more command.
	broken atomic.Int64

	dialing sync.WaitGroup // one for each goroutine that gets a connection
	mu      sync.Mutex     // guards closed
	closed  bool           // no goroutine may be added to dialing
}

// Open returns the buckets in the Redis server of that URL. It does not connect before the first lease. Errors never
// contain the URL, which may have a password.
func Open(url string) (*Redis, error) { return openWithin(url, stepTimeout) }

func openWithin(url string, timeout time.Duration) (*Redis, error) {
	where, err := parseURL(url, timeout)
	if err != nil {
		return nil, err
	}
	r := &Redis{address: where.address, timeout: timeout, opened: time.Now()}
	r.pool = &redis.Pool{
		DialContext:  where.dial,
		TestOnBorrow: r.trust,
		MaxIdle:      maxConnections,
		MaxActive:    maxConnections,
		Wait:         true,
		IdleTimeout:  idleTime,
	}
	return r, nil
}

var errBroken = errors.New("idle since before another connection broke")

// trust returns an error for a connection that was idle when another one failed. It sends nothing to the server: that would be
// one more round trip for each lease.
func (r *Redis) trust(_ redis.Conn, idleSince time.Time) error {
	if idleSince.Sub(r.opened) <= time.Duration(r.broken.Load()) {
		return errBroken
	}
	return nil
}

// Check returns the error that Open would return for a URL.
func Check(url string) error {
	_, err := parseURL(url, stepTimeout)
	return err
}

// Address returns the address of the server, without user and password.
func (r *Redis) Address() string { return r.address }

// Lease takes up to n tokens from the bucket of a client under a limit. The bucket holds perMinute of them, and takes a
// minute to fill. It returns how many it took and what the bucket then lacks, as the time that it takes to fill.
func (r *Redis) Lease(ctx context.Context, limit, client string, perMinute, n int) (granted int, missing time.Duration, err error) {
	conn, err := r.connection(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("redis at %s: %w", r.address, explain(err))
	}
	defer conn.Close() // returns it to the pool, or closes it if it failed
	answer, err := redis.Int64s(lease.DoContext(ctx, conn, keyOf(limit, client), perMinute, n))
	if conn.Err() != nil { // not an error that Redis returned for the command
		r.broken.Store(int64(time.Since(r.opened)))
	}
	if err != nil {
		return 0, 0, fmt.Errorf("redis at %s: %w", r.address, explain(err))
	}
	if len(answer) != 2 || answer[0] < 0 || answer[0] > int64(n) || answer[1] < 0 || answer[1] > int64(time.Minute/time.Microsecond) {
		return 0, 0, fmt.Errorf("redis at %s: lease of %d of %d tokens a minute returned %v, want the tokens and up to a minute in µs",
			r.address, n, perMinute, answer)
	}
	return int(answer[0]), time.Duration(answer[1]) * time.Microsecond, nil
}

// A refusal is an error that Redis answers.
type refusal struct {
	explanation string
	err         redis.Error
	passes      bool // by itself
}

func (r refusal) Error() string { return r.explanation + ": " + r.err.Error() }

func (r refusal) Unwrap() error { return r.err }

// Refused reports whether only an operator can change the answer.
func (r refusal) Refused() bool { return !r.passes }

// explain adds an explanation to errors that an operator can resolve.
func explain(err error) error {
	r := refusal{}
	if !errors.As(err, &r.err) {
		return err
	}
	switch code, _, _ := strings.Cut(string(r.err), " "); code {
	case "OOM":
		r.explanation = "its memory is full; raise its maxmemory, or let it evict keys"
	case "READONLY":
		r.explanation = "it is a replica; name the primary"
	case "WRONGPASS":
		r.explanation = "it refuses the user or the password"
	case "NOAUTH":
		r.explanation = "it wants a password"
	case "NOPERM":
		r.explanation = "the user may not do that; see docs/operating.md for the rights it needs"
	case "MISCONF":
		r.explanation = "it cannot save its data to disk"
	case "LOADING":
		r.explanation, r.passes = "it is starting", true
	case "BUSY":
		r.explanation, r.passes = "it is busy with another program's script", true
	default:
		return err
	}
	return r
}

// connection returns a connection of the pool, or a new one. If the caller's context ends first, the next caller gets the
// connection: otherwise a Redis that takes long to connect to would never be used.
func (r *Redis) connection(ctx context.Context) (redis.Conn, error) {
	type result struct {
		conn redis.Conn
		err  error
	}
	got := make(chan result)
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, errors.New("closed")
	}
	r.dialing.Go(func() { // ends when there is a connection, or after the timeout
		ctxDial, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.timeout)
		defer cancel()
		conn, err := r.pool.GetContext(ctxDial)
		select {
		case got <- result{conn, err}:
		case <-ctx.Done():
			conn.Close() // returns it to the pool; does nothing without a connection
		}
	})
	r.mu.Unlock()
	select {
	case m := <-got:
		return m.conn, m.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// keyOf returns the Redis key of a client's bucket. It is the same on all servers, so it contains no secret.
func keyOf(limit, client string) string {
	hash := sha256.Sum256([]byte(client))
	return prefix + limit + ":" + base64.RawURLEncoding.EncodeToString(hash[:16])
}

// Close closes all connections. Leases under way fail.
func (r *Redis) Close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	err := r.pool.Close()
	r.dialing.Wait()
	return err
}
