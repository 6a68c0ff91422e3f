package store

import (
	"context"
	"database/sql"

	"limnomap/data"
)

// An importTx is the part of the transaction of an import that both databases share.
type importTx struct {
	of   *Store
	q    querier
	wrap func(err error, doing string) error
	// lakeKey returns the number of a lake, or false if it is not stored.
	lakeKey func(context.Context, data.LakeID) (int64, bool, error)

	imported   *importedKeys
	sources    sourceNumbers
	advisories advisoryImport
	record     recorder
	repeated   []int // rows of the last batch
	changed    bool  // whether anything but official statements has
	stated     bool  // whether they have
	err        error // the first error of a statement: then nothing is committed
}

// fail returns err wrapped, and keeps the first error that is a failure of the database.
func (t *importTx) fail(ctx context.Context, err error, doing string) error {
	if err == nil {
		return nil
	}
	if err, ok := forCaller(err); ok {
		return err
	}
	if ctx.Err() != nil {
		err = ctx.Err() // the driver's error would only say that the transaction has ended
	}
	err = t.wrap(err, doing)
	if t.err == nil {
		t.err = err
	}
	return err
}

// raise raises the revision if anything has changed, and notifies listeners when the import is committed.
func (t *importTx) raise(ctx context.Context) error {
	if !t.changed && !t.stated {
		return nil
	}
	if err := t.record.finish(ctx, t.q, t.of.now()); err != nil {
		return err
	}
	w, only := writer{ctx: ctx, q: t.q}, "others_at = $1"
	if !t.changed {
		only = "statements = statements + 1"
	}
	w.exec("UPDATE limnomap.revision SET number = number + 1, changed_at = $1, "+only, t.of.now().Unix())
	w.exec(t.of.sql.notify)
	return w.err
}

// counted counts the results of a batch, and returns its error as fail does.
func (t *importTx) counted(ctx context.Context, changes []Change, err error, doing string) error {
	if err == nil {
		t.record.count(changes)
		err = t.record.flush(ctx, t.q, false)
	}
	return t.fail(ctx, err, doing)
}

func (t *importTx) PutRaster(ctx context.Context, holder string, record data.RasterRecord) error {
	return t.fail(ctx, putRaster(ctx, t.q, holder, record), "store a satellite file")
}

func (t *importTx) EndRefresh(ctx context.Context, holder string, result data.RefreshResult) error {
	return t.fail(ctx, endRefresh(ctx, t.q, t.of.now(), holder, result), "end a refresh")
}

func (t *importTx) Repeated() []int { return t.repeated }

func (t *importTx) PreferSources(ctx context.Context, order data.SourceOrder) error {
	if err := order.Check(); err != nil {
		return err
	}
	changed, err := preferSources(ctx, t.q, order)
	t.changed = t.changed || changed
	return t.fail(ctx, err, "write the preferred sources")
}

func (t *importTx) Advisories(ctx context.Context) ([]data.Advisory, error) {
	all, err := readAdvisories(ctx, t.q)
	return all, t.fail(ctx, err, "read official statements")
}

func (t *importTx) PutAdvisories(ctx context.Context, statements []data.Advisory, keep AdvisoryColumns) ([]Change, error) {
	changes, changed, err := t.advisories.put(ctx, t.q, t.lakeKey, &t.record, statements, keep)
	t.stated, t.repeated = t.stated || changed, append(t.repeated[:0], t.advisories.repeated...)
	if beyondBounds(err) {
		t.err = err
		return nil, err
	}
	return changes, t.counted(ctx, changes, err, "write official statements")
}

const newestValueSQL = `SELECT o.date, o.chl, o.level, o.density FROM limnomap.observations AS o WHERE o.lake = $1 AND o.type <> 1 AND o.chl IS NOT NULL
	ORDER BY o.date DESC, o.type DESC, o.source DESC LIMIT 1`

func (t *importTx) NewestValue(ctx context.Context, id data.LakeID) (newest data.Optional[data.Observation], err error) {
	lake, known, err := t.lakeKey(ctx, id)
	if err != nil || !known {
		return newest, t.fail(ctx, err, "read the newest value of a lake")
	}
	_, err = collect(ctx, t.q, func(row rowScanner) (struct{}, error) {
		var date, chl int64
		var level sql.NullInt64
		var density sql.NullFloat64
		err := row.Scan(&date, &chl, &level, &density)
		o := data.Observation{Date: data.Date(date), Chlorophyll: data.Chlorophyll(chl), Level: data.NoLevel, CellDensity: data.NoCellDensity}
		if level.Valid {
			o.Level = data.Level(level.Int64)
		}
		if density.Valid {
			o.CellDensity = density.Float64
		}
		newest = data.Known(o)
		return struct{}{}, err
	}, newestValueSQL, lake)
	return newest, t.fail(ctx, err, "read the newest value of a lake")
}

func (t *importTx) LakesWithValues(ctx context.Context) (n int64, err error) {
	err = t.q.queryRow(ctx, `SELECT count(*) FROM limnomap.lakes AS l
		WHERE EXISTS (SELECT 1 FROM limnomap.observations AS o WHERE o.lake = l.key AND o.type <> 1 AND o.chl IS NOT NULL)`).Scan(&n)
	return n, t.fail(ctx, err, "count the lakes with values")
}
