package sign

import (
	"cmp"
	"strings"

	"limnomap/api/words"
	"limnomap/data"
	"limnomap/data/linetext"
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

// A Place is where a verdict is shown.
type Place struct {
	Language       string    // the chosen one; empty: the reader's
	AcceptLanguage []string  // the values of that header field
	Today          data.Date // decides which values are old
	Notice         string    // in English, such as "Simulated demo data, not measurements"; empty for real data
}

// Product returns the name of the map.
func (s *Signs) Product(p Place) string {
	return s.words.For(p.Language, p.AcceptLanguage).Common.Title
}

// Verdict returns the verdict of the i-th lake of a snapshot.
func (s *Signs) Verdict(snap *snapshot.Snapshot, i int, p Place) *Verdict {
	return newVerdict(snap, i, s.words.For(p.Language, p.AcceptLanguage), p)
}

func newVerdict(snap *snapshot.Snapshot, i int, w *words.Page[ownWords], p Place) *Verdict {
	lake, lakeVerdict := &snap.Lakes[i], words.VerdictOf(snap.Current, i, p.Today)
	current := lakeVerdict.ValueClass != words.NoValue
	v := &Verdict{
		Language:  w.Language,
		Name:      cmp.Or(linetext.Clean(lake.Name), string(lake.ID)),
		Class:     lakeVerdict.Class,
		Risk:      lakeVerdict.Risk,
		Warned:    lakeVerdict.Warned,
		Old:       !lakeVerdict.Never && (lakeVerdict.Old || !current),
		Text:      w.Common.NoValue,
		Product:   w.Common.Title,
		Notice:    w.Notice(p.Notice),
		Limits:    w.Common.Limits,
		statement: w.StatementOf(snap.Current.Advisories.Of(i)),
		measured:  lakeVerdict.Measured,
	}
	v.Worse = current && lakeVerdict.Worse != data.NoBasis || v.statement != nil
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
		v.Day = words.Fill(w.Own.AsOf, "date", w.Day(p.Today))
	case v.Old:
		v.Day = words.Fill(w.Own.OldMeasured, "date", w.Day(v.measured))
	default:
		v.Day = words.Fill(w.Own.Measured, "date", w.Day(v.measured))
	}
	return v
}

// Line returns the verdict as one line, with the day.
func (v *Verdict) Line() string {
	var parts []string
	for _, part := range []string{v.Simulated, v.Text, v.Also, v.Date} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " · ")
}
