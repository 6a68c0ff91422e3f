package weekpage

import (
	"cmp"
	"context"
	"io/fs"
	"net/url"
	"slices"
	"strconv"

	"limnomap/api/pages"
	"limnomap/api/words"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/linetext"
	"limnomap/data/snapshot"
	"limnomap/data/statistics"
)

// maxWorst is how many lakes the page of a region has as the worst ones.
const maxWorst = 20

// A Region is what is known of the lakes of a region on a day.
type Region struct {
	Name     string // as lakes have it
	Date     data.Date
	Lakes    int
	Now      [words.Classes]int
	YearAgo  [words.Classes]int
	Before   data.Optional[data.Date] // of YearAgo; unknown if that week is not served
	Worst    []RegionLake             // with medium or high risk, the highest values first
	Seasons  []Season                 // of the years in memory, ascending
	Closures []RegionClosure
}

// A RegionLake is a lake with its current value.
type RegionLake struct {
	Lake        *data.Lake
	Class       words.Class
	Chlorophyll data.Chlorophyll
	Measured    data.Date
}

// A RegionClosure is a lake that an authority has closed.
type RegionClosure struct {
	Lake      *data.Lake
	Statement *data.Advisory
}

// A Season has the weeks of lakes with a value, from 1 January to the day of the region's date.
type Season struct {
	Year  int
	Weeks [data.RiskHigh + 1]int // by risk
	Lakes int
}

// Measured returns how many weeks of lakes have a value.
func (s *Season) Measured() int {
	return s.Weeks[data.RiskLow] + s.Weeks[data.RiskMedium] + s.Weeks[data.RiskHigh]
}

// RegionOf returns what is known of the lakes of a region, without YearAgo. The error is that of ctx.
func RegionOf(ctx context.Context, snap *snapshot.Snapshot, name string, members []int32) (*Region, error) {
	r := &Region{Name: name, Date: snap.Current.AsOf, Lakes: len(members)}
	r.Now = classesOf(snap.Current, members)
	for _, i := range members {
		state := &snap.Current.States[i]
		if state.Chlorophyll.Valid() && state.Risk >= data.RiskMedium {
			r.Worst = append(r.Worst, RegionLake{&snap.Lakes[i], words.ClassOfRisk(state.Risk), state.Chlorophyll, state.Date})
		}
		if s := snap.Current.Advisories.Of(int(i)); s != nil && s.Kind == data.Closure {
			r.Closures = append(r.Closures, RegionClosure{&snap.Lakes[i], s})
		}
	}
	slices.SortStableFunc(r.Worst, func(a, b RegionLake) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(b.Chlorophyll, a.Chlorophyll))
	})
	r.Worst = slices.Clone(r.Worst[:min(len(r.Worst), maxWorst)])
	return r, r.addSeasons(ctx, snap, members)
}

// SetYearAgo sets the classes of the view of a year ago.
func (r *Region) SetYearAgo(view *snapshot.View, members []int32) {
	r.YearAgo, r.Before = classesOf(view, members), data.Known(view.Week.Sunday())
}

func classesOf(view *snapshot.View, members []int32) (n [words.Classes]int) {
	for _, i := range members {
		n[words.ClassOf(view, int(i))]++
	}
	return n
}

// addSeasons counts the weeks up to this day of each year of which all values are in memory. The error is that of ctx.
func (r *Region) addSeasons(ctx context.Context, snap *snapshot.Snapshot, members []int32) error {
	byYear := make(map[int]*Season)
	upTo := dayIn(r.Date)
	for _, i := range members {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		measured, since := snap.Measured(int(i))
		first := since.Time().Year()
		if since.Time().YearDay() > 1 {
			first++
		}
		lakeYear := 0
		for _, v := range statistics.ValuesOf(measured, statistics.Together) {
			year := v.Date.Time().Year()
			if year < first || dayIn(v.Date) > upTo {
				continue
			}
			s := byYear[year]
			if s == nil {
				s = &Season{Year: year}
				byYear[year] = s
			}
			if year != lakeYear {
				s.Lakes++
				lakeYear = year
			}
			c, _ := data.ChlorophyllOf(v.Chlorophyll) // it is one
			s.Weeks[snap.Profile.Level(c).Risk()]++
		}
	}
	for _, s := range byYear {
		r.Seasons = append(r.Seasons, *s)
	}
	slices.SortFunc(r.Seasons, func(a, b Season) int { return a.Year - b.Year })
	return nil
}

// dayIn returns month and day of a date as a number that grows through the year.
func dayIn(d data.Date) int {
	t := d.Time()
	return 31*int(t.Month()) + t.Day()
}

// regionWords are the texts that only the page of a region has.
type regionWords struct {
	Heading, Map, Week, Date, JSON                                 string
	Classes, Class, Now, YearAgo, Worst, None, NoneWorst, Closures string
	Season, SeasonHelp, Year, Lakes, Measured, Medium, High        string
	Sentence                                                       string
}

// A RegionMaker makes the page of a region. It is safe for concurrent use.
type RegionMaker struct {
	pages.Maker[regionWords]
	colors words.Colors
}

// NewRegions returns a RegionMaker, as New does.
func NewRegions(files fs.FS, scale *colormap.Map) (*RegionMaker, error) {
	page, err := pages.NewMaker[regionWords](files, "region")
	return &RegionMaker{page, words.ColorsOf(scale)}, err
}

type classRow struct{ Class, Name, Now, YearAgo string }

type seasonRow struct{ Year, Lakes, Measured, Medium, High string }

type closureRow struct{ Name, Page, Text, Issuer string }

// Page returns the page, and its language. All addresses are relative to /regions/.
func (m *RegionMaker) Page(r *Region, reader *pages.Reader, profile *data.Profile) (content []byte, language string, err error) {
	w := m.For(reader.Language, reader.AcceptLanguage)
	query, code := pages.Query(reader.Language), url.PathEscape(r.Name)
	var classes []classRow
	for c := range words.Classes {
		row := classRow{Class: c.String(), Name: w.RiskShort[c.String()], Now: w.Count(r.Now[c]), YearAgo: "–"}
		if r.Before.Known {
			row.YearAgo = w.Count(r.YearAgo[c])
		}
		classes = append(classes, row)
	}
	var worst []row
	for _, l := range r.Worst {
		worst = append(worst, row{
			Name: words.NameOf(l.Lake), Page: "../lakes/" + url.PathEscape(string(l.Lake.ID)) + query, Class: l.Class.String(),
			Text: w.Value(l.Chlorophyll, profile) + "\u00a0µg/l, " + w.Day(l.Measured),
		})
	}
	var seasons []seasonRow
	for i := len(r.Seasons) - 1; i >= 0; i-- {
		s := &r.Seasons[i]
		share := func(n int) string {
			return w.Count(n) + " (" + w.Number(strconv.Itoa((200*n/s.Measured()+1)/2)) + "\u00a0%)"
		}
		seasons = append(seasons, seasonRow{strconv.Itoa(s.Year), w.Count(s.Lakes), w.Count(s.Measured()), share(s.Weeks[data.RiskMedium]), share(s.Weeks[data.RiskHigh])})
	}
	var closures []closureRow
	for _, c := range r.Closures {
		s := w.StatementOf(c.Statement)
		closures = append(closures, closureRow{words.NameOf(c.Lake), "../lakes/" + url.PathEscape(string(c.Lake.ID)) + query, s.Validity, s.Issuer})
	}
	return m.Make(w, struct {
		Words                    *words.Page[regionWords]
		Others                   []words.Link
		Notice, Name, Date       string
		Sentence                 string
		Classes                  []classRow
		Worst                    []row
		Seasons                  []seasonRow
		Closures                 []closureRow
		Colors                   words.Colors
		Foot                     pages.Foot
		Map, Week, JSON, YearAgo string
	}{
		w, m.Others(w, func(language string) string { return code + "?lang=" + language }), w.Notice(reader.Notice),
		linetext.Clean(r.Name), words.Fill(w.Own.Date, "date", w.Day(r.Date)),
		words.Fill(w.Own.Sentence, "lakes", w.Count(r.Lakes), "high", w.Count(r.Now[words.HighRisk]), "medium", w.Count(r.Now[words.MediumRisk]), "closed", w.Count(r.Now[words.Closed]),
			"none", w.Count(r.Now[words.NoValue])),
		classes, worst, seasons, closures, m.colors, reader.Foot(w.Words, "../"),
		"../" + query, "../week" + query, code + ".json", yearAgo(r, w),
	})
}

// yearAgo returns the heading of the numbers of a year ago.
func yearAgo(r *Region, w *words.Page[regionWords]) string {
	if !r.Before.Known {
		return w.Own.YearAgo
	}
	return w.Own.YearAgo + " (" + w.Day(r.Before.Value) + ")"
}
