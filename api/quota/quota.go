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
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	// prefix is that of all keys, so that a Redis may serve others too and an ACL can be written.
	prefix = "limnomap:"
	// dialTimeout bounds how long a connection may take to be made. Whoever waits for it leaves when its context ends.
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

var lease = redis.NewScript(leaseText)

// Redis keeps buckets in a Redis server. It is safe for concurrent use.
type Redis struct {
	client  *redis.Client
	address string
}

const wantURL = "want redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE], rediss:// for TLS, or unix://[USER:PASSWORD@]/PATH for a socket"

// Open returns the buckets in the Redis server of that URL. It does not connect before the first question. Errors never
// repeat the URL, which may hold a password.
func Open(url string) (*Redis, error) {
	opts, err := parse(url)
	if err != nil {
		return nil, err
	}
	opts.MaxRetries = -1 // another try would come too late; the caller has its own answer by then
	opts.DialTimeout, opts.DialerRetries = dialTimeout, 1
	opts.ReadTimeout, opts.WriteTimeout, opts.PoolTimeout = ioTimeout, ioTimeout, ioTimeout
	opts.ContextTimeoutEnabled = true
	opts.PoolSize, opts.MaxActiveConns, opts.PipelinePoolSize = maxConnections, maxConnections, -1
	opts.ReadBufferSize, opts.WriteBufferSize = 1<<10, 1<<10
	opts.ConnMaxIdleTime = idleTime
	opts.ClientName, opts.DisableIdentity = "limnomap", true
	opts.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	// The library writes to stderr on its own, each time and in another form than the log. Nothing is lost: what it
	// says is in the errors, too.
	logging.Disable()
	return &Redis{client: redis.NewClient(opts), address: opts.Addr}, nil
}

// Check returns what keeps Open from taking a URL, and does no more.
func Check(url string) error {
	_, err := parse(url)
	return err
}

func parse(url string) (*redis.Options, error) {
	opts, err := redis.ParseURL(url)
	if err != nil || strings.Contains(url, "?") { // Open's bounds are not for sale
		return nil, errors.New("this is no URL of a Redis server: " + wantURL)
	}
	return opts, nil
}

// Address returns where the server is, without user and password.
func (r *Redis) Address() string { return r.address }

// Lease takes up to n tokens from the bucket of a client under a limit. The bucket holds perMinute of them, and takes a
// minute to fill. It returns how many it took and what is missing of a full bucket then, as the time that it takes to fill.
func (r *Redis) Lease(ctx context.Context, limit, client string, perMinute, n int) (granted int, missing time.Duration, err error) {
	answer, err := lease.Run(ctx, r.client, []string{keyOf(limit, client)}, perMinute, n).Int64Slice()
	if err != nil {
		return 0, 0, fmt.Errorf("redis at %s: %w", r.address, err)
	}
	if len(answer) != 2 || answer[0] < 0 || answer[0] > int64(n) || answer[1] < 0 || answer[1] > int64(time.Minute/time.Microsecond) {
		return 0, 0, fmt.Errorf("redis at %s: %d of %d tokens a minute are answered by %v, want how many, and up to a minute in µs",
			r.address, n, perMinute, answer)
	}
	return int(answer[0]), time.Duration(answer[1]) * time.Microsecond, nil
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
func (r *Redis) Close() error { return r.client.Close() }
