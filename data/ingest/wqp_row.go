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
	name := r.required(wqpCharacteristic, "a characteristic")
	c, ok := wqpCharacteristics[strings.ToLower(name)]
	if !ok {
		return w, r.fail(leftOut(fmt.Sprintf("other characteristic: %.60q", name)))
	}
	w.quantity, w.rank = c.quantity, c.rank
	checkActivity(r)
	checkMedia(r, w.quantity)
	checkDepth(r, w.quantity)
	checkSiteType(r, wqpSite)
	w.parseSample(r)
	w.parseRemarks(r)
	w.parseValue(r)
	if w.quality == data.Poor && w.quantity != wqpChlorophyll { // the quality of an observation is that of its chlorophyll
		r.fail(leftOut("rejected by its source: " + w.quantity.name))
	}
	return w, r.err
}

// lower returns the text of column c in small letters.
func (r *row) lower(c int) string { return strings.ToLower(r.text(c)) }

func checkActivity(r *row) {
	s := r.lower(wqpActivityType)
	if slices.ContainsFunc(wqpQualityControl, func(part string) bool { return strings.Contains(s, part) }) {
		r.fail(leftOut("quality control"))
	}
}

// checkMedia leaves out other things than the water of the surface. Counts of plankton may be those of biological material.
func checkMedia(r *row, q *wqpQuantity) {
	media := r.lower(wqpMedia)
	if media != "" && media != "water" && !(q == wqpCells && slices.Contains(wqpPlanktonMaterial, media)) {
		r.fail(leftOut(fmt.Sprintf("no surface water: %.60q", media)))
	}
	if part := r.lower(wqpSubdivision); !slices.Contains(wqpSurfaceWaters, part) {
		r.fail(leftOut(fmt.Sprintf("no surface water: %.60q", part)))
	}
}

// checkDepth leaves out deep samples. The depth of a result is more exact than that of its activity; a sample over a range of depths counts
// if it begins at the surface. A Secchi disk is always read from the surface.
func checkDepth(r *row, q *wqpQuantity) {
	if q == wqpSecchi {
		return
	}
	for _, depth := range []struct{ value, unit int }{{wqpResultDepth, wqpResultDepthUnit}, {wqpDepth, wqpDepthUnit}, {wqpTopDepth, wqpTopDepthUnit}} {
		s := r.text(depth.value)
		if s == "" {
			continue
		}
		r.checkDepth(depthOfSample.convert(r, depth.value, depth.unit, depthRange(s)))
		return
	}
	layer := r.lower(wqpRelativeDepth)
	if layer != "" && !slices.Contains(wqpSurfaceLayers, layer) {
		r.fail(leftOut("below the surface, in the layer " + fmt.Sprintf("%.60q", layer)))
	}
}

// checkSiteType leaves out a station whose type, in column c, is known and none of a lake. Unlike the EEA, the portal has
// separate types for lakes in rivers. Its list of types grows, so an unknown one is left out too.
func checkSiteType(r *row, c int) {
	if s := r.text(c); s != "" && !slices.Contains(wqpLakeTypes, strings.ToLower(s)) {
		r.fail(leftOut(fmt.Sprintf("no lake: %.60q", s)))
	}
}

// parseSample reads where and when the sample was taken, and by whom.
func (w *wqpResult) parseSample(r *row) {
	if r.err != nil {
		return
	}
	w.lake = r.lakeID(wqpLake, "the id of a station")
	if r.err != nil && r.columns[wqpLake].ids == nil && r.positions[wqpLakeName] >= 0 {
		r.err = fmt.Errorf("%w; --make-ids makes ids from %s, in both imports", r.err, r.columns[wqpLakeName].name)
	}
	w.date = r.date(wqpDate)
	w.parseTime(r)
	if w.source = oneLine(r.text(wqpOrgName)); w.source == "" {
		w.source = oneLine(r.text(wqpOrg))
	}
	w.activity = r.text(wqpActivity)
	if w.method = oneLine(r.text(wqpMethodName)); w.method == "" {
		w.method = oneLine(r.text(wqpMethod))
	}
	w.method = shortLine(w.method)
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
func (w *wqpResult) parseTime(r *row) {
	w.time = noTime
	s := r.text(wqpTime)
	if s == "" {
		return
	}
	clock, err := time.Parse("15:04:05", s)
	if err != nil {
		if clock, err = time.Parse("15:04", s); err != nil {
			r.bad(wqpTime, s, "a time such as 13:55:00")
		}
	}
	minutes, known := wqpZones[strings.ToUpper(r.text(wqpZone))]
	if w.unzoned = !known; known {
		w.time = w.date.Time().Unix() + int64(clock.Hour())*3600 + int64(clock.Minute()-minutes)*60 + int64(clock.Second())
	}
}
