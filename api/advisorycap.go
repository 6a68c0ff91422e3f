package api

import (
	"net/http"
	"time"

	"limnomap/api/answer"
	"limnomap/api/atom"
	"limnomap/api/cap"
	"limnomap/api/route"
	"limnomap/data"
)

const pathAdvisoryFeed = "/api/v1/advisories.cap"

// pathAdvisory returns the address of the message about a statement.
func pathAdvisory(id data.AdvisoryID) string { return "/api/v1/advisories/" + string(id) + ".cap" }

var (
	atomKind = answer.NewKind(atom.Type, answer.CacheMinute)
	capKind  = answer.NewKind(cap.TypeMessage, answer.CacheMinute)
)

// publisher returns what makes the messages of this server. Its name does not depend on the request, since a Cancel refers to a message
// by that name.
func (s *common) publisher() *cap.Publisher {
	host := ""
	if s.opts.PublicURL != nil {
		host = s.opts.PublicURL.Hostname()
	}
	return &cap.Publisher{Sender: cap.SenderOf(host), Notice: s.opts.Notice}
}

// advisoryFeed answers with the feed of the messages about official statements.
func (h *lakeHandlers) advisoryFeed(w http.ResponseWriter, r *http.Request, p *published) error {
	statements, lakes := p.snap.Advisories.All()
	base, private := h.base(w, r)
	now := h.opts.Now()
	present := p.snap.Present(now)
	return h.sender.SendList(w, r, atomKind.PrivateIf(private), len(statements), func() answer.List {
		var listed []cap.Statement
		for i := range statements {
			if present.Either(func(t time.Time) bool { return cap.IsListed(&statements[i], t) }) {
				listed = append(listed, cap.Statement{Advisory: &statements[i], Lake: &p.snap.Lakes[lakes[i]]})
			}
		}
		feed := h.publisher().Feed(listed, cap.FeedOptions{
			Now:     now,
			Updated: generatedAt(p.snap),
			Self:    base + pathAdvisoryFeed,
			Link:    func(id data.AdvisoryID) string { return base + pathAdvisory(id) },
		})
		return answer.List{Head: feed.Head(), Append: feed.Append, Tail: atom.Tail, Len: feed.Len()}
	})
}

// advisoryMessage answers with the message about one official statement.
func (h *lakeHandlers) advisoryMessage(w http.ResponseWriter, r *http.Request, p *published) error {
	id, now := data.AdvisoryID(route.Values(r)[0]), h.opts.Now()
	statements, lakes := p.snap.Advisories.All()
	var found *cap.Statement
	err := h.sender.InTurn(r, len(statements), func() error {
		for i := range statements {
			if statements[i].ID == id && cap.IsPublished(&statements[i]) {
				found = &cap.Statement{Advisory: &statements[i], Lake: &p.snap.Lakes[lakes[i]]}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if found == nil {
		return errNoAdvisory
	}
	content, err := h.publisher().Message(*found, now)
	if err != nil {
		return err
	}
	return h.sender.SendBytes(w, r, capKind, content)
}
