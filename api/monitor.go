package api

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
)

const (
	defaultPage = 50
	maxPage     = 5000
)

// A page is a part of a list.
type page struct {
	total, limit, offset int
}

// page returns the part of a list of total entries that the parameters ask for.
func (p *params) page(total int) page {
	return page{
		total:  total,
		limit:  p.integer("limit", 1, maxPage, defaultPage),
		offset: p.integer("offset", 0, math.MaxInt32, 0),
	}
}

// bounds returns the first index of the page and the one behind its last. They are equal past the end.
func (p page) bounds() (start, end int) {
	start = min(p.offset, p.total)
	return start, min(start+p.limit, p.total)
}

// links returns the field Link (RFC 8288) with the neighbours of the page at that path. Its addresses bear no host: the
// client knows it, and we would have to believe somebody. The last page counts from the present offset, so that
// following next ends there.
func (p page) links(path string) string {
	var b strings.Builder
	link := func(rel string, offset int) {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, `<%s?limit=%d&offset=%d>; rel="%s"`, path, p.limit, offset, rel)
	}
	link("first", 0)
	switch {
	case p.offset >= p.total && p.offset > 0:
		link("prev", p.lastOffset()) // from past the end, the page before is the last one that holds anything
	case p.offset > 0:
		link("prev", max(p.offset-p.limit, 0))
	}
	if p.offset+p.limit < p.total {
		link("next", p.offset+p.limit)
	}
	link("last", p.lastOffset())
	return b.String()
}

// lastOffset returns the offset of the last page that holds anything, in steps of limit from the present offset as far
// as that lies within the list.
func (p page) lastOffset() int {
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

// monitor answers the holder of a key with a page of the monitored lakes.
func (s *Server) monitor(w http.ResponseWriter, r *http.Request) error {
	p, err := s.published()
	if err != nil {
		return err
	}
	params := paramsOf(r)
	page := params.page(len(p.snap.Lakes))
	if err := params.err(); err != nil {
		return err
	}
	content := append([]byte(nil), `{"total":`...)
	content = strconv.AppendInt(content, int64(page.total), 10)
	content = append(content, `,"limit":`...)
	content = strconv.AppendInt(content, int64(page.limit), 10)
	content = append(content, `,"offset":`...)
	content = strconv.AppendInt(content, int64(page.offset), 10)
	content = append(content, `,"lakes":[`...)
	start, end := page.bounds()
	for i, lake := range p.snap.ByExternalID()[start:end] {
		if i > 0 {
			content = append(content, ',')
		}
		content = s.encoder.monitored(content, &p.snap.Lakes[lake])
	}
	content = append(content, "]}\n"...)
	w.Header().Set("Link", page.links(s.prefix+pathMonitor))
	return s.respond(w, r, keyedKind, content)
}
