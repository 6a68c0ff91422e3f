package store

import (
	"context"
	"fmt"
	"time"

	"limnomap/data"
)

// MaxClockSkew is the largest difference between the clocks of processes that share a database. A stored time that is
// farther in the future is from a wrong clock: it must not postpone what waits for it until then.
const MaxClockSkew = time.Hour

// A lease lets one process at a time work on a row for a time: the columns holder and held_until have the unique name of the process, or an
// empty one, and the end. A lease that ends more than [MaxClockSkew] after a new one would is ignored. The lease of a process that ended expires.
type lease struct {
	table, column string // the column identifies the row
	id            any
	holder        string
}

func refreshLease(holder string) lease    { return lease{"refresh", "one", 1, holder} }
func hookLease(id, holder string) lease   { return lease{"hooks", "id", validText(id), holder} }
func notifyLease(id, holder string) lease { return lease{"push_subscriptions", "id", id, holder} }
func (l lease) row() string               { return fmt.Sprintf(" WHERE %s = $1", l.column) }
func (l lease) update() string            { return "UPDATE limnomap." + l.table + " SET " }

// take takes the lease from now until a time, and reports false if another process has it, or if the row does not fulfil the condition. set
// has other columns to set. Both may use $4 for now in seconds, and $6 and so on for args.
func (l lease) take(ctx context.Context, q querier, now, until time.Time, condition, set string, args ...any) (taken bool, err error) {
	args = append([]any{l.id, l.holder, until.Unix(), now.Unix(), until.Add(MaxClockSkew).Unix()}, args...)
	n, err := q.exec(ctx, l.update()+set+"holder = $2, held_until = $3"+l.row()+" AND (holder = '' OR held_until <= $4 OR held_until > $5) AND "+condition, args...)
	return n > 0, err
}

// check returns an error that is [data.ErrLeaseLost] if the holder does not have the lease. No other process can take it until the transaction ends.
func (l lease) check(ctx context.Context, q querier) error {
	return l.lost(q.exec(ctx, l.update()+"holder = holder"+l.row()+" AND holder = $2 AND holder <> ''", l.id, l.holder))
}

// extend makes the lease end at a time, or returns the error of check.
func (l lease) extend(ctx context.Context, q querier, until time.Time) error {
	return l.lost(q.exec(ctx, l.update()+"held_until = $3"+l.row()+" AND holder = $2 AND holder <> ''", l.id, l.holder, until.Unix()))
}

// end ends the lease, or returns the error of check.
func (l lease) end(ctx context.Context, q querier) error {
	return l.lost(q.exec(ctx, l.update()+"holder = '', held_until = NULL"+l.row()+" AND holder = $2 AND holder <> ''", l.id, l.holder))
}

// revoke ends the lease, whoever has it, and keeps others from changing the row until the transaction ends.
func (l lease) revoke(ctx context.Context, q querier) error {
	_, err := q.exec(ctx, l.update()+"holder = '', held_until = NULL"+l.row(), l.id)
	return err
}

func (l lease) lost(rows int64, err error) error {
	if err == nil && rows == 0 {
		return callerError{data.ErrLeaseLost}
	}
	return err
}
