package api

import (
	"html"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"limnomap/api/ogc"
	"limnomap/api/pages"
)

// A Credit is a line with which a provider of data wants to be named.
type Credit = ogc.Credit

// attribution returns whose data a snapshot shows, after a notice that they are not real if they are not. It is plain text.
func (s *common) attribution(state *ogc.State) string {
	parts := []string{s.organization()}
	for _, credit := range s.credits(state) {
		parts = append(parts, credit.Text)
	}
	return joinAttribution(parts...)
}

// organization returns who runs the server, as the operator says, after the notice.
func (s *common) organization() string {
	return joinAttribution(s.opts.Notice, s.adjustable().Attribution)
}

// readerOf returns who sees a page that answers r, in that language.
func (s *common) readerOf(r *http.Request, p *published, language string) *pages.Reader {
	now := s.adjustable()
	reader := &pages.Reader{
		Language: language, AcceptLanguage: r.Header["Accept-Language"],
		Today: p.snap.Current.AsOf, Notice: s.opts.Notice, Attribution: now.Attribution,
		Contact: pages.Contact{Name: now.Contact.Name, URL: template.URL(now.Contact.URL), Logo: now.Contact.Logo.address()},
		Links:   now.Links,
	}
	for _, c := range s.credits(p.state) {
		reader.Credits = append(reader.Credits, pages.Credit(c))
	}
	return reader
}

// credits returns the credit lines of a snapshot, without those that the operator's attribution already contains.
func (s *common) credits(state *ogc.State) []Credit {
	attribution := s.adjustable().Attribution
	var missing []Credit
	for _, credit := range state.Credits {
		if !strings.Contains(attribution, credit.Text) {
			missing = append(missing, credit)
		}
	}
	return missing
}

// pageAttribution returns whose data the page shows, as plain text and as HTML. It leaves out the notice, which the page shows above the
// map in the reader's language, also if the operator repeats it.
func (s *common) pageAttribution(credits []Credit) (text, markup string) {
	var texts, markups []string
	if own := s.adjustable().Attribution; own != s.opts.Notice {
		texts, markups = append(texts, own), append(markups, html.EscapeString(own))
	}
	for _, credit := range credits {
		texts, markups = append(texts, credit.Text), append(markups, creditHTML(credit))
	}
	return joinAttribution(texts...), joinAttribution(markups...)
}

// creditHTML returns a credit line as HTML, with a link if it has an address.
func creditHTML(c Credit) string {
	text := html.EscapeString(c.Text)
	if c.URL == "" {
		return text
	}
	return `<a href="` + html.EscapeString(c.URL) + `" target="_blank" rel="noopener">` + text + `</a>`
}

// joinAttribution joins the parts that are not empty.
func joinAttribution(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " | ")
}
