package ingest

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"limnomap/data"
	"limnomap/data/store"
)

// The columns of observations, as indices.
const (
	obsLake = iota
	obsDate
	obsChl
	obsType
	obsDensity
	obsLevel
	obsMeasuredAt
)

func observationColumns() []column {
	return []column{
		obsLake:       {name: "lake_id", required: true},
		obsDate:       {name: "date", required: true},
		obsChl:        {name: "chl", required: true},
		obsType:       {name: "data_type", required: true},
		obsDensity:    {name: "cell_density_cells_ml"},
		obsLevel:      {name: "who_level"},
		obsMeasuredAt: {name: "measured_at"},
	}
}

// maxCellDensity is more than fits: a millilitre packed with cells of 5 µm, 65 µm³ each, holds 1.5e10 of them.
const maxCellDensity = 2e10

// How many days ahead of today in UTC an observation may be dated. One mistyped year in a satellite's date would make
// the value of every other lake a stale one, and one in a forecast's would head the lake's history until then.
const (
	maxSatelliteLead = 1   // where the clock is ahead of UTC it is tomorrow already
	maxForecastLead  = 366 // the same week of next year: seasonal outlooks, the longest that are made, reach months
)

// checkLead returns an error if o is dated further ahead of today than one of its type can be, by day or by time.
func checkLead(o data.Observation, today data.Date) error {
	latest := today + maxSatelliteLead
	if o.Type == data.Forecast {
		latest = today + maxForecastLead
	}
	if o.Date > latest {
		return fmt.Errorf("date %s lies in the future: want a day up to %s for %s, as today is %s", o.Date, latest, o.Type, today)
	}
	if data.DateOf(o.Taken()) > latest {
		return fmt.Errorf("measured_at %s lies in the future: want a time up to %s for %s, as today is %s",
			o.Taken().Format(time.RFC3339), latest, o.Type, today)
	}
	return nil
}

// maxTakenDays is how many days a satellite's measured_at may lie from its date, on either side: a weekly composite
// bears any date of its week. Further away, after a mistyped month say, the date would lie about the value's age. A
// forecast is not measured: its time may be that of its making.
const maxTakenDays = 7

func checkTaken(o data.Observation) error {
	if days := data.DateOf(o.Taken()) - o.Date; o.Type == data.Satellite && (days < -maxTakenDays || days > maxTakenDays) {
		return fmt.Errorf("measured_at %s: want a time at most %d days from the date %s",
			o.Taken().Format(time.RFC3339), maxTakenDays, o.Date)
	}
	return nil
}

func parseObservation(r *row, today data.Date) (data.Observation, error) {
	o := data.Observation{Chlorophyll: data.NoChlorophyll, Level: data.NoLevel, CellDensity: data.NoCellDensity}
	var err error
	if o.LakeID, err = r.lakeID(obsLake, "the id of a lake"); err != nil {
		return o, err
	}
	if o.Date, err = r.date(obsDate); err != nil {
		return o, err
	}
	kind, err := r.required(obsType, "satellite or ai_forecast")
	if err != nil {
		return o, err
	}
	if o.Type, err = data.ParseDataType(kind); err != nil {
		return o, err
	}
	if err := parseValues(r, &o); err != nil {
		return o, err
	}
	if o.MeasuredAt, err = r.time(obsMeasuredAt); err != nil {
		return o, err
	}
	if err := o.Check(); err != nil {
		return o, err
	}
	if err := checkLead(o, today); err != nil {
		return o, err
	}
	return o, checkTaken(o)
}

// parseValues reads what was measured. Each of the values may be missing.
func parseValues(r *row, o *data.Observation) error {
	chl, ok, err := r.censorable(obsChl, span{0, data.MaxChlorophyll.Float(), " µg/l, < before it if below a limit, or empty for a gap"})
	if err == nil && ok {
		o.Chlorophyll, err = data.ChlorophyllOf(chl)
	}
	if err != nil {
		return err
	}
	density, ok, err := r.censorable(obsDensity, span{0, maxCellDensity, " cells/ml, < before it if below a limit, or empty"})
	if err != nil {
		return err
	}
	if ok {
		o.CellDensity = density
	}
	levels := span{0, 3, " without decimals, or empty"} // a column with gaps often comes as 2.0
	level, ok, err := r.number(obsLevel, levels)
	if err != nil {
		return err
	}
	if ok && level != math.Trunc(level) {
		s, _ := r.text(obsLevel)
		return r.bad(obsLevel, s, levels.String())
	}
	if ok {
		o.Level = data.Level(level)
	}
	return nil
}

// An observationKey is what one observation is known by in the store.
type observationKey struct {
	lake data.LakeID
	date data.Date
	kind data.DataType
}

func observationKind(opts *Options, ids *idMaker) (kind[data.Observation, observationKey], error) {
	columns, err := opts.apply(observationColumns(), obsLake, obsLake, ids)
	today := opts.today()
	return kind[data.Observation, observationKey]{
		columns: columns,
		parse:   func(r *row) (data.Observation, error) { return parseObservation(r, today) },
		key: func(o data.Observation) observationKey {
			// A copy, because the id is a part of the whole row's text.
			return observationKey{data.LakeID(strings.Clone(string(o.LakeID))), o.Date, o.Type}
		},
		id:   obsLake,
		lake: func(o data.Observation) data.LakeID { return o.LakeID },
		name: func(o data.Observation) string {
			return fmt.Sprintf("this lake, date %s, data_type %s,", o.Date, o.Type)
		},
		put: func(ctx context.Context, tx store.Tx, os []data.Observation, has columnSet) ([]store.Change, error) {
			return tx.PutObservations(ctx, os, store.ObservationColumns{
				Level: has.lacks(obsLevel), CellDensity: has.lacks(obsDensity), MeasuredAt: has.lacks(obsMeasuredAt),
			})
		},
		refusal: observationRefusal,
	}, err
}

func observationRefusal(_ data.Observation, c store.Change) string {
	if c == store.LosesReport {
		return "chl is missing, while the database holds a who_level or cell_density_cells_ml of its own for this day: " +
			"want a value, or these columns too, which may be empty to take them back"
	}
	return "the database does not hold this lake: import the lakes first"
}
