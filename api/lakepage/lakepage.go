// Package lakepage makes the page of one lake: an HTML page for readers without JavaScript, for printers and for search engines. It says
// first whether an authority closed the lake and what the last value means, then when it was measured, then everything else.
package lakepage

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"

	"limnomap/api/words"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/index"
	"limnomap/data/snapshot"
)

const (
	// historyDays is how far back the chart goes: two years, but not before the 104 weeks that a server has in memory unless told otherwise.
	historyDays = 103 * 7
	// maxHistory bounds the values of the chart: a satellite each second day and some samples, in two years.
	maxHistory = 400
	// tableWeeks is how many weeks the table has.
	tableWeeks = 12
	// maxNear and maxLower are how many lakes near this one are shown, and how many of those with lower risk.
	maxNear, maxLower = 5, 3

	// NearMetres and MaxNeighbours bound the search for both.
	NearMetres    = 100_000
	MaxNeighbours = 64
)

// HistoryQuery returns which observations the page of a lake shows, for a snapshot.
func HistoryQuery(snap *snapshot.Snapshot, today data.Date) data.HistoryQuery {
	last := max(today, snap.Current.AsOf)
	return data.HistoryQuery{
		Limit:  maxHistory,
		Period: data.Period{First: last - historyDays, Last: last},
		Types:  data.TypesOf(data.Satellite, data.InSitu),
	}
}

// ownWords are the texts that only this page has.
type ownWords struct {
	Satellite, Sample                               map[string]string // what they show, by risk
	LowAdvice, OfficialCounts                       string
	LastRisk, NeverMeasured, OldValue               string
	Measured, LastMeasured                          string
	History, ChartTitle, ChartText, NoHistory       string
	Values                                          map[string]string
	HistoryFailed                                   string
	KeySatellite, KeySample, KeyWorse, KeyGap       string
	Weeks, Week, WeekNumber, Risk, Source, NoValue  string
	Near, Lower, LowerHelp, Kilometres              string
	Ask                                             string
	More, Map, Sign, Table, HistoryJSON, HistoryCSV string
	Languages, Levels                               string
}

// A Maker makes the pages. It is safe for concurrent use.
type Maker struct {
	page   *template.Template
	words  *words.Set[ownWords]
	colors words.Colors
	legend colormap.Legend
}

// New returns a Maker from the files of the pages made on the server. The colours of the classes are those of the scale.
func New(files fs.FS, scale *colormap.Map) (*Maker, error) {
	texts, err := words.Load[ownWords](files, "lake")
	if err != nil {
		return nil, err
	}
	page, err := template.ParseFS(files, "lake/lake.html", "pages/symbols.html")
	if err != nil {
		return nil, err
	}
	return &Maker{page, texts, words.ColorsOf(scale), scale.Legend()}, nil
}

// A Lake is what a page is about.
type Lake struct {
	Snapshot *snapshot.Snapshot
	Index    int                // of the lake in it
	History  []data.Observation // by HistoryQuery, newest first
	// Unread is true if the history could not be read: the page then says that, and still shows the current value.
	Unread     bool
	Neighbours []index.Neighbour // the lakes around it, itself among them, the nearest first
}

// A Reader is who sees the page.
type Reader struct {
	Language       string    // that the address asks for, one of words.Languages; empty: by AcceptLanguage
	AcceptLanguage []string  // the values of that header field
	Today          data.Date // decides which values are old
	Base           string    // what addresses of this server begin with: its origin, if that is known, and its path
	Notice         string    // in English, such as "Simulated demo data, not measurements"; empty for real data
	Attribution    string
	Credits        []Credit // of the providers of the data
	Contact        Contact
}

// A Contact is the authority that answers questions about the lake. Each field may be empty.
type Contact struct {
	Name string
	URL  template.URL // https, http, mailto or tel, which package template would refuse
	Logo string       // a path below the base path
}

// A Credit is a line with which a provider of data wants to be named, and the address of a page about them, or empty.
type Credit struct{ Text, URL string }

// Page returns the page of a lake, and its language.
func (m *Maker) Page(l Lake, r Reader) (content []byte, language string, err error) {
	w := m.words.For(r.Language, r.AcceptLanguage)
	var b bytes.Buffer
	b.Grow(16 << 10)
	if err := m.page.Execute(&b, m.newPage(&l, &r, w)); err != nil {
		return nil, "", fmt.Errorf("page of a lake: %w", err)
	}
	return b.Bytes(), w.Language, nil
}
