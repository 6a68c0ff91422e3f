package ingest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"limnomap/data"
	"limnomap/data/linetext"
)

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

// maxSurfaceDepth is the depth in metres down to which a sample is one of the surface, where blooms are and people bathe.
const maxSurfaceDepth = 2

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

// checkSiteType returns a leftOut error if the type of a station, in column c, is known and none of a lake. Unlike the EEA, the portal has
// separate types for lakes in rivers. Its list of types grows, so an unknown one is left out too.
func checkSiteType(r *row, c int) error {
	s, err := r.text(c)
	if err != nil || s == "" || slices.Contains(wqpLakeTypes, strings.ToLower(s)) {
		return err
	}
	return leftOut(fmt.Sprintf("no lake: %.60q", s))
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
