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

// The indices of the columns of observations.
const (
	obsLake = iota
	obsDate
	obsChl
	obsType
	obsDensity
	obsLevel
	obsMeasuredAt
	obsLower
	obsUpper
	obsUncertainty
	obsBelowLimit
	obsValidPixels
	obsTotalPixels
	obsQuality
	obsFlags
	obsSource
	obsMethod
	obsSecchi
	obsTemperature
	obsVersion
	obsLevelBy
	obsP10
	obsP90
	obsShareLow
	obsShareMedium
	obsShareHigh
	obsPixelM
	obsPeriodStart
	obsComposite
	obsTurbidity
	obsScumPercent

	// Those that say what the value of a row is. They are not stored.
	obsParameter
	obsUnit
	obsSign
	obsDepth
	obsDepthUnit
	obsLayer
)

func observationColumns() []column {
	uncertain := span{0, data.MaxChlorophyll.Float(), " µg/l, or empty"}
	pixels := span{0, data.MaxPixels, " without decimals, or empty"}
	columns := []column{
		obsLake:       {name: "lake_id", required: true},
		obsDate:       {name: "date", required: true},
		obsChl:        {name: "chl", required: true, of: chlorophyllUnits, bases: []string{"chl", "chla", "chlorophyll", "chlorophylla"}, in: span{0, data.MaxChlorophyll.Float(), " µg/l, < before it if below a limit, or empty for a gap"}},
		obsType:       {name: "data_type", required: true},
		obsDensity:    {name: "cell_density_cells_ml", of: cellUnits, bases: []string{"celldensity"}, in: span{0, maxCellDensity, " cells/ml, < before it if below a limit, or empty"}},
		obsLevel:      {name: "who_level", in: span{0, 3, " without decimals, or empty"}}, // columns with gaps are often exported as 2.0,
		obsMeasuredAt: {name: "measured_at"},

		obsLower:       {name: "chl_lower", in: uncertain, of: chlorophyllUnits, bases: []string{"chllower"}},
		obsUpper:       {name: "chl_upper", in: uncertain, of: chlorophyllUnits, bases: []string{"chlupper"}},
		obsUncertainty: {name: "uncertainty", in: uncertain, of: chlorophyllUnits, bases: []string{"uncertainty"}},
		obsBelowLimit:  {name: "below_limit"},
		obsValidPixels: {name: "n_valid", in: pixels},
		obsTotalPixels: {name: "n_total", aliases: []string{"n_inside"}, in: pixels},
		obsQuality:     {name: "quality"},
		obsFlags:       {name: "flags"},
		obsSource:      {name: "source"},
		obsMethod:      {name: "method"},
		obsSecchi:      {name: "secchi_m", of: lengthUnits, bases: []string{"secchi", "secchidepth"}, in: span{0, data.MaxSecchi.Float(), " m, or empty"}},
		obsTemperature: {name: "water_temperature_c", of: temperatureUnits, bases: []string{"watertemperature"}, in: span{data.MinWaterTemperature.Float(), data.MaxWaterTemperature.Float(), " °C, or empty"}},

		obsVersion: {name: "version"},
		obsLevelBy: {name: "level_by"},

		// An observation has no percentiles and shares. They are in the files that are made of rasters, and in tables of a history.
		obsP10:         {name: "p10", unread: true},
		obsP90:         {name: "p90", unread: true},
		obsShareLow:    {name: "share_low", unread: true},
		obsShareMedium: {name: "share_medium", unread: true},
		obsShareHigh:   {name: "share_high", unread: true},
		obsPixelM:      {name: "pixel_m", unread: true},

		obsPeriodStart: {name: "period_start"},
		obsComposite:   {name: "composite"},
		obsTurbidity:   {name: "turbidity_ntu", in: span{0, data.MaxTurbidity.Float(), " NTU, or empty"}},
		obsScumPercent: {name: "scum_percent", in: span{0, data.MaxPercent.Float(), " % of the pixels, or empty"}},
		obsParameter:   {name: parameterColumn, aliases: parameterColumns},
		obsUnit:        {name: "unit", aliases: unitColumns},
		obsSign:        {name: "sign", aliases: signColumns},
		obsDepth:       {name: "depth", aliases: depthColumns, in: span{-999, 999, " m"}, of: lengthUnits, bases: depthBases},
		obsDepthUnit:   {name: "depth_unit", aliases: depthUnitColumns},
		obsLayer:       {name: "layer", aliases: layerColumns},
	}
	// Those that a server derives, and those of its own forecasts, in a history that it answered.
	for _, name := range []string{"cell_density_by", "lower", "upper", "probability_low", "probability_medium", "probability_high", "model", "issued_at", "based_on"} {
		columns = append(columns, column{name: name, unread: true})
	}
	return columns
}

// maxCellDensity is above all possible values: a millilitre full of cells of 5 µm, 65 µm³ each, has 1.5e10 of them.
const maxCellDensity = 2e10

// How many days after today in UTC an observation may be dated. A wrong year in one satellite date would make the values
// of all other lakes stale, and a wrong year in a forecast would put it at the head of the lake's history until then.
const (
	maxSatelliteLead = 1   // in time zones ahead of UTC it may be tomorrow
	maxForecastLead  = 366 // the same week of next year: the longest forecasts are seasonal, for some months
)

// checkLead returns an error if the date or time of o is too far in the future for its type.
func checkLead(o *data.Observation, today data.Date) error {
	latest := today + maxSatelliteLead
	if o.Type == data.Forecast {
		latest = today + maxForecastLead
	}
	if o.Date > latest {
		return fmt.Errorf("date %s is in the future: want a day up to %s for %s (today is %s)", o.Date, latest, o.Type, today)
	}
	if data.DateOf(o.Taken()) > latest {
		return fmt.Errorf("measured_at %s is in the future: want a time up to %s for %s (today is %s)",
			o.Taken().Format(time.RFC3339), latest, o.Type, today)
	}
	return nil
}

// maxTakenDays is the largest difference in days between the measured_at of a measurement and its date: a weekly composite may have
// any date of its week. A larger difference is an error, such as a wrong month. A forecast is not measured: its time
// may be when it was made.
const maxTakenDays = 7

func checkTaken(o *data.Observation) error {
	if days := data.DateOf(o.Taken()) - o.Date; o.Type.Measured() && (days < -maxTakenDays || days > maxTakenDays) {
		return fmt.Errorf("measured_at %s: want a time at most %d days from the date %s",
			o.Taken().Format(time.RFC3339), maxTakenDays, o.Date)
	}
	return nil
}

// rowColumns are the columns that say what the value of a row is.
const rowColumns = columnSet(1<<obsParameter | 1<<obsUnit | 1<<obsDepth | 1<<obsLayer)

func (k *observationKind) parse(r *row) (data.Observation, error) {
	unit := ""
	if !r.has.lacks(obsParameter) {
		unit = r.checkParameter()
	}
	o := data.Observation{LakeID: r.lakeID(obsLake, "the id of a lake"), Date: r.date(obsDate), Chlorophyll: data.NoChlorophyll, Level: data.NoLevel, CellDensity: data.NoCellDensity}
	var err error
	o.Type, err = data.ParseDataType(r.required(obsType, "satellite, in_situ or ai_forecast"))
	r.fail(err)
	if r.has&rowColumns != 0 {
		if o.Type == data.InSitu {
			r.checkSurface()
		}
		r.setUnits(unit)
	}
	parseValues(r, &o)
	o.MeasuredAt = r.time(obsMeasuredAt)
	parseDetails(r, &o)
	if r.err == nil {
		r.err = checkObservation(&o, k.today)
	}
	return o, r.err
}

// checkObservation returns an error if o cannot be stored.
func checkObservation(o *data.Observation, today data.Date) error {
	if err := o.CheckImport(); err != nil {
		return err
	}
	if err := checkLead(o, today); err != nil {
		return err
	}
	return checkTaken(o)
}

// parseValues reads the measured values. Each of them may be missing.
func parseValues(r *row, o *data.Observation) {
	before := r.censored
	chl, ok := r.censorable(obsChl, r.columns[obsChl].in)
	if !r.has.lacks(obsSign) {
		parseSign(r, &chl, ok, o)
	}
	if ok {
		var err error
		o.Chlorophyll, err = data.ChlorophyllOf(chl)
		r.fail(err)
		if r.censored > before {
			limit, err := data.ChlorophyllOf(2 * chl) // censorable returns half of it
			r.fail(err)
			o.Details.BelowLimit, o.Details.Upper = true, data.Known(max(limit, o.Chlorophyll))
		}
	}
	if density, ok := r.censorable(obsDensity, r.columns[obsDensity].in); ok {
		o.CellDensity = density
	}
	levels := r.columns[obsLevel].in
	if level, ok := r.number(obsLevel, levels); ok && level != math.Trunc(level) {
		r.bad(obsLevel, r.text(obsLevel), levels.String())
	} else if ok {
		o.Level = data.Level(level)
	}
	removeDerived(r, o)
}

// scumLevel is never derived.
const scumLevel = 3

// removeDerived removes from o the level and the cell density that are not of its source, if the file has the column level_by, which says
// what a level is based on: a history that a server answered has a level and a density with each value. A density that follows from the
// chlorophyll is a count only if the level is based on it. What is removed may still be of the source: so the row counts as one without
// that column, and does not take back what is stored.
func removeDerived(r *row, o *data.Observation) {
	r.derived = 0
	if r.has.lacks(obsLevelBy) {
		return
	}
	basis, err := data.ParseLevelBasis(strings.ToLower(r.text(obsLevelBy)))
	if r.fail(err) != nil || !o.Chlorophyll.Valid() { // nothing follows from a gap
		return
	}
	if basis != data.ByReport && o.Level != scumLevel {
		o.Level, r.derived = data.NoLevel, r.derived.with(obsLevel)
	}
	if basis != data.ByCells && o.CellDensity == data.DerivedCellDensity(o.Chlorophyll) {
		o.CellDensity, r.derived = data.NoCellDensity, r.derived.with(obsDensity)
	}
}

// An observationKind are observations.
type observationKind struct {
	*layout
	portal *layout // of results of the Water Quality Portal
	today  data.Date
}

func newObservationKind(opts *Options, ids *idMaker) (kind[data.Observation], error) {
	l, err := opts.layout(observationColumns(), obsLake, obsLake, ids)
	if err != nil {
		return nil, err
	}
	portal, err := portalLayout(opts, ids)
	return &observationKind{l, portal, opts.today()}, err
}

// key has the parts of one length first. An id has no NUL.
func (*observationKind) key(o data.Observation) string {
	head := [...]byte{byte(o.Type), byte(o.Date), byte(o.Date >> 8), byte(o.Date >> 16), byte(o.Date >> 24)}
	return string(head[:]) + string(o.LakeID) + "\x00" + o.Source
}

func (*observationKind) lake(o data.Observation) data.LakeID { return o.LakeID }

func (*observationKind) name(o data.Observation) string {
	if o.Source == "" {
		return fmt.Sprintf("this lake, date %s, data_type %s,", o.Date, o.Type)
	}
	return fmt.Sprintf("this lake, date %s, data_type %s, source %.80q,", o.Date, o.Type, o.Source)
}

func (*observationKind) put(ctx context.Context, tx Tx, os []data.Observation, has columnSet) ([]store.Change, error) {
	return tx.PutObservations(ctx, os, store.ObservationColumns{
		Chlorophyll: has.lacks(obsChl), Level: has.lacks(obsLevel), CellDensity: has.lacks(obsDensity), MeasuredAt: has.lacks(obsMeasuredAt),
		Pixels: has.lacks(obsValidPixels) && has.lacks(obsTotalPixels), Quality: has.lacks(obsQuality),
		Flags: has.lacks(obsFlags), Method: has.lacks(obsMethod), Version: has.lacks(obsVersion), Secchi: has.lacks(obsSecchi), WaterTemperature: has.lacks(obsTemperature),
		Period: has.lacks(obsPeriodStart), Composite: has.lacks(obsComposite), Turbidity: has.lacks(obsTurbidity), ScumPercent: has.lacks(obsScumPercent),
	})
}

func (*observationKind) refusal(_ data.Observation, c store.Change) string {
	switch c {
	case store.LosesReport:
		return "chl is missing or poor, while the database holds a who_level, a cell_density_cells_ml or the flag scum for this day: " +
			"want a value that is not poor, or these columns too, which may be empty to take them back"
	case store.ManySources:
		return fmt.Sprintf("source is one more than the %d that a database may have: want fewer different names", store.MaxSources)
	}
	return unknownLake
}

// unknownLake is why a row about a lake is rejected that is not stored.
const unknownLake = "the database does not hold this lake: import the lakes first"
