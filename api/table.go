package api

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"unicode/utf8"

	"golang.org/x/text/language"

	"limnomap/api/answer"
	"limnomap/data"
	"limnomap/data/index"
)

const (
	// tableRows are the lakes on one page of the table.
	tableRows = 200
	// maxTablePage is beyond the last page of as many lakes as there can be.
	maxTablePage = 1_000_000
	// oldAfter is for how many days a value tells of the water now, as the page sees it: two passes of a weekly product.
	oldAfter = 14

	tableStyle = "/table.css"
)

var tableKind = answer.NewKind("text/html; charset=utf-8", answer.CacheMinute)

// A table makes the page of lakes that needs no script.
type table struct {
	page    *template.Template
	words   []*tableWords // of languages[i]
	matcher language.Matcher
}

func loadTable(files fs.FS) (*table, error) {
	t := &table{}
	var tags []language.Tag
	for _, l := range languages {
		w, err := loadWords(files, l)
		if err != nil {
			return nil, err
		}
		t.words = append(t.words, w)
		tags = append(tags, language.MustParse(l))
	}
	t.matcher = language.NewMatcher(tags)
	var err error
	t.page, err = template.ParseFS(files, "table/table.html")
	return t, err
}

// A tableQuery is what a request wants of the table.
type tableQuery struct {
	name     string // what the lakes' names hold; empty: any
	class    class  // classes: any
	byValue  bool
	page     int    // from 1
	language string // asked for by lang=; empty: by Accept-Language
}

// tableQuery reads the parameters. A form sends what was left empty too, which asks for nothing.
func (p *params) tableQuery() tableQuery {
	q := tableQuery{class: classes, page: p.integer("page", 1, maxTablePage, 1)}
	q.name, _ = p.text("q")
	switch {
	case !utf8.ValidString(q.name):
		p.refuse("q", "%s is not UTF-8", echo(q.name))
	case utf8.RuneCountInString(q.name) > maxSearch:
		p.refuse("q", "%s has %d characters, at most %d are allowed", echo(q.name), utf8.RuneCountInString(q.name), maxSearch)
	}
	if risk, ok := p.text("risk"); ok && risk != "" {
		i := slices.Index(classNames[:], risk)
		if i < 0 {
			p.refuse("risk", "%s is none of low, medium, high, none", echo(risk))
		}
		q.class = class(i)
	}
	q.byValue = oneOf(p, "sort", []string{"name", "value"}) == "value"
	if lang, ok := p.text("lang"); ok && lang != "" {
		q.language = oneOf(p, "lang", languages)
	}
	return q
}

// address returns the address that asks for q, relative to the table's folder.
func (q tableQuery) address() string {
	v := url.Values{}
	if q.name != "" {
		v.Set("q", q.name)
	}
	if q.class < classes {
		v.Set("risk", classNames[q.class])
	}
	if q.byValue {
		v.Set("sort", "value")
	}
	if q.page > 1 {
		v.Set("page", strconv.Itoa(q.page))
	}
	if q.language != "" {
		v.Set("lang", q.language)
	}
	if len(v) == 0 {
		return pathTable[1:]
	}
	return pathTable[1:] + "?" + v.Encode()
}

// lakeTable answers with the lakes as a table in HTML, for readers without JavaScript.
func (s *Server) lakeTable(w http.ResponseWriter, r *http.Request) error {
	answer.SetDocument(w, answer.FormDocument)
	p, err := s.published()
	if err != nil {
		return err
	}
	params := paramsOf(r)
	q := params.tableQuery()
	if err := params.err(); err != nil {
		return err
	}
	words := s.table.wordsFor(r, q)
	var b bytes.Buffer
	if err := s.table.page.Execute(&b, s.tablePage(p, q, words)); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	w.Header().Set("Content-Language", words.Language)
	w.Header().Add("Vary", "Accept-Language")
	return s.sender.Send(w, r, tableKind, answer.Bytes(b.Bytes()))
}

// wordsFor returns the words in the language of a reader.
func (t *table) wordsFor(r *http.Request, q tableQuery) *tableWords {
	if i := slices.Index(languages, q.language); i >= 0 {
		return t.words[i]
	}
	_, i := language.MatchStrings(t.matcher, r.Header["Accept-Language"]...)
	return t.words[i]
}

// lakesOf returns the lakes that q asks for, and whether there are more of that name than were looked through.
func (p *published) lakesOf(q tableQuery) (lakes []int32, cut bool) {
	p.orders.make(p.snap, p.lookup.names.ByName())
	switch {
	case q.name != "":
		return p.lakesNamed(q)
	case q.class < classes:
		return p.orders.of(q.class, q.byValue), false
	case q.byValue:
		return p.orders.byValue, false
	}
	return p.lookup.names.ByName(), false
}

// lakesNamed returns the lakes that q names, the best match first or the worst value.
func (p *published) lakesNamed(q tableQuery) (lakes []int32, cut bool) {
	if !index.Searchable(q.name) {
		return nil, false
	}
	found := p.lookup.names.Find(q.name, maxFound+1)
	if cut = len(found) > maxFound; cut {
		found = found[:maxFound]
	}
	states := p.snap.Current.States
	classOfLake := func(lake int32) class { return classOf(&states[lake], p.snap.Profile) }
	for _, lake := range found {
		if q.class == classes || classOfLake(int32(lake)) == q.class {
			lakes = append(lakes, int32(lake))
		}
	}
	if q.byValue {
		slices.SortStableFunc(lakes, func(a, b int32) int {
			key := func(lake int32) uint64 { return uint64(classOfLake(lake))<<32 | uint64(goodness(&states[lake])) }
			return cmp.Compare(key(a), key(b))
		})
	}
	return lakes, cut
}

// tableOld reports whether what was measured then tells no more of the water on the day today.
func tableOld(measured, today data.Date) bool { return today-measured > oldAfter }
