// Package table makes the table of lakes: an HTML page for readers without JavaScript.
package table

import (
	"io/fs"

	"limnomap/api/pages"
	"limnomap/api/words"
	"limnomap/colormap"
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
	pages.Maker[ownWords]
	colors words.Colors
}

// New returns a Table from the files of the pages made on the server. The colours of the classes are those of the scale.
func New(files fs.FS, scale *colormap.Map) (*Table, error) {
	page, err := pages.NewMaker[ownWords](files, "table")
	return &Table{page, words.ColorsOf(scale)}, err
}

// Page returns the page with the lakes that q asks for, and its language.
func (t *Table) Page(lakes *Lakes, q Query, r *pages.Reader) (content []byte, language string, err error) {
	w := t.For(q.Language, r.AcceptLanguage)
	return t.Make(w, t.newPage(lakes, q, w, r))
}
