// Package quota keeps token buckets in Redis, so that several servers share one limit for each client.
//
// A bucket is kept as the generic cell rate algorithm keeps it (ITU-T I.371, annex A), as the one moment when it will be
// full again, by Redis' own clock: servers need not agree on the time. A key lives until that moment, which is a minute
// from the last request at the most, and what it stands for is nobody's address in plain text but a hash. A hash of an
// address can be found out by trying all addresses: it is the minute that protects a person, not the hash.
//
// Of a Redis that is restarted without its data all buckets are full.
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
	// prefix is that of all keys, so that a Redis may serve others too and an ACL can be written.
	prefix = "limnomap:"
	// dialTimeout bounds how long a connection may take to be made, each step of it: the network's, TLS, and every command
	// of the greeting. Whoever waits for it leaves when its context ends.
	dialTimeout = time.Second
	// ioTimeout bounds one question where the context does not.
	ioTimeout = time.Second
	// maxConnections bounds those to Redis. One of them answers tens of thousands of questions a second.
	maxConnections = 16
	// idleTime is after what a connection that is not used is closed.
	idleTime = 5 * time.Minute
)

// lease is the script that takes tokens. Redis runs a script whole before anything else, so that no token is granted
// twice.
//
//go:embed lease.lua
var leaseText string

var lease = redis.NewScript(1, leaseText)

// Redis keeps buckets in a Redis server. It is safe for concurrent use.
type Redis struct {
	pool    *redis.Pool
	address string

	opened time.Time
	// broken is when a connection last failed, in nanoseconds since opened; 0: none has. Those that were idle then are not
	// trusted: a server that ends takes all of them with it, and each would fail one more question.
	broken atomic.Int64

	asking sync.WaitGroup // one for each goroutine that gets a connection
	mu     sync.Mutex     // guards what follows
	closed bool           // from here on asking does not grow
}

// Open returns the buckets in the Redis server of that URL. It does not connect before the first question. Errors never
// repeat the URL, which may hold a password.
func Open(url string) (*Redis, error) {
	where, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	r := &Redis{address: where.address, opened: time.Now()}
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

// trust returns an error for a connection that has been idle since a moment before another one failed. It asks nothing of
// the server: that would be one more round for each question.
func (r *Redis) trust(_ redis.Conn, idleSince time.Time) error {
	if idleSince.Sub(r.opened) <= time.Duration(r.broken.Load()) {
		return errBroken
	}
	return nil
}

// Check returns what keeps Open from taking a URL, and does no more.
func Check(url string) error {
	_, err := parseURL(url)
	return err
}

// Address returns where the server is, without user and password.
func (r *Redis) Address() string { return r.address }

// Lease takes up to n tokens from the bucket of a client under a limit. The bucket holds perMinute of them, and takes a
// minute to fill. It returns how many it took and what is missing of a full bucket then, as the time that it takes to fill.
func (r *Redis) Lease(ctx context.Context, limit, client string, perMinute, n int) (granted int, missing time.Duration, err error) {
	conn, err := r.connection(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("redis at %s: %w", r.address, err)
	}
	defer conn.Close() // back to the pool; one that has failed is closed
	answer, err := redis.Int64s(lease.DoContext(ctx, conn, keyOf(limit, client), perMinute, n))
	if conn.Err() != nil { // the connection's, not what the server says of the question
		r.broken.Store(int64(time.Since(r.opened)))
	}
	if err != nil {
		return 0, 0, fmt.Errorf("redis at %s: %w", r.address, err)
	}
	if len(answer) != 2 || answer[0] < 0 || answer[0] > int64(n) || answer[1] < 0 || answer[1] > int64(time.Minute/time.Microsecond) {
		return 0, 0, fmt.Errorf("redis at %s: %d of %d tokens a minute are answered by %v, want how many, and up to a minute in µs",
			r.address, n, perMinute, answer)
	}
	return int(answer[0]), time.Duration(answer[1]) * time.Microsecond, nil
}

// connection returns one of the pool's, or a new one. Who is gone by the time that it is made leaves it to the next: a server
// so far away that no caller has the patience for a connection would else never get one.
func (r *Redis) connection(ctx context.Context) (redis.Conn, error) {
	type made struct {
		conn redis.Conn
		err  error
	}
	got := make(chan made)
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, errors.New("closed")
	}
	r.asking.Go(func() { // ends when there is a connection, or with dialTimeout
		dialing, cancel := context.WithTimeout(context.WithoutCancel(ctx), dialTimeout)
		defer cancel()
		conn, err := r.pool.GetContext(dialing)
		select {
		case got <- made{conn, err}:
		case <-ctx.Done():
			conn.Close() // into the pool; of none, nothing is closed
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

// keyOf returns the key of a client's bucket. All servers have to find the same one, so there is no secret in it.
func keyOf(limit, client string) string {
	hash := sha256.Sum256([]byte(client))
	var b strings.Builder
	b.WriteString(prefix)
	b.WriteString(limit)
	b.WriteByte(':')
	b.WriteString(base64.RawURLEncoding.EncodeToString(hash[:16]))
	return b.String()
}

// Close ends all connections. Questions that are under way fail.
func (r *Redis) Close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	err := r.pool.Close()
	r.asking.Wait()
	return err
}
