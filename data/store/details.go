package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"limnomap/data"
)

// maxDetailsBytes bounds the details that are read. The longest have some 1,500 bytes: a method of 200 characters, a version of 64, and the rest.
const maxDetailsBytes = 4 << 10

// The column details of a table o. Longer ones are read as an invalid object: they must not reach the memory of a server.
var (
	sqliteDetails   = fmt.Sprintf("CASE WHEN octet_length(o.details) > %d THEN 'too long' ELSE o.details END", maxDetailsBytes)
	postgresDetails = fmt.Sprintf("CASE WHEN pg_column_size(o.details) > %d THEN '\"too long\"'::jsonb ELSE o.details END AS details", maxDetailsBytes)
)

// detailsObject is the column details: what is absent is left out.
type detailsObject struct {
	Lower       *float64 `json:"chl_lower,omitempty"`
	Upper       *float64 `json:"chl_upper,omitempty"`
	BelowLimit  bool     `json:"below_limit,omitempty"`
	ValidPixels *int32   `json:"n_valid,omitempty"`
	TotalPixels *int32   `json:"n_total,omitempty"`
	Quality     string   `json:"quality,omitempty"`
	Flags       []string `json:"flags,omitempty"`
	Method      string   `json:"method,omitempty"`
	Version     string   `json:"version,omitempty"`
	Secchi      *float64 `json:"secchi_m,omitempty"`
	Temperature *float64 `json:"water_temperature_c,omitempty"`
	Turbidity   *float64 `json:"turbidity_ntu,omitempty"`
	ScumPercent *float64 `json:"scum_percent,omitempty"`
	PeriodStart string   `json:"period_start,omitempty"`
	Composite   string   `json:"composite,omitempty"`
}

// detailsText returns the column details of an observation; empty if it has none.
func detailsText(o *data.Observation) string {
	d := &o.Details
	if o.Quality == data.QualityUnknown && *d == (data.Details{}) { // as of most observations
		return ""
	}
	float := func(f float64, known bool) *float64 {
		if !known {
			return nil
		}
		return &f
	}
	number := func(n data.Optional[int32]) *int32 {
		if !n.Known {
			return nil
		}
		return &n.Value
	}
	periodStart := ""
	if d.PeriodStart.Known {
		periodStart = d.PeriodStart.Value.String()
	}
	return jsonText(detailsObject{
		Lower: float(d.Lower.Value.Float(), d.Lower.Known), Upper: float(d.Upper.Value.Float(), d.Upper.Known),
		BelowLimit: d.BelowLimit, ValidPixels: number(d.ValidPixels), TotalPixels: number(d.TotalPixels),
		Quality: o.Quality.String(), Flags: d.Flags.Names(), Method: d.Method, Version: d.Version,
		Secchi:      float(d.Secchi.Value.Float(), d.Secchi.Known),
		Temperature: float(d.WaterTemperature.Value.Float(), d.WaterTemperature.Known),
		Turbidity:   float(d.Turbidity.Value.Float(), d.Turbidity.Known),
		ScumPercent: float(d.ScumPercent.Value.Float(), d.ScumPercent.Known),
		PeriodStart: periodStart, Composite: d.Composite.String(),
	})
}

// jsonText returns v as JSON with as few escapes as possible, so that equal details are equal texts.
func jsonText(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("store: details must marshal: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// readDetails sets the quality and the details of o from the column details.
func readDetails(o *data.Observation, text []byte) error {
	if len(text) > maxDetailsBytes {
		return fmt.Errorf("its details are longer than %d bytes", maxDetailsBytes)
	}
	var in detailsObject
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return fmt.Errorf("its details: %w", err)
	}
	if in.Quality != "" {
		var err error
		if o.Quality, err = data.ParseQuality(in.Quality); err != nil {
			return err
		}
	}
	for _, name := range in.Flags {
		f, err := data.ParseFlag(name)
		if err != nil {
			return err
		}
		o.Details.Flags |= data.FlagsOf(f)
	}
	out := &o.Details
	out.BelowLimit, out.Method, out.Version = in.BelowLimit, in.Method, in.Version
	if in.ValidPixels != nil {
		out.ValidPixels = data.Known(*in.ValidPixels)
	}
	if in.TotalPixels != nil {
		out.TotalPixels = data.Known(*in.TotalPixels)
	}
	if in.PeriodStart != "" {
		day, err := data.ParseDate(in.PeriodStart)
		if err != nil {
			return fmt.Errorf("period_start: %w", err)
		}
		out.PeriodStart = data.Known(day)
	}
	if in.Composite != "" {
		var err error
		if out.Composite, err = data.ParseComposite(in.Composite); err != nil {
			return err
		}
	}
	for _, n := range []struct {
		column string
		from   *float64
		set    func(hundredths int32)
	}{
		{"chl_lower", in.Lower, func(h int32) { out.Lower = data.Known(data.Chlorophyll(h)) }},
		{"chl_upper", in.Upper, func(h int32) { out.Upper = data.Known(data.Chlorophyll(h)) }},
		{"secchi_m", in.Secchi, func(h int32) { out.Secchi = data.Known(data.Hundredths(h)) }},
		{"water_temperature_c", in.Temperature, func(h int32) { out.WaterTemperature = data.Known(data.Hundredths(h)) }},
		{"turbidity_ntu", in.Turbidity, func(h int32) { out.Turbidity = data.Known(data.Hundredths(h)) }},
		{"scum_percent", in.ScumPercent, func(h int32) { out.ScumPercent = data.Known(data.Hundredths(h)) }},
	} {
		if n.from == nil {
			continue
		}
		h := math.Round(*n.from * 100)
		if math.Abs(h) > math.MaxInt32 {
			return fmt.Errorf("%s %v is out of range", n.column, *n.from)
		}
		n.set(int32(h))
	}
	return nil
}

// withOrderOf returns the object text with those of its members first that stored has, in the order there, and then the others by name.
func withOrderOf(stored []byte, text string) string {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		panic("store: details must unmarshal: " + err.Error())
	}
	names := memberNames(stored)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var b strings.Builder
	for _, name := range names {
		if value := members[name]; value != nil {
			fmt.Fprintf(&b, ",%q:%s", name, value)
			delete(members, name)
		}
	}
	return "{" + strings.TrimPrefix(b.String(), ",") + "}"
}

// memberNames returns the names of the members of a valid JSON object, in their order.
func memberNames(object []byte) (names []string) {
	d := json.NewDecoder(bytes.NewReader(object))
	var value json.RawMessage
	for _, err := d.Token(); err == nil && d.More(); err = d.Decode(&value) {
		name, _ := d.Token()
		names = append(names, name.(string))
	}
	return names
}
