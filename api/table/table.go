// Package table makes the table of lakes: an HTML page for readers without JavaScript.
package table

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"slices"

	"golang.org/x/text/language"

	"limnomap/colormap"
	"limnomap/data"
)

const (
	// maxRows is how many lakes one part of the table has.
	maxRows = 200
	// maxMatches is how many lakes a name may match; the table says if there are more.
	maxMatches = 1000
	// oldAfter is after how many days a value says nothing about the water now, as on the map: two periods of a weekly product.
	oldAfter = 14
	// closedColor is the colour of closed lakes, as on the map.
	closedColor = "#16191c"
)

// Languages are those of the table, the default first.
var Languages = []string{"en", "de"}

// A Table makes the page. It is safe for concurrent use.
type Table struct {
	page    *template.Template
	words   []*words // in the order of Languages
	matcher language.Matcher
	colors  [classes]string
}

// New returns a Table from the files of the page below table/ and its words below src/words/. The colours of the classes are
// those of the scale.
func New(files fs.FS, scale *colormap.Map) (*Table, error) {
	t := &Table{}
	var tags []language.Tag
	for _, l := range Languages {
		w, err := loadWords(files, l)
		if err != nil {
			return nil, err
		}
		t.words = append(t.words, w)
		tags = append(tags, language.MustParse(l))
	}
	t.matcher = language.NewMatcher(tags)
	for i, c := range scale.Legend().Classes {
		t.colors[lowRisk-Class(i)] = c.Color
	}
	t.colors[noValue] = colormap.Hex(colormap.NoData())
	t.colors[closed] = closedColor
	var err error
	t.page, err = template.ParseFS(files, "table/table.html")
	return t, err
}

// A Reader is who sees the table.
type Reader struct {
	AcceptLanguage []string  // the values of that header field
	Today          data.Date // decides which values are old
	Notice         string    // in English, such as "Simulated demo data, not measurements"; empty for real data
	Attribution    string
	Credits        []Credit // of the providers of the data
}

// A Credit is a line with which a provider of data wants to be named, and the address of a page about them, or empty.
type Credit struct{ Text, URL string }

// Page returns the page with the lakes that q asks for, and its language.
func (t *Table) Page(lakes *Lakes, q Query, r Reader) (content []byte, language string, err error) {
	w := t.wordsFor(q, r)
	var b bytes.Buffer
	if err := t.page.Execute(&b, t.newPage(lakes, q, w, r)); err != nil {
		return nil, "", fmt.Errorf("table: %w", err)
	}
	return b.Bytes(), w.Language, nil
}

// wordsFor returns the words in the language of the query, or in the reader's.
func (t *Table) wordsFor(q Query, r Reader) *words {
	if i := slices.Index(Languages, q.Language); i >= 0 {
		return t.words[i]
	}
	_, i := language.MatchStrings(t.matcher, r.AcceptLanguage...)
	return t.words[i]
}

// old reports whether a value measured on that day is too old to say anything about the water today.
func old(measured, today data.Date) bool { return today-measured > oldAfter }
