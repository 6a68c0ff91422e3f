package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"limnomap/data"
)

const (
	// primaryConns bounds the connections for what writes, beside those of the pool that reads: an import, leases, subscriptions and events.
	primaryConns = 8
	// standbyPing is how often it is asked whether a standby was promoted, so that there are notifications.
	standbyPing = 10 * time.Second
	// askPrimaryTimeout bounds the question for the revision of the primary.
	askPrimaryTimeout = 3 * time.Second
)

// primaryConfig returns the configuration of the pool that writes. pgx tries the hosts in turn until one lets write.
func primaryConfig(of *pgxpool.Config) *pgxpool.Config {
	config := of.Copy()
	config.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	config.MaxConns, config.MinConns, config.MinIdleConns = min(config.MaxConns, primaryConns), 0, 0
	config.PrepareConn = func(_ context.Context, conn *pgx.Conn) (bool, error) {
		return !standby(conn.PgConn()) && !onlyReads(conn.PgConn()), nil
	}
	return config
}

// refuseFormerPrimary makes a pool that reads from one of several hosts pass over those that are no standby and yet let only read. Such a host
// was the primary before another one was promoted, and gets no new data. A host that lets only read because of the user's settings looks the same.
func refuseFormerPrimary(config *pgxpool.Config) {
	former := func(c *pgconn.PgConn) bool { return !standby(c) && onlyReads(c) }
	validate := config.ConnConfig.ValidateConnect
	config.ConnConfig.ValidateConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		if former(conn) {
			return errFormerPrimary
		}
		if validate == nil {
			return nil
		}
		return validate(ctx, conn)
	}
	config.PrepareConn = func(_ context.Context, conn *pgx.Conn) (bool, error) { return !former(conn.PgConn()), nil }
}

var errFormerPrimary = errors.New("it is no standby and default_transaction_read_only is on: it is taken for a former primary and passed over; " +
	"if it is the primary, reset that setting of the user and of the database")

// A server says of itself whether it is a standby, and whether it lets only read, also when that changes (since PostgreSQL 14).
func standby(c *pgconn.PgConn) bool { return c.ParameterStatus("in_hot_standby") == "on" }
func onlyReads(c *pgconn.PgConn) bool {
	return c.ParameterStatus("default_transaction_read_only") == "on"
}

// postgresLag is how many seconds a standby is behind its primary at most; NULL for a primary. A standby that has replayed all that it has received, and
// that receives, is not behind, however long ago the last transaction of an idle primary was. Otherwise it has all that was committed before the
// last transaction that it has replayed, or before its last checkpoint if it has replayed none.
const postgresLag = `CASE WHEN pg_is_in_recovery() THEN
	CASE WHEN pg_last_wal_replay_lsn() >= pg_last_wal_receive_lsn() AND EXISTS (SELECT FROM pg_stat_wal_receiver) THEN 0
	ELSE greatest(0, extract(epoch FROM clock_timestamp() - coalesce(pg_last_xact_replay_timestamp(), (SELECT checkpoint_time FROM pg_control_checkpoint())))) END END::float8`

// errBehind says that a standby does not yet have what was read before from another host.
var errBehind = errors.New("the standby does not have the data yet that were read from another server before: keeping those until it has")

// A standbyWatch knows what was read last, and from what kind of server.
type standbyWatch struct {
	mu      sync.Mutex
	newest  data.Revision // that was read; its number and that of its forecasts
	lag     time.Duration
	standby bool // whether the last revision is from a standby
}

// Standby returns how far the standby that the last revision was read from is behind its primary at most, and false if that was no standby.
func (s *Store) Standby() (lag time.Duration, standby bool) {
	p, ok := s.db.(*postgres)
	if !ok {
		return 0, false
	}
	w := &p.standby
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lag, w.standby
}

// believe notes a revision that was read from a server with that lag. It returns errBehind if another host of the URL had a newer one before:
// what was shown must not become older. What the primary has is right, also if it is older because it was restored.
func (s *postgres) believe(ctx context.Context, r data.Revision, lag sql.NullFloat64) error {
	w := &s.standby
	w.mu.Lock()
	newest := w.newest
	w.mu.Unlock()
	behind := older(r, newest)
	if s.primary != s.pool && (behind || lag.Float64 > 0) {
		if primary, err := s.primaryRevision(ctx); err == nil && !older(r, primary) {
			behind, lag.Float64 = false, 0
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lag, w.standby = time.Duration(lag.Float64*float64(time.Second)), lag.Valid
	if behind && s.primary != s.pool {
		return errBehind
	}
	if w.newest == newest || !older(r, w.newest) {
		w.newest = r
	}
	return nil
}

func older(a, b data.Revision) bool { return a.Number < b.Number || a.Forecasts < b.Forecasts }

// primaryRevision returns the number of the primary's revision, and that of its forecasts.
func (s *postgres) primaryRevision(ctx context.Context) (r data.Revision, err error) {
	ctx, cancel := context.WithTimeout(ctx, askPrimaryTimeout)
	defer cancel()
	err = s.primary.QueryRow(ctx, "SELECT r.number, f.changes FROM limnomap.revision AS r, limnomap.forecast_state AS f").Scan(&r.Number, &r.Forecasts)
	return r, err
}

// awaitPromotion returns when the server of a connection is no standby, which has no notifications, or with an error when the connection is lost.
func (s *postgres) awaitPromotion(ctx context.Context, conn *pgx.Conn) error {
	for {
		standby, err := s.isStandby(ctx, conn)
		if err != nil || !standby {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(s.standbyPing):
		}
	}
}

func (s *postgres) isStandby(ctx context.Context, conn *pgx.Conn) (standby bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.listenTimeout)
	defer cancel()
	err = conn.QueryRow(ctx, "SELECT pg_is_in_recovery()").Scan(&standby)
	return standby, err
}

// errStandbySchema says that a standby does not have the tables that this limnomap uses.
var errStandbySchema = fmt.Errorf("%w, and a standby cannot be migrated: `limnomap migrate` with the URL of the primary does it", ErrOlderSchema)
