package eventfeed

import (
	"time"

	"limnomap/data"
)

// A Record is an event as JSON.
type Record struct {
	Seq      int64       `json:"seq"`
	ID       string      `json:"id"`
	At       string      `json:"at"`
	Kind     string      `json:"kind"`
	LakeID   data.LakeID `json:"lake_id"`
	LakeName *string     `json:"lake_name"` // null, as the members below, for a lake that is gone
	Lat      *float64    `json:"lat"`
	Lon      *float64    `json:"lon"`
	Region   *string     `json:"region"` // also null for a lake without one
	Before   Value       `json:"before"`
	After    Value       `json:"after"`
	Advisory *Advisory   `json:"advisory"`
	Forecast *Forecast   `json:"forecast"`
	// ShareHigh is the part of the lake with a high risk, of a BloomShare only.
	ShareHigh *float64 `json:"share_high,omitempty"`
	Snapshot  string   `json:"snapshot"`
}

// A Value is the current value of a lake, as a status record has it: without one, chl and level are null, and risk and measured_at are those
// of the last known value.
type Value struct {
	Chl        *float64 `json:"chl"`
	Level      *int     `json:"level"`
	Risk       *string  `json:"risk"` // null without a current value
	MeasuredAt *string  `json:"measured_at"`
}

// An Advisory is an official statement.
type Advisory struct {
	ID         data.AdvisoryID `json:"id"`
	Kind       string          `json:"kind"`
	KindBefore *string         `json:"kind_before"` // null but for AdvisoryChanged
	Cause      string          `json:"cause"`
	Issuer     string          `json:"issuer"`
	URL        *string         `json:"url"`
	ValidUntil *string         `json:"valid_until"`
}

// A Forecast is the forecast that a lake exceeds its level.
type Forecast struct {
	IssuedAt    string  `json:"issued_at"`
	Week        int     `json:"week"`
	TargetDate  string  `json:"target_date"`
	Level       int     `json:"level"`
	Risk        string  `json:"risk"`
	Probability float64 `json:"probability"` // of that level or a higher one
}

// RecordOf returns the record of an event.
func RecordOf(e *data.Event, places Places) Record {
	r := Record{Seq: e.Seq, ID: string(e.ID), At: timeText(e.At), Kind: e.Kind.String(), LakeID: e.LakeID, Before: valueOf(e.Before), After: valueOf(e.After),
		Snapshot: e.Snapshot}
	if lake, ok := places.Lake(e.LakeID); ok {
		lon, lat := lake.Point.Lon(), lake.Point.Lat()
		r.LakeName, r.Lat, r.Lon, r.Region = &lake.Name, &lat, &lon, textOrNil(lake.Region)
	}
	switch {
	case e.Kind.OfAdvisory():
		a := &e.Advisory
		r.Advisory = &Advisory{ID: a.ID, Kind: a.Kind.String(), KindBefore: textOrNil(a.KindBefore.String()), Cause: a.Cause.String(), Issuer: a.Issuer, URL: textOrNil(a.URL)}
		if !a.ValidUntil.IsZero() {
			r.Advisory.ValidUntil = textOrNil(timeText(a.ValidUntil))
		}
	case e.Kind == data.BloomShare:
		share := e.ShareHigh.Float()
		r.ShareHigh = &share
	case e.Kind == data.ForecastExceeds:
		f := &e.Forecast
		issue := data.ForecastIssue{Issued: f.Issued}
		r.Forecast = &Forecast{IssuedAt: f.Issued.String(), Week: f.Week, TargetDate: issue.Target(f.Week).String(), Level: int(f.Level), Risk: f.Level.Risk().String(),
			Probability: float64(f.Chance) / 10_000}
	}
	return r
}

func valueOf(v data.EventValue) (r Value) {
	if v.Chlorophyll.Valid() {
		chl := v.Chlorophyll.Float()
		r.Chl = &chl
	}
	if v.Level != data.NoLevel {
		level := int(v.Level)
		r.Level, r.Risk = &level, textOrNil(v.Level.Risk().String())
	}
	if v.MeasuredAt.Known {
		r.MeasuredAt = textOrNil(timeText(time.Unix(v.MeasuredAt.Value, 0)))
	}
	return r
}

func timeText(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func textOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
