package ogc

import (
	"net/http"

	"limnomap/data"
	"limnomap/data/snapshot"
)

// The header fields that say how old the data of an answer are.
const (
	dataDateHeader = "X-Data-Date" // of the newest measurement that the map of the answer's week may show
	asOfHeader     = "X-As-Of"     // the day from which ages count, if it is not the present one
)

// DataDate returns the date of the newest measurement that the map of a week may show; empty if there is none.
func DataDate(snap *snapshot.Snapshot, w data.Week) string {
	d, ok := snap.Newest(w)
	if !ok {
		return ""
	}
	return d.String()
}

// AsOf returns the day from which ages count; empty if it is the present one.
func AsOf(snap *snapshot.Snapshot) string {
	if snap.AsOf.Clock() {
		return ""
	}
	return snap.Current.AsOf.String()
}

// NewDateFields returns the header fields of answers about the current map.
func NewDateFields(snap *snapshot.Snapshot) http.Header {
	fields := make(http.Header)
	if d := DataDate(snap, snap.Current.Week); d != "" {
		fields.Set(dataDateHeader, d)
	}
	if d := AsOf(snap); d != "" {
		fields.Set(asOfHeader, d)
	}
	return fields
}

// SetDates sets the header fields of an answer about the current map, or about that of a week.
func (s *State) SetDates(h http.Header, week data.Optional[data.Week]) {
	for name, values := range s.DateFields {
		h[name] = values
	}
	if !week.Known {
		return
	}
	if d := DataDate(s.Snapshot, week.Value); d != "" {
		h.Set(dataDateHeader, d)
	}
}
