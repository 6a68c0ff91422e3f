package api

import (
	"net/http"
	"slices"
	"strings"

	"limnomap/api/cql2"
	"limnomap/api/features"
	"limnomap/api/record"
	"limnomap/data"
)

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
		CheckKey: checkBy(data.ParseAdvisoryID),
	})
}
