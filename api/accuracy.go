package api

import (
	"context"
	"net/http"
	"slices"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/api/record"
	"limnomap/data"
	"limnomap/data/accuracy"
)

const pathAccuracy = "/api/v1/bathing-lakes/accuracy"

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
