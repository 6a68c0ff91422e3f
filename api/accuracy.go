package api

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"limnomap/api/answer"
	"limnomap/api/lakepage"
	"limnomap/api/params"
	"limnomap/api/record"
	"limnomap/data"
	"limnomap/data/accuracy"
	"limnomap/data/snapshot"
	"limnomap/tiles/admission"
)

const pathAccuracy = "/api/v1/bathing-lakes/accuracy"

// Comparisons returns what the map is compared with; a data.Source does.
type Comparisons interface {
	// NearSamples passes on the samples of all lakes and the passes at most that many days before or after them, those of a lake one after the other.
	NearSamples(ctx context.Context, days int, observation func(data.Observation) error) (data.Revision, error)
}

// A ledger is what is known of how often the map was right, as of a snapshot.
type ledger struct {
	*accuracy.Ledger
	revision int64
	forecast int64 // the number of the revision of forecasts
	asOf     data.Date
	made     time.Time // when the data of the snapshot were changed
	begun    time.Time
}

// compareEvery is how often the map is compared again at most if only statements, forecasts or the day are others: it reads all samples.
const compareEvery = time.Hour

// ledgers makes the ledger, one at a time, and keeps the newest.
type ledgers struct {
	newest atomic.Pointer[ledger] // nil before the first
	making chan struct{}          // has room for one
	turns  *admission.Turns       // in which requests make the first one: not those of weeks, which would wait for it
}

func newLedgers() ledgers {
	return ledgers{making: make(chan struct{}, 1), turns: admission.NewTurns(admission.TurnsOptions{Count: 1, Waiting: waitingComparisons})}
}

// waitingComparisons bounds the requests that wait for the first ledger.
const waitingComparisons = 64

// UpdateAccuracy compares the map with samples and official statements again if they may have changed. It should be called after each Publish, and may take
// minutes: it runs on a thread of low priority, and meanwhile requests have the results before.
func (s *Server) UpdateAccuracy(ctx context.Context) error {
	p, err := s.common.published()
	if err != nil {
		return nil // there is nothing to compare yet
	}
	if newest := s.common.ledgers.newest.Load(); newest != nil && newest.revision >= p.snap.Revision.Number && s.common.opts.Now().Sub(newest.begun) < compareEvery {
		return nil
	}
	return inBackground(func() error {
		_, err := s.common.updateLedger(ctx, p.snap)
		return err
	})
}

// updateLedger returns the ledger of a snapshot, which it makes if there is none yet.
func (s *common) updateLedger(ctx context.Context, snap *snapshot.Snapshot) (*ledger, error) {
	select {
	case s.ledgers.making <- struct{}{}:
		defer func() { <-s.ledgers.making }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	newest := s.ledgers.newest.Load()
	number := max(snap.Revision.Number, snap.StatementsOf)
	if newest != nil && newest.revision == number && newest.forecast == snap.Revision.Forecasts && newest.asOf == snap.Current.AsOf {
		return newest, nil
	}
	begun := s.opts.Now()
	l, err := CompareMap(ctx, snap, s.opts.Comparisons, s.opts.Historian, s.opts.Issues, s.opts.MatchDays)
	if err != nil {
		return nil, fmt.Errorf("compare the map with samples: %w", err)
	}
	made := &ledger{l, number, snap.Revision.Forecasts, snap.Current.AsOf, generatedAt(snap), begun}
	s.ledgers.newest.Store(made)
	return made, nil
}

// CompareMap compares the lakes of a snapshot with samples that are at most that many days apart from a pass, and with official statements, and forecasts with the
// passes that came. Without comparisons there are no samples.
func CompareMap(ctx context.Context, snap *snapshot.Snapshot, comparisons Comparisons, historian Historian, forecasts Issues, days int) (*accuracy.Ledger, error) {
	b, last := accuracy.NewBuilder(days, snap.Profile), snap.AsOf.Last()
	if comparisons != nil {
		_, err := comparisons.NearSamples(ctx, days, func(o data.Observation) error {
			if o.Date > last {
				return nil
			}
			if err := o.Check(); err != nil {
				return fmt.Errorf("lake %.80q on %s: %w", o.LakeID, o.Date, err)
			}
			return b.Add(o)
		})
		if err != nil {
			return nil, err
		}
	}
	statements, lakes := snap.Advisories.All()
	for i := 0; i < len(statements); {
		lake, first, tells := lakes[i], i, false
		for ; i < len(statements) && lakes[i] == lake; i++ {
			tells = tells || accuracy.Tells(&statements[i])
		}
		if !tells {
			continue
		}
		q := allOf(snap, data.TypesOf(data.Satellite))
		observations, whole := snap.History(int(lake), q)
		if !whole {
			var err error
			if _, observations, err = historian.History(ctx, snap.Lakes[lake].ID, q); err != nil {
				return nil, err
			}
		}
		b.AddStatements(snap.Lakes[lake].ID, observations, statements[first:i], min(last, snap.Current.AsOf))
	}
	if err := addForecasts(ctx, b, snap, forecasts, days); err != nil {
		return nil, err
	}
	return b.Ledger(func(id data.LakeID) (string, bool) {
		lake, ok := snap.Lake(id)
		if !ok {
			return "", false
		}
		return lake.Region, true
	}), nil
}

// addForecasts compares the newest issues of the forecast with the passes that came, as far as the snapshot has them in memory.
func addForecasts(ctx context.Context, b *accuracy.Builder, snap *snapshot.Snapshot, forecasts Issues, days int) error {
	issues, err := forecasts.ForecastIssues(ctx)
	if err != nil {
		return err
	}
	for _, issue := range comparedIssues(issues, snap) {
		_, _, err := forecasts.Forecasts(ctx, data.Known(issue.Issued), func(f data.LakeForecast) error {
			addForecast(b, snap, &issue, &f, days)
			return nil
		})
		if err != nil && !errors.Is(err, data.ErrNoForecast) { // it may have been replaced meanwhile
			return err
		}
	}
	return nil
}

// comparedIssues returns the newest issues of which a week is over.
func comparedIssues(issues []data.ForecastIssue, snap *snapshot.Snapshot) (compared []data.ForecastIssue) {
	for _, issue := range issues {
		if issue.Target(1) <= snap.Current.AsOf && len(compared) < accuracy.ForecastIssues {
			compared = append(compared, issue)
		}
	}
	return compared
}

// addForecast compares the forecasts of a lake.
func addForecast(b *accuracy.Builder, snap *snapshot.Snapshot, issue *data.ForecastIssue, f *data.LakeForecast, days int) {
	lake, ok := snap.Index(f.LakeID)
	for k := 0; ok && k < issue.Weeks; k++ {
		target := issue.Target(k + 1)
		if !f.Weeks[k].Known() || target > snap.Current.AsOf {
			continue
		}
		if came, ok := snap.PassNear(lake, target, days); ok && came.Date <= snap.Current.AsOf {
			b.AddForecast(k+1, f.Weeks[k], &came)
		}
	}
}

// CompareForecasts compares the newest issues of the forecast of one lake with the passes that came. The ledger has only the sums of all lakes, since those of a
// million would take as much memory as their values.
func CompareForecasts(ctx context.Context, snap *snapshot.Snapshot, id data.LakeID, forecasts Issues, days int) (compared [data.ForecastWeeks]accuracy.Forecasts, err error) {
	issues, err := forecasts.ForecastIssues(ctx)
	if err != nil {
		return compared, err
	}
	b := accuracy.NewBuilder(days, snap.Profile)
	for _, issue := range comparedIssues(issues, snap) {
		switch _, f, err := forecasts.LakeForecast(ctx, id, issue.Issued); {
		case err == nil:
			f.LakeID = id
			addForecast(b, snap, &issue, &f, days)
		case !errors.Is(err, data.ErrNoForecast): // it has none, or the issue has been replaced meanwhile
			return compared, err
		}
	}
	return b.Forecasts(), nil
}

// ledgerOf returns the newest ledger. The first is made by the first request, unless the server has made it before.
func (h *common) ledgerOf(r *http.Request, p *published) (l *ledger, err error) {
	if l = h.ledgers.newest.Load(); l != nil {
		return l, nil
	}
	err = askInTurn(r, h.ledgers.turns, weekTurnWait, errStore, func(ctx context.Context) error {
		l, err = h.updateLedger(ctx, p.snap)
		return err
	})
	return l, err
}

// compared returns what the page of a lake says: with the bias of the product that has most match-ups of those with one.
func (l *ledger) compared(id data.LakeID) (c lakepage.Compared) {
	matches, groups := l.Lake(id)
	first := accuracy.FirstOf(matches)
	c.Samples = first.Matches
	c.Same, c.Lower, c.Higher = first.Agreement()
	most := 0
	for i := range groups {
		if g := &groups[i]; g.Biased && g.Matches > most {
			most, c.Factor = g.Matches, g.Factor()
		}
	}
	return c
}

// decimals rounds a number; infinity is null, as NaN.
func decimals(f float64, n int) float64 {
	if math.IsInf(f, 0) {
		return math.NaN()
	}
	power := math.Pow(10, float64(n))
	return math.Round(f*power) / power
}

// An accuracyGroup is a group of one kind.
type accuracyGroup struct {
	*accuracy.Group
	by accuracy.By
}

// is returns what the group is of, if it is of that kind.
func (g accuracyGroup) is(by accuracy.By) string {
	if g.by == by {
		return g.Of
	}
	return ""
}

// same, low and high are those of the agreement.
func (g accuracyGroup) same() float64 { n, _, _ := g.Agreement(); return float64(n) }
func (g accuracyGroup) low() float64  { _, n, _ := g.Agreement(); return float64(n) }
func (g accuracyGroup) high() float64 { _, _, n := g.Agreement(); return float64(n) }

var accuracyColumns = record.Columns[accuracyGroup]{
	record.Text("product", func(g accuracyGroup) string { return g.Product }).OrNull(),
	record.Text("region", func(g accuracyGroup) string { return g.is(accuracy.ByRegion) }).OrNull(),
	record.Word("class", func(g accuracyGroup) string { return g.is(accuracy.ByClass) }).OrNull(),
	record.Word("lake_id", func(g accuracyGroup) string { return g.is(accuracy.ByLake) }).OrNull(),
	record.Integer("match_ups", func(g accuracyGroup) float64 { return float64(g.Matches) }),
	record.Integer("lakes", func(g accuracyGroup) float64 { return float64(g.Lakes) }),
	record.Number("bias", func(g accuracyGroup) float64 { return decimals(g.Bias, 4) }),
	record.Number("factor", func(g accuracyGroup) float64 { return decimals(g.Factor(), 3) }),
	record.Number("spread", func(g accuracyGroup) float64 { return decimals(g.Spread, 4) }).OrNull(),
	record.Bool("biased", func(g accuracyGroup) bool { return g.Biased }),
	record.Number("within_factor_2", func(g accuracyGroup) float64 { return decimals(float64(g.Within)/float64(g.Matches), 4) }),
	record.Integer("same_class", accuracyGroup.same),
	record.Integer("shown_lower", accuracyGroup.low),
	record.Integer("shown_higher", accuracyGroup.high),
	record.New("classes", "array", func(b []byte, _ record.Format, g accuracyGroup) []byte {
		for i, n := range slices.Concat(g.Classes[0][:], g.Classes[1][:], g.Classes[2][:]) {
			b = append(b, "[,"[min(i, 1)])
			b = strconv.AppendInt(b, int64(n), 10)
		}
		return append(b, ']')
	}),
	record.Number("interval_lower", func(g accuracyGroup) float64 {
		return record.Known(decimals(g.Interval.Value.Lower, 3), g.Interval.Known)
	}).OrNull(),
	record.Number("interval_upper", func(g accuracyGroup) float64 {
		return record.Known(decimals(g.Interval.Value.Upper, 3), g.Interval.Known)
	}).OrNull(),
	record.Word("interval_by", func(g accuracyGroup) string {
		if !g.Interval.Known {
			return ""
		}
		return g.IntervalBy.String()
	}).OrNull(),
}

var matchColumns = record.Columns[*accuracy.Match]{
	record.Text("product", func(m *accuracy.Match) string { return m.Product }).OrNull(),
	record.Word("satellite_date", func(m *accuracy.Match) string { return m.Satellite.Date.String() }),
	record.Chlorophyll("satellite_chl", func(m *accuracy.Match) data.Chlorophyll { return m.Satellite.Chlorophyll }),
	record.Word("satellite_risk", func(m *accuracy.Match) string { return m.Satellite.Risk.String() }),
	record.Word("sample_date", func(m *accuracy.Match) string { return m.Sample.Date.String() }),
	record.Chlorophyll("sample_chl", func(m *accuracy.Match) data.Chlorophyll { return m.Sample.Chlorophyll }),
	record.Word("sample_risk", func(m *accuracy.Match) string { return m.Sample.Risk.String() }),
	record.Number("difference", func(m *accuracy.Match) float64 { return decimals(m.Difference(), 4) }),
	record.Bool("nearest", func(m *accuracy.Match) bool { return m.First }),
}

var warningColumns = record.Columns[*accuracy.Warnings]{
	record.Word("class", func(w *accuracy.Warnings) string { return w.Risk.String() }),
	record.Integer("hits", func(w *accuracy.Warnings) float64 { return float64(w.Hits) }),
	record.Integer("misses", func(w *accuracy.Warnings) float64 { return float64(w.Misses) }),
	record.Integer("unseen", func(w *accuracy.Warnings) float64 { return float64(w.Unseen) }),
	record.Integer("false_alarms", func(w *accuracy.Warnings) float64 { return float64(w.FalseAlarms) }),
	record.Number("median_lead_days", func(w *accuracy.Warnings) float64 { return record.Known(w.MedianLead()) }).OrNull(),
}

// A forecastAccuracy compares the forecasts of a number of weeks ahead with what came.
type forecastAccuracy struct {
	*accuracy.Forecasts
	week int
}

var forecastAccuracyColumns = record.Columns[forecastAccuracy]{
	record.Integer("week", func(f forecastAccuracy) float64 { return float64(f.week) }),
	record.Integer("forecasts", func(f forecastAccuracy) float64 { return float64(f.Count) }),
	record.Number("factor", func(f forecastAccuracy) float64 { return decimals(f.Factor(), 3) }),
	record.Number("rmse", func(f forecastAccuracy) float64 { return decimals(f.RMSE(), 4) }),
	record.Number("within_factor_2", func(f forecastAccuracy) float64 { return decimals(float64(f.Within)/float64(f.Count), 4) }),
	record.Number("within_bounds", func(f forecastAccuracy) float64 { return decimals(float64(f.Covered)/float64(f.Count), 4) }),
	record.Integer("same_class", func(f forecastAccuracy) float64 { n, _, _ := f.Agreement(); return float64(n) }),
	record.Integer("shown_lower", func(f forecastAccuracy) float64 { _, n, _ := f.Agreement(); return float64(n) }),
	record.Integer("shown_higher", func(f forecastAccuracy) float64 { _, _, n := f.Agreement(); return float64(n) }),
}

// accuracy answers with how often the map was right: by product, region, class or lake, or of one lake with its match-ups.
func (h *lakeHandlers) accuracy(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	name := params.OneOf(&query, "by", accuracy.AllBy())
	id := params.Parsed(&query, "lake", "", data.ParseLakeID, mistakeInLakeID)
	if err := query.Err(); err != nil {
		return err
	}
	if _, ok := p.snap.Index(id); id != "" && !ok {
		return data.ErrNoLake
	}
	l, err := h.ledgerOf(r, p)
	if err != nil {
		return err
	}
	by := accuracy.By(slices.Index(accuracy.AllBy(), name))
	groups, warnings := l.Groups(by), l.Warnings
	forecasts := l.Forecasts
	var matches []accuracy.Match
	if id != "" {
		err := h.askStore(r, errIssueStore, func(ctx context.Context) (err error) {
			forecasts, err = CompareForecasts(ctx, p.snap, id, h.opts.Issues, l.Days)
			return err
		})
		if err != nil {
			return err
		}
		by = accuracy.ByLake
		matches, groups = l.Lake(id)
		warnings, _ = l.WarningsOf(id)
	}
	return h.sender.SendList(w, r, jsonKind, len(groups)+len(matches), func() answer.List {
		tail := record.Object("]").Array("statements")
		if _, stated := l.WarningsOf(id); stated || id == "" {
			tail = appendAll(tail, pointers(warnings[:]), warningColumns)
		}
		tail = tail.Close("]").Array("forecasts")
		var compared []forecastAccuracy
		for k := range forecasts {
			if f := &forecasts[k]; f.Count > 0 {
				compared = append(compared, forecastAccuracy{f, k + 1})
			}
		}
		tail = appendAll(tail, compared, forecastAccuracyColumns).Close("]").Name("samples")
		if id == "" {
			tail = append(tail, `null,"match_ups":null`...)
		} else {
			of := accuracy.FirstOf(matches)
			same, low, high := of.Agreement()
			tail = append(tail, '{').Int("samples", of.Matches).Int("same_class", same).Int("shown_lower", low).Int("shown_higher", high).Close("}")
			tail = appendAll(tail.Array("match_ups"), pointers(matches), matchColumns).Close("]")
		}
		return answer.List{
			Head: record.Object("{").Time("generated_at", l.made).Int("match_days", l.Days).Text("by", by.String()).TextOrNull("lake_id", string(id)).Int("total", len(groups)).Array("groups"),
			Append: func(b []byte, i int) []byte {
				return accuracyColumns.AppendObject(b, record.Member, accuracyGroup{&groups[i], by})
			},
			Between: ",",
			Tail:    string(tail.Close("}\n")),
			Len:     len(groups),
			Memory:  int64(len(tail)),
		}
	})
}
