package api

import (
	"cmp"
	"net/url"
	"time"

	"limnomap/data"
)

// A tablePage is what the template shows.
type tablePage struct {
	Words       *tableWords
	Notice      string
	Attribution string
	AsOf        string // of when the newest measurement is, in words
	AsOfOld     bool   // so that all are old
	Levels      string
	Colors      [classes]string

	Query      string
	Class      string
	ByValue    bool
	Language   string // as asked for
	NoIndex    bool   // one of the many ways to show the same lakes
	Shown      string // which lakes these are
	Cut        string
	NoPage     string
	Rows       []tableRow
	Map        string // addresses, relative to the table's
	All        string
	SortName   string
	SortValue  string
	Previous   string
	Next       string
	First      string
	InOther    string
	OtherWords *tableWords
}

// A tableRow is one lake.
type tableRow struct {
	Name, Map   string
	Class, Risk string
	Old         bool
	Chlorophyll string // empty without a current value
	Day         string // of the last value, as YYYY-MM-DD; empty if there never was one
	DayInWords  string
	Trophic     string
	History     string // addresses
	HistoryCSV  string
	NameJSON    string
	NameCSV     string
}

// tablePage returns the page that q asks for.
func (s *Server) tablePage(p *published, q tableQuery, w *tableWords) *tablePage {
	lakes, cut := p.lakesOf(q)
	first := min((q.page-1)*tableRows, len(lakes))
	last := min(first+tableRows, len(lakes))
	today := data.DateOf(s.now())
	page := &tablePage{
		Words: w, OtherWords: s.table.wordsIn(w.other()),
		Notice: s.notice(w), Attribution: s.adjustable().Attribution,
		AsOf: w.Own.NoData, Levels: w.levels(p.snap.Profile),
		Query: q.name, ByValue: q.byValue, Language: q.language,
		NoIndex:  q.name != "" || q.class < classes || q.byValue,
		Map:      mapAddress(q, ""),
		SortName: q.with(func(q *tableQuery) { q.byValue = false }), SortValue: q.with(func(q *tableQuery) { q.byValue = true }),
		InOther: q.on(q.page, w.other()),
	}
	for i, c := range s.colormaps[s.colormapIDs[0]].Legend().Classes {
		page.Colors[lowRisk-class(i)] = c.Color
	}
	page.Colors[noValue] = s.encoder.noData
	if q.class < classes {
		page.Class = classNames[q.class]
	}
	if len(p.snap.Weeks) > 0 {
		page.AsOf = fill(w.Own.AsOf, "date", w.day(p.snap.Current.AsOf))
		page.AsOfOld = tableOld(p.snap.Current.AsOf, today)
	}
	if page.NoIndex {
		page.All = tableQuery{class: classes, page: 1, language: q.language}.address()
	}
	if cut {
		page.Cut = fill(w.Own.Cut, "n", w.count(maxFound))
	}
	switch {
	case last > first:
		page.Shown = fill(w.Own.Shown, "first", w.count(first+1), "last", w.count(last), "total", w.count(len(lakes)))
	case len(lakes) > 0:
		page.NoPage = fill(w.Own.NoPage, "page", w.count(q.page))
		page.First = q.on(1, q.language)
	}
	if first > 0 && last > first {
		page.Previous = q.on(q.page-1, q.language)
	}
	if last < len(lakes) {
		page.Next = q.on(q.page+1, q.language)
	}
	for _, lake := range lakes[first:last] {
		page.Rows = append(page.Rows, tableRowOf(p.snap, int(lake), q, w, today))
	}
	return page
}

// on returns the address of that page of q, in that language.
func (q tableQuery) on(page int, language string) string {
	q.page, q.language = page, language
	return q.address()
}

// with returns the address of the first page of q once it is changed.
func (q tableQuery) with(change func(*tableQuery)) string {
	q.page = 1
	change(&q)
	return q.address()
}

// mapAddress returns the address of the map, with a lake chosen if one is given.
func mapAddress(q tableQuery, lake data.LakeID) string {
	address := "./"
	if q.language != "" {
		address += "?lang=" + q.language
	}
	if lake != "" {
		address += "#lake=" + url.QueryEscape(string(lake))
	}
	return address
}

// notice returns what is to be said of the data in that language: as the page does, which knows that what is noticed is
// that they are simulated.
func (s *Server) notice(w *tableWords) string {
	if s.opts.Notice != "" && w.Language != languages[0] {
		return w.Common.Simulated
	}
	return s.opts.Notice
}

// wordsIn returns the words in a language.
func (t *table) wordsIn(language string) *tableWords {
	for _, w := range t.words {
		if w.Language == language {
			return w
		}
	}
	return t.words[0]
}

// tableRowOf returns the row of a lake as it stands today.
func tableRowOf(snap *data.Snapshot, i int, q tableQuery, w *tableWords, today data.Date) tableRow {
	lake, state := &snap.Lakes[i], &snap.Current.States[i]
	history := "api/v1/bathing-lakes/history/" + url.PathEscape(string(lake.ID))
	row := tableRow{
		Name:       lake.Name,
		Map:        mapAddress(q, lake.ID),
		Class:      classNames[classOf(state, snap.Profile)],
		Risk:       w.risk(state, snap.Profile),
		Trophic:    cmp.Or(w.Card.TrophicNames[state.Trophic.String()], state.Trophic.String()),
		History:    history,
		HistoryCSV: history + ".csv",
		NameJSON:   fill(w.Own.HistoryJSON, "lake", lake.Name),
		NameCSV:    fill(w.Own.HistoryCSV, "lake", lake.Name),
	}
	if state.Chlorophyll.Valid() {
		row.Chlorophyll = w.number(state.Chlorophyll.String())
	}
	if state.Risk != data.RiskUnknown {
		measured := data.DateOf(time.Unix(state.MeasuredAt, 0))
		row.Old = tableOld(measured, today)
		row.Day, row.DayInWords = measured.String(), w.day(measured)
	}
	return row
}
