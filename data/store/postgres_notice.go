package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// noticeChannel is notified by an import when it is committed. Channels belong to one database.
const noticeChannel = "limnomap"

// The waits before a reconnect double from the first to the second of these.
const minListenPause, maxListenPause = 250 * time.Millisecond, 10 * time.Second

// Listen implements [Listener] on its own connection, and reconnects when that is lost.
func (s *postgres) Listen(ctx context.Context, wake chan<- struct{}) {
	pause := minListenPause
	for ctx.Err() == nil {
		if s.listen(ctx, wake) {
			pause = minListenPause
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, maxListenPause)
	}
}

// listen passes notifications on until the connection is lost, and reports whether there was a connection. It drops errors,
// since a call of Revision meets them too.
func (s *postgres) listen(ctx context.Context, wake chan<- struct{}) (listened bool) {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return false
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+noticeChannel); err != nil {
		return false
	}
	for {
		select {
		case wake <- struct{}{}: // also at first: there is no notification of earlier commits
		default:
		}
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return true
		}
	}
}
