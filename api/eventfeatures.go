package api

import (
	"net/http"
	"strconv"
	"time"

	"limnomap/api/cql2"
	"limnomap/api/features"
	"limnomap/api/record"
	"limnomap/data"
)

// A change is an event with its lake, nil if that is gone.
type change struct {
	*data.Event
	lake *data.Lake
}

// changeColumns are those of events as features.
var changeColumns = record.Columns[change]{
	record.Integer("seq", func(c change) float64 { return float64(c.Seq) }),
	record.Word("event_id", func(c change) string { return string(c.ID) }),
	record.Time("at", func(c change) time.Time { return c.At }),
	record.Word("kind", func(c change) string { return c.Kind.String() }),
	record.Word("lake_id", func(c change) string { return string(c.LakeID) }),
	record.Text("lake_name", func(c change) string {
		if c.lake == nil {
			return ""
		}
		return c.lake.Name
	}).OrNull(),
	record.Chlorophyll("chl_before", func(c change) data.Chlorophyll { return c.Before.Chlorophyll }),
	record.Level("level_before", func(c change) data.Level { return c.Before.Level }),
	record.Chlorophyll("chl", func(c change) data.Chlorophyll { return c.After.Chlorophyll }),
	record.Level("level", func(c change) data.Level { return c.After.Level }),
	record.Text("advisory_id", func(c change) string { return string(c.Advisory.ID) }).OrNull(),
	record.Word("advisory_kind", func(c change) string {
		if !c.Kind.OfAdvisory() {
			return ""
		}
		return c.Advisory.Kind.String()
	}).OrNull(),
}

// changes are the events.
func (h *featureHandlers) changes(p *published) *features.Collection {
	read := func(r *http.Request, after int64, visit func(change) bool) (resume string, err error) {
		state := h.events.state()
		last := max(after, state.Oldest-1)
		ended, err := h.events.readLog(r, data.EventQuery{After: last, Until: state.Newest}, func(e *data.Event) bool {
			last = e.Seq
			c := change{Event: e}
			c.lake, _ = p.snap.Lake(e.LakeID)
			if !visit(c) {
				last = state.Newest
				return false
			}
			return true
		})
		if !ended && last < state.Newest {
			resume = strconv.FormatInt(last, 10)
		}
		return resume, err
	}
	return features.New(features.Collection{
		ID: "events", Title: "Events", Description: "What has changed: risks that rose or fell, official statements, and forecasts, in the order in which it happened.", Count: -1,
	}, changeColumns, features.Source[change]{
		Walk: func(r *http.Request, _ *features.Query, after string, visit func(change) bool) (string, error) {
			n := int64(0)
			if after != "" {
				var err error
				if n, err = parseEventNumber(after); err != nil {
					return "", err
				}
			}
			return read(r, n, visit)
		},
		Find: func(r *http.Request, key string) (found change, ok bool, err error) {
			n, err := parseEventNumber(key)
			if err != nil || n < 1 {
				return found, false, err
			}
			_, err = read(r, n-1, func(c change) bool {
				found, ok = c, c.Seq == n
				return false
			})
			return found, ok, err
		},
		Key: func(c change) string { return strconv.FormatInt(c.Seq, 10) },
		Shape: func(c change, _ bool) (cql2.Shape, bool) {
			if c.lake == nil {
				return cql2.Shape{}, false
			}
			return shapeOf(c.lake, false)
		},
		Time:     func(c change) cql2.Value { return cql2.TimeValue(c.At) },
		CheckKey: checkBy(parseEventNumber),
	})
}
