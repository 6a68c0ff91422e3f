package api

import (
	"net/http"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/api/record"
	"limnomap/data"
	"limnomap/data/snapshot"
)

const (
	// maxCounts is how many answers with counts are kept: those of a year of weeks, or of some weeks by each grouping.
	maxCounts = 64
	// maxCountsBytes is the largest size of an answer that is kept. One of more than a thousand regions is counted again.
	maxCountsBytes = 256 << 10
)

// A countsKey names an answer with counts. They are kept, since counting a million lakes takes a while.
type countsKey struct {
	by   snapshot.Grouping
	week data.Week
}

// stats answers with the number of lakes and the quantiles of their values, by region, risk or trophic status.
func (h *lakeHandlers) stats(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	by := params.OneOf(&query, "by", snapshot.Groupings())
	week, dated := query.Week(p.snap)
	if err := query.Err(); err != nil {
		return err
	}
	if !dated {
		week = p.snap.Current.Week
	}
	body, ok := p.counts.Get(countsKey{by, week})
	if ok {
		return h.sender.SendBody(w, r, jsonKind, body)
	}
	var content []byte
	err := p.weeks.during(r, p.snap, week, func(view *snapshot.View) (err error) {
		body, content, err = h.counted(p, view, by)
		return err
	})
	switch {
	case err != nil:
		return err
	case body != nil:
		return h.sender.SendBody(w, r, jsonKind, body)
	}
	return h.sender.SendBytes(w, r, jsonKind, content)
}

// counted returns the answer with the counts of a view of p. It is kept, unless it is large or the view is of a later revision: then it is
// returned as content.
func (h *lakeHandlers) counted(p *published, view *snapshot.View, by snapshot.Grouping) (body *answer.Body, content []byte, err error) {
	key := countsKey{by, view.Week}
	if body, ok := p.counts.Get(key); ok && !view.Later { // another request has counted meanwhile
		return body, nil, nil
	}
	content = statsBody(p.snap, view, by)
	if view.Later || len(content) > maxCountsBytes {
		return nil, content, nil
	}
	if body, err = h.sender.Prepare(jsonKind, content); err == nil {
		p.counts.Add(key, body)
	}
	return body, nil, err
}

// statsBody returns the counts of a view's lakes.
func statsBody(snap *snapshot.Snapshot, view *snapshot.View, by snapshot.Grouping) []byte {
	all, groups := view.Groups(by)
	week := view.Week.String()
	if len(snap.Weeks) == 0 {
		week = ""
	}
	b := addCounts(dataHead(snap, view.Week).TextOrNull("week", week).Text("by", string(by)).Open("all"), &all).Close("}")
	b = addWeekCounts(b.Open("week_counts"), snap.WeekCounts(view)).Close("}").Array("groups")
	for i := range groups {
		b = addCounts(b.Open("").TextOrNull("group", groups[i].Name), &groups[i]).Close("}")
	}
	return b.Close("]}\n")
}

// addWeekCounts appends how many lakes were measured in the week itself, and compares them with the week before.
func addWeekCounts(b record.Object, c snapshot.WeekCounts) record.Object {
	b = b.Int("measured", c.Measured).Int("high", c.OpenHigh).Int("high_measured", c.OpenHighMeasured)
	return b.Open("both_weeks").Int("measured", c.Both).Int("high", c.BothHigh).Int("high_before", c.BothHighBefore).Close("}")
}

// quantiles are the quantiles in an answer, in percent.
var quantiles = []struct {
	name    string
	percent int
}{{"min", 0}, {"p10", 10}, {"p25", 25}, {"median", 50}, {"p75", 75}, {"p90", 90}, {"max", 100}}

// addCounts appends the members of a group.
func addCounts(b record.Object, g *snapshot.Group) record.Object {
	b = b.Int("total_lakes", g.Lakes).Int("lakes_with_data", len(g.Values)).Int("lakes_without_data", g.Lakes-len(g.Values)).Int("closed", g.Closed)
	b = b.Open("risk")
	for r := data.RiskLow; r <= data.RiskHigh; r++ {
		b = b.Int(r.String(), g.Risks[r])
	}
	b = b.Close("}").Open("chl")
	for _, q := range quantiles {
		b = b.Number(q.name, record.Known(g.Quantile(q.percent)))
	}
	return b.Close("}")
}
