package api

import (
	"math"
	"slices"
	"time"

	"limnomap/api/record"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/snapshot"
)

// An encoder makes the records of the answers, in the colours of a scale.
type encoder struct {
	scale  *colormap.Map
	colors [colormap.Steps]string // the scale's, as #rrggbb
	noData string
}

func newEncoder(scale *colormap.Map) *encoder {
	e := &encoder{scale: scale, noData: colormap.Hex(colormap.NoData())}
	for i, c := range scale.Table() {
		e.colors[i] = colormap.Hex(c)
	}
	return e
}

// color returns the colour of a value in the tiles and the legend.
func (e *encoder) color(c data.Chlorophyll) string {
	if !c.Valid() {
		return e.noData
	}
	return e.colors[e.scale.Index(c.Float())]
}

// A lakeRecord is the state of Lakes[i] of a view.
type lakeRecord struct {
	*encoder
	view  *snapshot.View
	lake  *data.Lake
	state *snapshot.State
	i     int

	shares *data.PixelShares // nil without pixels
}

func (e *encoder) lake(view *snapshot.View, i int) lakeRecord {
	r := lakeRecord{encoder: e, view: view, lake: &view.Lakes[i], state: &view.States[i], i: i}
	if shares, ok := view.Shares(i); ok {
		r.shares = &shares
	}
	return r
}

var lakeColumns = record.Columns[lakeRecord]{
	record.Word("id", func(r lakeRecord) string { return string(r.lake.ID) }),
	record.Text("name", func(r lakeRecord) string { return r.lake.Name }),
	record.Number("lat", func(r lakeRecord) float64 { return r.lake.Point.Lat() }),
	record.Number("lon", func(r lakeRecord) float64 { return r.lake.Point.Lon() }),
	record.Chlorophyll("chl", func(r lakeRecord) data.Chlorophyll { return r.state.Chlorophyll }),
	record.Level("who_level", func(r lakeRecord) data.Level { return r.state.Level }),
	record.Level("chl_level", func(r lakeRecord) data.Level { return r.view.Profile.Level(r.state.Chlorophyll) }),
	record.Word("level_by", func(r lakeRecord) string {
		return r.view.Profile.Basis(r.state.Level, r.state.Chlorophyll, r.state.CountedCells).String()
	}).OrNull(),
	record.Number("cell_density_cells_ml", func(r lakeRecord) float64 { return densityOf(r.state.CellDensity()) }).OrNull(),
	record.Word("cell_density_by", func(r lakeRecord) string { return r.state.CellOrigin().String() }).OrNull(),
	record.Bool("below_limit", func(r lakeRecord) bool { return r.state.BelowLimit }),
	record.Word("risk", func(r lakeRecord) string { return riskText(r.state.Risk) }).OrNull(),
	record.Word("color", func(r lakeRecord) string { return r.color(r.state.Chlorophyll) }),
	record.Word("trophic", func(r lakeRecord) string { return r.state.Trophic.String() }),
	record.Word("trophic_by", func(r lakeRecord) string {
		if r.state.Trophic == data.TrophicUnknown {
			return ""
		}
		return r.state.TrophicBy.String()
	}).OrNull(),
	record.Time("measured_at", func(r lakeRecord) time.Time {
		if r.state.Risk == data.RiskUnknown {
			return time.Time{}
		}
		return time.Unix(r.state.MeasuredAt(), 0)
	}).OrNull(),
	record.Word("measured_by", func(r lakeRecord) string {
		if r.state.Risk == data.RiskUnknown {
			return ""
		}
		return r.state.MeasuredBy.String()
	}).OrNull(),
	record.Bool("stale", func(r lakeRecord) bool { return r.state.Stale() }),
	record.Integer("age_days", func(r lakeRecord) float64 { return record.Known(r.state.Age(r.view.AsOf)) }).OrNull(),
	record.New("advisory", "object", appendAdvisory).OrNull(),
}

// periodColumns are members of few lakes only.
var periodColumns = record.Columns[lakeRecord]{
	record.Word("period_start", func(r lakeRecord) string { return record.Day(r.state.PeriodStart()) }),
	record.Word("composite", func(r lakeRecord) string { return r.state.Composite().String() }),
}.Optional()

// waterColumn is a member of the lakes that are sites of a water.
var waterColumn = record.Columns[lakeRecord]{record.Word("water_id", func(r lakeRecord) string { return r.lake.WaterID })}.Optional()

// lakeShares are members of the lakes whose pixels are kept.
var lakeShares = append(shareColumns(func(r lakeRecord) *data.PixelShares { return r.shares }),
	record.Integer("n_valid", func(r lakeRecord) float64 {
		if r.shares == nil {
			return math.NaN()
		}
		return float64(r.shares.Valid)
	}),
	record.Integer("n_inside", func(r lakeRecord) float64 {
		if r.shares == nil {
			return math.NaN()
		}
		return float64(r.shares.Inside)
	}),
).Optional()

// The columns of a lake in the status, in its table and in GeoJSON.
var (
	plainMembers   = slices.Concat(lakeColumns, periodColumns, waterColumn) // of a lake without pixels, which most are
	statusMembers  = slices.Concat(plainMembers, lakeShares)
	statusCells    = slices.Concat(lakeColumns.Pick("id,name,lat,lon,chl,who_level,cell_density_cells_ml,risk,color,trophic,measured_at,chl_level,measured_by,stale,age_days,advisory,level_by,cell_density_by,below_limit,trophic_by"), periodColumns, lakeShares.Pick("share_high,p90"))
	lakeProperties = append(lakeColumns.Pick("id,name,chl,who_level,color,stale,age_days,advisory,cell_density_by,below_limit"), waterColumn...)
)

// appendStatus appends the record as an object.
func (r lakeRecord) appendStatus(b []byte) []byte {
	if r.shares == nil {
		return plainMembers.AppendObject(b, record.Member, r)
	}
	return statusMembers.AppendObject(b, record.Member, r)
}

// densityOf returns a cell density, NaN for none.
func densityOf(cells float64) float64 { return record.Known(cells, cells >= 0) }

// riskText returns the name of a risk, empty if it is unknown.
func riskText(r data.Risk) string {
	if r == data.RiskUnknown {
		return ""
	}
	return r.String()
}

// appendAdvisory appends what the status says about an official statement, or null; its kind where no objects are allowed.
func appendAdvisory(b []byte, f record.Format, r lakeRecord) []byte {
	if f != record.Member {
		return f.Text(b, r.view.Advisories.Kind(r.i).String())
	}
	a := r.view.Advisories.Of(r.i)
	if a == nil {
		return b
	}
	return advisoryMembers.AppendObject(b, f, statement{Advisory: a})
}

var advisoryMembers = statementColumns.Pick("id,kind,cause,issuer,valid_until")
