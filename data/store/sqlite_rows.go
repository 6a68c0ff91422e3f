package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

// A bulkQuerier runs queries of millions of rows in less time than its query. Until fn returns, it runs nothing else.
type bulkQuerier interface {
	queryBulk(ctx context.Context, fn func(rowIterator) error, query string, args ...any) error
}

// queryBulk passes the result of a query of many rows to fn, which makes no other query.
func queryBulk(ctx context.Context, q querier, fn func(rowIterator) error, query string, args ...any) error {
	if b, ok := q.(bulkQuerier); ok {
		return b.queryBulk(ctx, fn, query, args...)
	}
	return q.query(ctx, fn, query, args...)
}

// queryBulk reads the rows from the driver: to pass each through package sql would take half as long as to read it.
func (q sqliteQuerier) queryBulk(ctx context.Context, fn func(rowIterator) error, query string, args ...any) error {
	if q.conn == nil {
		return q.query(ctx, fn, query, args...)
	}
	values := make([]driver.NamedValue, len(args))
	for i, a := range args {
		values[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return inDriver(q.conn, func(conn driver.QueryerContext) error {
		rows, err := conn.QueryContext(ctx, forSQLite.Replace(query), values)
		if err != nil {
			return err
		}
		return readDriverRows(ctx, rows, fn)
	})
}

// inDriver calls fn with the driver's connection, which nothing else uses meanwhile. Its error never makes the pool drop the connection,
// as the one of a function for Raw might.
func inDriver[T any](conn *sql.Conn, fn func(T) error) (err error) {
	rawErr := conn.Raw(func(c any) error {
		of, ok := c.(T)
		if !ok {
			return fmt.Errorf("the driver's connection %T is no %T", c, of)
		}
		err = fn(of)
		return nil
	})
	return errors.Join(rawErr, err)
}

// readDriverRows passes rows to fn, and closes them.
func readDriverRows(ctx context.Context, rows driver.Rows, fn func(rowIterator) error) error {
	r := &driverRows{ctx: ctx, rows: rows, values: make([]driver.Value, len(rows.Columns()))}
	err := fn(r)
	if err == nil {
		err = r.err
	}
	if closed := rows.Close(); err == nil {
		err = closed
	}
	return err
}

// driverRows are the rows of a query, as the driver has them.
type driverRows struct {
	ctx    context.Context
	rows   driver.Rows
	values []driver.Value
	count  int
	err    error
}

// checkedRows is after how many rows a driverRows looks whether its context has ended.
const checkedRows = 64

func (r *driverRows) Next() bool {
	if r.count++; r.count%checkedRows == 0 {
		r.err = r.ctx.Err()
	}
	if r.err == nil {
		r.err = r.rows.Next(r.values)
	}
	if r.err == nil {
		return true
	}
	if r.err == io.EOF {
		r.err = nil
	}
	return false
}

// Scan is as that of package sql, for the types that are read here.
func (r *driverRows) Scan(to ...any) error {
	if len(to) != len(r.values) {
		return fmt.Errorf("the row has %d columns, want %d", len(r.values), len(to))
	}
	for i, d := range to {
		if err := scanValue(d, r.values[i]); err != nil {
			return fmt.Errorf("column %d, %s: %w", i, r.rows.Columns()[i], err)
		}
	}
	return nil
}

func scanValue(to any, value driver.Value) error {
	ok := false
	switch d := to.(type) {
	case *int64:
		*d, ok = value.(int64)
	case *float64:
		*d, ok = value.(float64)
	case *sql.NullInt64: // a Scanner too, which takes longer
		d.Int64, d.Valid = value.(int64)
		ok = d.Valid || value == nil
	case sql.Scanner:
		return d.Scan(value)
	}
	if !ok {
		return fmt.Errorf("it has the type %T, want that for a %T", value, to)
	}
	return nil
}

func (r *driverRows) scanObservation(o *observationRow) error {
	v := r.values
	if len(v) != observationRowColumns {
		return fmt.Errorf("the row has %d columns, want %d", len(v), observationRowColumns)
	}
	var isLake, isDate, isType, isSource bool
	o.lake, isLake = v[0].(int64)
	o.date, isDate = v[1].(int64)
	o.dataType, isType = v[2].(int64)
	o.source, isSource = v[3].(int64)
	o.chl.Int64, o.chl.Valid = v[4].(int64)
	o.level.Int64, o.level.Valid = v[5].(int64)
	o.density.Float64, o.density.Valid = v[6].(float64)
	o.measuredAt.Int64, o.measuredAt.Valid = v[7].(int64)
	details, hasDetails := v[8].(string)
	o.details = nil
	if hasDetails {
		o.details = append(make([]byte, 0, len(details)), details...) // not nil, also if they are empty
	}
	if isLake && isDate && isType && isSource && (o.chl.Valid || v[4] == nil) && (o.level.Valid || v[5] == nil) &&
		(o.density.Valid || v[6] == nil) && (o.measuredAt.Valid || v[7] == nil) && (hasDetails || v[8] == nil) {
		return nil
	}
	return o.scan(r) // an error, which names the column
}
