package store

import (
	"database/sql"
	"fmt"
	"time"

	"limnomap/data"
)

// A rowScanner is a row of either driver.
type rowScanner interface{ Scan(...any) error }

// rowIterator is the result of a query of either driver.
type rowIterator interface {
	rowScanner
	Next() bool
	Err() error
}

// A keyedLake is a lake's id and its number in the observations.
type keyedLake struct {
	key int64
	id  data.LakeID
}

const lakeColumns = "key, id, external_id, name, lon, lat, region, area_km2, outline"

// outlineColumn scans bytes into an outline.
type outlineColumn struct{ to *data.Outline }

func (c outlineColumn) Scan(value any) error {
	b, ok := value.([]byte)
	if !ok && value != nil {
		return fmt.Errorf("outline of type %T", value)
	}
	*c.to = data.Outline(b)
	return nil
}

func scanLake(row rowScanner) (key int64, l data.Lake, err error) {
	err = row.Scan(&key, (*string)(&l.ID), &l.ExternalID, &l.Name, &l.Point[0], &l.Point[1], &l.Region, &l.AreaKM2, outlineColumn{&l.Outline})
	return key, l, err
}

// scanLakes passes lakes on in the order of the rows.
func scanLakes(rows rowIterator, pass func(data.Lake) error) ([]keyedLake, error) {
	var keys []keyedLake
	for rows.Next() {
		key, l, err := scanLake(rows)
		if err != nil {
			return nil, err
		}
		keys = append(keys, keyedLake{key, l.ID})
		if err := pass(l); err != nil {
			return nil, err
		}
	}
	return keys, rows.Err()
}

// scanLakeKeys scans rows of a lake's number and id.
func scanLakeKeys(rows rowIterator) ([]keyedLake, error) {
	var keys []keyedLake
	for rows.Next() {
		var l keyedLake
		if err := rows.Scan(&l.key, (*string)(&l.id)); err != nil {
			return nil, err
		}
		keys = append(keys, l)
	}
	return keys, rows.Err()
}

// scanObservations passes observations on in the order of the rows: by lake, in the order of keys, then by date and type.
// Finding the id of a lake in keys is free; reading it from each row would allocate a string for each.
func scanObservations(rows rowIterator, scan func(*observationRow) error, keys []keyedLake, pass func(data.Observation) error) error {
	var last, row observationRow
	at := 0
	for rows.Next() {
		if err := scan(&row); err != nil {
			return err
		}
		for at < len(keys) && keys[at].key != row.lake {
			at++
		}
		if at == len(keys) || row.lake == last.lake && (row.date < last.date || row.date == last.date && row.dataType <= last.dataType) {
			return fmt.Errorf("observation of lake number %d on %s is out of order", row.lake, data.Date(row.date))
		}
		if err := pass(row.observation(keys[at].id)); err != nil {
			return err
		}
		last = row
	}
	return rows.Err()
}

// An observationRow is a row of the table observations.
type observationRow struct {
	lake, date, dataType   int64
	chl, level, measuredAt sql.NullInt64
	density                sql.NullFloat64
}

func (r *observationRow) scan(row rowScanner) error {
	return row.Scan(&r.lake, &r.date, &r.dataType, &r.chl, &r.level, &r.density, &r.measuredAt)
}

func (r *observationRow) observation(id data.LakeID) data.Observation {
	o := data.Observation{
		LakeID:      id,
		Date:        data.Date(r.date),
		Type:        data.DataType(r.dataType),
		Chlorophyll: data.NoChlorophyll,
		Level:       data.NoLevel,
		CellDensity: data.NoCellDensity,
	}
	if r.chl.Valid {
		o.Chlorophyll = data.Chlorophyll(r.chl.Int64)
	}
	if r.level.Valid {
		o.Level = data.Level(r.level.Int64)
	}
	if r.density.Valid {
		o.CellDensity = r.density.Float64
	}
	if r.measuredAt.Valid {
		o.MeasuredAt = time.Unix(r.measuredAt.Int64, 0).UTC()
	}
	return o
}

// scanRevision scans a row of the columns number and changed_at.
func scanRevision(row rowScanner) (data.Revision, error) {
	var number, at int64
	if err := row.Scan(&number, &at); err != nil {
		return data.Revision{}, err
	}
	return data.Revision{Number: number, ChangedAt: time.Unix(at, 0).UTC()}, nil
}

const refreshColumns = "turn, attempted_at, succeeded_at, error, failures, added, changed, unchanged, rejected, held_until"

func scanRefresh(row rowScanner) (r data.Refresh, err error) {
	var attempted, succeeded, held sql.NullInt64
	err = row.Scan(&r.Turn, &attempted, &succeeded, &r.LastError, &r.Failures,
		&r.Rows.Added, &r.Rows.Changed, &r.Rows.Unchanged, &r.Rows.Rejected, &held)
	r.LastAttempt, r.LastSuccess, r.HeldUntil = timeOrZero(attempted), timeOrZero(succeeded), timeOrZero(held)
	return r, err
}

const refreshFileColumns = "key, sha256, etag, last_modified"

func scanRefreshFiles(rows rowIterator) ([]data.RefreshFile, error) {
	var files []data.RefreshFile
	for rows.Next() {
		var f data.RefreshFile
		var sum []byte
		if err := rows.Scan(&f.Key, &sum, &f.ETag, &f.LastModified); err != nil {
			return nil, err
		}
		copy(f.SHA256[:], sum)
		files = append(files, f)
	}
	return files, rows.Err()
}
