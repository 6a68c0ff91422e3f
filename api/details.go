package api

import (
	"strconv"

	"limnomap/data"
)

// A detail is a member of a history entry that only few entries have.
type detail struct {
	name string
	json []byte // its value
	text string // its value in a table
}

// detailColumns are the columns of the details in a table, in order.
var detailColumns = []string{"chl_lower", "chl_upper", "below_limit", "n_valid", "n_total", "quality", "flags", "source", "method", "version",
	"secchi_m", "water_temperature_c", "level_by"}

// detailsOf returns the details of an observation in the order of detailColumns, without absent ones. What its level is based on is
// one of them unless it is the chlorophyll.
func detailsOf(o *data.Observation, basis data.LevelBasis) []detail {
	var all []detail
	if o.Source != "" || o.Quality != data.QualityUnknown || o.Details != (data.Details{}) { // as few observations
		all = ownDetailsOf(o)
	}
	if basis > data.ByChlorophyll {
		all = append(all, detail{"level_by", appendString(nil, basis.String()), basis.String()})
	}
	return all
}

// ownDetailsOf returns what an observation itself says besides its value.
func ownDetailsOf(o *data.Observation) []detail {
	d := &o.Details
	var all []detail
	number := func(name string, known bool, json []byte) {
		if known {
			all = append(all, detail{name, json, string(json)})
		}
	}
	text := func(name, value string) {
		if value != "" {
			all = append(all, detail{name, appendString(nil, value), value})
		}
	}
	number("chl_lower", d.Lower.Known, appendChlorophyll(nil, d.Lower.Value))
	number("chl_upper", d.Upper.Known, appendChlorophyll(nil, d.Upper.Value))
	number("below_limit", d.BelowLimit, strconv.AppendBool(nil, true))
	number("n_valid", d.ValidPixels.Known, strconv.AppendInt(nil, int64(d.ValidPixels.Value), 10))
	number("n_total", d.TotalPixels.Known, strconv.AppendInt(nil, int64(d.TotalPixels.Value), 10))
	text("quality", o.Quality.String())
	if d.Flags != 0 {
		all = append(all, flagsDetail(d.Flags))
	}
	text("source", o.Source)
	text("method", d.Method)
	text("version", d.Version)
	number("secchi_m", d.Secchi.Known, appendFloat(nil, d.Secchi.Value.Float()))
	number("water_temperature_c", d.WaterTemperature.Known, appendFloat(nil, d.WaterTemperature.Value.Float()))
	return all
}

// flagsDetail returns flags as an array, and in a table separated by spaces.
func flagsDetail(f data.Flags) detail {
	d := detail{name: "flags", json: []byte{'['}}
	for i, name := range f.Names() {
		if i > 0 {
			d.json = append(d.json, ',')
			d.text += " "
		}
		d.json = appendString(d.json, name)
		d.text += name
	}
	d.json = append(d.json, ']')
	return d
}
