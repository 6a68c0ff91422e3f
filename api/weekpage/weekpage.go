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

// maxListed is how many lakes a list of the page has; it says if there are more.
const maxListed = 200

// A Kind is what has become of a lake since the week before.
type Kind string

// The kinds of changes. A closed lake may have another one too.
const (
	Worse   Kind = "worse"
	Better  Kind = "better"
	Closed  Kind = "closed"   // by an authority, since the Monday of the week
	NotSeen Kind = "not_seen" // measured in the week before, and not in the week
)

// A Change is that of one lake.
type Change struct {
	Lake        *data.Lake
	Kind        Kind
	Before, Now data.Risk // of the values measured in those weeks; unknown without one
}

// Counts are the numbers of lakes by change.
type Counts struct{ Both, Worse, Better, Closed, NotSeen int }

// Changes are those of one week.
type Changes struct {
	Week     data.Week
	Compared bool // whether the week before is known
	All      []Change
	Counts
}

// Of returns the changes in the week of one of the snapshot's views.
func Of(snap *snapshot.Snapshot, v *snapshot.View) *Changes {
	before := snap.WeekBefore(v)
	c := &Changes{Week: snap.MeasuredWeek(v), Compared: before.Known}
	for i := range v.States {
		now := &v.States[i]
		change := Change{Lake: &v.Lakes[i]}
		measured := now.Chlorophyll.Valid() && now.Date.Week() == c.Week
		if measured {
			change.Now = now.Risk
		}
		then, compared := before.State(i)
		if compared {
			change.Before = then.Risk
		}
		if s := v.Advisories.Of(i); s != nil && s.Kind == data.Closure && data.DateOf(s.ValidFrom) >= c.Week.Monday() {
			c.add(change, Closed, &c.Closed)
		}
		switch {
		case !compared:
		case !measured:
			c.add(change, NotSeen, &c.NotSeen)
		default:
			c.Both++
			if change.Now > change.Before {
				c.add(change, Worse, &c.Worse)
			} else if change.Now < change.Before {
				c.add(change, Better, &c.Better)
			}
		}
	}
	return c
}

func (c *Changes) add(change Change, kind Kind, n *int) {
	change.Kind = kind
	c.All = append(c.All, change)
	*n++
}

// ownWords are the texts that only this page has.
type ownWords struct {
	Heading, Map, Week, Sentence, NoWeekBefore, NotSeenHelp string
	Worse, Better, Closed, NotSeen, Region, FromTo          string
	None, More, CSV, Feed                                   string
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
	if !c.Compared {
		return w.Own.NoWeekBefore
	}
	return words.Fill(w.Own.Sentence, "both", w.Count(c.Both), "worse", w.Count(c.Worse), "better", w.Count(c.Better), "closed", w.Count(c.Closed), "unseen", w.Count(c.NotSeen))
}

// A list is a part of the page.
type list struct {
	ID, Heading string
	Rows        []row
	More        string
}

// A row is a lake of a list.
type row struct{ Name, Region, Page, Class, Text string }

// A region has the numbers of its lakes.
type region struct {
	Name, Page string // Page is empty for lakes without a region
	Counts
}

// Page returns the page, and its language. All addresses are relative to /week.
func (m *Maker) Page(c *Changes, r *pages.Reader) (content []byte, language string, err error) {
	w := m.For(r.Language, r.AcceptLanguage)
	query, date := pages.Query(r.Language), c.Week.Monday().String()
	lists := []list{{ID: string(Worse), Heading: w.Own.Worse}, {ID: string(Better), Heading: w.Own.Better}, {ID: string(Closed), Heading: w.Own.Closed}}
	for i := range lists {
		n := 0
		for _, change := range c.All {
			if string(change.Kind) != lists[i].ID {
				continue
			}
			if n++; n <= maxListed {
				lists[i].Rows = append(lists[i].Rows, newRow(change, query, w))
			}
		}
		if n > maxListed {
			lists[i].More = words.Fill(w.Own.More, "n", w.Count(n-maxListed))
		}
	}
	return m.Make(w, struct {
		Words                 *words.Page[ownWords]
		Others                []words.Link
		Notice, Week          string
		Sentence              string
		Lists                 []list
		Regions               []region
		Colors                words.Colors
		Foot                  pages.Foot
		Map, Table, CSV, Feed string
	}{
		w, m.Others(w, func(language string) string { return "?date=" + date + "&lang=" + language }), w.Notice(r.Notice),
		words.Fill(w.Own.Week, "date", w.Day(c.Week.Monday())), sentence(c, w), lists, regionsOf(c, query), m.colors, r.Foot(w.Words, ""),
		"./" + query, "table" + query, "week.csv?date=" + date, "week.atom",
	})
}

func newRow(c Change, query string, w *words.Page[ownWords]) row {
	text := func(r data.Risk) string { return cmp.Or(w.RiskShort[r.String()], w.RiskShort["none"]) }
	class := c.Now.String()
	if c.Kind == Closed {
		class = string(Closed)
	} else if _, ok := w.RiskShort[class]; !ok {
		class = "none"
	}
	return row{
		Name: words.NameOf(c.Lake), Region: linetext.Clean(c.Lake.Region), Page: "lakes/" + url.PathEscape(string(c.Lake.ID)) + query, Class: class,
		Text: words.Fill(w.Own.FromTo, "before", text(c.Before), "now", text(c.Now)),
	}
}

// regionsOf returns the numbers by region, in the order of their names.
func regionsOf(c *Changes, query string) []region {
	var regions []region
	at := make(map[string]int)
	for _, change := range c.All {
		name := linetext.Clean(change.Lake.Region)
		i, ok := at[name]
		if !ok {
			i = len(regions)
			at[name] = i
			page := ""
			if name != "" {
				page = "regions/" + url.PathEscape(change.Lake.Region) + query
			}
			regions = append(regions, region{Name: name, Page: page})
		}
		r := &regions[i]
		switch change.Kind {
		case Worse:
			r.Worse++
		case Better:
			r.Better++
		case Closed:
			r.Closed++
		case NotSeen:
			r.NotSeen++
		}
	}
	slices.SortFunc(regions, func(a, b region) int { return cmp.Compare(a.Name, b.Name) })
	return regions
}
