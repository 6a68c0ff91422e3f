package features

import (
	"cmp"
	"container/heap"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"limnomap/api/answer"
	"limnomap/api/cql2"
)

// A sortKey is a property by which features are sorted.
type sortKey struct {
	queryable  int
	descending bool
}

// parseSort reads names of properties with a comma between them; a minus sorts from the largest value on.
func (c *Collection) parseSort(s string) (keys []sortKey, err error) {
	for name := range strings.SplitSeq(s, ",") {
		var k sortKey
		name = strings.TrimPrefix(strings.TrimSpace(name), "+")
		name, k.descending = strings.CutPrefix(name, "-")
		k.queryable = -1
		for i, q := range c.queryables {
			if q.Name == name && q.Type != cql2.Geometry {
				k.queryable = i
			}
		}
		if k.queryable < 0 || len(keys) == maxSort {
			return nil, errors.New("unknown")
		}
		keys = append(keys, k)
	}
	return keys, nil
}

const maxSort = 3

// A place is where a record stands in the order of a query: its values, and its key among those with the same.
type place struct {
	values []cql2.Value
	key    string
}

// compare returns the order of two places. What is null is last in either direction.
func (q *Query) compare(a, b *place) int {
	for i, k := range q.Sort {
		order := cql2.Compare(a.values[i], b.values[i])
		if k.descending && a.values[i].Known() && b.values[i].Known() {
			order = -order
		}
		if order != 0 {
			return order
		}
	}
	return cmp.Compare(a.key, b.key)
}

// token returns a place as the parameter after of the next page has it.
func (p *place) token() string {
	texts := []string{p.key}
	for _, v := range p.values {
		texts = append(texts, v.Text())
	}
	b, err := json.Marshal(texts)
	if err != nil {
		panic("features: texts must marshal: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// placeOf reads what token returns.
func (c *Collection) placeOf(token string, sort []sortKey) (*place, error) {
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return nil, err
	}
	var texts []string
	if err := json.Unmarshal(b, &texts); err != nil {
		return nil, err
	}
	if len(texts) != 1+len(sort) {
		return nil, fmt.Errorf("it is of another order")
	}
	p := &place{key: texts[0]}
	for i, text := range texts[1:] {
		v, err := cql2.ParseValue(text, c.queryables[sort[i].queryable].Type)
		if err != nil {
			return nil, err
		}
		p.values = append(p.values, v)
	}
	return p, nil
}

// A ranked are the first records in the order of a query, as a heap with the last of them on top.
type ranked[R any] struct {
	q       *Query
	records []R
	places  []place
}

func (h *ranked[R]) Len() int           { return len(h.places) }
func (h *ranked[R]) Less(i, j int) bool { return h.q.compare(&h.places[i], &h.places[j]) > 0 }
func (h *ranked[R]) Swap(i, j int) {
	h.places[i], h.places[j] = h.places[j], h.places[i]
	h.records[i], h.records[j] = h.records[j], h.records[i]
}
func (h *ranked[R]) Push(any) {}
func (h *ranked[R]) Pop() any {
	n := len(h.places) - 1
	h.places, h.records = h.places[:n], h.records[:n]
	return nil
}

// sortedPage is page for a query with an order of its own. It goes through all records.
func (k *kind[R]) sortedPage(r *http.Request, q *Query) (*page, error) {
	h := &ranked[R]{q: q}
	cost, tooMuch := 0, false
	c := &candidate[R]{kind: k, outlines: q.Outlines}
	at := place{values: make([]cql2.Value, len(q.Sort))}
	resume, err := k.Walk(r, q, "", func(record R) bool {
		c.ask(record)
		ok, n := q.matches(c, k.Time(record))
		if cost += n; cost > maxCost {
			tooMuch = true
			return false
		}
		if !ok {
			return true
		}
		at.key = k.Key(record)
		for i, s := range q.Sort {
			at.values[i] = c.Value(s.queryable)
		}
		if q.place != nil && q.compare(&at, q.place) <= 0 || len(h.places) > q.Limit && q.compare(&at, &h.places[0]) > 0 {
			return true
		}
		h.places, h.records = append(h.places, place{slices.Clone(at.values), at.key}), append(h.records, record)
		heap.Fix(h, len(h.places)-1)
		if len(h.places) > q.Limit+1 {
			heap.Pop(h)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	if tooMuch || resume != "" {
		return nil, &answer.Problem{Status: http.StatusBadRequest, Detail: "too many features to sort",
			Errors: []answer.ParameterError{{Parameter: "sortby", Detail: "there are too many features to sort; narrow them down by bbox or datetime, or leave it out"}}}
	}
	next := ""
	if len(h.places) > q.Limit {
		heap.Pop(h)
		next = h.places[0].token()
	}
	ordered := make([]R, len(h.records))
	for i := len(ordered) - 1; i >= 0; i-- {
		ordered[i] = h.records[0]
		heap.Pop(h)
	}
	return k.pageOf(ordered, next, q), nil
}
