package api

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/paulmach/orb"

	"limnomap/api/cql2"
	"limnomap/api/features"
	"limnomap/api/ogc"
	"limnomap/api/record"
	"limnomap/api/route"
	"limnomap/data"
)

// featureHandlers answer requests of OGC API - Features.
type featureHandlers struct {
	*lakeHandlers
	events  *eventHandlers
	ogc     *ogc.Service
	service *features.Service
}

// described returns what a list of collections says about those of the published snapshot.
func (h *featureHandlers) described(base string) (all []any) {
	p, err := h.published()
	if err != nil {
		return nil
	}
	for _, c := range h.collections(p) {
		all = append(all, h.describedOne(c, base, p))
	}
	return all
}

// describedOne returns what a list of collections says about one.
func (h *featureHandlers) describedOne(c *features.Collection, base string, p *published) any {
	description := c.Describe(base, h.ogc.Extent(p.state))
	switch c.ID {
	case series.ID:
		series.Describe(base, description)
	case lakePixels.ID:
		lakePixels.Describe(base, description)
	}
	return description
}

// collections returns what can be asked for of a snapshot.
func (h *featureHandlers) collections(p *published) []*features.Collection {
	return []*features.Collection{h.lakes(p), h.observations(p), h.statements(p), h.changes(p)}
}

// collection returns the collection that the path names.
func (h *featureHandlers) collection(r *http.Request, p *published) (*features.Collection, error) {
	id := route.Values(r)[0]
	all := h.collections(p)
	i := slices.IndexFunc(all, func(c *features.Collection) bool { return c.ID == id })
	if i < 0 {
		return nil, errNoCollection
	}
	return all[i], nil
}

// items answers with a page of features.
func (h *featureHandlers) items(w http.ResponseWriter, r *http.Request, p *published) error {
	c, err := h.collection(r, p)
	if err != nil {
		return err
	}
	return h.service.Items(w, r, c, p.state.Updated)
}

// item answers with one feature.
func (h *featureHandlers) item(w http.ResponseWriter, r *http.Request, p *published) error {
	c, err := h.collection(r, p)
	if err != nil {
		return err
	}
	return h.service.Item(w, r, c, route.Values(r)[1])
}

// queryables answers with the properties by which features can be selected.
func (h *featureHandlers) queryables(w http.ResponseWriter, r *http.Request, p *published) error {
	c, err := h.collection(r, p)
	if err != nil {
		return err
	}
	return h.service.Queryables(w, r, c)
}

// description answers with the description of all collections.
func (h *featureHandlers) description(w http.ResponseWriter, r *http.Request, p *published) error {
	return h.service.Description(w, r, h.collections(p), slices.Concat(series.Operations(), lakePixels.Operations())...)
}

// describe answers with what a list of collections says about one.
func (h *featureHandlers) describe(w http.ResponseWriter, r *http.Request, p *published) error {
	c, err := h.collection(r, p)
	if err != nil {
		return err
	}
	return h.ogc.Describe(w, r, func(base string) any { return h.describedOne(c, base, p) })
}

// finest is the zoom of outlines in features.
const finest = 16

// shapeOf returns the place of a lake, with its shore if it is asked for and known.
func shapeOf(l *data.Lake, outlines bool) (cql2.Shape, bool) {
	if !outlines || l.Outline == "" {
		return cql2.Shape{Point: l.Point}, true
	}
	shore := l.Outline
	return cql2.Shape{Point: l.Point, Bound: shore.Bound(), Points: len(shore) / bytesOfPoint, Rings: func() iter.Seq[[]orb.Point] {
		return shore.Rings(finest, new([]orb.Point))
	}}, true
}

// bytesOfPoint is about what a point of an outline takes in all zooms together.
const bytesOfPoint = 6

// lakeFeatureColumns are those of the lakes as features.
var lakeFeatureColumns = slices.Concat(lakeColumns[:2:2], record.Columns[lakeRecord]{
	record.Text("region", func(r lakeRecord) string { return r.lake.Region }).OrNull(),
	record.Number("area_km2", func(r lakeRecord) float64 { return record.Known(r.lake.AreaKM2, r.lake.AreaKM2 > 0) }).OrNull(),
	record.Word("water_id", func(r lakeRecord) string { return r.lake.WaterID }).OrNull(),
}, lakeColumns[2:])

// lakes are the lakes with their current state.
func (h *featureHandlers) lakes(p *published) *features.Collection {
	view := p.snap.Current
	return features.New(features.Collection{
		ID: "lakes", Title: "Lakes",
		Description: "All lakes with their current state. A lake without a current value has chl null, which never means clean water.",
		Outlines:    true, Sortable: true, Count: len(view.Lakes),
	}, lakeFeatureColumns, h.lakeSource(p))
}

// lakeSource returns where the lakes of a snapshot are from.
func (h *featureHandlers) lakeSource(p *published) features.Source[lakeRecord] {
	view := p.snap.Current
	return features.Source[lakeRecord]{
		Walk: func(r *http.Request, _ *features.Query, after string, visit func(lakeRecord) bool) (string, error) {
			return "", h.searchLakes(r, p, func() {
				for i := lakeAfter(view.Lakes, after); i < len(view.Lakes) && visit(h.encoder.lake(view, i)); i++ {
				}
			})
		},
		Find: func(_ *http.Request, key string) (lakeRecord, bool, error) {
			i, ok := p.snap.Index(data.LakeID(key))
			if !ok {
				return lakeRecord{}, false, nil
			}
			return h.encoder.lake(view, i), true, nil
		},
		Key:   func(l lakeRecord) string { return string(l.lake.ID) },
		Shape: func(l lakeRecord, outlines bool) (cql2.Shape, bool) { return shapeOf(l.lake, outlines) },
		Time: func(l lakeRecord) cql2.Value {
			if l.state.Risk == data.RiskUnknown {
				return cql2.Value{}
			}
			return cql2.TimeValue(time.Unix(l.state.MeasuredAt(), 0))
		},
		CheckKey: func(key string) error {
			_, err := data.ParseLakeID(key)
			return err
		},
	}
}

// lakeAfter returns the index of the first lake whose id is greater.
func lakeAfter(lakes []data.Lake, id string) int {
	i, found := slices.BinarySearchFunc(lakes, id, func(l data.Lake, id string) int { return strings.Compare(string(l.ID), id) })
	if found {
		i++
	}
	return i
}

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
		CheckKey: func(key string) error {
			_, err := parseObservationKey(key)
			return err
		},
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
		for j := range observations {
			o := newObservationRecord(&found, j, p.snap.Profile)
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

// statementFeatureColumns are those of official statements as features.
var statementFeatureColumns = slices.Concat(statementColumns.Pick("id,lake_id,lake_name,kind,cause,issuer"), record.Columns[statement]{
	record.Text("text_en", func(s statement) string { return s.TextEN }).OrNull(),
	record.Text("text_de", func(s statement) string { return s.TextDE }).OrNull(),
}, statementColumns.Pick("url,issued,valid_from,valid_until,withdrawn,active"))

// statements are the official statements.
func (h *featureHandlers) statements(p *published) *features.Collection {
	all, lakes := p.snap.Advisories.All()
	at := p.snap.Present(h.opts.Now())
	record := func(i int32) statement { return statement{&all[i], &p.snap.Lakes[lakes[i]], at} }
	return features.New(features.Collection{
		ID: "advisories", Title: "Official statements",
		Description: "What authorities say about bathing in the lakes, also what is over or withdrawn: active says what holds now.",
		Count:       len(all),
	}, statementFeatureColumns, features.Source[statement]{
		Walk: func(r *http.Request, _ *features.Query, after string, visit func(statement) bool) (string, error) {
			return "", h.sender.InTurn(r, len(all), func() error {
				var order []int32
				for i := range all {
					if string(all[i].ID) > after {
						order = append(order, int32(i))
					}
				}
				slices.SortFunc(order, func(i, j int32) int { return strings.Compare(string(all[i].ID), string(all[j].ID)) })
				for _, i := range order {
					if !visit(record(i)) {
						break
					}
				}
				return nil
			})
		},
		Find: func(_ *http.Request, key string) (statement, bool, error) {
			i := slices.IndexFunc(all, func(a data.Advisory) bool { return string(a.ID) == key })
			if i < 0 {
				return statement{}, false, nil
			}
			return record(int32(i)), true, nil
		},
		Key:   func(s statement) string { return string(s.ID) },
		Shape: func(s statement, _ bool) (cql2.Shape, bool) { return shapeOf(s.lake, false) },
		Time: func(s statement) cql2.Value {
			until := s.ValidUntil
			if !s.Withdrawn.IsZero() && (until.IsZero() || s.Withdrawn.Before(until)) {
				until = s.Withdrawn
			}
			if !until.IsZero() && until.Before(s.ValidFrom) {
				until = s.ValidFrom // withdrawn before it was valid
			}
			return cql2.PeriodValue(s.ValidFrom, until)
		},
		CheckKey: func(key string) error {
			_, err := data.ParseAdvisoryID(key)
			return err
		},
	})
}

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
		Time: func(c change) cql2.Value { return cql2.TimeValue(c.At) },
		CheckKey: func(key string) error {
			_, err := parseEventNumber(key)
			return err
		},
	})
}
