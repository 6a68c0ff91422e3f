package store

import (
	"context"
	"slices"
	"time"

	"limnomap/data/clock"
)

// believedAtOnce is how far one call of Believe goes. A server calls it once an hour (clock.Clock): a clock that is a year ahead is believed after two weeks
// by one server, and after a week by two.
const believedAtOnce = 24 * time.Hour

// Times returns what the database knows of the time.
func (s *Store) Times(ctx context.Context) (t clock.Times, err error) {
	err = s.db.query(ctx, "read the clock", func(q querier) error {
		var now float64
		var imported, believed int64
		if err := q.queryRow(ctx, "SELECT "+s.sql.now+", (SELECT changed_at FROM limnomap.revision), (SELECT believed_at FROM limnomap.clock)").
			Scan(&now, &imported, &believed); err != nil {
			return err
		}
		if now > 0 {
			t.Database = time.UnixMicro(int64(now * 1e6)).UTC()
		}
		if imported > 0 {
			t.Imported = time.Unix(imported, 0).UTC()
		}
		if believed > 0 {
			t.Believed = time.Unix(believed, 0).UTC()
		}
		return nil
	})
	return t, err
}

// Latest returns the latest time that may be the present one, if a clock shows now: what is later lies in the future. A clock that is behind what the
// database knows keeps no statement away.
func (s *Store) Latest(ctx context.Context, now time.Time) time.Time {
	known, err := s.Times(ctx)
	if err != nil {
		return now // whoever writes reports it
	}
	return slices.MaxFunc([]time.Time{now, known.Database, known.Imported, known.Believed}, time.Time.Compare)
}

// Believe moves the time up to which clocks are believed to now, but by no more than a day, and returns it, or now if that is earlier. What is deleted for
// its age is as old by the returned time: a wrong clock deletes nothing at once.
func (s *Store) Believe(ctx context.Context, now time.Time) (believed time.Time, err error) {
	err = s.db.update(ctx, "believe the clock", func(q querier) error {
		if _, err := q.exec(ctx, `UPDATE limnomap.clock SET believed_at = CASE WHEN believed_at = 0 OR believed_at + $2 > $1 THEN $1 ELSE believed_at + $2 END
			WHERE believed_at < $1`, now.Unix(), int64(believedAtOnce/time.Second)); err != nil {
			return err
		}
		var at int64
		if err := q.queryRow(ctx, "SELECT believed_at FROM limnomap.clock").Scan(&at); err != nil {
			return err
		}
		believed = time.Unix(min(at, now.Unix()), 0).UTC()
		return nil
	})
	return believed, err
}
