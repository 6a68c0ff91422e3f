package api

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"limnomap/api/cql2"
	"limnomap/api/features"
	"limnomap/api/record"
	"limnomap/data"
)

// An observationKey is where an observation stands: by lake, from its newest date to its oldest, and then as in a history. As text it has four
// parts with colons between them: lake, date, type and the source in base64, a minus for no source.
type observationKey struct {
	lake string
	date data.Date
	typ  data.DataType
	text string // of the source
}

func (k observationKey) String() string {
	source := "-"
	if k.text != "" {
		source = base64.RawURLEncoding.EncodeToString([]byte(k.text))
	}
	return fmt.Sprintf("%s:%s:%s:%s", k.lake, k.date, k.typ, source)
}

func keyOfObservation(o *observationRecord) string {
	return observationKey{string(o.lake.ID), o.Date, o.Type, o.Source}.String()
}

func parseObservationKey(s string) (k observationKey, err error) {
	parts := strings.Split(s, ":")
	if len(parts) != 4 {
		return k, errors.New("want four parts")
	}
	if _, err := data.ParseLakeID(parts[0]); err != nil {
		return k, err
	}
	k.lake = parts[0]
	if k.date, err = data.ParseDate(parts[1]); err != nil {
		return k, err
	}
	if k.typ, err = data.ParseDataType(parts[2]); err != nil {
		return k, err
	}
	if parts[3] != "-" {
		source, err := base64.RawURLEncoding.DecodeString(parts[3])
		if err != nil {
			return k, err
		}
		k.text = string(source)
	}
	return k, nil
}

// observationFeatureColumns are those of observations as features: all are always there.
var observationFeatureColumns = func() record.Columns[*observationRecord] {
	columns := slices.Concat(observationColumns[:1:1], record.Columns[*observationRecord]{record.Text("lake_name", func(r *observationRecord) string { return r.lake.Name })},
		observationColumns[1:], cellOrigin, detailColumns, measuredColumns)
	for i := range columns {
		columns[i].Optional = false
	}
	return columns
}()

const (
	// maxLakesRead is of how many lakes one page of observations reads the history from the store.
	maxLakesRead = 500
	// historyRows is how many observations of a lake are read at once.
	historyRows = 1200
)

// measuredTypes are those of observations that were measured: forecasts are none.
var measuredTypes = data.TypesOf(data.Satellite, data.InSitu)

// observations are all values of all lakes.
func (h *featureHandlers) observations(p *published) *features.Collection {
	lakes := p.snap.Lakes
	return features.New(features.Collection{
		ID: "observations", Title: "Observations",
		Description: "What was measured of the lakes, from satellites and in samples; by lake, the newest first. Forecasts are not among it.",
		Count:       -1,
	}, observationFeatureColumns, features.Source[*observationRecord]{
		Walk: func(r *http.Request, q *features.Query, after string, visit func(*observationRecord) bool) (resume string, err error) {
			var from observationKey
			start := 0
			if after != "" {
				if from, err = parseObservationKey(after); err != nil {
					return "", err
				}
				start = lakeAfter(lakes, from.lake)
				if start > 0 && string(lakes[start-1].ID) == from.lake {
					start-- // the rest of its observations
				}
			}
			err = h.askStore(r, errStore, func(ctx context.Context) error {
				read := 0
				for i := start; i < len(lakes); i++ {
					id := string(lakes[i].ID)
					if !q.MayMatch(&cql2.Shape{Point: lakes[i].Point}, func(name string) (cql2.Value, bool) {
						return cql2.TextValue(id), name == "lake_id"
					}) {
						continue
					}
					if read >= maxLakesRead {
						resume = observationKey{string(lakes[i-1].ID), data.MinDate, data.Satellite, "\U0010ffff"}.String()
						return nil
					}
					reads, more, err := h.walkHistory(ctx, p, i, q, from, visit)
					if err != nil || !more {
						return err
					}
					read += reads
				}
				return nil
			})
			return resume, err
		},
		Find: func(r *http.Request, key string) (found *observationRecord, ok bool, err error) {
			k, err := parseObservationKey(key)
			if err != nil {
				return nil, false, err
			}
			i, ok := p.snap.Index(data.LakeID(k.lake))
			if !ok {
				return nil, false, nil
			}
			q := &features.Query{Period: cql2.TimeValue(k.date.Time())}
			err = h.askStore(r, errStore, func(ctx context.Context) error {
				_, _, err := h.walkHistory(ctx, p, i, q, observationKey{}, func(o *observationRecord) bool {
					if o.Type == k.typ && o.Source == k.text {
						found = o
					}
					return true
				})
				return err
			})
			return found, found != nil, err
		},
		Key:   keyOfObservation,
		Shape: func(o *observationRecord, _ bool) (cql2.Shape, bool) { return shapeOf(o.lake, false) },
		Time: func(o *observationRecord) cql2.Value {
			return cql2.PeriodValue(o.Date.Time(), o.Date.Time().Add(24*time.Hour-time.Millisecond))
		},
		CheckKey: checkBy(parseObservationKey),
	})
}

// walkHistory visits the observations of Lakes[i] after a key, the newest first. It returns how often it asked the store, and false if visit did.
func (h *featureHandlers) walkHistory(ctx context.Context, p *published, i int, q *features.Query, after observationKey, visit func(*observationRecord) bool) (reads int, more bool, err error) {
	ask := data.HistoryQuery{Period: daysOf(q), Limit: historyRows, Types: measuredTypes}
	found := lakeHistory{lake: p.snap.Lakes[i]}
	begun := after.lake != string(found.lake.ID)
	if !begun {
		ask.Period.Last = min(ask.Period.Last, after.date)
	}
	for {
		observations, whole := p.snap.History(i, ask)
		if !whole {
			stored := ask
			stored.Period.Last = min(ask.Period.Last, p.snap.AsOf.Last())
			reads++
			if found.lake, observations, err = h.opts.Historian.History(ctx, p.snap.Lakes[i].ID, stored); err == nil {
				err = checkHistory(found.lake, observations)
			}
			if errors.Is(err, data.ErrNoLake) { // deleted since
				return reads, true, nil
			}
			if err != nil {
				return reads, false, fmt.Errorf("history of %s: %w", p.snap.Lakes[i].ID, err)
			}
		}
		found.observations = observations
		records := make([]observationRecord, len(observations))
		for j := range observations {
			o := &records[j]
			*o = observationRecordOf(&found, j, p.snap.Profile)
			if !begun && !isAfter(o, after) {
				continue
			}
			if begun = true; !visit(o) {
				return reads, false, nil
			}
		}
		if len(observations) < historyRows {
			return reads, true, nil
		}
		// The rows of the last day may be incomplete: they are read again.
		last := observations[len(observations)-1]
		if last.Date == ask.Period.Last {
			return reads, false, fmt.Errorf("history of %s: more than %d observations on %s", p.snap.Lakes[i].ID, historyRows-1, last.Date)
		}
		ask.Period.Last = last.Date
		after, begun = observationKey{string(found.lake.ID), last.Date, last.Type, last.Source}, false
	}
}

// daysOf returns the days that a query asks for.
func daysOf(q *features.Query) data.Period {
	days := data.AllTime()
	if q.Period.Known() {
		first, last := q.Period.Bounds()
		if !first.IsZero() {
			days.First = max(days.First, data.DateOf(first))
		}
		if !last.IsZero() {
			days.Last = min(days.Last, data.DateOf(last))
		}
	}
	return days
}

// isAfter reports whether an observation follows the one with a key of the same lake, in a history.
func isAfter(o *observationRecord, k observationKey) bool {
	return data.CompareInHistory(o.Observation, &data.Observation{Date: k.date, Type: k.typ, Source: k.text}) > 0
}
