package api

import (
	"encoding/json"
	"strconv"
	"time"

	"limnomap/colormap"
	"limnomap/data"
)

// An encoder writes the records of the answers. It is written by hand: an answer has thousands of records, and encoding/json
// would look up by reflection what this code says. A filtered status takes a third of the time (BenchmarkMarshal).
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

// status appends the lake status record of Lakes[i] of a view.
func (e *encoder) status(b []byte, view *data.View, i int) []byte {
	lake, state := &view.Lakes[i], &view.States[i]
	b = append(b, `{"id":`...)
	b = appendString(b, string(lake.ID))
	b = append(b, `,"name":`...)
	b = appendString(b, lake.Name)
	b = append(b, `,"lat":`...)
	b = appendFloat(b, lake.Point.Lat())
	b = append(b, `,"lon":`...)
	b = appendFloat(b, lake.Point.Lon())
	b = append(b, `,"chl":`...)
	b = appendChlorophyll(b, state.Chlorophyll)
	b = append(b, `,"who_level":`...)
	b = appendLevel(b, state.Level)
	b = append(b, `,"chl_level":`...)
	b = appendLevel(b, view.Profile.Level(state.Chlorophyll))
	b = append(b, `,"level_by":`...)
	b = appendKnown(b, state.Level != data.NoLevel, view.Profile.Basis(state.Level, state.Chlorophyll, state.CountedCells).String())
	b = append(b, `,"cell_density_cells_ml":`...)
	b = appendDensity(b, state.CellDensity())
	b = append(b, `,"risk":`...)
	b = appendKnown(b, state.Risk != data.RiskUnknown, state.Risk.String())
	b = append(b, `,"color":`...)
	b = appendString(b, e.color(state.Chlorophyll))
	b = append(b, `,"trophic":`...)
	b = appendString(b, state.Trophic.String())
	b = append(b, `,"measured_at":`...)
	if state.Risk == data.RiskUnknown {
		b = append(b, "null"...)
	} else {
		b = appendTime(b, time.Unix(state.MeasuredAt(), 0))
	}
	b = append(b, `,"measured_by":`...)
	b = appendKnown(b, state.Risk != data.RiskUnknown, state.MeasuredBy.String())
	b = appendAge(b, state, view.AsOf)
	b = append(b, `,"advisory":`...)
	b = appendAdvisory(b, view.Advisories.Of(i))
	return append(b, '}')
}

// appendKnown appends a text, or null if it is not known.
func appendKnown(b []byte, known bool, s string) []byte {
	if !known {
		return append(b, "null"...)
	}
	return appendString(b, s)
}

// appendAge appends the members that say how old the last known value is.
func appendAge(b []byte, state *data.State, asOf data.Date) []byte {
	b = append(b, `,"stale":`...)
	b = strconv.AppendBool(b, state.Stale())
	b = append(b, `,"age_days":`...)
	days, ok := state.Age(asOf)
	if !ok {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, int64(days), 10)
}

// appendAdvisory appends what a status record says about an official statement, or null for nil.
func appendAdvisory(b []byte, a *data.Advisory) []byte {
	if a == nil {
		return append(b, "null"...)
	}
	b = append(b, `{"id":`...)
	b = appendString(b, string(a.ID))
	b = append(b, `,"kind":`...)
	b = appendString(b, a.Kind.String())
	b = append(b, `,"cause":`...)
	b = appendString(b, a.Cause.String())
	b = append(b, `,"issuer":`...)
	b = appendString(b, a.Issuer)
	b = append(b, `,"valid_until":`...)
	b = appendTimeOrNull(b, a.ValidUntil)
	return append(b, '}')
}

// feature appends the GeoJSON feature of Lakes[i] of a view (RFC 7946, section 3.2): longitude comes first.
func (e *encoder) feature(b []byte, view *data.View, i int) []byte {
	lake, state := &view.Lakes[i], &view.States[i]
	b = append(b, `{"type":"Feature","geometry":{"type":"Point","coordinates":[`...)
	b = appendFloat(b, lake.Point.Lon())
	b = append(b, ',')
	b = appendFloat(b, lake.Point.Lat())
	b = append(b, `]},"properties":{"id":`...)
	b = appendString(b, string(lake.ID))
	b = append(b, `,"name":`...)
	b = appendString(b, lake.Name)
	b = append(b, `,"chl":`...)
	b = appendChlorophyll(b, state.Chlorophyll)
	b = append(b, `,"who_level":`...)
	b = appendLevel(b, state.Level)
	b = append(b, `,"color":`...)
	b = appendString(b, e.color(state.Chlorophyll))
	b = appendAge(b, state, view.AsOf)
	b = append(b, `,"advisory":`...)
	b = appendString(b, view.Advisories.Kind(i).String())
	return append(b, `}}`...)
}

// monitored appends a monitored lake record.
func (e *encoder) monitored(b []byte, lake *data.Lake) []byte {
	b = append(b, `{"external_id":`...)
	b = appendString(b, lake.ExternalID)
	b = append(b, `,"name":`...)
	b = appendString(b, lake.Name)
	b = append(b, `,"latitude":`...)
	b = appendFloat(b, lake.Point.Lat())
	b = append(b, `,"longitude":`...)
	b = appendFloat(b, lake.Point.Lon())
	return append(b, '}')
}

// observation appends an entry of a history.
func (e *encoder) observation(b []byte, o data.Observation, profile *data.Profile) []byte {
	level, density := profile.Classify(o)
	b = append(b, `{"date":`...)
	b = appendString(b, o.Date.String())
	b = append(b, `,"chl":`...)
	b = appendChlorophyll(b, o.Chlorophyll)
	b = append(b, `,"who_level":`...)
	b = appendLevel(b, level)
	b = append(b, `,"cell_density_cells_ml":`...)
	b = appendDensity(b, density)
	b = append(b, `,"data_type":`...)
	b = appendString(b, o.Type.String())
	for _, d := range detailsOf(&o, profile.Basis(level, o.Chlorophyll, o.CellDensity)) {
		b = append(b, `,"`...)
		b = append(b, d.name...)
		b = append(b, `":`...)
		b = append(b, d.json...)
	}
	if o.Type == data.Forecast {
		d := forecastDetailsOf(&o, profile)
		b = d.appendMembers(append(b, ','))
	}
	return append(b, '}')
}

// appendString appends s as encoding/json does: quoted, and with each byte that is not UTF-8 replaced.
func appendString(b []byte, s string) []byte {
	if isPlain(s) {
		b = append(b, '"')
		b = append(b, s...)
		return append(b, '"')
	}
	quoted, err := json.Marshal(s)
	if err != nil {
		panic("api: a string must marshal: " + err.Error())
	}
	return append(b, quoted...)
}

// isPlain reports whether s needs no escape. Only names ever do.
func isPlain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c >= 0x7f, c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}

// appendFloat appends a finite number, in the fewest digits that identify it.
func appendFloat(b []byte, f float64) []byte { return strconv.AppendFloat(b, f, 'f', -1, 64) }

// appendChlorophyll appends a value in µg/l, or null.
func appendChlorophyll(b []byte, c data.Chlorophyll) []byte {
	b, _ = c.AppendText(b) // its error is always nil
	return b
}

// appendLevel appends a level, or null.
func appendLevel(b []byte, l data.Level) []byte {
	if l < 0 {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, int64(l), 10)
}

// appendDensity appends a cell density, or null.
func appendDensity(b []byte, density float64) []byte {
	if density < 0 {
		return append(b, "null"...)
	}
	return appendFloat(b, density)
}

// appendTime appends t in UTC, to the second.
func appendTime(b []byte, t time.Time) []byte {
	return append(appendTimeText(append(b, '"'), t), '"')
}

// appendTimeOrNull appends t, or null if it is the zero time.
func appendTimeOrNull(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, "null"...)
	}
	return appendTime(b, t)
}

// appendTimeText appends t in UTC, to the second, without quotes.
func appendTimeText(b []byte, t time.Time) []byte { return t.UTC().AppendFormat(b, time.RFC3339) }
