package table

import (
	"cmp"
	"net/url"

	"limnomap/api/pages"
	"limnomap/api/words"
	"limnomap/data"
	"limnomap/data/linetext"
	"limnomap/data/snapshot"
)

// A page is what the template shows. All addresses are relative to the table's.
type page struct {
	Words       *words.Page[ownWords]
	Others      []words.Link // the same in the other languages
	Notice      string
	Attribution string
	Credits     []pages.Credit
	AsOf        string // date of the newest measurement, in words
	AsOfOld     bool   // all values are old
	Levels      string
	Scheme      string
	Contact     pages.Contact
	Foot        pages.Foot
	Colors      words.Colors

	Query    string
	Class    string
	ByValue  bool
	Language string // of the query
	NoIndex  bool   // search engines shall not index this: it shows lakes that another address shows too
	Shown    string // which lakes these are
	Cut      string // says that the name matches more lakes
	NoPage   string // says that the part does not exist
	Rows     []row

	Map, All, SortName, SortValue, Previous, Next, First string // addresses
}

// A row is one lake.
type row struct {
	Name, Page          string
	Class, Risk         string           // Risk is that of the value
	Badge               bool             // the colour of the value does not show the whole risk, or an authority warns
	Statement           *words.Statement // a closure or a warning, or nil
	Old                 bool
	Chlorophyll         string // empty without a current value
	Day, DayInWords     string // of the last value, Day as YYYY-MM-DD; empty if there never was one
	Sample              bool   // the last value is of a water sample
	Trophic             string
	History, HistoryCSV string // addresses
	NameJSON, NameCSV   string // their names
}

// newPage returns the page that q asks for.
func (t *Table) newPage(l *Lakes, q Query, w *words.Page[ownWords], r *pages.Reader) *page {
	lakes, more := l.find(q)
	first := min((q.Number-1)*maxRows, len(lakes))
	last := min(first+maxRows, len(lakes))
	p := &page{
		Words: w, Others: t.Others(w, func(language string) string { return q.at(q.Number, language) }),
		Notice: w.Notice(r.Notice), Attribution: r.Attribution, Credits: r.Credits,
		AsOf: w.Own.NoData, Levels: w.Levels(w.Own.Levels, l.snap.Profile), Scheme: w.Scheme(l.snap.Profile), Contact: r.Contact, Foot: r.Foot(w.Words, ""), Colors: t.colors,
		Query: q.Name, ByValue: q.ByValue, Language: q.Language,
		NoIndex:  q.Name != "" || q.Class < words.Classes || q.ByValue,
		Map:      "./" + pages.Query(q.Language),
		SortName: q.sorted(false), SortValue: q.sorted(true),
	}
	if q.Class < words.Classes {
		p.Class = q.Class.String()
	}
	if newest, ok := l.snap.Newest(l.snap.Current.Week); ok {
		p.AsOf = words.Fill(w.Own.AsOf, "date", w.Day(newest))
		p.AsOfOld = words.Old(newest, r.Today)
	}
	if p.NoIndex {
		p.All = Query{Class: AllClasses, Number: 1, Language: q.Language}.address()
	}
	if more {
		p.Cut = words.Fill(w.Own.Cut, "n", w.Count(maxMatches))
	}
	switch {
	case last > first:
		p.Shown = words.Fill(w.Own.Shown, "first", w.Count(first+1), "last", w.Count(last), "total", w.Count(len(lakes)))
	case len(lakes) > 0:
		p.NoPage = words.Fill(w.Own.NoPage, "page", w.Count(q.Number))
		p.First = q.at(1, q.Language)
	}
	if first > 0 && last > first {
		p.Previous = q.at(q.Number-1, q.Language)
	}
	if last < len(lakes) {
		p.Next = q.at(q.Number+1, q.Language)
	}
	for _, lake := range lakes[first:last] {
		p.Rows = append(p.Rows, newRow(l.snap, int(lake), q, w, r.Today))
	}
	return p
}

// newRow returns the row of a lake.
func newRow(snap *snapshot.Snapshot, i int, q Query, w *words.Page[ownWords], today data.Date) row {
	lake, state := &snap.Lakes[i], &snap.Current.States[i]
	verdict := words.VerdictOf(snap.Current, i, today)
	official := w.StatementOf(snap.Current.Advisories.Of(i))
	history := "api/v1/bathing-lakes/history/" + url.PathEscape(string(lake.ID))
	name := linetext.Isolate(lake.Name) // for plain text
	row := row{
		Name:       words.NameOf(lake),
		Page:       "lakes/" + url.PathEscape(string(lake.ID)) + pages.Query(q.Language),
		Class:      verdict.Class.String(),
		Risk:       w.RiskText(&verdict),
		Badge:      verdict.Badge(),
		Statement:  official,
		Trophic:    cmp.Or(w.Card.TrophicNames[state.Trophic.String()], state.Trophic.String()),
		History:    history,
		HistoryCSV: history + ".csv",
		NameJSON:   words.Fill(w.Own.HistoryJSON, "lake", name),
		NameCSV:    words.Fill(w.Own.HistoryCSV, "lake", name),
	}
	if state.Chlorophyll.Valid() {
		row.Chlorophyll = w.Value(state.Chlorophyll, snap.Profile)
	}
	if !verdict.Never {
		row.Old, row.Sample = verdict.Old, state.MeasuredBy == data.InSitu
		row.Day, row.DayInWords = verdict.Measured.String(), w.Day(verdict.Measured)
	}
	return row
}
