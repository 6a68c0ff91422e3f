package table

import (
	"cmp"
	"net/url"
	"time"

	"limnomap/data"
	"limnomap/data/linetext"
)

// A page is what the template shows. All addresses are relative to the table's.
type page struct {
	Words       *words
	OtherWords  *words // of the other language
	Notice      string
	Attribution string
	Credits     []Credit
	AsOf        string // date of the newest measurement, in words
	AsOfOld     bool   // all values are old
	Levels      string
	Colors      [classes]string

	Query    string
	Class    string
	ByValue  bool
	Language string // of the query
	NoIndex  bool   // search engines shall not index this: it shows lakes that another address shows too
	Shown    string // which lakes these are
	Cut      string // says that the name matches more lakes
	NoPage   string // says that the part does not exist
	Rows     []row

	Map, All, SortName, SortValue, Previous, Next, First, InOther string // addresses
}

// A row is one lake.
type row struct {
	Name, Map           string
	Class, Risk         string     // Risk is that of the value
	Badge               bool       // the colour of the value does not show the whole risk, or an authority warns
	Statement           *statement // a closure or a warning, or nil
	Old                 bool
	Chlorophyll         string // empty without a current value
	Day, DayInWords     string // of the last value, Day as YYYY-MM-DD; empty if there never was one
	Sample              bool   // the last value is of a water sample
	Trophic             string
	History, HistoryCSV string // addresses
	NameJSON, NameCSV   string // their names
}

// newPage returns the page that q asks for.
func (t *Table) newPage(l *Lakes, q Query, w *words, r Reader) *page {
	lakes, more := l.find(q)
	first := min((q.Number-1)*maxRows, len(lakes))
	last := min(first+maxRows, len(lakes))
	p := &page{
		Words: w, OtherWords: t.otherWords(w),
		Notice: notice(w, r), Attribution: r.Attribution, Credits: r.Credits,
		AsOf: w.Own.NoData, Levels: w.levels(l.snap.Profile), Colors: t.colors,
		Query: q.Name, ByValue: q.ByValue, Language: q.Language,
		NoIndex:  q.Name != "" || q.Class < classes || q.ByValue,
		Map:      mapAddress(q, ""),
		SortName: q.sorted(false), SortValue: q.sorted(true),
	}
	p.InOther = q.at(q.Number, p.OtherWords.Language)
	if q.Class < classes {
		p.Class = ClassNames[q.Class]
	}
	if len(l.snap.Weeks) > 0 {
		p.AsOf = fill(w.Own.AsOf, "date", w.day(l.snap.Current.AsOf))
		p.AsOfOld = old(l.snap.Current.AsOf, r.Today)
	}
	if p.NoIndex {
		p.All = Query{Class: AllClasses, Number: 1, Language: q.Language}.address()
	}
	if more {
		p.Cut = fill(w.Own.Cut, "n", w.count(maxMatches))
	}
	switch {
	case last > first:
		p.Shown = fill(w.Own.Shown, "first", w.count(first+1), "last", w.count(last), "total", w.count(len(lakes)))
	case len(lakes) > 0:
		p.NoPage = fill(w.Own.NoPage, "page", w.count(q.Number))
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
func newRow(snap *data.Snapshot, i int, q Query, w *words, today data.Date) row {
	lake, state := &snap.Lakes[i], &snap.Current.States[i]
	official := newStatement(snap.Current.Advisories.Of(i), w)
	history := "api/v1/bathing-lakes/history/" + url.PathEscape(string(lake.ID))
	name := linetext.Isolate(lake.Name) // for plain text
	row := row{
		Name:       cmp.Or(linetext.Clean(lake.Name), string(lake.ID)),
		Map:        mapAddress(q, lake.ID),
		Class:      ClassNames[classOf(snap.Current, i)],
		Risk:       w.risk(state, snap.Profile),
		Badge:      w.worse(state, snap.Profile) != "" || official != nil && official.Kind == data.Warning.String(),
		Statement:  official,
		Trophic:    cmp.Or(w.Card.TrophicNames[state.Trophic.String()], state.Trophic.String()),
		History:    history,
		HistoryCSV: history + ".csv",
		NameJSON:   fill(w.Own.HistoryJSON, "lake", name),
		NameCSV:    fill(w.Own.HistoryCSV, "lake", name),
	}
	if state.Chlorophyll.Valid() {
		row.Chlorophyll = w.number(state.Chlorophyll.String())
	}
	if state.Risk != data.RiskUnknown {
		measured := data.DateOf(time.Unix(state.MeasuredAt(), 0))
		row.Old = old(measured, today)
		row.Sample = state.MeasuredBy == data.InSitu
		row.Day, row.DayInWords = measured.String(), w.day(measured)
	}
	return row
}

// mapAddress returns the address of the map, with that lake selected if one is given.
func mapAddress(q Query, lake data.LakeID) string {
	address := "./"
	if q.Language != "" {
		address += "?lang=" + q.Language
	}
	if lake != "" {
		address += "#lake=" + url.QueryEscape(string(lake))
	}
	return address
}

// notice returns the notice in the language of the words. Any notice means that the data are simulated, as on the map.
func notice(w *words, r Reader) string {
	if r.Notice != "" && w.Language != Languages[0] {
		return w.Common.Simulated
	}
	return r.Notice
}

// otherWords returns the words of the language that w is not in.
func (t *Table) otherWords(w *words) *words {
	if w == t.words[0] {
		return t.words[1]
	}
	return t.words[0]
}
