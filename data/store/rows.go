package store

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"limnomap/data"
	"limnomap/data/outline"
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

// The longest values that are read, in bytes. Anyone who may write to the database can store longer ones than an import does: they
// must not reach the memory of a server.
const (
	maxIDBytes   = 256
	maxTextBytes = 1024 // more than any 200 characters
)

// lakeColumns and idColumns have NULL for a value that is too long. Neither database reads such a value to find its length.
var (
	idColumns   = "key, " + atMost("id", maxIDBytes)
	lakeColumns = idColumns + ", " + atMost("external_id", maxTextBytes) + ", " + atMost("name", maxTextBytes) + ", lon, lat, " +
		atMost("region", maxTextBytes) + ", area_km2, " + atMost("outline", outline.MaxBytes) + ", " + atMost("water_id", maxIDBytes)
)

// atMost returns the expression of a column of texts or bytes that is NULL for those of more than that many bytes.
func atMost(column string, bytes int) string {
	return fmt.Sprintf("CASE WHEN octet_length(%s) <= %d THEN %[1]s END", column, bytes)
}

// daysToMonday is a day that is before all dates and a Monday, counted back from 1970: so a division of the days since then is never of a
// negative number, which each database would round up.
const daysToMonday = 719_533

// weekOf returns the expression of the ISO week that holds a date.
func weekOf(date string) string { return fmt.Sprintf("(%s + %d) / 7", date, daysToMonday) }

// mondayOf returns the expression of the first day of that week.
func mondayOf(date string) string { return fmt.Sprintf("%s - (%[1]s + %d) %% 7", date, daysToMonday) }

// A textColumn scans the result of atMost into a text, which may be a data.LakeID or outline.Outline.
type textColumn[T ~string] struct {
	to    *T
	name  string
	bytes int
}

func (c textColumn[T]) Scan(value any) error {
	switch v := value.(type) {
	case string:
		*c.to = T(v)
	case []byte:
		*c.to = T(v)
	case nil:
		return fmt.Errorf("%s is missing, or longer than %d bytes", c.name, c.bytes)
	default:
		return fmt.Errorf("%s has the type %T", c.name, value)
	}
	return nil
}

// A laxText is a textColumn that notes its error, so that one broken row does not end a query: pgx reads no row after an error of Scan.
type laxText[T ~string] struct {
	textColumn[T]
	broken *error
}

func (c laxText[T]) Scan(value any) error {
	if err := c.textColumn.Scan(value); err != nil && *c.broken == nil {
		*c.broken = err
	}
	return nil
}

// A lakeScanner scans the columns of lakeColumns, or those of idColumns, row by row.
type lakeScanner struct {
	key     int64
	lake    data.Lake
	columns []any
}

func newLakeScanner() *lakeScanner {
	s := new(lakeScanner)
	l := &s.lake
	s.columns = []any{&s.key, textColumn[data.LakeID]{&l.ID, "id", maxIDBytes}, textColumn[string]{&l.ExternalID, "external_id", maxTextBytes},
		textColumn[string]{&l.Name, "name", maxTextBytes}, &l.Point[0], &l.Point[1], textColumn[string]{&l.Region, "region", maxTextBytes},
		&l.AreaKM2, textColumn[outline.Outline]{&l.Outline, "outline", outline.MaxBytes}, textColumn[string]{&l.WaterID, "water_id", maxIDBytes}}
	return s
}

// scan reads the columns of lakeColumns.
func (s *lakeScanner) scan(row rowScanner) (key int64, l data.Lake, err error) {
	return s.read(row, len(s.columns))
}

// scanID reads the columns of idColumns.
func (s *lakeScanner) scanID(row rowScanner) (key int64, id data.LakeID, err error) {
	const count = 2
	key, l, err := s.read(row, count)
	return key, l.ID, err
}

func (s *lakeScanner) read(row rowScanner, columns int) (key int64, l data.Lake, err error) {
	s.key, s.lake = 0, data.Lake{}
	if err := row.Scan(s.columns[:columns]...); err != nil {
		return 0, data.Lake{}, fmt.Errorf("lake %.80q, number %d: %w", s.lake.ID, s.key, err)
	}
	return s.key, s.lake, nil
}

func noLake(id data.LakeID) error { return fmt.Errorf("lake %q: %w", id, data.ErrNoLake) }

// scanObservations passes observations on in the order of the rows: by lake, in the order of lakes, then by date and type, and those
// of one date and type by the name of their source, which the database knows as a number.
// Finding the id of a lake in lakes is free; reading it from each row would allocate a string for each.
func scanObservations(rows rowIterator, lakes []keyedLake, sources *knownSources, pass func(data.Observation) error) error {
	var last, row observationRow
	var alike []data.Observation // those of one lake, date and type
	end := func() error {
		slices.SortFunc(alike, func(a, b data.Observation) int { return strings.Compare(a.Source, b.Source) })
		for _, o := range alike {
			if err := pass(o); err != nil {
				return callerError{err}
			}
		}
		alike = alike[:0]
		return nil
	}
	at := 0
	for rows.Next() {
		if err := rows.scanObservation(&row); err != nil {
			return err
		}
		for at < len(lakes) && lakes[at].key != row.lake {
			at++
		}
		order := row.compare(&last)
		if at == len(lakes) || row.lake == last.lake && order <= 0 {
			return fmt.Errorf("observation of lake number %d on %s is out of order", row.lake, data.Date(row.date))
		}
		o, err := row.observation(lakes[at].id, sources)
		if err != nil {
			return err
		}
		if row.lake != last.lake || order > sameSeriesDate {
			if err := end(); err != nil {
				return err
			}
		}
		alike = append(alike, o)
		last = row
	}
	return end()
}

// An observationRow is a row of the table observations.
type observationRow struct {
	lake, date, dataType, source int64
	chl, level, measuredAt       sql.NullInt64
	density                      sql.NullFloat64
	details                      []byte // nil for NULL; of PostgreSQL valid until the next row
}

// observationColumns are those of an observationRow before details, of a table o.
const observationColumns = "o.lake, o.date, o.type, o.source, o.chl, o.level, o.density, o.measured_at, "

// observationRowColumns is how many columns an observationRow has.
const observationRowColumns = 9

func (r *observationRow) scan(row rowScanner) error {
	return row.Scan(&r.lake, &r.date, &r.dataType, &r.source, &r.chl, &r.level, &r.density, &r.measuredAt, &r.details)
}

// sameSeriesDate is the result of compare for a later row of the same date and type, from another source.
const sameSeriesDate = 1

// compare compares the dates, types and sources of two rows of one lake.
func (r *observationRow) compare(other *observationRow) int {
	const later = 2
	if c := cmp.Or(cmp.Compare(r.date, other.date), cmp.Compare(r.dataType, other.dataType)); c != 0 {
		return c * later
	}
	return cmp.Compare(r.source, other.source) * sameSeriesDate
}

// observation returns the row as an observation of that lake. The caller checks everything but what could not be checked later.
func (r *observationRow) observation(id data.LakeID, sources *knownSources) (data.Observation, error) {
	of, err := sources.of(r.source)
	if err != nil {
		return data.Observation{}, fmt.Errorf("lake %.80q, observation on %s: %w", id, data.Date(r.date), err)
	}
	o, err := r.ofSource(id, of.name)
	o.Rank = of.rank
	return o, err
}

// ofSource is like observation, for a row whose source is known. A number that its column cannot have is an error: cut to fewer bits it
// might be a valid one.
func (r *observationRow) ofSource(id data.LakeID, source string) (data.Observation, error) {
	o := data.Observation{
		LakeID:      id,
		Date:        data.Date(r.date),
		Type:        data.DataType(r.dataType),
		Source:      source,
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
	// NULL says that there is no value. A negative number would pass for that, or as a value.
	if r.chl.Valid && r.chl.Int64 < 0 || r.level.Valid && r.level.Int64 < 0 || r.density.Valid && r.density.Float64 < 0 {
		return o, fmt.Errorf("lake %.80q has an observation with a negative number: chl %d, who_level %d, cell_density_cells_ml %v",
			id, r.chl.Int64, r.level.Int64, r.density.Float64)
	}
	if int64(o.Date) != r.date || int64(o.Type) != r.dataType || r.chl.Valid && int64(o.Chlorophyll) != r.chl.Int64 ||
		r.level.Valid && int64(o.Level) != r.level.Int64 {
		return o, fmt.Errorf("lake %.80q has an observation with a number out of range: day %d, type %d, chl %d, level %d",
			id, r.date, r.dataType, r.chl.Int64, r.level.Int64)
	}
	if r.details != nil {
		detailed := o // a variable of its own: one whose address is taken is allocated, and most observations have no details
		if err := readDetails(&detailed, r.details); err != nil {
			return o, fmt.Errorf("lake %.80q, observation on %s: %w", id, o.Date, err)
		}
		return detailed, nil
	}
	return o, nil
}
