// Package errorpage makes the page that people see in place of problem details, such as for a mistyped address.
package errorpage

import (
	"io/fs"

	"limnomap/api/pages"
	"limnomap/api/words"
)

// ownWords are the texts that only this page has.
type ownWords struct {
	Mistake, NotFound, NotFoundHelp, TooMany, NotReady, Failed, Later, Other string
	Map, Table, Details                                                      string
}

// A Maker makes the pages. It is safe for concurrent use.
type Maker struct {
	pages.Maker[ownWords]
	root string
}

// New returns a Maker from the files of the pages made on the server. The root is the path of the map, with a slash at its end.
func New(files fs.FS, root string) (*Maker, error) {
	page, err := pages.NewMaker[ownWords](files, "error")
	return &Maker{page, root}, err
}

// An Error is what went wrong, as programs see it too. Its texts are in English.
type Error struct {
	Status    int
	Phrase    string // of the status
	Detail    string
	Mistakes  []Mistake
	RequestID string // may be empty
}

// A Mistake is one in a parameter.
type Mistake struct{ Parameter, Detail string }

// Page returns the page of an error, and its language.
func (m *Maker) Page(e Error, r *pages.Reader) (content []byte, language string, err error) {
	w := m.For(r.Language, r.AcceptLanguage)
	heading, help := texts(e.Status, w)
	return m.Make(w, struct {
		Error
		Words         *words.Page[ownWords]
		Heading, Help string
		Root          string
		Open          bool // the details help people too
	}{e, w, heading, help, m.root, len(e.Mistakes) > 0})
}

// texts returns the heading for a status, and what helps.
func texts(status int, w *words.Page[ownWords]) (heading, help string) {
	switch {
	case status == 400:
		return w.Own.Mistake, ""
	case status == 404:
		return w.Own.NotFound, w.Own.NotFoundHelp
	case status == 429:
		return w.Own.TooMany, w.Own.Later
	case status == 503:
		return w.Own.NotReady, w.Own.Later
	case status >= 500:
		return w.Own.Failed, w.Own.Later
	}
	return w.Own.Other, ""
}
