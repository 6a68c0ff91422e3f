package api

import (
	"net/http"
	"strconv"

	"limnomap/api/answer"
	"limnomap/data"
)

// dates answers with the weeks that the map can show.
func (h *lakeHandlers) dates(w http.ResponseWriter, r *http.Request, p *published) error {
	return h.sender.Send(w, r, jsonKind, answer.Prepared(p.dates))
}

// appendDates appends the weeks, the oldest first, each with its Monday, which is a value of date=.
func appendDates(b []byte, snap *data.Snapshot) []byte {
	b = append(b, `{"generated_at":`...)
	b = appendTime(b, generatedAt(snap))
	b = append(b, `,"weeks":[`...)
	for i, week := range snap.Weeks {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"week":`...)
		b = appendString(b, week.Week.String())
		b = append(b, `,"date":`...)
		b = appendString(b, week.Week.Monday().String())
		b = append(b, `,"lakes_with_data":`...)
		b = strconv.AppendInt(b, int64(week.LakesWithData), 10)
		b = append(b, '}')
	}
	return append(b, "]}\n"...)
}
