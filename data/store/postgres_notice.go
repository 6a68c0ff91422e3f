package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// noticeChannel is what an import notifies when it is committed, in its own database only.
const noticeChannel = "limnomap"

// The waits before the connection that listens is made again double from the first to the second of these.
const minListenPause, maxListenPause = 250 * time.Millisecond, 10 * time.Second

// Listen implements [Listener] on a connection of its own, which it makes again when it is lost.
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

// listen passes notices on until the connection is lost, and reports whether there was one. An error says nothing that
// whoever asks for the revision does not find out too.
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
		case wake <- struct{}{}: // also at first: what was committed before it listened gave it no notice
		default:
		}
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return true
		}
	}
}
