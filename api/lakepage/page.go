package lakepage

import (
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"limnomap/api/pages"
	"limnomap/api/words"
	"limnomap/data"
	"limnomap/data/linetext"
	"limnomap/data/snapshot"
)

// A page is what the template shows. Addresses in it are relative to the folder of the pages, except those that others read: Self, the
// alternates and Public begin with the base.
type page struct {
	Words       *words.Page[ownWords]
	Notice      string
	Attribution string
	Credits     []pages.Credit
	Contact     pages.Contact
	Colors      words.Colors
	Levels      string
	Scheme      string
	Foot        pages.Foot

	Title, Description string
	Self               string       // the address of this page
	Alternates         []words.Link // in each language, and in that of the reader
	Public             *public      // nil if the server does not know its origin
	Linked             linked
	Root               string       // the address of the map's folder
	Others             []words.Link // this page in the other languages

	Name, Region string
	verdict
	Trophic string

	Inside  *pages.Figure // nil without pixels
	Chart   *chart
	NoChart string   // why there is none
	Known   []string // of its season and years
	Bloom   *bars
	// Accuracy says how often the satellite was right here.
	Accuracy []string
	Weeks    []weekRow

	Near, Lower []neighbour
	Kept        string // what the page says if a browser kept it and has no connection

	Map, Table, Sign, HistoryJSON, HistoryCSV, StatisticsCSV, RegionPage string
}

// public are addresses that other servers use, with an origin.
type public struct{ OEmbed, Image string }

// newPage returns the page of a lake.
func (m *Maker) newPage(l *Lake, r *pages.Reader, w *words.Page[ownWords]) *page {
	lake := &l.Snapshot.Lakes[l.Index]
	id := url.PathEscape(string(lake.ID))
	p := &page{
		Words: w, Notice: w.Notice(r.Notice), Attribution: r.Attribution, Credits: r.Credits, Contact: r.Contact, Colors: m.colors,
		Levels: w.Levels(w.Own.Levels, l.Snapshot.Profile), Scheme: w.Scheme(l.Snapshot.Profile), Foot: r.Foot(w.Words, "../"),
		Root:   "../",
		Name:   words.NameOf(lake),
		Region: linetext.Clean(lake.Region),
		Weeks:  weeksOf(l, r.Today, w),
		Table:  "../table" + pages.Query(r.Language),
		Map:    "../" + pages.Query(r.Language) + "#lake=" + url.QueryEscape(string(lake.ID)),
		Sign:   id + "/sign" + pages.Query(r.Language),

		HistoryJSON: "../api/v1/bathing-lakes/history/" + id,
		HistoryCSV:  "../api/v1/bathing-lakes/history/" + id + ".csv",

		StatisticsCSV: "../api/v1/bathing-lakes/statistics/" + id + ".csv",
	}
	if lake.Region != "" {
		p.RegionPage = "../regions/" + url.PathEscape(lake.Region) + pages.Query(r.Language)
	}
	state := &l.Snapshot.Current.States[l.Index]
	p.verdict = newVerdict(l, r.Today, w)
	p.addSeen(l.History, state, w)
	p.Trophic = cmp.Or(w.Card.TrophicNames[state.Trophic.String()], state.Trophic.String())

	here := linetext.Isolate(p.Name)
	if p.Region != "" {
		here += ", " + linetext.Isolate(p.Region)
	}
	p.Title = here + " · " + w.Common.Title
	p.Description = p.verdict.sentence(w, here)
	if p.Notice != "" { // it is shown far from the page
		p.Description = p.Notice + ". " + p.Description
	}
	address := r.Base + "/lakes/" + id
	p.Self = address + pages.Query(r.Language)
	p.Alternates = []words.Link{{Language: "x-default", Address: address}}
	for _, other := range m.All() {
		p.Alternates = append(p.Alternates, words.Link{Language: other.Language, Address: address + pages.Query(other.Language)})
	}
	p.Others = m.Others(w, func(language string) string { return id + pages.Query(language) })
	if strings.Contains(r.Base, "://") {
		p.Public = &public{
			OEmbed: r.Base + "/oembed?format=json&url=" + url.QueryEscape(p.Self),
			Image:  address + "/preview.png" + pages.Query(w.Language),
		}
	}
	p.Linked = newLinked(lake, state, p, w)

	switch {
	case l.Unread:
		p.NoChart = w.Own.HistoryFailed
	default:
		if p.Chart = m.newChart(l, r.Today, w); p.Chart == nil {
			p.NoChart = w.Own.NoHistory
		}
	}
	p.Known, p.Bloom = l.Known.texts(state.Chlorophyll.Valid(), w), newBars(l.Known.Years, w)
	p.Inside = l.Inside.figure(id, "../", w)
	p.Accuracy = l.Compared.texts(w)
	p.Kept = words.Fill(w.Own.Kept, "date", w.Day(r.Today))
	p.Near, p.Lower = near(l, r, w)
	return p
}

// A verdict is what the page says first.
type verdict struct {
	words.Verdict
	Badge     bool // the risk is worse than the value; a warning stands above it
	Index     bool // the value is from an index of cyanobacteria
	Statement *words.Statement
	Swim      string         // whether to swim
	People    []words.Advice // what it means for each
	Headline  string
	RiskText  string // in words, below the headline; may be empty
	Advice    []string

	Day          string // of the last value; empty if there never was one
	Date         string // the same in words, with its age and who measured it
	MeasuredText string // the same in a sentence that stays true
	Source       string // of the last value, may be empty
	Chlorophyll  string // empty without a current value
	Seen         []seenFact
}

// newVerdict returns what is to be said about a lake today.
func newVerdict(l *Lake, today data.Date, w *words.Page[ownWords]) verdict {
	snap := l.Snapshot
	state := &snap.Current.States[l.Index]
	v := verdict{Verdict: words.VerdictOf(snap.Current, l.Index, today), Statement: w.StatementOf(snap.Current.Advisories.Of(l.Index))}
	v.Badge = v.Worse != ""
	v.Swim, v.People = w.SwimText(&v.Verdict), w.AdviceOf(&v.Verdict)
	if v.Never {
		v.Headline, v.Advice = w.Common.NoValue, []string{w.Own.NeverMeasured}
		return v
	}
	risk := v.Risk.String()
	v.Day = v.Measured.String()
	shownBy := observationOf(l.History, state)
	v.Date = w.Day(v.Measured)
	if shownBy.Date == v.Measured {
		v.Date = w.Period(shownBy)
	}
	v.Date += " (" + w.Ago(v.Measured, today) + ")" + w.Card.By[state.MeasuredBy.String()]
	if composite := w.CompositeOf(shownBy); composite != "" {
		v.Date += ", " + composite
	}
	v.Source = linetext.Clean(shownBy.Source)
	lastRisk := words.Fill(w.Own.LastRisk, "risk", w.RiskShort[risk])
	if v.ValueClass == words.NoValue {
		v.MeasuredText = words.Fill(w.Own.LastMeasured, "date", w.Day(v.Measured))
		v.Headline, v.RiskText, v.Advice = w.Common.NoValue, lastRisk, []string{w.Card.NoValueHelp}
		return v
	}
	v.MeasuredText = words.Fill(w.Own.Measured, "date", w.Day(v.Measured))
	v.Chlorophyll = w.Value(state.Chlorophyll, snap.Profile) + "\u00a0µg/l"
	if shownBy.Details.BelowLimit {
		v.Chlorophyll = words.Fill(w.Card.Below, "value", v.Chlorophyll)
	}
	switch {
	case v.Old:
		v.Headline, v.Advice = lastRisk, []string{w.Own.OldValue, w.Card.PastMeaning[risk], w.Card.OldHelp}
	case v.Risk == data.RiskLow && v.Statement == nil: // the headline says what was measured
		v.Advice = []string{w.Own.LowAdvice}
	case v.Risk != data.RiskLow: // otherwise the statement says what to do
		v.Advice = []string{w.Card.Meaning[risk]}
	}
	switch {
	case v.Old:
	case v.Badge: // the value is not the reason for the risk
		v.Headline = w.RiskText(&v.Verdict)
	default:
		v.Headline, v.RiskText = shown(w, state), w.Risk[risk]
	}
	if v.Statement != nil && v.Risk == data.RiskLow { // few algae must not seem to lift what the authority says
		v.Advice = append(v.Advice, w.Own.OfficialCounts)
	}
	if v.Badge {
		v.Advice = append(v.Advice, words.Fill(w.Card.WorseHelp[v.Worse], "cells", w.Density(state.CountedCells, snap.Profile)))
	}
	if v.Index = state.CellOrigin() == data.Index; v.Index {
		v.Advice = append(v.Advice, w.Card.Index)
	}
	return v
}

// shown returns what the satellite or the sample shows.
func shown(w *words.Page[ownWords], state *snapshot.State) string {
	if state.MeasuredBy == data.InSitu {
		return w.Own.Sample[state.Risk.String()]
	}
	return w.Own.Satellite[state.Risk.String()]
}

// A seenFact is what an observation says beside its value.
type seenFact struct{ Name, Value string }

// addSeen adds what the latest observation says beside its value, and else that of the value, as the card of the map does. It has its day if that is
// another than that of the value.
func (v *verdict) addSeen(history []data.Observation, state *snapshot.State, w *words.Page[ownWords]) {
	value := &data.Observation{}
	if state.Chlorophyll.Valid() {
		value = observationOf(history, state)
	}
	latest := value
	if i := slices.IndexFunc(history, func(o data.Observation) bool { return o.Type.Measured() && o.Quality != data.Poor }); i >= 0 {
		latest = &history[i]
	}
	if hasIce(latest) {
		v.Advice = append(v.Advice, words.Fill(w.Card.Ice, "date", w.Day(latest.Date)))
	}
	add := func(name, unit string, of func(*data.Details) data.Optional[data.Hundredths]) {
		o := latest
		if !of(&o.Details).Known {
			o = value
		}
		n := of(&o.Details)
		if !n.Known {
			return
		}
		text := words.Fill(unit, "n", w.Number(strconv.FormatFloat(n.Value.Float(), 'f', -1, 64)))
		if o != value {
			text += " (" + w.Day(o.Date) + ")"
		}
		v.Seen = append(v.Seen, seenFact{name, text})
	}
	short := func(n data.Optional[data.Hundredths]) data.Optional[data.Hundredths] {
		n.Value = n.Value.Rounded()
		return n
	}
	add(w.Card.Scum, w.Card.Share, func(d *data.Details) data.Optional[data.Hundredths] { return short(d.ScumPercent) })
	add(w.Card.Turbidity, "{n} NTU", func(d *data.Details) data.Optional[data.Hundredths] { return short(d.Turbidity) })
	add(w.Card.Secchi, "{n} m", func(d *data.Details) data.Optional[data.Hundredths] { return d.Secchi })
	add(w.Card.Temperature, "{n} °C", func(d *data.Details) data.Optional[data.Hundredths] { return d.WaterTemperature })
}

// hasIce reports whether an observation is a gap by ice.
func hasIce(o *data.Observation) bool {
	return !o.Chlorophyll.Valid() && o.Details.Flags&data.FlagsOf(data.Ice) != 0
}

// sentence returns the verdict for previews and search engines, about the lake here. They show it for days, so it has no age.
func (v *verdict) sentence(w *words.Page[ownWords], here string) string {
	parts := []string{v.Swim}
	if v.Statement != nil {
		parts = append(parts, v.Statement.Title+" "+v.Statement.Validity)
	}
	parts = append(parts, v.Headline)
	for _, text := range []string{v.RiskText, v.MeasuredText} {
		if text != "" {
			parts = append(parts, text)
		}
	}
	parts = append(parts, w.Common.Limits)
	for i := range parts {
		parts[i] = strings.TrimSuffix(parts[i], ".")
	}
	return here + ": " + strings.Join(parts, ". ") + "."
}

// observationOf returns the observation that a state shows; an empty one if the history does not have it.
func observationOf(history []data.Observation, state *snapshot.State) *data.Observation {
	for i := range history {
		if o := &history[i]; o.Date == state.Date && o.Type == state.MeasuredBy && o.Quality != data.Poor {
			return o
		}
	}
	return &data.Observation{}
}

// A neighbour is a lake near this one.
type neighbour struct {
	Name, Address, Distance string
	Class                   words.Class
	Old, Badge              bool
	Risk                    string
	Way                     template.URL // to a lake with a lower risk, for an app with maps (RFC 5870)
	WayText                 string
}

// near returns the lakes nearest to this one, and the nearest ones with a lower risk if it has a medium or high one, or is closed.
func near(l *Lake, r *pages.Reader, w *words.Page[ownWords]) (near, lower []neighbour) {
	snap := l.Snapshot
	own := words.ClassOf(snap.Current, l.Index)
	if own == words.Closed { // its own value may be low: only lakes of low risk are better, as on the card
		own = words.MediumRisk
	}
	for _, n := range l.Neighbours {
		if n.Lake == l.Index {
			continue
		}
		v := words.VerdictOf(snap.Current, n.Lake, r.Today)
		full := len(near) == maxNear
		better := own < words.LowRisk && len(lower) < maxLower && v.Class > own && v.Class < words.NoValue && !v.Warned && !v.Old
		if full && !better {
			continue
		}
		item := newNeighbour(&snap.Lakes[n.Lake], n.Metres, &v, r.Language, w)
		if !full {
			near = append(near, item)
		}
		if better {
			point := snap.Lakes[n.Lake].Point
			item.Way = template.URL(fmt.Sprintf("geo:%.4f,%.4f?q=%.4f,%.4f(%s)", point.Lat(), point.Lon(), point.Lat(), point.Lon(), url.PathEscape(item.Name)))
			item.WayText = w.Own.Way
			lower = append(lower, item)
		}
	}
	return near, lower
}

func newNeighbour(lake *data.Lake, metres int, v *words.Verdict, language string, w *words.Page[ownWords]) neighbour {
	item := neighbour{
		Name:     words.NameOf(lake),
		Address:  url.PathEscape(string(lake.ID)) + pages.Query(language),
		Distance: words.Fill(w.Own.Kilometres, "km", w.Number(strconv.FormatFloat(float64(metres)/1000, 'f', 1, 64))),
		Class:    v.Class,
		Old:      v.Old && v.Class != words.NoValue,
		Badge:    v.Badge(),
		Risk:     w.RiskText(v),
	}
	if item.Old {
		item.Risk = words.Fill(w.Own.LastRisk, "risk", w.RiskShort[v.Risk.String()])
	}
	switch {
	case v.Class == words.Closed:
		item.Risk = w.Advisory.Kinds[data.Closure.String()]
	case v.Warned:
		item.Risk = w.Advisory.Kinds[data.Warning.String()] + ", " + item.Risk
	}
	return item
}
