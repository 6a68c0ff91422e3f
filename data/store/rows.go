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
	scanObservation(*observationRow) error
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

func noLake(id data.LakeID) error { return fmt.Errorf("lake %q: %w", id, data.ErrNoLake) }

// scanObservations passes observations on in the order of the rows: by lake, in the order of lakes, then by date and type.
// Finding the id of a lake in lakes is free; reading it from each row would allocate a string for each.
func scanObservations(rows rowIterator, lakes []keyedLake, pass func(data.Observation) error) error {
	var last, row observationRow
	at := 0
	for rows.Next() {
		if err := rows.scanObservation(&row); err != nil {
			return err
		}
		for at < len(lakes) && lakes[at].key != row.lake {
			at++
		}
		if at == len(lakes) || row.lake == last.lake && (row.date < last.date || row.date == last.date && row.dataType <= last.dataType) {
			return fmt.Errorf("observation of lake number %d on %s is out of order", row.lake, data.Date(row.date))
		}
		if err := pass(row.observation(lakes[at].id)); err != nil {
			return callerError{err}
		}
		last = row
	}
	return nil
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
