package api

import (
	"strconv"

	"limnomap/api/answer"
	"limnomap/data"
)

// listTail ends each JSON answer that is a list of lakes.
const listTail = "]}\n"

// statusList returns the status envelope of the selection.
func (e *encoder) statusList(snap *data.Snapshot, sel selection) answer.List {
	view := sel.view
	return sel.list(appendStatusHead(nil, snap, sel.n, sel.withData),
		func(b []byte, i int) []byte { return e.status(b, &view.Lakes[i], &view.States[i]) }, ",", listTail)
}

// appendStatusHead appends a status envelope up to its first lake.
func appendStatusHead(b []byte, snap *data.Snapshot, total, withData int) []byte {
	b = append(b, `{"generated_at":`...)
	b = appendTime(b, generatedAt(snap))
	b = append(b, `,"total_lakes":`...)
	b = strconv.AppendInt(b, int64(total), 10)
	b = append(b, `,"lakes_with_data":`...)
	b = strconv.AppendInt(b, int64(withData), 10)
	return append(b, `,"lakes":[`...)
}

// featureList returns a view's lakes as GeoJSON features.
func (e *encoder) featureList(view *data.View) answer.List {
	sel := everything(view)
	return sel.list([]byte(`{"type":"FeatureCollection","features":[`),
		func(b []byte, i int) []byte { return e.feature(b, &view.Lakes[i], &view.States[i]) }, ",", listTail)
}
