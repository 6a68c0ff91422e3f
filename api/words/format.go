package words

import (
	"strconv"
	"strings"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"

	"limnomap/data"
)

// A Format is the name of a language, and how it writes numbers and days.
type Format struct {
	Language string // its name in itself: Deutsch
	Locale   string // with a country, as Open Graph names it: de_DE

	DecimalPoint, ThousandsPoint string
	Day                          string // with {day}, {month} and {year}
	FirstDay                     string // the day of the month 1: 1er
	Days                         string // with {from} and {to}, which are days
	Months, MonthsShort          []string
	Today, Yesterday             string
	DaysAgo                      map[string]string // {n} days ago, by plural form

	tag language.Tag
}

// Fill returns text with its {names} filled in. Values come in pairs of name and value. A page fills in some forty texts, so that this is
// one pass, without the tables of a strings.Replacer.
func Fill(text string, values ...string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		text = rest
		filled := false
		for i := 0; i < len(values) && !filled; i += 2 {
			if filled = values[i] == name; filled {
				b.WriteString(values[i+1])
				text = after
			}
		}
		if !filled {
			b.WriteByte('{')
		}
	}
}

// Number returns a number as the language writes it: 1.234,5 or 1,234.5.
func (w *Words) Number(plain string) string {
	whole, decimals, fraction := strings.Cut(plain, ".")
	var b []byte
	for i := range len(whole) {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b = append(b, w.Format.ThousandsPoint...)
		}
		b = append(b, whole[i])
	}
	if fraction {
		b = append(append(b, w.Format.DecimalPoint...), decimals...)
	}
	return string(b)
}

// Count returns a whole number of 0 or more as the language writes it.
func (w *Words) Count(n int) string { return w.Number(strconv.Itoa(n)) }

// pluralForms are the names of CLDR: Polish has one, few, many and other.
var pluralForms = map[plural.Form]string{
	plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many", plural.Other: "other",
}

// Plural returns the text for n things, with its {n} filled in. A form that is missing is other.
func (w *Words) Plural(forms map[string]string, n int) string {
	text, ok := forms[pluralForms[plural.Cardinal.MatchPlural(w.Format.tag, n, 0, 0, 0, 0)]]
	if !ok {
		text = forms["other"]
	}
	return Fill(text, "n", w.Count(n))
}

// Day returns a day in words.
func (w *Words) Day(d data.Date) string {
	t := d.Time()
	day := strconv.Itoa(t.Day())
	if t.Day() == 1 {
		day = w.Format.FirstDay
	}
	return Fill(w.Format.Day, "day", day, "month", w.Format.Months[t.Month()-1], "year", strconv.Itoa(t.Year()))
}

// Period returns the days of a value in words, such as 1 to 10 September 2026 for an observation with a beginning of its period.
func (w *Words) Period(o *data.Observation) string {
	to := w.Day(o.Date)
	if !o.Details.PeriodStart.Known || o.Details.PeriodStart.Value >= o.Date {
		return to
	}
	first := o.Details.PeriodStart.Value
	from := w.Day(first)
	// The month and year of both days are written once if they are equal.
	switch a, b := first.Time(), o.Date.Time(); {
	case a.Year() != b.Year():
	case a.Month() != b.Month():
		from = strings.TrimSpace(strings.TrimSuffix(from, strconv.Itoa(a.Year())))
	default:
		from, _, _ = strings.Cut(from, " ")
	}
	return Fill(w.Format.Days, "from", from, "to", to)
}

// CompositeOf returns how the values of an observation's period became one, such as maximum of the week; empty if that is not known.
func (w *Words) CompositeOf(o *data.Observation) string {
	if !o.Details.PeriodStart.Known || o.Details.Composite == data.NoComposite {
		return ""
	}
	days := int(o.Date-o.Details.PeriodStart.Value) + 1
	name := o.Details.Composite.String()
	if days == 7 {
		name += "Week"
	}
	return Fill(w.Card.Composite[name], "n", w.Count(days))
}

// Ago returns how long before today a day was. A day after today, which a clock that is wrong makes possible, is today.
func (w *Words) Ago(day, today data.Date) string {
	switch n := int(today - day); {
	case n <= 0:
		return w.Format.Today
	case n == 1:
		return w.Format.Yesterday
	default:
		return w.Plural(w.Format.DaysAgo, n)
	}
}
