package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"

	"limnomap/data/outline"
)

const (
	connectTimeout = 5 * time.Second // unless the URL has its own connect_timeout
	// pingTimeout is how soon a connection that was idle for a second must answer, or another one is used.
	pingTimeout = 3 * time.Second
	// maxMessage bounds a row or another message of the server in memory. The largest is a lake with the longest outline.
	maxMessage = outline.MaxBytes + 1<<20
	// A connection whose peer has disappeared fails after idle + count * interval: half a minute.
	keepAliveIdle, keepAliveInterval, keepAliveCount = 15 * time.Second, 5 * time.Second, 3
)

// sessionSettings bound the waits of a statement, and turn off JIT compilation: compiling a query over all years'
// partitions takes longer than running it. A URL may set others.
var sessionSettings = map[string]string{
	"application_name":                    "limnomap",
	"jit":                                 "off",
	"lock_timeout":                        "10s",   // how long a second importer waits for the first
	"statement_timeout":                   "10min", // more than a scan of 146 million rows takes
	"idle_in_transaction_session_timeout": "10min", // for an importer or a scan's callback that hangs
}

// postgres is a Store in the schema limnomap of a PostgreSQL database.
type postgres struct {
	Store
	pool *pgxpool.Pool
	// primary is for what writes: the host of the URL that lets write, whichever that is at the time. It is pool if the URL names one host.
	primary *pgxpool.Pool
	standby standbyWatch
	name    string // of the database, for errors, without user and password
	create  bool   // whether each use may create the tables; otherwise only an import does

	upgrade                                              Upgrade
	preparing                                            chan struct{} // holds a value while the schema is brought up to date
	ready                                                atomic.Bool   // whether the schema is up to date
	stallTimeout, listenPing, listenTimeout, standbyPing time.Duration // tests lower them
}

// openPostgres opens the database of a URL. It succeeds if the server cannot be reached, or if create is false and there
// are no tables yet: each use of the Store tries again.
func openPostgres(ctx context.Context, dsn string, create bool, upgrade Upgrade) (*postgres, error) {
	config, err := parsePostgres(dsn)
	if err != nil {
		return nil, err
	}
	s := &postgres{name: postgresName(config.ConnConfig), create: create, upgrade: upgrade, preparing: make(chan struct{}, 1), stallTimeout: stallTimeout, listenPing: listenPing, listenTimeout: listenTimeout, standbyPing: standbyPing}
	s.Store = Store{s, dialect{scan: postgresScanQuery, past: postgresPastQuery, sampled: postgresSampled, nearSamples: postgresNearSamples, lockKeys: lockKeys,
		newestReading: postgresNewestReading, readings: postgresReadings, forecasts: postgresForecasts, notify: postgresNotify, lockImports: postgresLockImports, tryMoment: postgresTryMoment, now: "extract(epoch FROM clock_timestamp())::float8", lag: postgresLag}, time.Now, int(config.MaxConns), ""}
	several := len(hosts(config.ConnConfig)) > 1
	writing := primaryConfig(config)
	if several {
		refuseFormerPrimary(config)
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, s.wrap(err, "open the pool of connections")
	}
	s.primary = s.pool
	if several {
		if s.primary, err = pgxpool.NewWithConfig(ctx, writing); err != nil {
			s.pool.Close()
			return nil, s.wrap(err, "open the pool of connections")
		}
	}
	if err := s.prepare(ctx, create); err != nil && !away(err) && !errors.Is(err, fs.ErrNotExist) {
		_ = s.close()
		return nil, err
	}
	return s, nil
}

// parsePostgres parses a postgres:// URL, together with the environment and the password file that PostgreSQL's own
// clients read. Its errors do not repeat the URL.
func parsePostgres(dsn string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("the database's postgres:// URL is invalid: %s, with the characters of a password that are "+
			"not letters or digits as %%XX; see also the files and PG… variables that it leaves to say the rest", wantPostgres)
	}
	if config.ConnConfig.Database == "" {
		return nil, errors.New("the database's postgres:// URL names no database: " + wantPostgres)
	}
	for name, value := range sessionSettings {
		if _, ok := config.ConnConfig.RuntimeParams[name]; !ok {
			config.ConnConfig.RuntimeParams[name] = value
		}
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	dialer := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: keepAliveIdle, Interval: keepAliveInterval, Count: keepAliveCount,
	}}
	config.ConnConfig.DialFunc = dialer.DialContext
	config.ConnConfig.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		f := pgproto3.NewFrontend(r, w)
		f.SetMaxBodyLen(maxMessage)
		return f
	}
	if config.PingTimeout == 0 {
		config.PingTimeout = pingTimeout
	}
	if !strings.Contains(dsn, "pool_max_conns=") {
		config.MaxConns = int32(usualReaders())
	}
	return config, nil
}

// postgresName is the name of a database in errors and logs.
func postgresName(c *pgx.ConnConfig) string {
	return fmt.Sprintf("PostgreSQL database %q at %s", c.Database, strings.Join(hosts(c), ","))
}

// hosts returns each HOST:PORT of a URL once, in order.
func hosts(c *pgx.ConnConfig) []string {
	all := []string{net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))}
	for _, f := range c.Fallbacks { // a host is there twice if it is tried with and without TLS
		if host := net.JoinHostPort(f.Host, strconv.Itoa(int(f.Port))); !slices.Contains(all, host) {
			all = append(all, host)
		}
	}
	return all
}

// PostgreSQL's error codes: postgresql.org/docs/15/errcodes-appendix.html.
const (
	codeWrongPassword      = "28P01"
	codeNotAuthorized      = "28000"
	codeNoDatabase         = "3D000"
	codeNoPrivilege        = "42501"
	codeNoTable            = "42P01"
	codeReadOnly           = "25006"
	codeConflict           = "40001"
	codeLockNotAvailable   = "55P03"
	codeCancelled          = "57014"
	codeAdminShutdown      = "57P01"
	codeCrashShutdown      = "57P02"
	codeCannotConnectNow   = "57P03"
	codeTooManyConnections = "53300"
	codeDiskFull           = "53100"
)

// explainPostgres adds an explanation to errors that an operator can resolve. It never contains a password.
func explainPostgres(err error) error {
	var e *pgconn.PgError
	if errors.Is(err, pgconn.ErrReadOnlyConnection) {
		return fmt.Errorf("no host of the URL lets write at present; only reading works until a primary is there, on which default_transaction_read_only is off for the user: %w", err)
	}
	if errors.Is(err, errFormerPrimary) {
		return fmt.Errorf("no host of the URL can be used: %w", err)
	}
	if !errors.As(err, &e) {
		var connect *pgconn.ConnectError
		if errors.As(err, &connect) {
			return fmt.Errorf("the server cannot be reached; check that it is running and that host, port and sslmode are right: %w", err)
		}
		if away(err) {
			return fmt.Errorf("the connection was lost: %w", err)
		}
		return err
	}
	words := map[string]string{
		codeWrongPassword:      "the server refuses the user or the password",
		codeNotAuthorized:      "the server refuses the user; see its pg_hba.conf",
		codeNoDatabase:         "the server has no such database; make one with createdb",
		codeNoPrivilege:        "the user may not do that; it needs the right to create a schema in the database, or to own the schema limnomap",
		codeNoTable:            "limnomap's tables are gone; import again, or restore a backup",
		codeReadOnly:           "the server only lets read; name the primary, or it beside the standby",
		codeLockNotAvailable:   "another process is writing to it; try again when it is done",
		codeConflict:           "the standby ended what was in the way of its recovery; set hot_standby_feedback there",
		codeCancelled:          "the server ended what took too long",
		codeAdminShutdown:      "the server ended the connection",
		codeCrashShutdown:      "the server ended the connection",
		codeCannotConnectNow:   "the server is starting or stopping",
		codeTooManyConnections: "the server has no connection left; raise its max_connections, or lower pool_max_conns in the URL",
		codeDiskFull:           "the server's disk is full",
	}[e.Code]
	if words == "" {
		return err
	}
	return fmt.Errorf("%s: %w", words, err)
}

// away reports whether err may go away: the server cannot be reached at present, or is starting or stopping.
func away(err error) bool {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		switch e.Code {
		case codeAdminShutdown, codeCrashShutdown, codeCannotConnectNow, codeTooManyConnections:
			return true
		}
		return strings.HasPrefix(e.Code, "08") // connection exceptions
	}
	var network net.Error
	return errors.Is(err, pgconn.ErrReadOnlyConnection) || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded)
}

// wrap adds the operation and the database to an error, except to a callerError. If tables are missing, the next use
// prepares the schema again.
func (s *postgres) wrap(err error, doing string) error {
	if err == nil {
		return nil
	}
	if err, ok := forCaller(err); ok {
		return err
	}
	var e *pgconn.PgError
	if errors.As(err, &e) && e.Code == codeNoTable {
		s.ready.Store(false)
	}
	return &Error{fmt.Errorf("%s in %s: %w", doing, s.name, explainPostgres(err)), away(err)}
}

func (s *postgres) readOnly() string { return "" }

func (s *postgres) close() error {
	s.pool.Close()
	s.primary.Close() // closing a pool twice does nothing
	return nil
}
