// Package weekpage makes the page about what has changed in a week. It compares only lakes that were measured in the week and in the week
// before: others changed because they were not seen, or because their value became too old.
package weekpage

import (
	"cmp"
	"io/fs"
	"net/url"
	"slices"

	"limnomap/api/pages"
	"limnomap/api/words"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/linetext"
	"limnomap/data/snapshot"
)

// maxListed is how many lakes a list of the page has, and maxRegions how many regions its table; it says if there are more.
const maxListed, maxRegions = 200, 200

// A Kind is what has become of a lake since the week before.
type Kind uint8

// The kinds of changes. A closed lake may have another one too.
const (
	Worse Kind = iota
	Better
	Closed  // by an authority, since the Monday of the week
	NotSeen // measured in the week before, and not in the week
	kinds
)

var kindNames = [kinds]string{"worse", "better", "closed", "not_seen"}

// String returns the name of a kind, as the table has it.
func (k Kind) String() string { return kindNames[k] }

// A Change is that of one lake. It is small, since a million lakes may have one.
type Change struct {
	Lake        int32 // its index in the snapshot
	Kind        Kind
	Before, Now data.Risk // of the values measured in those weeks; unknown without one
}

// Counts are the numbers of lakes by change.
type Counts [kinds]int

// RegionCounts are the numbers of the lakes of a region.
type RegionCounts struct {
	Name string // as lakes have it
	Counts
}

// Changes are those of one week, as the page has them. Their size is bounded.
type Changes struct {
	Week     data.Week
	Compared bool // whether the week before is known
	Counts
	Lakes    int // all
	Measured int // those measured in the week
	Both     int // those measured in the week before too
	Regions  []RegionCounts
	Unlisted int // regions

	listed [kinds][]listed
}

// A listed change has what the page shows of its lake.
type listed struct {
	lake *data.Lake
	Change
}

// Of returns the changes in the week of one of the snapshot's views.
func Of(snap *snapshot.Snapshot, v *snapshot.View) *Changes {
	c := &Changes{Week: snap.MeasuredWeek(v), Compared: snap.WeekBefore(v).Known, Lakes: len(v.Lakes)}
	regions := make(map[string]*Counts)
	c.Measured, c.Both = each(snap, v, func(change Change) {
		c.Counts[change.Kind]++
		lake := &v.Lakes[change.Lake]
		region := regions[lake.Region]
		if region == nil {
			region = new(Counts)
			regions[lake.Region] = region
		}
		region[change.Kind]++
		if list := &c.listed[change.Kind]; change.Kind != NotSeen && len(*list) < maxListed {
			*list = append(*list, listed{lake, change})
		}
	})
	c.Regions = make([]RegionCounts, 0, len(regions))
	for name, n := range regions {
		c.Regions = append(c.Regions, RegionCounts{name, *n})
	}
	slices.SortFunc(c.Regions, func(a, b RegionCounts) int { return cmp.Compare(a.Name, b.Name) })
	if len(c.Regions) > maxRegions {
		c.Unlisted = len(c.Regions) - maxRegions
		c.Regions = slices.Clone(c.Regions[:maxRegions])
	}
	return c
}

// All returns all changes in the week of one of the snapshot's views, in the order of its lakes.
func All(snap *snapshot.Snapshot, v *snapshot.View) (all []Change) {
	each(snap, v, func(c Change) { all = append(all, c) })
	return all
}

// each calls f with each change in the week of one of the snapshot's views, in the order of its lakes. It returns how many lakes were measured in the
// week, and how many of them in the week before too, as [snapshot.Snapshot.WeekCounts] does.
func each(snap *snapshot.Snapshot, v *snapshot.View, f func(Change)) (inWeek, both int) {
	week, before := snap.MeasuredWeek(v), snap.WeekBefore(v)
	for i := range v.States {
		now := &v.States[i]
		change := Change{Lake: int32(i)}
		measured := now.Chlorophyll.Valid() && now.Date.Week() == week
		if measured {
			inWeek++
			change.Now = now.Risk
		}
		then, compared := before.State(i)
		if compared {
			change.Before = then.Risk
		}
		if s := v.Advisories.Of(i); s != nil && s.Kind == data.Closure && data.DateOf(s.ValidFrom) >= week.Monday() {
			change.Kind = Closed
			f(change)
		}
		if measured && compared {
			both++
		}
		switch {
		case !compared:
			continue
		case !measured:
			change.Kind = NotSeen
		case change.Now > change.Before:
			change.Kind = Worse
		case change.Now < change.Before:
			change.Kind = Better
		default:
			continue
		}
		f(change)
	}
	return inWeek, both
}

// ownWords are the texts that only this page has.
type ownWords struct {
	Heading, Map, Week, Seen, Sentence             string
	NoWeekBefore, NotSeenHelp                      string
	Worse, Better, Closed, NotSeen, Region, FromTo string
	None, More, CSV, Feed                          string
}

// A Maker makes the page. It is safe for concurrent use.
type Maker struct {
	pages.Maker[ownWords]
	colors words.Colors
}

// New returns a Maker from the files of the pages made on the server. The colours of the classes are those of the scale.
func New(files fs.FS, scale *colormap.Map) (*Maker, error) {
	page, err := pages.NewMaker[ownWords](files, "week")
	return &Maker{page, words.ColorsOf(scale)}, err
}

// Sentence returns the changes in one sentence in the language, one of words.Languages.
func (m *Maker) Sentence(c *Changes, language string) string {
	return sentence(c, m.For(language, nil))
}

func sentence(c *Changes, w *words.Page[ownWords]) string {
	seen := words.Fill(w.Own.Seen, "seen", w.Count(c.Measured), "all", w.Count(c.Lakes), "percent", w.Count(percent(c.Measured, c.Lakes)))
	if !c.Compared {
		return seen + " " + w.Own.NoWeekBefore
	}
	return seen + " " + words.Fill(w.Own.Sentence, "both", w.Count(c.Both), "worse", w.Count(c.Counts[Worse]), "better", w.Count(c.Counts[Better]),
		"closed", w.Count(c.Counts[Closed]), "unseen", w.Count(c.Counts[NotSeen]))
}

// percent returns n of all in per cent, as the map's first line rounds it.
func percent(n, all int) int { return (200*n + all) / max(1, 2*all) }

// A list is a part of the page.
type list struct {
	ID, Heading string
	Rows        []row
	More        string
}

// A row is a lake of a list.
type row struct{ Name, Region, Page, Class, Text string }

// A regionRow has the numbers of a region, and the address of its page; empty for lakes without a region.
type regionRow struct {
	Name, Page string
	Counts
}

// Page returns the page, and its language. All addresses are relative to /week.
func (m *Maker) Page(c *Changes, r *pages.Reader) (content []byte, language string, err error) {
	w := m.For(r.Language, r.AcceptLanguage)
	query, date := pages.Query(r.Language), c.Week.Monday().String()
	more := func(n, shown int) string {
		if n == shown {
			return ""
		}
		return words.Fill(w.Own.More, "n", w.Count(n-shown))
	}
	var lists []list
	for kind, heading := range []string{Worse: w.Own.Worse, Better: w.Own.Better, Closed: w.Own.Closed} {
		l := list{ID: Kind(kind).String(), Heading: heading, More: more(c.Counts[kind], len(c.listed[kind]))}
		for _, change := range c.listed[kind] {
			l.Rows = append(l.Rows, newRow(change, query, w))
		}
		lists = append(lists, l)
	}
	return m.Make(w, struct {
		Words                 *words.Page[ownWords]
		Others                []words.Link
		Notice, Week          string
		Sentence              string
		Lists                 []list
		Regions               []regionRow
		MoreRegions           string
		Colors                words.Colors
		Foot                  pages.Foot
		Map, Table, CSV, Feed string
	}{
		w, m.Others(w, func(language string) string { return "?date=" + date + "&lang=" + language }), w.Notice(r.Notice),
		words.Fill(w.Own.Week, "date", w.Day(c.Week.Monday())), sentence(c, w), lists, regionRows(c, query), more(c.Unlisted, 0), m.colors, r.Foot(w.Words, ""),
		"./" + query, "table" + query, "week.csv?date=" + date, "week.atom",
	})
}

func newRow(c listed, query string, w *words.Page[ownWords]) row {
	text := func(r data.Risk) string { return cmp.Or(w.RiskShort[r.String()], w.RiskShort["none"]) }
	class := c.Now.String()
	if c.Kind == Closed {
		class = c.Kind.String()
	} else if _, ok := w.RiskShort[class]; !ok {
		class = "none"
	}
	return row{
		Name: words.NameOf(c.lake), Region: linetext.Clean(c.lake.Region), Page: "lakes/" + url.PathEscape(string(c.lake.ID)) + query, Class: class,
		Text: words.Fill(w.Own.FromTo, "before", text(c.Before), "now", text(c.Now)),
	}
}

// regionRows returns the numbers by region, with the pages of the regions.
func regionRows(c *Changes, query string) (rows []regionRow) {
	for _, r := range c.Regions {
		row := regionRow{Name: linetext.Clean(r.Name), Counts: r.Counts}
		if r.Name != "" {
			row.Page = "regions/" + url.PathEscape(r.Name) + query
		}
		rows = append(rows, row)
	}
	return rows
}
