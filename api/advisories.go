package api

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"limnomap/api/answer"
	"limnomap/api/params"
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
	f.at, f.all = asked.at, asked.all
	present := !asked.given || asked.all // otherwise the answer depends on the data only
	if present {
		f.at = h.opts.Now()
	}
	answer.InfoOf(r).TrueFor = 0 // of an answer about another time
	statements, lakes := p.snap.Advisories.All()
	var selected []int32
	err := h.sender.InTurn(r, len(statements), func() error {
		selected = f.selected(p.snap.Lakes, statements, lakes)
		if present {
			_, next := p.snap.Advisories.ActiveAt(f.at)
			answer.InfoOf(r).TrueFor = trueUntil(next, f.at)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return h.sender.Send(w, r, jsonKind, answer.Items(len(selected), func() answer.List {
		head := append([]byte(nil), `{"generated_at":`...)
		head = appendTime(head, generatedAt(p.snap))
		return answer.List{
			Head: append(head, `,"advisories":[`...),
			Append: func(b []byte, i int) []byte {
				k := selected[i]
				return appendStatement(b, &p.snap.Lakes[lakes[k]], &statements[k], f.at)
			},
			Between: ",",
			Tail:    listTail,
			Len:     len(selected),
			Memory:  int64(4 * cap(selected)),
		}
	}))
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
	at     time.Time // when they are active
	all    bool      // those that are not active too
	within data.Box  // of the lake
	lake   int32     // the index of the lake; -1: any
}

// selected returns the indices of the statements that pass the filter: the gravest first, then the latest issued, then by id.
func (f *advisoryFilter) selected(all []data.Lake, statements []data.Advisory, lakes []int32) []int32 {
	var found []int32
	for i := range statements {
		point := all[lakes[i]].Point
		if (f.lake < 0 || lakes[i] == f.lake) && (f.all || statements[i].ActiveAt(f.at)) && f.within.Contains(point.Lon(), point.Lat()) {
			found = append(found, int32(i))
		}
	}
	slices.SortFunc(found, func(i, j int32) int {
		a, b := &statements[i], &statements[j]
		return cmp.Or(cmp.Compare(b.Kind, a.Kind), b.Issued.Compare(a.Issued), strings.Compare(string(a.ID), string(b.ID)))
	})
	return found
}

// appendStatement appends the record of an official statement about a lake.
func appendStatement(b []byte, lake *data.Lake, a *data.Advisory, at time.Time) []byte {
	b = append(b, `{"id":`...)
	b = appendString(b, string(a.ID))
	b = append(b, `,"lake_id":`...)
	b = appendString(b, string(lake.ID))
	b = append(b, `,"lake_name":`...)
	b = appendString(b, lake.Name)
	b = append(b, `,"lat":`...)
	b = appendFloat(b, lake.Point.Lat())
	b = append(b, `,"lon":`...)
	b = appendFloat(b, lake.Point.Lon())
	b = append(b, `,"kind":`...)
	b = appendString(b, a.Kind.String())
	b = append(b, `,"cause":`...)
	b = appendString(b, a.Cause.String())
	b = append(b, `,"issuer":`...)
	b = appendString(b, a.Issuer)
	b = append(b, `,"text":{"en":`...)
	b = appendKnown(b, a.TextEN != "", a.TextEN)
	b = append(b, `,"de":`...)
	b = appendKnown(b, a.TextDE != "", a.TextDE)
	b = append(b, `},"url":`...)
	b = appendKnown(b, a.URL != "", a.URL)
	b = append(b, `,"issued":`...)
	b = appendTime(b, a.Issued)
	b = append(b, `,"valid_from":`...)
	b = appendTime(b, a.ValidFrom)
	b = append(b, `,"valid_until":`...)
	b = appendTimeOrNull(b, a.ValidUntil)
	b = append(b, `,"withdrawn":`...)
	b = appendTimeOrNull(b, a.Withdrawn)
	b = append(b, `,"active":`...)
	if a.ActiveAt(at) {
		return append(b, "true}"...)
	}
	return append(b, "false}"...)
}
