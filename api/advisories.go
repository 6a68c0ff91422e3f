package api

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/api/record"
	"limnomap/data"
)

// allAdvisories is the value of active_at that asks for all statements, also those that are over, withdrawn or not valid yet.
const allAdvisories = "any"

// advisories answers with the official statements that are active now or at the time that is asked for, the gravest first.
func (h *lakeHandlers) advisories(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	f := advisoryFilter{lake: -1, within: bboxOrBoxOf(&query)}
	asked := params.Parsed(&query, "active_at", moment{}, parseMoment, "is not a time as YYYY-MM-DDThh:mm:ssZ, a day as YYYY-MM-DD, or "+allAdvisories)
	id := params.Parsed(&query, "lake", "", data.ParseLakeID, mistakeInLakeID)
	if err := query.Err(); err != nil {
		return err
	}
	if id != "" {
		i, ok := p.snap.Index(id)
		if !ok {
			return data.ErrNoLake
		}
		f.lake = int32(i)
	}
	f.at, f.all = data.Past(asked.at), asked.all
	present := !asked.given || asked.all // otherwise the answer depends on the data only
	if present {
		f.at = p.snap.Present(h.opts.Now())
	}
	answer.InfoOf(r).TrueFor = 0 // of an answer about another time
	statements, lakes := p.snap.Advisories.All()
	var selected []int32
	err := h.sender.InTurn(r, len(statements), func() error {
		selected = f.selected(p.snap.Lakes, statements, lakes)
		if present {
			_, next := p.snap.Advisories.ActiveAt(f.at)
			answer.InfoOf(r).TrueFor = trueUntil(next, f.at.Now)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return h.sender.SendList(w, r, jsonKind, len(selected), func() answer.List {
		return answer.List{
			Head: listHead(p.snap).Array("advisories"),
			Append: func(b []byte, i int) []byte {
				k := selected[i]
				return statementColumns.AppendObject(b, record.Member, statement{&statements[k], &p.snap.Lakes[lakes[k]], f.at})
			},
			Between: ",",
			Tail:    listTail,
			Len:     len(selected),
			Memory:  int64(4 * cap(selected)),
		}
	})
}

// A moment is the value of the parameter active_at.
type moment struct {
	at         time.Time
	given, all bool
}

func parseMoment(s string) (moment, error) {
	if s == allAdvisories {
		return moment{given: true, all: true}, nil
	}
	if d, err := data.ParseDate(s); err == nil {
		return moment{at: d.Time(), given: true}, nil
	}
	t, err := time.Parse(time.RFC3339, s)
	return moment{at: t, given: true}, err
}

// An advisoryFilter says which official statements an answer is about.
type advisoryFilter struct {
	at     data.Present // when they are active
	all    bool         // those that are not active too
	within data.Box     // of the lake
	lake   int32        // the index of the lake; -1: any
}

// selected returns the indices of the statements that pass the filter: the gravest first, then the latest issued, then by id.
func (f *advisoryFilter) selected(all []data.Lake, statements []data.Advisory, lakes []int32) []int32 {
	var found []int32
	for i := range statements {
		point := all[lakes[i]].Point
		if (f.lake < 0 || lakes[i] == f.lake) && (f.all || f.at.Valid(&statements[i])) && f.within.Contains(point.Lon(), point.Lat()) {
			found = append(found, int32(i))
		}
	}
	slices.SortFunc(found, func(i, j int32) int {
		a, b := &statements[i], &statements[j]
		return cmp.Or(cmp.Compare(b.Kind, a.Kind), b.Issued.Compare(a.Issued), strings.Compare(string(a.ID), string(b.ID)))
	})
	return found
}

// A statement is an official one about a lake, at a time.
type statement struct {
	*data.Advisory
	lake *data.Lake
	at   data.Present
}

var statementColumns = record.Columns[statement]{
	record.Text("id", func(s statement) string { return string(s.ID) }),
	record.Word("lake_id", func(s statement) string { return string(s.lake.ID) }),
	record.Text("lake_name", func(s statement) string { return s.lake.Name }),
	record.Number("lat", func(s statement) float64 { return s.lake.Point.Lat() }),
	record.Number("lon", func(s statement) float64 { return s.lake.Point.Lon() }),
	record.Word("kind", func(s statement) string { return s.Kind.String() }),
	record.Word("cause", func(s statement) string { return s.Cause.String() }),
	record.Text("issuer", func(s statement) string { return s.Issuer }),
	record.New("text", "object", func(b []byte, f record.Format, s statement) []byte { return statementTexts.AppendObject(b, f, s) }),
	record.Text("url", func(s statement) string { return s.URL }).OrNull(),
	record.Time("issued", func(s statement) time.Time { return s.Issued }),
	record.Time("valid_from", func(s statement) time.Time { return s.ValidFrom }),
	record.Time("valid_until", func(s statement) time.Time { return s.ValidUntil }).OrNull(),
	record.Time("withdrawn", func(s statement) time.Time { return s.Withdrawn }).OrNull(),
	record.Bool("active", func(s statement) bool { return s.at.Valid(s.Advisory) }),
}

var statementTexts = record.Columns[statement]{
	record.Text("en", func(s statement) string { return s.TextEN }).OrNull(),
	record.Text("de", func(s statement) string { return s.TextDE }).OrNull(),
}
