package api

import (
	"bytes"
	"encoding/xml"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"limnomap/api/answer"
	"limnomap/api/route"
	"limnomap/data"
)

// maxSitemapLakes is how many addresses a part of the sitemap has, the most that the protocol allows (https://www.sitemaps.org/protocol.html).
// With an id of 64 characters and a long public address they are 15 MB; it allows 50.
const maxSitemapLakes = 50_000

const (
	xmlHead    = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"
	sitemapXML = ` xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n"
)

var (
	sitemapKind = answer.NewKind(answer.TypeXML, answer.CacheMinute)
	robotsKind  = answer.NewKind("text/plain; charset=utf-8", answer.CacheMinute).Timeless()
)

// sitemapBase returns what addresses begin with, escaped for XML, or an error if that has no origin.
func (h *lakePageHandler) sitemapBase(w http.ResponseWriter, r *http.Request) (base string, private bool, err error) {
	base, private = h.base(w, r)
	if !strings.Contains(base, "://") {
		return "", false, errNoOrigin
	}
	var escaped bytes.Buffer
	if err := xml.EscapeText(&escaped, []byte(base)); err != nil {
		return "", false, err
	}
	return escaped.String(), private, nil
}

// sitemapIndex answers with the list of the parts of the sitemap, for search engines.
func (h *lakePageHandler) sitemapIndex(w http.ResponseWriter, r *http.Request, p *published) error {
	base, private, err := h.sitemapBase(w, r)
	if err != nil {
		return err
	}
	b := []byte(xmlHead + `<sitemapindex` + sitemapXML)
	for part := range sitemapParts(len(p.snap.Lakes)) {
		b = append(b, "<sitemap><loc>"+base+"/sitemap/"+strconv.Itoa(part+1)+".xml</loc></sitemap>\n"...)
	}
	return h.sender.SendBytes(w, r, sitemapKind.PrivateIf(private), append(b, "</sitemapindex>\n"...))
}

func sitemapParts(lakes int) int { return (lakes + maxSitemapLakes - 1) / maxSitemapLakes }

// sitemapPart answers with the pages of some lakes, each with the day of its newest measurement.
func (h *lakePageHandler) sitemapPart(w http.ResponseWriter, r *http.Request, p *published) error {
	text := route.Values(r)[0]
	part, err := strconv.Atoi(text)
	if err != nil || part < 1 || part > sitemapParts(len(p.snap.Lakes)) || text != strconv.Itoa(part) {
		return errNotFound
	}
	base, private, err := h.sitemapBase(w, r)
	if err != nil {
		return err
	}
	first := (part - 1) * maxSitemapLakes
	n := min(maxSitemapLakes, len(p.snap.Lakes)-first)
	return h.sender.SendList(w, r, sitemapKind.PrivateIf(private), n, func() answer.List {
		return answer.List{
			Head: []byte(xmlHead + `<urlset` + sitemapXML),
			Append: func(b []byte, i int) []byte {
				state := &p.snap.Current.States[first+i]
				b = append(b, "<url><loc>"...)
				b = append(b, base...)
				b = append(b, pathLakes...)
				b = append(b, url.PathEscape(string(p.snap.Lakes[first+i].ID))...) // an id has no character to escape for XML
				b = append(b, "</loc>"...)
				if state.Risk != data.RiskUnknown {
					b = append(b, "<lastmod>"...)
					b = time.Unix(state.MeasuredAt(), 0).UTC().AppendFormat(b, time.DateOnly)
					b = append(b, "</lastmod>"...)
				}
				return append(b, "</url>\n"...)
			},
			Tail: "</urlset>\n",
			Len:  n,
		}
	})
}

// robots answers with what search engines may read: the pages, and not the interface, of which each tile and each list would cost more than
// the page of a lake and show less.
func (h *lakePageHandler) robots(w http.ResponseWriter, r *http.Request) error {
	base, private := h.base(w, r)
	text := "User-agent: *\nDisallow: " + h.prefix + "/api/\nDisallow: " + h.prefix + "/wmts\nDisallow: " + h.prefix + "/ogc\n"
	if strings.Contains(base, "://") {
		text += "\nSitemap: " + base + "/sitemap.xml\n"
	}
	return h.sender.SendBytes(w, r, robotsKind.PrivateIf(private), []byte(text))
}
