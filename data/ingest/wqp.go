package ingest

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"limnomap/data"
	"limnomap/data/linetext"
)

// The indices of the columns of results of the Water Quality Portal (waterqualitydata.us). One row is one result of one
// characteristic. wqpLake is equal to obsLake, so that a rejected row names its lake.
const (
	wqpLake = iota
	wqpLakeName
	wqpSite
	wqpOrg
	wqpOrgName
	wqpActivity
	wqpActivityType
	wqpMedia
	wqpSubdivision
	wqpDate
	wqpTime
	wqpZone
	wqpDepth
	wqpDepthUnit
	wqpTopDepth
	wqpTopDepthUnit
	wqpResultDepth
	wqpResultDepthUnit
	wqpRelativeDepth
	wqpCharacteristic
	wqpCondition
	wqpValue
	wqpUnit
	wqpQualifier
	wqpStatus
	wqpValueType
	wqpMethod
	wqpMethodName
	wqpLimitTypeA
	wqpLimitA
	wqpLimitUnitA
	wqpLimitTypeB
	wqpLimitB
	wqpLimitUnitB
)

// wqpColumns returns the columns as the profiles of WQX 3.0 name them (fullPhysChem, basicPhysChem and narrow), and as those of
// WQX 2.2 do (resultPhysChem). The type of the activity is required: without it the blank of a laboratory is a clean lake.
func wqpColumns() []column {
	two := func(name, legacy string, required bool) column {
		return column{name: name, aliases: []string{legacy}, required: required}
	}
	return []column{
		wqpLake:            two("Location_Identifier", "MonitoringLocationIdentifier", true),
		wqpLakeName:        two("Location_Name", "MonitoringLocationName", false),
		wqpSite:            two("Location_Type", "MonitoringLocationTypeName", false),
		wqpOrg:             two("Org_Identifier", "OrganizationIdentifier", true),
		wqpOrgName:         two("Org_FormalName", "OrganizationFormalName", false),
		wqpActivity:        two("Activity_ActivityIdentifier", "ActivityIdentifier", false),
		wqpActivityType:    two("Activity_TypeCode", "ActivityTypeCode", true),
		wqpMedia:           two("Activity_Media", "ActivityMediaName", false),
		wqpSubdivision:     two("Activity_MediaSubdivision", "ActivityMediaSubdivisionName", false),
		wqpDate:            two("Activity_StartDate", "ActivityStartDate", true),
		wqpTime:            two("Activity_StartTime", "ActivityStartTime/Time", false),
		wqpZone:            two("Activity_StartTimeZone", "ActivityStartTime/TimeZoneCode", false),
		wqpDepth:           two("Activity_DepthHeightMeasure", "ActivityDepthHeightMeasure/MeasureValue", false),
		wqpDepthUnit:       two("Activity_DepthHeightMeasureUnit", "ActivityDepthHeightMeasure/MeasureUnitCode", false),
		wqpTopDepth:        two("Activity_TopDepthMeasure", "ActivityTopDepthHeightMeasure/MeasureValue", false),
		wqpTopDepthUnit:    two("Activity_TopDepthMeasureUnit", "ActivityTopDepthHeightMeasure/MeasureUnitCode", false),
		wqpResultDepth:     two("ResultDepthHeight_Measure", "ResultDepthHeightMeasure/MeasureValue", false),
		wqpResultDepthUnit: two("ResultDepthHeight_MeasureUnit", "ResultDepthHeightMeasure/MeasureUnitCode", false),
		wqpRelativeDepth:   two("Activity_ActivityRelativeDepth", "ActivityRelativeDepthName", false),
		wqpCharacteristic:  two("Result_Characteristic", "CharacteristicName", true),
		wqpCondition:       two("Result_ResultDetectionCondition", "ResultDetectionConditionText", false),
		wqpValue:           two("Result_Measure", "ResultMeasureValue", true),
		wqpUnit:            two("Result_MeasureUnit", "ResultMeasure/MeasureUnitCode", true),
		wqpQualifier:       two("Result_MeasureQualifierCode", "MeasureQualifierCode", false),
		wqpStatus:          two("Result_MeasureStatusIdentifier", "ResultStatusIdentifier", false),
		wqpValueType:       two("Result_MeasureType", "ResultValueTypeName", false),
		wqpMethod:          two("ResultAnalyticalMethod_Identifier", "ResultAnalyticalMethod/MethodIdentifier", false),
		wqpMethodName:      two("ResultAnalyticalMethod_Name", "ResultAnalyticalMethod/MethodName", false),
		wqpLimitTypeA:      two("DetectionLimit_TypeA", "DetectionQuantitationLimitTypeName", false),
		wqpLimitA:          two("DetectionLimit_MeasureA", "DetectionQuantitationLimitMeasure/MeasureValue", false),
		wqpLimitUnitA:      two("DetectionLimit_MeasureUnitA", "DetectionQuantitationLimitMeasure/MeasureUnitCode", false),
		wqpLimitTypeB:      {name: "DetectionLimit_TypeB"},
		wqpLimitB:          {name: "DetectionLimit_MeasureB"},
		wqpLimitUnitB:      {name: "DetectionLimit_MeasureUnitB"},
	}
}

// isWQP reports whether a header is that of results of the portal.
func isWQP(header []string) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(header, func(h string) bool { return sameColumn(h, name) })
	}
	return has("Result_Characteristic") && has("Result_Measure") || has("CharacteristicName") && has("ResultMeasureValue")
}

// errWQPResults is the error of a file of results where one of lakes is wanted.
var errWQPResults = errors.New("these are results of the Water Quality Portal: import them as observations, and its file of stations as lakes")

// wqpIncomplete is the beginning of the last line of a file that the portal could not complete. Its answer has the status of a complete one.
const wqpIncomplete = "ERROR: INCOMPLETE DATA"

// incomplete reports whether a row says that the file is not complete.
func incomplete(fields []string) bool {
	return slices.ContainsFunc(fields, func(f string) bool { return strings.Contains(strings.ToUpper(f), wqpIncomplete) })
}

// A wqpQuantity is what a characteristic measures.
type wqpQuantity struct {
	name  string // for error messages
	units map[string]wqpUnitFactor
	in    span
	// otherUnits is true if other units mean another quantity, which is left out, such as the mass of cyanobacteria.
	otherUnits bool
}

// A wqpUnitFactor converts a unit: value * factor + offset.
type wqpUnitFactor struct{ factor, offset float64 }

// The units have small letters and no spaces.
var (
	wqpChlorophyll = &wqpQuantity{name: "chlorophyll", in: span{0, data.MaxChlorophyll.Float(), " µg/l"},
		units: map[string]wqpUnitFactor{"ug/l": {1, 0}, "µg/l": {1, 0}, "μg/l": {1, 0}, "mg/m3": {1, 0}, "ppb": {1, 0}, "ng/ml": {1, 0}, "mg/l": {1000, 0}}}
	wqpCells = &wqpQuantity{name: "cell counts", in: span{0, maxCellDensity, " cells/ml"}, otherUnits: true,
		units: map[string]wqpUnitFactor{"cells/ml": {1, 0}, "#/ml": {1, 0}, "cells/l": {1e-3, 0}, "#/l": {1e-3, 0}, "cells/100ml": {1e-2, 0}, "#/100ml": {1e-2, 0}}}
	wqpSecchi      = &wqpQuantity{name: "Secchi depths", in: span{0, data.MaxSecchi.Float(), " m"}, units: wqpLengths}
	wqpTemperature = &wqpQuantity{name: "temperatures", in: span{data.MinWaterTemperature.Float(), data.MaxWaterTemperature.Float(), " °C"},
		units: map[string]wqpUnitFactor{"degc": {1, 0}, "°c": {1, 0}, "c": {1, 0}, "degf": {5. / 9, -160. / 9}, "°f": {5. / 9, -160. / 9}, "f": {5. / 9, -160. / 9}}}
	wqpDepthOfSample = &wqpQuantity{name: "depths", in: span{-12_000, 12_000, " m"}, units: wqpLengths}

	wqpLengths = map[string]wqpUnitFactor{"m": {1, 0}, "meters": {1, 0}, "cm": {0.01, 0}, "mm": {0.001, 0}, "ft": {0.3048, 0}, "feet": {0.3048, 0}, "in": {0.0254, 0}}
)

// wqpCharacteristics are the characteristics of the portal that are read, in small letters. The rank is the preference within one
// activity: chlorophyll corrected for pheophytin is that of living algae, and a probe measures light, not the pigment. What is measured in
// relative fluorescence has no fixed relation to µg/l.
var wqpCharacteristics = map[string]struct {
	quantity *wqpQuantity
	rank     uint8
}{
	"chlorophyll a, corrected for pheophytin":       {wqpChlorophyll, 0},
	"chlorophyll a, free of pheophytin":             {wqpChlorophyll, 0},
	"chlorophyll a":                                 {wqpChlorophyll, 1},
	"chlorophyll a - phytoplankton (suspended)":     {wqpChlorophyll, 1},
	"chlorophyll a, uncorrected for pheophytin":     {wqpChlorophyll, 2},
	"chlorophyll a (probe)":                         {wqpChlorophyll, 3},
	"cyanobacteria":                                 {wqpCells, 0},
	"blue-green algae":                              {wqpCells, 0},
	"algae, blue-green (phylum cyanophyta) density": {wqpCells, 0},
	"depth, secchi disk depth":                      {wqpSecchi, 0},
	"secchi depth":                                  {wqpSecchi, 0},
	"water transparency, secchi disc":               {wqpSecchi, 0},
	"temperature, water":                            {wqpTemperature, 0},
}

// Texts of the domain lists of WQX (EPA, cdx.epa.gov/wqx/download/DomainValues), in small letters. What is below a limit, in which layer and of
// which quality is as in the tables of EPA's package TADA (USEPA/EPATADA, inst/extdata).
var (
	// Of result detection conditions; a * before them marks those of older systems.
	wqpBelowConditions = []string{"not detected", "non-detect", "not present", "present below quantification limit", "present <ql",
		"detected not quantified", "trace", "between inst detect and quant limit"}
	wqpBelowPrefixes    = []string{"below ", "not detected at "}
	wqpAboveConditions  = []string{"present above quantification limit", "present >ql", "above operating range"}
	wqpNoValue          = []string{"not reported", "unable to measure", "reported in raw data (attached)", "high moisture"}
	wqpEstimatedWith    = []string{"value decensored"}
	wqpNotLimits        = []string{"drinking water", "water quality standard", "holding time", "uncertainty", "taxonomic", "workplan"}
	wqpSurfaceLayers    = []string{"surface", "microlayer", "below surface", "photic zone", "above euphotic", "abovethermoclin"}
	wqpQualityControl   = []string{"control", "blank", "replicate", "duplicate", "spike", "reference", "calibration"}
	wqpGoodStatus       = []string{"accepted", "final", "validated", "approved", "reviewed"}
	wqpSuspectStatus    = []string{"preliminary", "provisional", "raw", "unreviewed"}
	wqpPoorStatus       = []string{"rejected", "invalidated"}
	wqpEstimatedCodes   = []string{"j", "j+", "j-", "j-1", "j-r", "e", "est", "eci", "esd", "eva", "evad", "evid", "f", "i"}
	wqpHoldTimeCodes    = []string{"h", "h2", "h3", "h4", "h5", "hti"}
	wqpBelowCodes       = []string{"u", "uj", "nd", "dl", "idl", "bql", "brl", "k", "lt", "<"}
	wqpAboveCodes       = []string{"gt", "ee", ">"}
	wqpRejectedCodes    = []string{"r", "rex"}
	wqpLakeTypes        = []string{"lake", "lake, reservoir, impoundment", "reservoir", "great lake", "pond", "riverine impoundment", "pond-anchialine", "beach program site-lake", "beach program site-great lake"}
	wqpSurfaceWaters    = []string{"", "surface water", "unknown"}
	wqpPlanktonMaterial = []string{"biological", "biological tissue"}
)

// checkSiteType returns a leftOut error if the type of a station, in column c, is known and none of a lake. Unlike the EEA, the portal has
// separate types for lakes in rivers. Its list of types grows, so an unknown one is left out too.
func checkSiteType(r *row, c int) error {
	s, err := r.text(c)
	if err != nil || s == "" || slices.Contains(wqpLakeTypes, strings.ToLower(s)) {
		return err
	}
	return leftOut(fmt.Sprintf("no lake: %.60q", s))
}

// maxSurfaceDepth is the depth in metres down to which a sample is one of the surface, where blooms are and people bathe.
const maxSurfaceDepth = 2

// A wqpResult is a row of the portal that is read.
type wqpResult struct {
	quantity *wqpQuantity
	rank     uint8
	lake     data.LakeID
	date     data.Date
	source   string
	activity string
	method   string
	time     int64 // in Unix seconds, or noTime
	unzoned  bool  // whether the row has a time, but no zone that is known

	value        float64 // in the unit of the quantity; the limit if below or above
	below, above bool
	quality      data.Quality
	flags        data.Flags
}

// noTime is for results without a time. It is later than all times.
const noTime = math.MaxInt64

// parseWQP reads a row. A row of something else than a surface sample of a lake returns a leftOut error.
func parseWQP(r *row) (wqpResult, error) {
	var w wqpResult
	name, err := r.required(wqpCharacteristic, "a characteristic")
	if err != nil {
		return w, err
	}
	c, ok := wqpCharacteristics[strings.ToLower(name)]
	if !ok {
		return w, leftOut(fmt.Sprintf("other characteristic: %.60q", name))
	}
	w.quantity, w.rank = c.quantity, c.rank
	for _, check := range []func(*row, *wqpQuantity) error{checkActivity, checkMedia, checkDepth} {
		if err := check(r, w.quantity); err != nil {
			return w, err
		}
	}
	if err := checkSiteType(r, wqpSite); err != nil {
		return w, err
	}
	if err := w.parseSample(r); err != nil {
		return w, err
	}
	if err := w.parseRemarks(r); err != nil {
		return w, err
	}
	if err := w.parseValue(r); err != nil {
		return w, err
	}
	if w.quality == data.Poor && w.quantity != wqpChlorophyll { // the quality of an observation is that of its chlorophyll
		return w, leftOut("rejected by its source: " + w.quantity.name)
	}
	return w, nil
}

// lower returns the text of column c in small letters.
func (r *row) lower(c int) (string, error) {
	s, err := r.text(c)
	return strings.ToLower(s), err
}

func checkActivity(r *row, _ *wqpQuantity) error {
	s, err := r.lower(wqpActivityType)
	if err == nil && slices.ContainsFunc(wqpQualityControl, func(part string) bool { return strings.Contains(s, part) }) {
		return leftOut("quality control")
	}
	return err
}

// checkMedia leaves out other things than the water of the surface. Counts of plankton may be those of biological material.
func checkMedia(r *row, q *wqpQuantity) error {
	media, err := r.lower(wqpMedia)
	if err != nil {
		return err
	}
	if media != "" && media != "water" && !(q == wqpCells && slices.Contains(wqpPlanktonMaterial, media)) {
		return leftOut(fmt.Sprintf("no surface water: %.60q", media))
	}
	part, err := r.lower(wqpSubdivision)
	if err == nil && !slices.Contains(wqpSurfaceWaters, part) {
		return leftOut(fmt.Sprintf("no surface water: %.60q", part))
	}
	return err
}

// checkDepth leaves out deep samples. The depth of a result is more exact than that of its activity; a sample over a range of depths counts
// if it begins at the surface. A Secchi disk is always read from the surface.
func checkDepth(r *row, q *wqpQuantity) error {
	if q == wqpSecchi {
		return nil
	}
	for _, depth := range []struct{ value, unit int }{{wqpResultDepth, wqpResultDepthUnit}, {wqpDepth, wqpDepthUnit}, {wqpTopDepth, wqpTopDepthUnit}} {
		s, err := r.text(depth.value)
		if err != nil {
			return err
		}
		if s == "" {
			continue
		}
		metres, err := wqpDepthOfSample.convert(r, depth.value, depth.unit, s)
		if err != nil {
			return err
		}
		if math.Abs(metres) > maxSurfaceDepth { // some organizations write depths as negative heights
			return leftOut(fmt.Sprintf("deeper than %d m", maxSurfaceDepth))
		}
		return nil
	}
	layer, err := r.lower(wqpRelativeDepth)
	if err == nil && layer != "" && !slices.Contains(wqpSurfaceLayers, layer) {
		return leftOut("below the surface, in the layer " + fmt.Sprintf("%.60q", layer))
	}
	return err
}

// parseSample reads where and when the sample was taken, and by whom.
func (w *wqpResult) parseSample(r *row) error {
	var err error
	if w.lake, err = r.lakeID(wqpLake, "the id of a station"); err != nil {
		if r.columns[wqpLake].ids == nil && r.positions[wqpLakeName] >= 0 {
			err = fmt.Errorf("%w; --make-ids makes ids from %s, in both imports", err, r.columns[wqpLakeName].name)
		}
		return err
	}
	if w.date, err = r.date(wqpDate); err != nil {
		return err
	}
	if err := w.parseTime(r); err != nil {
		return err
	}
	if w.source, err = r.line(wqpOrgName); err == nil && w.source == "" {
		w.source, err = r.line(wqpOrg)
	}
	if err != nil {
		return err
	}
	if w.activity, err = r.text(wqpActivity); err != nil {
		return err
	}
	if w.method, err = r.line(wqpMethodName); err == nil && w.method == "" {
		w.method, err = r.line(wqpMethod)
	}
	w.method = shortLine(w.method)
	return err
}

// maxMethodRunes bounds the name of a method; longer ones are cut.
const maxMethodRunes = 120

// shortLine returns the beginning of a line, without characters that are not allowed in a text; empty if nothing visible is left.
func shortLine(s string) string {
	s = strings.TrimSpace(linetext.Clean(s))
	if runes := []rune(s); len(runes) > maxMethodRunes {
		s = strings.TrimSpace(string(runes[:maxMethodRunes-1])) + "…"
	}
	if linetext.Check(s) != nil {
		return ""
	}
	return s
}

// wqpZones are the time zones that are unambiguous in the portal's domain list, in minutes east of UTC.
var wqpZones = map[string]int{
	"ADT": -3 * 60, "AHST": -10 * 60, "AKDT": -8 * 60, "AKST": -9 * 60, "AST": -4 * 60, "CDT": -5 * 60, "CEST": 2 * 60, "CET": 60, "CST": -6 * 60,
	"EDT": -4 * 60, "EST": -5 * 60, "GMT": 0, "HADT": -9 * 60, "HAST": -10 * 60, "HDT": -9 * 60, "HST": -10 * 60, "MDT": -6 * 60, "MST": -7 * 60,
	"NDT": -2*60 - 30, "NST": -3*60 - 30, "PDT": -7 * 60, "PST": -8 * 60, "SST": -11 * 60, "UTC": 0, "Z": 0,
}

// parseTime reads the time. Without a zone that is known, there is none: an hour that is wrong would be worse.
func (w *wqpResult) parseTime(r *row) error {
	w.time = noTime
	s, err := r.text(wqpTime)
	if err != nil || s == "" {
		return err
	}
	clock, err := time.Parse("15:04:05", s)
	if err != nil {
		if clock, err = time.Parse("15:04", s); err != nil {
			return r.bad(wqpTime, s, "a time such as 13:55:00")
		}
	}
	zone, err := r.text(wqpZone)
	if err != nil {
		return err
	}
	minutes, known := wqpZones[strings.ToUpper(zone)]
	if w.unzoned = !known; known {
		w.time = w.date.Time().Unix() + int64(clock.Hour())*3600 + int64(clock.Minute()-minutes)*60 + int64(clock.Second())
	}
	return nil
}

// parseRemarks reads what the source says about the worth of the result. An unknown status or qualifier says nothing.
func (w *wqpResult) parseRemarks(r *row) error {
	status, err := r.lower(wqpStatus)
	if err != nil {
		return err
	}
	switch {
	case slices.Contains(wqpGoodStatus, status):
		w.quality = data.Good
	case slices.Contains(wqpSuspectStatus, status):
		w.quality = data.Suspect
	case slices.Contains(wqpPoorStatus, status):
		w.quality = data.Poor
	}
	kind, err := r.lower(wqpValueType)
	if err != nil {
		return err
	}
	if kind == "estimated" {
		w.flags |= data.FlagsOf(data.Estimated)
	}
	codes, err := r.lower(wqpQualifier)
	if err != nil {
		return err
	}
	for code := range strings.FieldsFuncSeq(codes, func(c rune) bool { return strings.ContainsRune(" ,;|[]\"", c) }) {
		switch {
		case slices.Contains(wqpEstimatedCodes, code):
			w.flags |= data.FlagsOf(data.Estimated)
		case slices.Contains(wqpHoldTimeCodes, code):
			w.flags |= data.FlagsOf(data.HoldTime)
		case slices.Contains(wqpBelowCodes, code):
			w.below = true
		case slices.Contains(wqpAboveCodes, code):
			w.above = true
		case slices.Contains(wqpRejectedCodes, code):
			w.quality = data.Poor
		}
	}
	return w.parseCondition(r)
}

// parseCondition reads the detection condition, which decides over the qualifiers.
func (w *wqpResult) parseCondition(r *row) error {
	s, err := r.text(wqpCondition)
	if err != nil || s == "" {
		return err
	}
	c := strings.TrimPrefix(strings.ToLower(s), "*")
	has := func(prefix string) bool { return strings.HasPrefix(c, prefix) }
	switch {
	case slices.Contains(wqpBelowConditions, c), slices.ContainsFunc(wqpBelowPrefixes, has):
		w.below, w.above = true, false
	case slices.Contains(wqpAboveConditions, c):
		w.below, w.above = false, true
	case slices.Contains(wqpNoValue, c):
		return leftOut(fmt.Sprintf("no value: %.60q", s))
	case slices.Contains(wqpEstimatedWith, c):
		w.flags |= data.FlagsOf(data.Estimated)
	default:
		return r.bad(wqpCondition, s, "a detection condition of WQX, such as Not Detected")
	}
	return nil
}

// parseValue reads the value, or the limit that it is below or above.
func (w *wqpResult) parseValue(r *row) error {
	s, err := r.text(wqpValue)
	if err != nil {
		return err
	}
	switch {
	case strings.EqualFold(s, "ND"):
		s, w.below, w.above = "", true, false
	case strings.HasPrefix(s, "<"):
		s, w.below, w.above = strings.TrimSpace(s[1:]), true, false
	case strings.HasPrefix(s, ">"):
		s, w.below, w.above = strings.TrimSpace(s[1:]), false, true
	}
	if w.below && (w.quantity == wqpSecchi || w.quantity == wqpTemperature) {
		return leftOut("below a limit: " + w.quantity.name)
	}
	given := s != ""
	if given {
		if w.value, err = w.quantity.convert(r, wqpValue, wqpUnit, s); err != nil {
			return err
		}
	}
	switch {
	case w.below:
		limit, err := w.limit(r)
		if err != nil {
			return err
		}
		if limit > 0 {
			w.value = limit
		}
		if !given && limit == 0 || w.value == 0 {
			return leftOut("not detected, and no limit is given")
		}
		return nil
	case w.above && !given:
		if w.value, err = w.limit(r); err != nil {
			return err
		}
		given = w.value > 0
	}
	if !given {
		return leftOut("no value")
	}
	if w.above {
		w.flags |= data.FlagsOf(data.OutOfRange)
	}
	return nil
}

// limit returns the highest limit that the value is below, half of which never looks cleaner than the lake is; or the highest upper limit
// if it is above; 0 if there is none.
func (w *wqpResult) limit(r *row) (float64, error) {
	highest := 0.0
	for _, limit := range []struct{ kind, value, unit int }{{wqpLimitTypeA, wqpLimitA, wqpLimitUnitA}, {wqpLimitTypeB, wqpLimitB, wqpLimitUnitB}} {
		kind, err := r.lower(limit.kind)
		if err != nil {
			return 0, err
		}
		s, err := r.text(limit.value)
		if err != nil {
			return 0, err
		}
		upper := strings.Contains(kind, "upper")
		if s == "" || upper != w.above || slices.ContainsFunc(wqpNotLimits, func(part string) bool { return strings.Contains(kind, part) }) {
			continue
		}
		if unit, err := r.text(limit.unit); err == nil && unit == "" {
			limit.unit = wqpUnit
		}
		f, err := w.quantity.convert(r, limit.value, limit.unit, s)
		if err != nil {
			return 0, err
		}
		highest = max(highest, f)
	}
	return highest, nil
}

// convert returns the number s of column c, whose unit is in another column, in the unit of q.
func (q *wqpQuantity) convert(r *row, c, unitColumn int, s string) (float64, error) {
	unit, err := r.text(unitColumn)
	if err != nil {
		return 0, err
	}
	u, ok := q.units[strings.ToLower(strings.ReplaceAll(unit, " ", ""))]
	switch {
	case !ok && q.otherUnits && unit != "":
		return 0, leftOut(fmt.Sprintf("no %s: in %.40q", q.name, unit))
	case !ok:
		known := slices.Sorted(maps.Keys(q.units))
		return 0, r.bad(unitColumn, unit, "a unit of "+q.name+": one of "+strings.Join(known, ", "))
	}
	in := span{(q.in.min - u.offset) / u.factor, (q.in.max - u.offset) / u.factor, " " + unit}
	if r.evidence == nil && strings.Contains(s, ",") { // in the United States it separates thousands, elsewhere decimals
		return 0, r.bad(c, s, in.String()+", without a comma; --thousands or --decimal says what it means")
	}
	number, err := r.parseNumber(c, s, in)
	if err != nil {
		return 0, err
	}
	return min(max(number*u.factor+u.offset, q.in.min), q.in.max), nil // rounding must not leave the range
}

// wqpForm returns how results of the portal are read. With Map or Set, its files are tables like others.
func (o *Options) wqpForm(ids *idMaker) (*wqpForm, error) {
	if len(o.Map)+len(o.Set) > 0 {
		return nil, nil
	}
	columns := wqpColumns()
	columns[wqpLakeName].required = ids != nil
	columns, err := o.apply(columns, wqpLake, wqpLakeName, ids)
	return &wqpForm{columns: columns}, err
}
