// Package table makes the table of lakes: an HTML page for readers without JavaScript.
package table

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"

	"limnomap/api/words"
	"limnomap/colormap"
	"limnomap/data"
)

const (
	// maxRows is how many lakes one part of the table has.
	maxRows = 200
	// maxMatches is how many lakes a name may match; the table says if there are more.
	maxMatches = 1000
)

// ownWords are the texts that only the table has.
type ownWords struct {
	Heading, Map, AsOf, AllOld, NoData, Clean, Where, Levels string
	Lake, Risk, Data, Old, LastValue, NoNumber               string
	Name, Any, Sort, ByName, ByValue, Show, All              string
	Shown, None, NoPage, Cut, Pages, Previous, Next, First   string
	HistoryJSON, HistoryCSV                                  string
}

// A Table makes the page. It is safe for concurrent use.
type Table struct {
	page   *template.Template
	words  *words.Set[ownWords]
	colors words.Colors
}

// New returns a Table from the files of the pages made on the server. The colours of the classes are those of the scale.
func New(files fs.FS, scale *colormap.Map) (*Table, error) {
	texts, err := words.Load[ownWords](files, "table")
	if err != nil {
		return nil, err
	}
	page, err := template.ParseFS(files, "table/table.html", "pages/symbols.html")
	if err != nil {
		return nil, err
	}
	return &Table{page, texts, words.ColorsOf(scale)}, nil
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
	w := t.words.For(q.Language, r.AcceptLanguage)
	var b bytes.Buffer
	if err := t.page.Execute(&b, t.newPage(lakes, q, w, r)); err != nil {
		return nil, "", fmt.Errorf("table: %w", err)
	}
	return b.Bytes(), w.Language, nil
}
