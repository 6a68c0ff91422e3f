package lakepage

import (
	"slices"
	"strconv"
	"time"

	"limnomap/api/words"
	"limnomap/data"
	"limnomap/data/linetext"
)

// A weekRow is one ISO week. Its value is empty if there was none.
type weekRow struct {
	Class      words.Class
	Date, Name string // of the value, or of the week without one
	Value      string
	Risk       string
	By, Source string
	Why        string // there is no value; empty if that is not known
}

// weeksOf returns the last weeks of a lake, the newest first, each with its newest value; none if the history could not be read.
func weeksOf(l *Lake, today data.Date, w *words.Page[ownWords]) []weekRow {
	if l.Unread {
		return nil
	}
	last := today.Week()
	rows := make([]weekRow, 0, tableWeeks)
	next := 0
	for week := last; week > last-tableWeeks; week-- {
		for next < len(l.History) && (l.History[next].Date.Week() > week || !counts(&l.History[next])) {
			next++
		}
		if next < len(l.History) && l.History[next].Date.Week() == week {
			rows = append(rows, newWeekRow(&l.History[next], l.Snapshot.Profile, w))
			continue
		}
		monday := week.Monday()
		year, number := monday.Time().ISOWeek()
		why := ""
		if slices.ContainsFunc(l.History, func(o data.Observation) bool { return o.Date.Week() == week && hasIce(&o) }) {
			why = w.Chart.Flags[data.Ice.String()]
		}
		rows = append(rows, weekRow{
			Class: words.NoValue,
			Why:   why,
			Date:  monday.String(), // the day on which the week begins
			Name:  words.Fill(w.Own.WeekNumber, "week", strconv.Itoa(number), "year", strconv.Itoa(year)),
		})
	}
	return rows
}

// counts reports whether an observation is a value that counts.
func counts(o *data.Observation) bool { return o.Chlorophyll.Valid() && o.Quality != data.Poor }

func newWeekRow(o *data.Observation, profile *data.Profile, w *words.Page[ownWords]) weekRow {
	level, density := profile.Classify(*o)
	measured := data.DateOf(time.Unix(o.Taken().Unix(), 0))
	row := weekRow{
		Class:  words.ClassOfRisk(level.Risk()),
		Date:   measured.String(),
		Name:   w.Day(measured),
		Value:  w.Value(o.Chlorophyll, profile),
		Risk:   w.RiskShort[level.Risk().String()],
		By:     w.Own.KeySatellite,
		Source: linetext.Clean(o.Source),
	}
	if measured == o.Date {
		row.Name = w.Period(o)
	}
	if o.Details.BelowLimit {
		row.Value = words.Fill(w.Card.Below, "value", row.Value)
	}
	if o.Type == data.InSitu {
		row.By = w.Own.KeySample
	}
	if composite := w.CompositeOf(o); composite != "" {
		row.By += ", " + composite
	}
	if worse := words.WorseBy(profile.Basis(level, o.Chlorophyll, o.CellDensity), data.CellOriginOf(o.Type, o.CellDensity, density)); worse != "" {
		row.Risk += " (" + w.WorseText(worse) + ")"
	}
	return row
}
