// Package pages has what the pages that the server makes share beside their words: how one is made from its template, and who sees it.
package pages

import (
	"bytes"
	"html/template"
	"io/fs"

	"limnomap/api/words"
	"limnomap/data"
)

// A Reader is who sees a page that this server makes, and what such pages show beside their subject.
type Reader struct {
	Language       string    // that the address asks for, one of words.Languages; empty: by AcceptLanguage
	AcceptLanguage []string  // the values of that header field
	Today          data.Date // decides which values are old
	Base           string    // what addresses of this server begin with: its origin, if that is known, and its path
	Notice         string    // in English, such as "Simulated demo data, not measurements"; empty for real data
	Attribution    string
	Credits        []Credit // of the providers of the data
	Contact        Contact
	Links          Links
}

// A Credit is a line with which a provider of data wants to be named, and the address of a page about the data and their terms, or empty.
type Credit struct{ Text, URL string }

// A Contact is the authority that answers questions about the lakes. Each field may be empty.
type Contact struct {
	Name string
	URL  template.URL // https, http, mailto or tel, which package template would refuse
	Logo string       // a path below the base path
}

// Links are addresses of the operator's own pages, at the foot of each page. Each may be empty.
type Links struct {
	Imprint       string `json:"imprint"`
	Privacy       string `json:"privacy"`
	Accessibility string `json:"accessibility"`
}

// A Foot is the last line of a page: links to what else this server shows, and to the operator's own pages.
type Foot struct {
	Links
	Words *words.Words
	Root  string // the address of the map's folder
	Query string
}

// Foot returns the foot of a page.
func (r *Reader) Foot(w *words.Words, root string) Foot {
	return Foot{r.Links, w, root, Query(r.Language)}
}

// A Figure is a picture of the server with its text.
type Figure struct {
	Image string // its address
	Alt   string // what it is, for those who do not see it
	Text  string // what it shows
}

// A Maker makes one of the pages. It is safe for concurrent use.
type Maker[Own any] struct {
	*words.Set[Own]
	page *template.Template
}

// NewMaker returns the Maker of a page from the files of the pages made on the server.
func NewMaker[Own any](files fs.FS, name string) (Maker[Own], error) {
	texts, err := words.Load[Own](files, name)
	if err != nil {
		return Maker[Own]{}, err
	}
	page, err := template.ParseFS(files, name+"/"+name+".html", "pages/symbols.html", "pages/languages.html", "pages/foot.html")
	return Maker[Own]{texts, page}, err
}

// Make returns the page with what the template shows, and the language of its words.
func (m Maker[Own]) Make(w *words.Page[Own], shown any) (content []byte, language string, err error) {
	var b bytes.Buffer
	err = m.page.Execute(&b, shown)
	return b.Bytes(), w.Language, err
}

// Query returns the query of an address for that language; empty for the reader's.
func Query(language string) string {
	if language == "" {
		return ""
	}
	return "?lang=" + language
}
