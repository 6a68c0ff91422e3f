package api

import (
	"net/http"

	"limnomap/data"
	"limnomap/data/snapshot"
)

// dates answers with the weeks that the map can show.
func (h *lakeHandlers) dates(w http.ResponseWriter, r *http.Request, p *published) error {
	return h.sender.SendBody(w, r, jsonKind, p.dates)
}

// weeksBody returns the weeks, the oldest first, each with its Monday, which is a value of date=.
func weeksBody(snap *snapshot.Snapshot) []byte {
	b := dataHead(snap, snap.Current.Week).Array("weeks")
	for _, week := range snap.Weeks {
		b = b.Open("").Text("week", week.Week.String()).Text("date", week.Week.Monday().String()).Int("lakes_with_data", week.LakesWithData).Open("risk")
		for r := data.RiskLow; r <= data.RiskHigh; r++ {
			b = b.Int(r.String(), week.Risks[r])
		}
		b = b.Close("}").Close("}")
	}
	return b.Close("]}\n")
}
