// Package lakepage makes the page of one lake: an HTML page for readers without JavaScript, for printers and for search engines. It says
// first whether an authority closed the lake and what the last value means, then when it was measured, then everything else.
package lakepage

import (
	"io/fs"
	"strconv"

	"limnomap/api/pages"
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
	last := today
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
	HistoryFailed, Accuracy, Biased                 string
	KeySatellite, KeySample, KeyWorse, KeyGap       string
	HigherThan, LowerThan, Rose, Fell               string
	BloomWeeks, BloomYear, BloomKey, KeyUsual       string
	StatisticsCSV, RegionPage                       string
	Weeks, Week, WeekNumber, Risk, Source, NoValue  string
	Near, Lower, LowerHelp, Kilometres              string
	Ask                                             string
	More, Map, Sign, Table, HistoryJSON, HistoryCSV string
	Levels                                          string
	Inside, InsideText, InsideSite, InsideClearer   string
	Kept, Print, Way, Shore, ShoreHelp              string
	Look, Stick, Jar                                shoreTest
}

// A shoreTest is a look at the water that everyone at the shore can take, as health departments recommend: the tests with a stick and a jar are those
// of the Kansas Department of Health and Environment.
type shoreTest struct{ Name, Text string }

// A Maker makes the pages. It is safe for concurrent use.
type Maker struct {
	pages.Maker[ownWords]
	colors words.Colors
	legend colormap.Legend
}

// New returns a Maker from the files of the pages made on the server. The colours of the classes are those of the scale.
func New(files fs.FS, scale *colormap.Map) (*Maker, error) {
	page, err := pages.NewMaker[ownWords](files, "lake")
	return &Maker{page, words.ColorsOf(scale), scale.Legend()}, err
}

// minCompared is of how many samples the page says how often the satellite was right: fewer say little.
const minCompared = 5

// Compared says how often the satellite was right at a lake.
type Compared struct {
	Samples, Same, Lower, Higher int     // by the class that the satellite showed
	Factor                       float64 // by which its values are biased; 0 if they are not
}

// texts returns what the page says about it.
func (c *Compared) texts(w *words.Page[ownWords]) (texts []string) {
	if c.Samples < minCompared {
		return nil
	}
	texts = []string{words.Fill(w.Own.Accuracy, "n", w.Count(c.Samples), "same", w.Count(c.Same), "low", w.Count(c.Lower), "high", w.Count(c.Higher))}
	if c.Factor > 0 {
		texts = append(texts, words.Fill(w.Own.Biased, "factor", w.Number(strconv.FormatFloat(c.Factor, 'f', 1, 64))))
	}
	return texts
}

// A Lake is what a page is about.
type Lake struct {
	Snapshot *snapshot.Snapshot
	Index    int                // of the lake in it
	History  []data.Observation // by HistoryQuery, newest first
	// Unread is true if the history could not be read: the page then says that, and still shows the current value.
	Unread     bool
	Compared   Compared
	Known      Known
	Inside     *Inside           // nil without pixels
	Neighbours []index.Neighbour // the lakes around it, itself among them, the nearest first
}

// Page returns the page of a lake, and its language.
func (m *Maker) Page(l *Lake, r *pages.Reader) (content []byte, language string, err error) {
	w := m.For(r.Language, r.AcceptLanguage)
	return m.Make(w, m.newPage(l, r, w))
}
