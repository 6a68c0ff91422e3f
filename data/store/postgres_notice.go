package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// noticeChannel is notified by an import when it is committed. Channels belong to one database.
const noticeChannel = "limnomap"

// The waits before a reconnect double from the first to the second of these.
const minListenPause, maxListenPause = 250 * time.Millisecond, 10 * time.Second

const (
	listenPing    = time.Minute      // how often a connection without notifications is checked
	listenTimeout = 10 * time.Second // of each statement
)

// listen uses its own connection, and reconnects when that is lost. A standby has no notifications: until it is promoted, callers of Revision ask.
func (s *postgres) listen(ctx context.Context, wake chan<- struct{}) {
	pause := minListenPause
	for ctx.Err() == nil {
		if s.listenOnce(ctx, wake) {
			pause = minListenPause
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, maxListenPause)
	}
}

// listenOnce passes notifications on until the connection is lost, and reports whether there was a connection. It drops errors,
// since a call of Revision meets them too.
func (s *postgres) listenOnce(ctx context.Context, wake chan<- struct{}) (listened bool) {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return false
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if err := s.awaitPromotion(ctx, conn); err != nil {
		return false
	}
	if err := s.execWithin(ctx, conn, "LISTEN "+noticeChannel); err != nil {
		return false
	}
	for {
		select {
		case wake <- struct{}{}: // also at first: there is no notification of earlier commits
		default:
		}
		if err := s.awaitNotice(ctx, conn); err != nil {
			return true
		}
	}
}

// awaitNotice returns nil when there is a notification. While there is none, it asks the server now and then whether it is still
// there: one that hangs, or a proxy in front of it, would keep the connection open forever.
func (s *postgres) awaitNotice(ctx context.Context, conn *pgx.Conn) error {
	for {
		waiting, cancel := context.WithTimeout(ctx, s.listenPing)
		_, err := conn.WaitForNotification(waiting)
		cancel()
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) || conn.IsClosed() {
			return err
		}
		if err := s.execWithin(ctx, conn, "SELECT 1"); err != nil {
			return err
		}
	}
}

// execWithin runs a statement that takes no time.
func (s *postgres) execWithin(ctx context.Context, conn *pgx.Conn, statement string) error {
	ctx, cancel := context.WithTimeout(ctx, s.listenTimeout)
	defer cancel()
	_, err := conn.Exec(ctx, statement)
	return err
}
