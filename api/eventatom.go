package api

import (
	"net/http"
	"net/url"
	"strconv"

	"limnomap/api/atom"
	"limnomap/api/params"
	"limnomap/data"
	"limnomap/data/events/eventfeed"
	"limnomap/data/snapshot"
)

const (
	pathEventFeed  = pathEvents + ".atom"
	defaultEntries = 50
)

// eventFeed answers with the newest events as an Atom feed.
func (h *eventHandlers) eventFeed(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	e := eventRequestOf(&query, defaultEntries)
	if err := query.Err(); err != nil {
		return err
	}
	state := h.state()
	events, err := h.newestEvents(r, p, &e, state)
	if err != nil {
		return err
	}
	base, private := h.base(w, r)
	author := h.publisher().Sender
	filter := e.query()
	self := filter
	if e.limit != defaultEntries {
		self.Set("limit", strconv.Itoa(e.limit))
	}
	feed := atom.Feed{
		ID:      atom.URN(author, "events", filter.Encode()),
		Title:   h.marked("Water quality of lakes: changes of " + e.subject(p)),
		Updated: generatedAt(p.snap),
		Author:  author,
		Self:    withQuery(base+pathEventFeed, self),
		Link:    base + "/",
	}
	if len(events) > 0 {
		feed.Updated = events[0].At
	}
	content := feed.Head()
	for i := range events {
		content = h.appendEntry(content, &events[i], p.snap, base, author)
	}
	return h.sender.SendBytes(w, r, atomKind.PrivateIf(private), append(content, atom.Tail...))
}

// marked returns a title, with the notice about simulated data.
func (s *common) marked(title string) string {
	if s.opts.Notice == "" {
		return title
	}
	return title + " (" + s.opts.Notice + ")"
}

// appendEntry appends the entry of an event. Its id is that of the event, and it never changes.
func (h *eventHandlers) appendEntry(b []byte, e *data.Event, snap *snapshot.Snapshot, base, author string) []byte {
	entry := atom.Entry{
		Language:  "en",
		ID:        atom.URN("event", string(e.ID)),
		Title:     h.marked(eventfeed.Title(e, snap, snap.Profile)),
		Updated:   atom.Time(e.At),
		Published: atom.Time(e.At),
		Author:    author,
		Category:  atom.Category{Term: e.Kind.String()},
		Link:      atom.Link{Rel: "alternate", Type: "text/html", Href: base + "/#lake=" + url.QueryEscape(string(e.LakeID))},
		Summary:   eventfeed.Title(e, snap, snap.Profile) + ". " + eventfeed.Details(e),
	}
	if e.Kind.OfAdvisory() && e.Advisory.Issuer != "" {
		entry.Author = e.Advisory.Issuer
	}
	return entry.Append(b)
}

func withQuery(address string, q url.Values) string {
	if len(q) == 0 {
		return address
	}
	return address + "?" + q.Encode()
}
