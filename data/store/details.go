package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
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

// sqliteMember returns the expression of a member of the column details of a table o. It is read only from details that an import may
// have stored.
func sqliteMember(name string) string {
	return fmt.Sprintf("CASE WHEN octet_length(o.details) <= %d THEN o.details ->> '$.%s' END", maxDetailsBytes, name)
}

// postgresMember is like sqliteMember.
func postgresMember(name string) string {
	return fmt.Sprintf("CASE WHEN pg_column_size(o.details) <= %d THEN o.details ->> '%s' END", maxDetailsBytes, name)
}

// detailsObject is the column details: what is absent is left out. A member that an update keeps or removes is a null in its patch.
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
	return jsonText(detailsObject{
		Lower: float(d.Lower.Value.Float(), d.Lower.Known), Upper: float(d.Upper.Value.Float(), d.Upper.Known),
		BelowLimit: d.BelowLimit, ValidPixels: number(d.ValidPixels), TotalPixels: number(d.TotalPixels),
		Quality: o.Quality.String(), Flags: d.Flags.Names(), Method: d.Method, Version: d.Version,
		Secchi:      float(d.Secchi.Value.Float(), d.Secchi.Known),
		Temperature: float(d.WaterTemperature.Value.Float(), d.WaterTemperature.Known),
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
	for _, n := range []struct {
		column string
		from   *float64
		set    func(hundredths int32)
	}{
		{"chl_lower", in.Lower, func(h int32) { out.Lower = data.Known(data.Chlorophyll(h)) }},
		{"chl_upper", in.Upper, func(h int32) { out.Upper = data.Known(data.Chlorophyll(h)) }},
		{"secchi_m", in.Secchi, func(h int32) { out.Secchi = data.Known(data.Hundredths(h)) }},
		{"water_temperature_c", in.Temperature, func(h int32) { out.WaterTemperature = data.Known(data.Hundredths(h)) }},
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

// keptMembers are the members of details, and whether an import keeps them. Those that are a part of the value belong to it.
var keptMembers = []struct {
	name string
	kept func(ObservationColumns) bool
}{
	{"chl_lower", func(k ObservationColumns) bool { return k.Chlorophyll }},
	{"chl_upper", func(k ObservationColumns) bool { return k.Chlorophyll }},
	{"below_limit", func(k ObservationColumns) bool { return k.Chlorophyll }},
	{"n_valid", func(k ObservationColumns) bool { return k.Pixels }},
	{"n_total", func(k ObservationColumns) bool { return k.Pixels }},
	{"quality", func(k ObservationColumns) bool { return k.Quality }},
	{"flags", func(k ObservationColumns) bool { return k.Flags }},
	{"method", func(k ObservationColumns) bool { return k.Method }},
	{"version", func(k ObservationColumns) bool { return k.Version }},
	{"secchi_m", func(k ObservationColumns) bool { return k.Secchi }},
	{"water_temperature_c", func(k ObservationColumns) bool { return k.WaterTemperature }},
}

// ofNewValue returns what an import keeps of an observation whose value changes.
func (k ObservationColumns) ofNewValue() ObservationColumns {
	if !k.Chlorophyll { // otherwise it does not change
		k.Quality, k.Flags, k.Version = false, false, false
	}
	return k
}

// reportPatch returns the merge patch for an observation whose value changes and that has a stored flag of scum: it keeps this flag if the
// import lacks flags.
func (k ObservationColumns) reportPatch() string {
	var kept detailsObject
	if k.Flags {
		kept.Flags = []string{data.Scum.String()}
	}
	return jsonText(kept)
}

// detailsPatch returns the JSON merge patch (RFC 7396) by which an import changes stored details to these: a member that is kept is not
// in it, and an absent one is null.
func detailsPatch(details string, keep ObservationColumns) string {
	patch := make(map[string]json.RawMessage)
	if details != "" {
		if err := json.Unmarshal([]byte(details), &patch); err != nil {
			panic("store: details must unmarshal: " + err.Error())
		}
	}
	for _, m := range keptMembers {
		if m.kept(keep) {
			delete(patch, m.name)
		} else if patch[m.name] == nil {
			patch[m.name] = json.RawMessage("null")
		}
	}
	return jsonText(patch)
}

// keptNames returns the members of details that an import keeps.
func keptNames(keep ObservationColumns) []string {
	names := []string{}
	for _, m := range keptMembers {
		if m.kept(keep) {
			names = append(names, m.name)
		}
	}
	return names
}
