package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"

	"limnomap/data"
	"limnomap/data/forecast"
)

const (
	readingPage = 4096 // lakes whose values one statement reads
	// Of a reading, a database sends one number: the days since firstDay, and the value in the lowest bits.
	valueBits = 18
	firstDay  = -1 << 16  // in 1790
	lastDay   = 1<<16 - 1 // in 2149
)

// ReadingSummary returns what is known of the values of [data.LakeReadings] before they are read.
func (s *Store) ReadingSummary(ctx context.Context) (r data.ReadingSummary, err error) {
	err = s.db.snapshot(ctx, "find the newest value", func(ctx context.Context, q querier) (err error) {
		if r.Revision, err = s.revision(ctx, q); err != nil {
			return err
		}
		if err := q.queryRow(ctx, "SELECT count(*) FROM limnomap.lakes").Scan(&r.Lakes); err != nil {
			return err
		}
		var day sql.NullInt64
		if err := q.queryRow(ctx, s.sql.newestReading).Scan(&day); err != nil || !day.Valid {
			return err
		}
		r.Newest = data.Known(data.Date(day.Int64))
		if int64(r.Newest.Value) != day.Int64 {
			return fmt.Errorf("the newest value is of day %d, which is out of range", day.Int64)
		}
		return nil
	})
	return r, err
}

// Readings calls each for each lake with such values on or before a date, in ascending order of id, with these values. They are valid
// during the call. An error from each ends it and is returned.
func (s *Store) Readings(ctx context.Context, last data.Date, each func(*data.LakeReadings) error) (rev data.Revision, err error) {
	err = s.db.snapshot(ctx, "read the values for forecasts", func(ctx context.Context, q querier) (err error) {
		if rev, err = s.revision(ctx, q); err != nil {
			return err
		}
		for after := ""; ; {
			lakes, err := collect(ctx, q, scanReadingLake, readingLakes, after, readingPage)
			if err != nil || len(lakes) == 0 {
				return err
			}
			until := string(lakes[len(lakes)-1].ID)
			err = q.query(ctx, func(rows rowIterator) error { return scanReadings(rows, lakes, each) },
				s.sql.readings, after, until, firstDay, min(int64(last), lastDay))
			if err != nil {
				return err
			}
			after = until
		}
	})
	return rev, err
}

var readingLakes = "SELECT " + idColumns + ", lat, " + atMost("region", maxTextBytes) + " FROM limnomap.lakes WHERE id > $1 ORDER BY id LIMIT $2"

func scanReadingLake(row rowScanner) (l data.LakeReadings, err error) {
	err = row.Scan(&l.Number, textColumn[data.LakeID]{&l.ID, "id", maxIDBytes}, &l.Latitude, textColumn[string]{&l.Region, "region", maxTextBytes})
	return l, err
}

// scanReadings passes on the lakes that have values. A row has the number of a lake and its readings as numbers with commas, which takes two
// thirds of the time of a row for each. Rows are in the order of lakes.
func scanReadings(rows rowIterator, lakes []data.LakeReadings, each func(*data.LakeReadings) error) error {
	var number int64
	var text readingsText
	var readings []data.Reading
	at := 0
	for rows.Next() {
		if err := rows.Scan(&number, &text); err != nil {
			return err
		}
		for at < len(lakes) && lakes[at].Number != number {
			at++
		}
		if at == len(lakes) {
			return fmt.Errorf("values of lake number %d are out of order", number)
		}
		l := &lakes[at]
		var err error
		if readings, err = parseReadings(readings[:0], string(text)); err != nil {
			return fmt.Errorf("lake %.80q: %w", l.ID, err)
		}
		l.Readings = readings
		l.Sort()
		err = each(l)
		l.Readings = nil
		if err != nil {
			return callerError{err}
		}
		at++
	}
	return nil
}

// A readingsText is the readings of a lake. It takes the driver's text as it is, where database/sql would copy a []byte: of 1.4 million lakes
// with two years that is 1.5 GB, and in a server each 128 MB make the garbage collector go through all that is served.
type readingsText string

func (t *readingsText) Scan(value any) error {
	switch v := value.(type) {
	case string:
		*t = readingsText(v)
	case []byte:
		*t = readingsText(v)
	default:
		return fmt.Errorf("readings have the type %T, want text", value)
	}
	return nil
}

// parseReadings appends the readings of a text.
func parseReadings(all []data.Reading, text string) ([]data.Reading, error) {
	const most = (lastDay-firstDay)<<valueBits | int64(data.MaxChlorophyll)
	n := int64(0)
	for i := 0; i <= len(text); i++ {
		if i < len(text) && text[i] != ',' {
			digit := text[i] - '0'
			if n = 10*n + int64(digit); digit > 9 || n > most {
				return nil, fmt.Errorf("one of the values, %.80q: %w", text, data.ErrImplausible)
			}
			continue
		}
		r := data.Reading{Date: data.Date(n>>valueBits + firstDay), Chlorophyll: data.Chlorophyll(n & (1<<valueBits - 1))}
		if r.Chlorophyll > data.MaxChlorophyll {
			return nil, fmt.Errorf("value %v on %s: %w", r.Chlorophyll, r.Date, data.ErrImplausible)
		}
		all = append(all, r)
		n = 0
	}
	return all, nil
}

// forecastColumns are those of a lake's forecast after the lake.
const forecastColumns = "f.based_on, f.withheld, f.chl1, f.sigma1, f.chl2, f.sigma2, f.chl3, f.sigma3, f.chl4, f.sigma4"

// A forecastRow is a row of forecasts.
type forecastRow struct {
	basedOn, reason int64
	numbers         [2 * data.ForecastWeeks]sql.NullInt64
	columns         []any
}

// newForecastRow returns a row whose first columns are for the caller.
func newForecastRow(first ...any) *forecastRow {
	r := new(forecastRow)
	r.columns = append(first, &r.basedOn, &r.reason)
	for i := range r.numbers {
		r.columns = append(r.columns, &r.numbers[i])
	}
	return r
}

// scan scans the caller's columns and forecastColumns. A number that its column cannot have is an error: cut to fewer bits it might be a valid one.
func (r *forecastRow) scan(row rowScanner) (f data.LakeForecast, err error) {
	if err := row.Scan(r.columns...); err != nil {
		return f, err
	}
	f = data.LakeForecast{BasedOn: data.Date(r.basedOn), Withheld: forecast.Reason(r.reason)}
	fits := int64(f.BasedOn) == r.basedOn && int64(f.Withheld) == r.reason
	if f.Withheld == forecast.None && !slices.ContainsFunc(r.numbers[:], func(n sql.NullInt64) bool { return n.Valid }) {
		f.Withheld = forecast.LastValueBetter
	}
	for i := range f.Weeks {
		chl, sigma := r.numbers[2*i], r.numbers[2*i+1]
		f.Weeks[i] = data.StoredForecast{Chl: data.TenThousandths(chl.Int64), Sigma: data.TenThousandths(sigma.Int64)}
		fits = fits && int64(f.Weeks[i].Chl) == chl.Int64 && int64(f.Weeks[i].Sigma) == sigma.Int64
	}
	if err = f.Check(); err == nil && !fits {
		err = errors.New("a number is out of range")
	}
	return f, err
}

const issueColumns = "issued, substr(model, 1, 100), weeks, input, lakes, rows, few_values, old_value, out_of_season, last_value_better"

func scanIssue(row rowScanner) (f data.ForecastIssue, err error) {
	var issued, weeks int64
	var lastValue sql.NullInt64
	w := &f.Counts.Withheld
	err = row.Scan(&issued, &f.Model, &weeks, &f.Input, &f.Counts.Lakes, &f.Counts.Rows, &w[forecast.FewValues], &w[forecast.OldValue], &w[forecast.OutOfSeason], &lastValue)
	if w[forecast.LastValueBetter] = lastValue.Int64; !lastValue.Valid {
		f.Input = -1 // it is made again
	}
	f.Issued, f.Weeks = data.Date(issued), int(weeks)
	if err == nil && (int64(f.Issued) != issued || weeks < 1 || weeks > data.ForecastWeeks) {
		err = fmt.Errorf("issue of day %d for %d weeks: want 1 to %d", issued, weeks, data.ForecastWeeks)
	}
	return f, err
}

// maxIssues bounds the issues that are listed: one of each day of ten years.
const maxIssues = 3660

// ForecastIssues returns all issues, the newest first.
func (s *Store) ForecastIssues(ctx context.Context) ([]data.ForecastIssue, error) {
	return list(ctx, s, "read the issues of the forecast", scanIssue,
		fmt.Sprintf("SELECT %s FROM limnomap.forecast_issues ORDER BY issued DESC LIMIT %d", issueColumns, maxIssues))
}

// issueOf returns the issue of a day, the newest if the day is absent.
func issueOf(ctx context.Context, q querier, issued data.Optional[data.Date]) (data.ForecastIssue, error) {
	where, args := "", []any(nil)
	if issued.Known {
		where, args = "WHERE issued = $1", []any{int64(issued.Value)}
	}
	f, err := scanIssue(q.queryRow(ctx, fmt.Sprintf("SELECT %s FROM limnomap.forecast_issues %s ORDER BY issued DESC LIMIT 1", issueColumns, where), args...))
	if errors.Is(err, sql.ErrNoRows) {
		err = callerError{data.ErrNoForecast}
	}
	return f, err
}

func (s *Store) Forecasts(ctx context.Context, issued data.Optional[data.Date], each func(data.LakeForecast) error) (issue data.ForecastIssue, rev data.Revision, err error) {
	err = s.db.snapshot(ctx, "read forecasts", func(ctx context.Context, q querier) (err error) {
		if rev, err = s.revision(ctx, q); err != nil {
			return err
		}
		if issue, err = issueOf(ctx, q, issued); err != nil {
			return err
		}
		var id data.LakeID
		stored := newForecastRow(textColumn[data.LakeID]{&id, "id", maxIDBytes})
		return queryBulk(ctx, q, eachRow(func(row rowScanner) error {
			f, err := stored.scan(row)
			if err != nil {
				return fmt.Errorf("forecast of lake %.80q: %w", id, err)
			}
			f.LakeID = id
			return asCallerError(each(f))
		}), s.sql.forecasts, int64(issue.Issued))
	})
	return issue, rev, err
}

func (s *Store) LakeForecast(ctx context.Context, id data.LakeID, issued data.Date) (issue data.ForecastIssue, f data.LakeForecast, err error) {
	err = s.db.snapshot(ctx, "read a lake's forecast", func(ctx context.Context, q querier) (err error) {
		if issue, err = issueOf(ctx, q, data.Known(issued)); err != nil {
			return err
		}
		f, err = newForecastRow().scan(q.queryRow(ctx, "SELECT "+forecastColumns+" FROM limnomap.lakes AS l JOIN limnomap.forecasts AS f ON f.lake = l.key WHERE l.id = $1 AND f.issued = $2", string(id), int64(issued)))
		f.LakeID = id
		if errors.Is(err, sql.ErrNoRows) {
			err = callerError{data.ErrNoForecast}
		}
		return err
	})
	return issue, f, err
}

// NumberedForecasts calls each for each lake of the issue of a day, in no order; [data.ErrNoForecast] if there is no such issue.
func (s *Store) NumberedForecasts(ctx context.Context, issued data.Date, each func(data.NumberedForecast)) (issue data.ForecastIssue, err error) {
	err = s.db.snapshot(ctx, "read forecasts by number", func(ctx context.Context, q querier) (err error) {
		if issue, err = issueOf(ctx, q, data.Known(issued)); err != nil {
			return err
		}
		var n data.NumberedForecast
		stored := newForecastRow(&n.Number, &n.Input)
		return queryBulk(ctx, q, eachRow(func(row rowScanner) (err error) {
			if n.LakeForecast, err = stored.scan(row); err != nil {
				return fmt.Errorf("lake number %d: %w", n.Number, err)
			}
			each(n)
			return nil
		}), "SELECT f.lake, f.input, "+forecastColumns+" FROM limnomap.forecasts AS f WHERE f.issued = $1", int64(issued))
	})
	return issue, err
}

const putIssueSQL = `INSERT INTO limnomap.forecast_issues (issued, model, weeks, input, lakes, rows, few_values, old_value, out_of_season, last_value_better)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
	ON CONFLICT (issued) DO UPDATE SET model = excluded.model, weeks = excluded.weeks, input = excluded.input, lakes = excluded.lakes,
		rows = excluded.rows, few_values = excluded.few_values, old_value = excluded.old_value, out_of_season = excluded.out_of_season,
		last_value_better = excluded.last_value_better`

// PutForecasts stores an issue with the forecasts of lakes. Of a stored issue of the same day it keeps the other lakes, but those
// whose numbers are gone. It removes all issues of days before a date. It does this in one transaction, and reports whether anything is
// different then.
func (s *Store) PutForecasts(ctx context.Context, issue data.ForecastIssue, forecasts iter.Seq[data.NumberedForecast], gone []int64, before data.Date) (changed bool, err error) {
	err = s.db.update(ctx, "store forecasts", func(q querier) error {
		w := writer{ctx: ctx, q: q}
		if w.exec(s.sql.lockImports); w.err != nil { // of two processes that forecast, the second waits
			return w.err
		}
		rows := func(yield func([]any, error) bool) {
			var row []any
			for f := range forecasts {
				if row = forecastValues(row[:0], issue.Issued, &f); !yield(row, nil) {
					return
				}
			}
		}
		written, err := q.insert(ctx, "forecasts", forecastNames, rows, replaceForecast)
		if err != nil {
			return err
		}
		for _, number := range gone {
			written += w.exec("DELETE FROM limnomap.forecasts WHERE issued = $1 AND lake = $2", int64(issue.Issued), number)
		}
		withheld := &issue.Counts.Withheld
		w.exec(putIssueSQL, int64(issue.Issued), validText(issue.Model), issue.Weeks, issue.Input, issue.Counts.Lakes, issue.Counts.Rows,
			withheld[forecast.FewValues], withheld[forecast.OldValue], withheld[forecast.OutOfSeason], withheld[forecast.LastValueBetter])
		for _, table := range []string{"forecasts", "forecast_issues"} {
			written += w.exec("DELETE FROM limnomap."+table+" WHERE issued < $1", int64(before))
		}
		if changed = written > 0; changed {
			w.exec("UPDATE limnomap.forecast_state SET changes = changes + 1")
			w.exec(s.sql.notify)
		}
		return w.err
	})
	return changed && err == nil, err
}

// forecastNames are the columns of a lake's forecast, in the order of forecastValues.
const forecastNames = "issued, lake, based_on, input, withheld, chl1, sigma1, chl2, sigma2, chl3, sigma3, chl4, sigma4"

// forecastValues appends the values of a row.
func forecastValues(row []any, issued data.Date, f *data.NumberedForecast) []any {
	reason := f.Withheld
	if reason == forecast.LastValueBetter {
		reason = forecast.None // the column has the reasons of the first version; see scan
	}
	row = append(row, int64(issued), f.Number, int64(f.BasedOn), f.Input, int64(reason))
	for _, w := range f.Weeks {
		if w.Known() {
			row = append(row, int64(w.Chl), int64(w.Sigma))
		} else {
			row = append(row, nil, nil)
		}
	}
	return row
}

// replaceForecast replaces a stored row that is different.
const replaceForecast = ` ON CONFLICT (issued, lake) DO UPDATE SET based_on = excluded.based_on, input = excluded.input, withheld = excluded.withheld,
		chl1 = excluded.chl1, sigma1 = excluded.sigma1, chl2 = excluded.chl2, sigma2 = excluded.sigma2,
		chl3 = excluded.chl3, sigma3 = excluded.sigma3, chl4 = excluded.chl4, sigma4 = excluded.sigma4
	WHERE (r.based_on, r.input, r.withheld, r.chl1, r.sigma1, r.chl2, r.sigma2, r.chl3, r.sigma3, r.chl4, r.sigma4) IS DISTINCT FROM
		(excluded.based_on, excluded.input, excluded.withheld, excluded.chl1, excluded.sigma1, excluded.chl2, excluded.sigma2,
		excluded.chl3, excluded.sigma3, excluded.chl4, excluded.sigma4)`

func (s *Store) ForecastTest(ctx context.Context) (test data.ForecastTest, err error) {
	err = s.db.snapshot(ctx, "read the test of the forecasts", func(ctx context.Context, q querier) error {
		var day sql.NullInt64
		if err := q.queryRow(ctx, "SELECT substr(model, 1, 100), date, substr(fault, 1, 1000) FROM limnomap.forecast_state").Scan(&test.Model, &day, &test.Fault); err != nil {
			return err
		}
		if day.Valid {
			test.Date = data.Known(data.Date(day.Int64))
		}
		return q.query(ctx, func(rows rowIterator) (err error) {
			test.Skill, err = scanSkill(rows)
			return err
		}, skillQuery)
	})
	return test, err
}

// maxRegions bounds the regions whose skill is read.
const maxRegions = 10_000

var skillQuery = fmt.Sprintf(`SELECT region IS NULL, CASE WHEN region IS NULL THEN '' ELSE %s END, week, lakes, pairs, rmse, persistence, coverage
	FROM limnomap.forecast_skill ORDER BY region IS NOT NULL, region, week LIMIT %d`, atMost("region", maxTextBytes), maxRegions*data.ForecastWeeks)

func scanSkill(rows rowIterator) (all []data.ForecastSkill, err error) {
	for rows.Next() {
		var s data.ForecastSkill
		var week int64
		var w data.WeekSkill
		if err := rows.Scan(&s.All, textColumn[string]{&s.Region, "region", maxTextBytes}, &week, &w.Lakes, &w.Pairs, &w.RMSE, &w.Persistence, &w.Coverage); err != nil {
			return nil, err
		}
		if week < 1 || week > data.ForecastWeeks {
			return nil, fmt.Errorf("skill of week %d: want 1 to %d", week, data.ForecastWeeks)
		}
		if n := len(all); n == 0 || all[n-1].All != s.All || all[n-1].Region != s.Region {
			all = append(all, s)
		}
		all[len(all)-1].Weeks[week-1] = w
	}
	return all, nil
}

// PutForecastTest replaces the test of the forecasts.
func (s *Store) PutForecastTest(ctx context.Context, test data.ForecastTest) error {
	return s.db.update(ctx, "store the test of the forecasts", func(q querier) error {
		day := sql.NullInt64{Int64: int64(test.Date.Value), Valid: test.Date.Known}
		w := writer{ctx: ctx, q: q}
		w.exec("UPDATE limnomap.forecast_state SET changes = changes + 1, model = $1, date = $2, fault = $3", validText(test.Model), day, begin(test.Fault, maxRasterText))
		w.exec("DELETE FROM limnomap.forecast_skill")
		for _, skill := range test.Skill {
			region := sql.NullString{String: skill.Region, Valid: !skill.All}
			for i, week := range skill.Weeks {
				if week.Pairs > 0 {
					w.exec(`INSERT INTO limnomap.forecast_skill (region, week, lakes, pairs, rmse, persistence, coverage)
						VALUES ($1, $2, $3, $4, $5, $6, $7)`, region, i+1, week.Lakes, week.Pairs, week.RMSE, week.Persistence, week.Coverage)
				}
			}
		}
		w.exec(s.sql.notify)
		return w.err
	})
}
