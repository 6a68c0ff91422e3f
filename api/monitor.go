package api

import (
	"fmt"
	"math"
	"net/http"
	"strings"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/api/record"
	"limnomap/data"
)

const (
	defaultLimit = 50
	maxLimit     = 5000
)

// A window is a part of a list.
type window struct {
	total, limit, offset int
}

// window returns the part of a list of total entries that the parameters ask for.
func windowOf(p *params.Params, total int) window {
	return window{
		total:  total,
		limit:  p.Integer("limit", 1, maxLimit, defaultLimit),
		offset: p.Integer("offset", 0, math.MaxInt32, 0),
	}
}

// bounds returns the first index of the window and the one after its last. They are equal past the end.
func (p window) bounds() (start, end int) {
	start = min(p.offset, p.total)
	return start, min(start+p.limit, p.total)
}

// links returns the field Link (RFC 8288) with the neighbours of the window at that path. Its addresses have no host: the
// client knows it, and a host in the request cannot be trusted. The last window is counted from the offset of this one, so
// that following next ends there.
func (p window) links(path string) string {
	var links []string
	link := func(rel string, offset int) {
		links = append(links, fmt.Sprintf(`<%s?limit=%d&offset=%d>; rel="%s"`, path, p.limit, offset, rel))
	}
	link("first", 0)
	switch {
	case p.offset >= p.total && p.offset > 0:
		link("prev", p.lastOffset()) // past the end, the previous one is the last that holds anything
	case p.offset > 0:
		link("prev", max(p.offset-p.limit, 0))
	}
	if p.offset+p.limit < p.total {
		link("next", p.offset+p.limit)
	}
	link("last", p.lastOffset())
	return strings.Join(links, ", ")
}

// lastOffset returns the offset of the last window that holds anything, in steps of limit from this offset if it is within
// the list.
func (p window) lastOffset() int {
	if p.total == 0 {
		return 0
	}
	phase := 0
	if p.offset < p.total {
		phase = p.offset % p.limit
	}
	last := p.total - 1
	if last < phase {
		return 0
	}
	return phase + (last-phase)/p.limit*p.limit
}

var monitoredColumns = record.Columns[*data.Lake]{
	record.Text("external_id", func(l *data.Lake) string { return l.ExternalID }),
	record.Text("name", func(l *data.Lake) string { return l.Name }),
	record.Number("latitude", func(l *data.Lake) float64 { return l.Point.Lat() }),
	record.Number("longitude", func(l *data.Lake) float64 { return l.Point.Lon() }),
}

// monitor answers the holder of a key with a part of the monitored lakes.
func (h *lakeHandlers) monitor(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	part := windowOf(&query, len(p.snap.Lakes))
	if err := query.Err(); err != nil {
		return err
	}
	lakes := p.snap.ByExternalID()
	start, end := part.bounds()
	w.Header().Set("Link", part.links(h.prefix+pathMonitor))
	list := answer.List{
		Head: fmt.Appendf(nil, `{"total":%d,"limit":%d,"offset":%d,"lakes":[`, part.total, part.limit, part.offset),
		Append: func(b []byte, i int) []byte {
			return monitoredColumns.AppendObject(b, record.Member, &p.snap.Lakes[lakes[start+i]])
		},
		Between: ",",
		Tail:    listTail,
		Len:     end - start,
	}
	return h.sender.SendBytes(w, r, keyedKind, list.Bytes())
}
