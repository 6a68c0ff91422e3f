package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"limnomap/data"
)

// ErrNoSource says that the database has no source of that name.
var ErrNoSource = errors.New("there is no source of that name")

// A Selection says what [Store.Delete] removes: either a lake with all that is stored of it, or the observations that all of its other
// fields select.
type Selection struct {
	// WholeLake removes the lake Lake, its observations, official statements and forecasts. The other fields must be empty then.
	WholeLake bool
	Lake      data.LakeID // of all lakes, if it is empty
	// Source has a name, which may be empty: of observations without a source.
	Source   data.Optional[string]
	Type     data.Optional[data.DataType]
	From, To data.Optional[data.Date] // the first and the last day
}

// Deleted is how many rows [Store.Delete] removes.
type Deleted struct {
	Lakes, Observations, Advisories int64
	// Forecasts of limnomap, which were made of removed values.
	Forecasts int64
}

var errDryRun = errors.New("a dry run is rolled back")

// Delete removes what is selected, in one transaction, or only counts it. The revision grows if anything was removed. It is
// [data.ErrNoLake] or ErrNoSource if there is no such lake or source. The log of events keeps what was published.
func (s *Store) Delete(ctx context.Context, what Selection, dryRun bool) (d Deleted, err error) {
	err = s.db.update(ctx, "delete", func(q querier) error {
		w := writer{ctx: ctx, q: q}
		if w.exec(s.sql.lockImports); w.err != nil {
			return w.err
		}
		condition, args, err := what.condition(ctx, q)
		if err != nil {
			return err
		}
		// Before the observations, which say what they were made of. A forecast uses the values up to its day.
		measured := fmt.Sprintf("EXISTS (SELECT 1 FROM limnomap.observations AS o WHERE o.lake = f.lake AND o.date <= f.issued AND o.type <> %d AND %s)", data.Forecast, condition)
		if what.WholeLake {
			measured = "f.lake = $1"
		}
		d.Forecasts = w.exec("DELETE FROM limnomap.forecasts AS f WHERE "+measured, args...)
		d.Observations = w.exec("DELETE FROM limnomap.observations AS o WHERE "+condition, args...)
		w.exec(s.sql.forgetSampled)
		if w.exec(forgetPixels) > 0 {
			w.exec(forgetMasks)
		}
		if what.WholeLake {
			d.Advisories = w.exec("DELETE FROM limnomap.advisories WHERE lake = $1", args...)
			d.Lakes = w.exec("DELETE FROM limnomap.lakes WHERE key = $1", args...)
		}
		if what.Source.Known && what.Source.Value != "" {
			w.exec("DELETE FROM limnomap.sources WHERE name = $1 AND NOT EXISTS (SELECT 1 FROM limnomap.observations AS o WHERE o.source = limnomap.sources.key)", what.Source.Value)
		}
		if d != (Deleted{}) {
			w.exec("DELETE FROM limnomap.import_parts") // they may have deleted rows, and the number of a deleted lake
		}
		if d.Forecasts > 0 {
			w.exec(countForecasts)
			w.exec("UPDATE limnomap.forecast_state SET changes = changes + 1")
		}
		switch {
		case w.err != nil:
			return w.err
		case dryRun:
			return callerError{errDryRun}
		}
		t := importTx{of: s, q: q, changed: d != Deleted{}}
		return t.raise(ctx)
	})
	if errors.Is(err, errDryRun) {
		err = nil
	}
	if file, ok := s.db.(*sqlite); ok && err == nil && !dryRun {
		file.overwriteLog(ctx)
	}
	return d, err
}

// countForecasts counts the forecasts of each issue again.
const countForecasts = `UPDATE limnomap.forecast_issues SET
	lakes = (SELECT count(*) FROM limnomap.forecasts AS f WHERE f.issued = forecast_issues.issued AND f.withheld = 0),
	rows = (SELECT count(chl1) + count(chl2) + count(chl3) + count(chl4) FROM limnomap.forecasts AS f WHERE f.issued = forecast_issues.issued AND f.withheld = 0)`

// condition returns which rows o of observations are selected.
func (what *Selection) condition(ctx context.Context, q querier) (condition string, args []any, err error) {
	var terms []string
	add := func(column string, value int64) {
		args = append(args, value)
		terms = append(terms, fmt.Sprintf("o.%s $%d", column, len(args)))
	}
	number := func(query, name string, none error) (int64, error) {
		numbers, err := collect(ctx, q, func(row rowScanner) (n int64, err error) { return n, row.Scan(&n) }, query, validText(name))
		if err == nil && len(numbers) == 0 {
			err = callerError{fmt.Errorf("%w: %.80q", none, name)}
		}
		if err != nil {
			return 0, err
		}
		return numbers[0], nil
	}
	if what.Lake != "" {
		lake, err := number("SELECT key FROM limnomap.lakes WHERE id = $1", string(what.Lake), data.ErrNoLake)
		if err != nil {
			return "", nil, err
		}
		add("lake =", lake)
	}
	if source := what.Source; source.Known {
		var key int64
		if source.Value != "" {
			if key, err = number("SELECT key FROM limnomap.sources WHERE name = $1", source.Value, ErrNoSource); err != nil {
				return "", nil, err
			}
		}
		add("source =", key)
	}
	if what.Type.Known {
		add("type =", int64(what.Type.Value))
	}
	if what.From.Known {
		add("date >=", int64(what.From.Value))
	}
	if what.To.Known {
		add("date <=", int64(what.To.Value))
	}
	if len(terms) == 0 {
		return "", nil, callerError{errors.New("nothing is selected: all observations of all lakes are not deleted at once")}
	}
	return strings.Join(terms, " AND "), args, nil
}
