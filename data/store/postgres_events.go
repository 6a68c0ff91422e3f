package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"limnomap/data"
)

var postgresTryMoment = fmt.Sprintf("SELECT pg_try_advisory_xact_lock(%d)", int64(momentLock))

func (q postgresQuerier) putEvents(ctx context.Context, moment int64, events []data.Event) error {
	_, err := q.db.(pgx.Tx).CopyFrom(ctx, pgx.Identifier{"limnomap", "events"}, strings.Split(eventNames, ", "), pgx.CopyFromSlice(len(events), func(i int) ([]any, error) {
		return eventValues(nil, moment, &events[i])
	}))
	return err
}
