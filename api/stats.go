package api

import (
	"net/http"
	"strconv"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/data"
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
	by   data.Grouping
	week data.Week
}

func newCounts() (*counts, error) {
	bodies, err := lru.New[countsKey, *answer.Body](maxCounts)
	return &counts{bodies: bodies}, err
}

// stats answers with the number of lakes and the quantiles of their values, by region, risk or trophic status.
func (h *lakeHandlers) stats(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	by := params.OneOf(&query, "by", data.Groupings())
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
	err := p.weeks.during(r, p.snap, week, func(view *data.View) (err error) {
		counted, err = h.counted(p, view, by)
		return err
	})
	if err != nil {
		return err
	}
	return h.sender.Send(w, r, jsonKind, counted)
}

// counted returns the answer with the counts of a view of p. It is kept, unless it is large or the view is of a later revision.
func (h *lakeHandlers) counted(p *published, view *data.View, by data.Grouping) (answer.Source, error) {
	if view.Later {
		return answer.Bytes(appendStats(nil, p.snap, view, by)), nil
	}
	key := countsKey{by, view.Week}
	if b, ok := p.counts.bodies.Get(key); ok {
		return answer.Prepared(b), nil
	}
	// Concurrent requests wait for the one that counts; counting needs no store and takes well under a second.
	source, err, _ := p.counts.flight.Do(string(by)+view.Week.String(), func() (any, error) {
		content := appendStats(nil, p.snap, view, by)
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

// appendStats appends the counts of a view's lakes.
func appendStats(b []byte, snap *data.Snapshot, view *data.View, by data.Grouping) []byte {
	all, groups := view.Groups(by)
	b = append(b, `{"generated_at":`...)
	b = appendTime(b, generatedAt(snap))
	b = append(b, `,"week":`...)
	if len(snap.Weeks) == 0 {
		b = append(b, "null"...)
	} else {
		b = appendString(b, view.Week.String())
	}
	b = append(b, `,"by":`...)
	b = appendString(b, string(by))
	b = append(b, `,"all":{`...)
	b = appendCounts(b, &all)
	b = append(b, `},"groups":[`...)
	for i := range groups {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"group":`...)
		if groups[i].Name == "" {
			b = append(b, "null"...)
		} else {
			b = appendString(b, groups[i].Name)
		}
		b = append(b, ',')
		b = appendCounts(b, &groups[i])
		b = append(b, '}')
	}
	return append(b, "]}\n"...)
}

// quantiles are the quantiles in an answer, in percent.
var quantiles = []struct {
	name    string
	percent int
}{{"min", 0}, {"p10", 10}, {"p25", 25}, {"median", 50}, {"p75", 75}, {"p90", 90}, {"max", 100}}

// appendCounts appends the members of a group.
func appendCounts(b []byte, g *data.Group) []byte {
	count := func(name string, n int) {
		b = append(b, '"')
		b = append(b, name...)
		b = append(b, `":`...)
		b = strconv.AppendInt(b, int64(n), 10)
	}
	count("total_lakes", g.Lakes)
	b = append(b, ',')
	count("lakes_with_data", len(g.Values))
	b = append(b, ',')
	count("lakes_without_data", g.Lakes-len(g.Values))
	b = append(b, ',')
	count("closed", g.Closed)
	b = append(b, `,"risk":{`...)
	for r := data.RiskLow; r <= data.RiskHigh; r++ {
		if r > data.RiskLow {
			b = append(b, ',')
		}
		count(r.String(), g.Risks[r])
	}
	b = append(b, `},"chl":{`...)
	for i, q := range quantiles {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, q.name...)
		b = append(b, `":`...)
		if value, ok := g.Quantile(q.percent); ok {
			b = appendFloat(b, value)
		} else {
			b = append(b, "null"...)
		}
	}
	return append(b, '}')
}
