package api

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"

	"limnomap/api/params"
	"limnomap/api/record"
	"limnomap/data"
	"limnomap/data/forecast"
	"limnomap/data/index"
	"limnomap/data/sampling"
	"limnomap/data/snapshot"
	"limnomap/data/statistics"
)

const pathSamplingPlan = "/api/v1/bathing-lakes/sampling-plan"

const (
	// MaxPlanned bounds the samples of a plan, and defaultPlanned is what an authority takes in a week.
	MaxPlanned, defaultPlanned = 1000, 20
	// planNearMetres and planNeighbours bound which lakes are neighbours, planLeast is of how many with a new value there is a median.
	planNearMetres, planNeighbours, planLeast = 25_000, 9, 3
	// planApart is the factor from which a difference to the neighbours is a reason, and planWide that between the bounds of four of five values.
	planApart, planWide = 3, 10
	// maxPlans is how many plans are kept: of both classes for some regions, at most 150 KB each.
	maxPlans = 16
	// planCost is how many times as long a lake takes as an item of a list.
	planCost = 64
)

// A PlannedSample is a lake of a plan, and why it is there.
type PlannedSample struct {
	sampling.Lake
	Of    *data.Lake
	Limit data.Chlorophyll // where the class begins
	Risk  data.Risk        // the class
}

// PlanSamples returns the lakes where a sample would tell most on the day of the current view, at most n of them, the most first. Only lakes of the region
// count, if it is not empty, and only those with a value in memory. The error is that of ctx.
func PlanSamples(ctx context.Context, snap *snapshot.Snapshot, places *index.PointIndex, n int, region string, risk data.Risk) ([]PlannedSample, error) {
	var lakes []int32
	for i := range snap.Lakes {
		if region == "" || snap.Lakes[i].Region == region {
			lakes = append(lakes, int32(i))
		}
	}
	return planSamples(ctx, snap, places, n, lakes, risk)
}

// planSamples is PlanSamples for the lakes with these indices.
func planSamples(ctx context.Context, snap *snapshot.Snapshot, places *index.PointIndex, n int, indices []int32, risk data.Risk) ([]PlannedSample, error) {
	limit := snap.Profile.Limits[risk-data.RiskMedium]
	var lakes []sampling.Lake
	for _, i := range indices {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if lake, ok := samplingLake(snap, places, int(i)); ok {
			lakes = append(lakes, lake)
		}
	}
	sampling.Rank(lakes, limit.Float())
	plan := make([]PlannedSample, min(n, len(lakes)))
	for i := range plan {
		plan[i] = PlannedSample{lakes[i], &snap.Lakes[lakes[i].Index], limit, risk}
	}
	return plan, nil
}

// samplingLake returns what is known of the i-th lake; false without any value.
func samplingLake(snap *snapshot.Snapshot, places *index.PointIndex, i int) (l sampling.Lake, ok bool) {
	today := snap.Current.AsOf
	measured, _ := snap.Measured(i)
	values := statistics.ValuesOf(measured, statistics.Together)
	if len(values) == 0 {
		return l, false
	}
	filter := forecast.New(snap.Lakes[i].Point.Lat())
	for _, v := range values {
		filter.Add(forecast.Value{Day: int(v.Date), Chl: v.Chlorophyll})
	}
	l = sampling.Lake{Index: i, Prediction: filter.Predict(int(today)), Values: len(values), SinceSample: -1}
	for k := range measured {
		if o := &measured[k]; o.Type == data.InSitu && (l.SinceSample < 0 || int(today-o.Date) < l.SinceSample) {
			l.SinceSample = int(today - o.Date)
		}
	}
	own, ok := newestPass(snap, i, today)
	if !ok {
		return l, true
	}
	var others []float64
	for _, n := range places.Nearest(snap.Lakes, snap.Lakes[i].Point, planNearMetres, planNeighbours) {
		if other, ok := newestPass(snap, n.Lake, today); ok && n.Lake != i {
			others = append(others, other)
		}
	}
	if len(others) >= planLeast {
		slices.Sort(others)
		l.Apart = own - (others[(len(others)-1)/2]+others[len(others)/2])/2
	}
	return l, true
}

// newestPass returns the logarithm of the newest pass over a lake that is not old.
func newestPass(snap *snapshot.Snapshot, i int, today data.Date) (ln float64, ok bool) {
	o, ok := snap.PassNear(i, today, snapshot.OldAfter)
	if !ok || o.Date > today {
		return 0, false
	}
	return math.Log(max(o.Chlorophyll.Float(), 0.1)), true
}

// Chance returns the probability that a sample has the class or a worse one.
func (s *PlannedSample) Chance() float64 {
	p := s.Expected()
	return p.Exceeds(s.Limit.Float())
}

// Reasons returns in English why a sample would tell something.
func (s *PlannedSample) Reasons() []string {
	p := s.Expected()
	reasons := []string{fmt.Sprintf("The chance of %s risk is %.0f %%.", map[data.Risk]string{data.RiskMedium: "medium or high", data.RiskHigh: "high"}[s.Risk], 100*s.Chance())}
	switch {
	case s.SinceSample < 0:
		reasons = append(reasons, "There is no earlier sample in the years in memory.")
	case s.SinceSample == 0:
		reasons = append(reasons, "A sample was taken today.")
	default:
		reasons = append(reasons, fmt.Sprintf("The last sample was %d days ago.", s.SinceSample))
	}
	if p.Upper() >= planWide*p.Lower() {
		reasons = append(reasons, fmt.Sprintf("Little is known: four of five values would be between %.2g and %.2g µg/l.", p.Lower(), p.Upper()))
	}
	if factor := math.Exp(math.Abs(s.Apart)); factor >= planApart {
		than := "more"
		if s.Apart < 0 {
			than = "less"
		}
		reasons = append(reasons, fmt.Sprintf("The satellite shows %.1f times %s than at the lakes around it.", factor, than))
	}
	return reasons
}

var plannedColumns = record.Columns[*PlannedSample]{
	record.Word("lake_id", func(s *PlannedSample) string { return string(s.Of.ID) }),
	record.Text("name", func(s *PlannedSample) string { return s.Of.Name }),
	record.Text("region", func(s *PlannedSample) string { return s.Of.Region }).OrNull(),
	record.Number("score", func(s *PlannedSample) float64 { return decimals(s.Score(s.Limit.Float()), 4) }),
	record.Number("chance", func(s *PlannedSample) float64 { return decimals(s.Chance(), 4) }),
	record.Number("chl", func(s *PlannedSample) float64 { return rounded(s.Prediction.Chl()) }),
	record.Number("chl_lower", func(s *PlannedSample) float64 { return rounded(s.Expected().Lower()) }),
	record.Number("chl_upper", func(s *PlannedSample) float64 { return rounded(s.Expected().Upper()) }),
	record.Integer("days_since_sample", func(s *PlannedSample) float64 {
		return record.Known(float64(s.SinceSample), s.SinceSample >= 0)
	}).OrNull(),
	record.Number("factor_of_neighbours", func(s *PlannedSample) float64 {
		return record.Known(decimals(math.Exp(s.Apart), 2), s.Apart != 0)
	}).OrNull(),
	record.New("reasons", "array", func(b []byte, f record.Format, s *PlannedSample) []byte {
		for i, reason := range s.Reasons() {
			b = append(b, "[,"[min(i, 1)])
			b = f.Text(b, reason)
		}
		return append(b, ']')
	}),
}

// A planKey names a plan that is kept, with as many lakes as a request may ask for.
type planKey struct {
	of     data.Risk
	region regionFilter
}

// samplingPlan answers with where samples would tell most this week.
func (h *lakeHandlers) samplingPlan(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	samples := query.Integer("samples", 1, MaxPlanned, defaultPlanned)
	of := params.OneOf(&query, "of", []string{data.RiskHigh.String(), data.RiskMedium.String()})
	region, lakes := p.lakesOf(&query)
	if err := query.Err(); err != nil {
		return err
	}
	risk := cmp.Or(map[string]data.Risk{data.RiskMedium.String(): data.RiskMedium}[of], data.RiskHigh)
	key := planKey{risk, region}
	plan, kept := p.plans.Get(key)
	if !kept {
		err := h.sender.InTurn(r, planCost*len(lakes), func() (err error) {
			if plan, kept = p.plans.Get(key); !kept { // no other request has made it meanwhile
				plan, err = planSamples(r.Context(), p.snap, p.lookup.places, MaxPlanned, lakes, risk)
			}
			return err
		})
		if err != nil {
			return err
		}
		if len(lakes) > 0 { // names that no region has must not replace others
			p.plans.Add(key, plan)
		}
	}
	plan = plan[:min(samples, len(plan))]
	content := record.Object("{").Time("generated_at", generatedAt(p.snap)).Text("date", p.snap.Current.AsOf.String()).Text("of", of).
		Number("limit", p.snap.Profile.Limits[risk-data.RiskMedium].Float()).Int("total", len(plan))
	content = appendAll(content.Array("plan"), pointers(plan), plannedColumns)
	return h.sender.SendBytes(w, r, jsonKind, content.Close("]}\n"))
}
