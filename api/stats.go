package api

import (
	"net/http"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

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

// counts keep the answers with counts, since counting a million lakes takes a while.
type counts struct {
	bodies *lru.Cache[countsKey, *answer.Body]
	flight singleflight.Group
}

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
	if b, ok := p.counts.bodies.Get(countsKey{by, week}); ok {
		return h.sender.Send(w, r, jsonKind, answer.Prepared(b))
	}
	var counted answer.Source
	err := p.weeks.during(r, p.snap, week, func(view *snapshot.View) (err error) {
		counted, err = h.counted(p, view, by)
		return err
	})
	if err != nil {
		return err
	}
	return h.sender.Send(w, r, jsonKind, counted)
}

// counted returns the answer with the counts of a view of p. It is kept, unless it is large or the view is of a later revision.
func (h *lakeHandlers) counted(p *published, view *snapshot.View, by snapshot.Grouping) (answer.Source, error) {
	if view.Later {
		return answer.Bytes(statsBody(p.snap, view, by)), nil
	}
	key := countsKey{by, view.Week}
	if b, ok := p.counts.bodies.Get(key); ok {
		return answer.Prepared(b), nil
	}
	// Concurrent requests wait for the one that counts; counting needs no store and takes well under a second.
	source, err, _ := p.counts.flight.Do(string(by)+view.Week.String(), func() (any, error) {
		content := statsBody(p.snap, view, by)
		if len(content) > maxCountsBytes {
			return answer.Bytes(content), nil
		}
		b, err := h.sender.Prepare(jsonKind, content)
		if err != nil {
			return nil, err
		}
		p.counts.bodies.Add(key, b)
		return answer.Prepared(b), nil
	})
	if err != nil {
		return answer.Source{}, err
	}
	return source.(answer.Source), nil
}

// statsBody returns the counts of a view's lakes.
func statsBody(snap *snapshot.Snapshot, view *snapshot.View, by snapshot.Grouping) []byte {
	all, groups := view.Groups(by)
	week := view.Week.String()
	if len(snap.Weeks) == 0 {
		week = ""
	}
	b := addCounts(listHead(snap).TextOrNull("week", week).Text("by", string(by)).Open("all"), &all).Close("}").Array("groups")
	for i := range groups {
		b = addCounts(b.Open("").TextOrNull("group", groups[i].Name), &groups[i]).Close("}")
	}
	return b.Close("]}\n")
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
