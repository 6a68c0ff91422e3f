package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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
	in, err := parseDetails(text)
	if err != nil {
		return fmt.Errorf("its details: %w", err)
	}
	if in.Quality != "" {
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
		if out.Composite, err = data.ParseComposite(in.Composite); err != nil {
			return err
		}
	}
	return cmp.Or(
		setHundredths(&out.Lower, "chl_lower", in.Lower),
		setHundredths(&out.Upper, "chl_upper", in.Upper),
		setHundredths(&out.Secchi, "secchi_m", in.Secchi),
		setHundredths(&out.WaterTemperature, "water_temperature_c", in.Temperature),
		setHundredths(&out.Turbidity, "turbidity_ntu", in.Turbidity),
		setHundredths(&out.ScumPercent, "scum_percent", in.ScumPercent),
	)
}

// setHundredths sets a number that is stored with its fraction; without one it does nothing.
func setHundredths[N ~int32](to *data.Optional[N], column string, from *float64) error {
	if from == nil {
		return nil
	}
	h := math.Round(*from * 100)
	if math.Abs(h) > math.MaxInt32 {
		return fmt.Errorf("%s %v is out of range", column, *from)
	}
	*to = data.Known(N(h))
	return nil
}

// parseDetails reads the column details.
func parseDetails(text []byte) (detailsObject, error) {
	var in detailsObject
	if in.scan(text) {
		return in, nil
	}
	all := new(detailsObject)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(all)
	return *all, err
}

// scan reads an object in the form in which the databases have it, in a tenth of the time of encoding/json. It reports false for any other text, such as one
// with an escape, and may then have set some members.
func (in *detailsObject) scan(text []byte) bool {
	s := detailsScanner{text: text}
	if !s.skip('{') {
		return false
	}
	for {
		name, ok := s.word()
		if !ok || !s.skip(':') {
			return false
		}
		switch string(name) {
		case "chl_lower":
			in.Lower, ok = s.float()
		case "chl_upper":
			in.Upper, ok = s.float()
		case "secchi_m":
			in.Secchi, ok = s.float()
		case "water_temperature_c":
			in.Temperature, ok = s.float()
		case "turbidity_ntu":
			in.Turbidity, ok = s.float()
		case "scum_percent":
			in.ScumPercent, ok = s.float()
		case "n_valid":
			in.ValidPixels, ok = s.count()
		case "n_total":
			in.TotalPixels, ok = s.count()
		case "below_limit":
			in.BelowLimit, ok = true, s.skip('t') && s.skip('r') && s.skip('u') && s.skip('e')
		case "quality":
			in.Quality, ok = s.string()
		case "method":
			in.Method, ok = s.string()
		case "version":
			in.Version, ok = s.string()
		case "period_start":
			in.PeriodStart, ok = s.string()
		case "composite":
			in.Composite, ok = s.string()
		case "flags":
			in.Flags = nil
			ok = s.skip('[')
			for more := ok; more; more = s.skip(',') {
				var flag string
				if flag, ok = s.string(); !ok {
					return false
				}
				in.Flags = append(in.Flags, flag)
			}
			ok = ok && s.skip(']')
		default:
			return false
		}
		if !ok {
			return false
		}
		if !s.skip(',') {
			return s.skip('}') && len(s.text) == 0
		}
	}
}

// A detailsScanner reads the beginning of a text of JSON, which it cuts off.
type detailsScanner struct{ text []byte }

// skip reads one character. PostgreSQL has a space after a colon and a comma.
func (s *detailsScanner) skip(c byte) bool {
	if len(s.text) == 0 || s.text[0] != c {
		return false
	}
	s.text = s.text[1:]
	if (c == ':' || c == ',') && len(s.text) > 0 && s.text[0] == ' ' {
		s.text = s.text[1:]
	}
	return true
}

// word reads a text without escapes.
func (s *detailsScanner) word() ([]byte, bool) {
	if !s.skip('"') {
		return nil, false
	}
	for i, c := range s.text {
		switch {
		case c == '"':
			word := s.text[:i]
			s.text = s.text[i+1:]
			return word, utf8.Valid(word)
		case c == '\\' || c < ' ':
			return nil, false
		}
	}
	return nil, false
}

func (s *detailsScanner) string() (string, bool) {
	word, ok := s.word()
	return string(word), ok
}

// number reads a number without an exponent.
func (s *detailsScanner) number() (n []byte, ok bool) {
	end := 0
	for end < len(s.text) && (s.text[end] == '-' || s.text[end] == '.' || s.text[end] >= '0' && s.text[end] <= '9') {
		end++
	}
	n, s.text = s.text[:end], s.text[end:]
	digits := bytes.TrimPrefix(n, []byte("-"))
	whole, part, fraction := bytes.Cut(digits, []byte("."))
	isDigits := func(b []byte) bool { return len(b) > 0 && len(bytes.Trim(b, "0123456789")) == 0 }
	return n, isDigits(whole) && (len(whole) == 1 || whole[0] != '0') && (!fraction || isDigits(part))
}

func (s *detailsScanner) float() (*float64, bool) {
	n, ok := s.number()
	if !ok {
		return nil, false
	}
	f, err := strconv.ParseFloat(string(n), 64)
	return &f, err == nil
}

func (s *detailsScanner) count() (*int32, bool) {
	n, ok := s.number()
	if !ok {
		return nil, false
	}
	i, err := strconv.ParseInt(string(n), 10, 32)
	count := int32(i)
	return &count, err == nil
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
