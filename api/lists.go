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
	head := append([]byte(nil), `{"generated_at":`...)
	head = appendTime(head, generatedAt(snap))
	head = append(head, `,"total_lakes":`...)
	head = strconv.AppendInt(head, int64(sel.n), 10)
	head = append(head, `,"lakes_with_data":`...)
	head = strconv.AppendInt(head, int64(sel.withData), 10)
	head = append(head, `,"lakes":[`...)
	view := sel.view
	return sel.list(head, func(b []byte, i int) []byte { return e.status(b, &view.Lakes[i], &view.States[i]) }, ",", listTail)
}

// featureList returns a view's lakes as GeoJSON features.
func (e *encoder) featureList(view *data.View) answer.List {
	sel := everything(view)
	return sel.list([]byte(`{"type":"FeatureCollection","features":[`),
		func(b []byte, i int) []byte { return e.feature(b, &view.Lakes[i], &view.States[i]) }, ",", listTail)
}
