package sign

import (
	"slices"
	"strings"

	"limnomap/api/pages"
	"limnomap/api/words"
	"limnomap/data"
	"limnomap/data/snapshot"
)

// A Verdict is what is said about one lake in a few words.
type Verdict struct {
	Language string
	Name     string
	Class    words.Class
	Risk     data.Risk // that of the last value, also for a closed lake; unknown without one
	Worse    bool      // the colour of the value does not show the whole risk, or an authority warns
	Warned   bool      // an authority warns and has not closed the lake
	Old      bool      // the last value says nothing about the water now

	Swim      string // whether to swim
	Text      string // such as "Low risk", "Closed" or "No current value"
	Also      string // such as "until further notice"; may be empty
	Date      string // the day of the last value in words, such as "16 November 2026" or "old value from 3 August 2026"; empty without one
	Day       string // the day that this shows in a sentence: of the measurement, or today for a closed lake and one without a value
	Product   string // the name of the map
	Notice    string // about simulated data; empty if they are real
	Limits    string // what no value says
	Simulated string // says that the values are simulated; empty if they are real

	statement *words.Statement // a closure or a warning, or nil
	measured  data.Date        // 0 without a value
}

// Product returns the name of the map.
func (s *Signs) Product(r *pages.Reader) string {
	return s.For(r.Language, r.AcceptLanguage).Common.Title
}

// Verdict returns the verdict of the i-th lake of a snapshot.
func (s *Signs) Verdict(snap *snapshot.Snapshot, i int, r *pages.Reader) *Verdict {
	return newVerdict(snap, i, s.For(r.Language, r.AcceptLanguage), r)
}

func newVerdict(snap *snapshot.Snapshot, i int, w *words.Page[ownWords], r *pages.Reader) *Verdict {
	lake, lakeVerdict := &snap.Lakes[i], words.VerdictOf(snap.Current, i, r.Today)
	current := lakeVerdict.ValueClass != words.NoValue
	v := &Verdict{
		Language:  w.Language,
		Name:      words.NameOf(lake),
		Class:     lakeVerdict.Class,
		Risk:      lakeVerdict.Risk,
		Warned:    lakeVerdict.Warned,
		Old:       !lakeVerdict.Never && (lakeVerdict.Old || !current),
		Swim:      w.SwimText(&lakeVerdict),
		Text:      w.Common.NoValue,
		Product:   w.Common.Title,
		Notice:    w.Notice(r.Notice),
		Limits:    w.Common.Limits,
		statement: w.StatementOf(snap.Current.Advisories.Of(i)),
		measured:  lakeVerdict.Measured,
	}
	v.Worse = current && lakeVerdict.Worse != "" || v.statement != nil
	if v.Notice != "" {
		v.Simulated = w.Own.Simulated
	}
	switch {
	case lakeVerdict.Never:
		v.Also = w.Common.Never
	case !current:
	case v.Old: // as on the page of the lake
		v.Text = w.Lake.LastRisk + w.Common.Colon + w.RiskShort[v.Risk.String()]
	default:
		v.Text = w.RiskText(&lakeVerdict)
	}
	if !lakeVerdict.Never {
		if v.Date = w.Day(v.measured); v.Old {
			v.Date = words.Fill(w.Own.OldValue, "date", v.Date)
		}
	}
	if v.statement != nil {
		v.Also, v.Text = v.Text, v.statement.Title
		if v.Class == words.Closed { // no value matters
			v.Also, v.Date = v.statement.Validity, ""
		}
	}
	switch {
	case v.Class == words.Closed || lakeVerdict.Never:
		v.Day = words.Fill(w.Own.AsOf, "date", w.Day(r.Today))
	case v.Old:
		v.Day = words.Fill(w.Own.OldMeasured, "date", w.Day(v.measured))
	default:
		v.Day = words.Fill(w.Own.Measured, "date", w.Day(v.measured))
	}
	return v
}

// Line returns the verdict as one line, with the reason and the day.
func (v *Verdict) Line() string { return join(v.Simulated, v.Swim, v.Reason(), v.Date) }

// Reason returns why one should swim or not, as far as Swim does not say it: not that there is a statement or no current value.
func (v *Verdict) Reason() string {
	if v.statement != nil || v.Class == words.NoValue {
		return v.Also
	}
	return join(v.Text, v.Also)
}

// join returns the parts that are not empty as one line.
func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " · ")
}
