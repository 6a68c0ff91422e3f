package table

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"limnomap/data"
)

// words are the texts of the table in one language. It shares some of them with the map.
type words struct {
	Language string   `json:"-"`
	Own      ownWords `json:"-"`

	Common struct {
		Title, Chlorophyll, NoValue, Measured, Never, Limits, LimitsMore, Simulated string
	}
	Risk      map[string]string
	RiskShort map[string]string
	Lake      struct{ Report, Cells, LastKnown string }
	Card      struct {
		Trophic      string
		TrophicNames map[string]string
		By           map[string]string
	}
	Advisory struct {
		Kinds, Causes, Help      map[string]string
		Until, Open, Link, Algae string
	}
	Legend struct{ First, Middle, Last, FirstAbove, MiddleAbove, LastAbove string }
}

// ownWords are the texts that only the table has.
type ownWords struct {
	Heading, Map, AsOf, AllOld, NoData, Clean, Where, Levels string
	Lake, Risk, Data, Old, LastValue, NoNumber               string
	Name, Any, Sort, ByName, ByValue, Show, All              string
	Shown, None, NoPage, Cut, Pages, Previous, Next, First   string
	HistoryJSON, HistoryCSV, OtherLanguage                   string
	DecimalPoint, ThousandsPoint, Day                        string
	Months                                                   []string
}

// loadWords reads the words of a language. It does not look for missing words: TestNoWordIsMissing ensures that there are none.
func loadWords(files fs.FS, language string) (*words, error) {
	w := &words{Language: language}
	for _, part := range []struct {
		file string
		into any
	}{{"src/words/" + language + ".json", w}, {"table/" + language + ".json", &w.Own}} {
		content, err := fs.ReadFile(files, part.file)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(content, part.into); err != nil {
			return nil, fmt.Errorf("%s: %w", part.file, err)
		}
	}
	return w, nil
}

// fill returns text with its {names} filled in. Values come in pairs of name and value.
func fill(text string, values ...string) string {
	for i := 0; i < len(values); i += 2 {
		values[i] = "{" + values[i] + "}"
	}
	return strings.NewReplacer(values...).Replace(text)
}

// number returns a number as the language writes it: 1.234,5 or 1,234.5.
func (w *words) number(plain string) string {
	whole, decimals, fraction := strings.Cut(plain, ".")
	var b []byte
	for i := range len(whole) {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b = append(b, w.Own.ThousandsPoint...)
		}
		b = append(b, whole[i])
	}
	if fraction {
		b = append(append(b, w.Own.DecimalPoint...), decimals...)
	}
	return string(b)
}

func (w *words) count(n int) string { return w.number(strconv.Itoa(n)) }

// day returns a day in words.
func (w *words) day(d data.Date) string {
	t := d.Time()
	return fill(w.Own.Day, "day", strconv.Itoa(t.Day()), "month", w.Own.Months[t.Month()-1], "year", strconv.Itoa(t.Year()))
}

// risk returns the text about a lake's risk, and what made it worse than that of its chlorophyll value. Without a current value it
// starts with that, because the last risk is not today's.
func (w *words) risk(state *data.State, profile *data.Profile) string {
	switch {
	case state.Chlorophyll.Valid():
		if worse := w.worse(state, profile); worse != "" {
			return w.Risk[state.Risk.String()] + " (" + worse + ")"
		}
		return w.Risk[state.Risk.String()]
	case state.Risk == data.RiskUnknown:
		return w.Common.NoValue + " (" + w.Common.Never + ")"
	}
	return w.Common.NoValue + " (" + fill(w.Lake.LastKnown, "risk", w.RiskShort[state.Risk.String()]) + ")"
}

// worse returns what made the level of a lake worse than that of its chlorophyll value: a cell count, or what was reported. It is empty if
// the level is not worse.
func (w *words) worse(state *data.State, profile *data.Profile) string {
	switch profile.Basis(state.Level, state.Chlorophyll, state.CountedCells) {
	case data.ByCells:
		return w.Lake.Cells
	case data.ByReport:
		return w.Lake.Report
	}
	return ""
}

// levels returns the text about the limits between the risks.
func (w *words) levels(profile *data.Profile) string {
	first, middle, last := w.Legend.First, w.Legend.Middle, w.Legend.Last
	if profile.Above {
		first, middle, last = w.Legend.FirstAbove, w.Legend.MiddleAbove, w.Legend.LastAbove
	}
	from, to := w.number(profile.Limits[0].String()), w.number(profile.Limits[1].String())
	return fill(w.Own.Levels, "profile", profile.Title,
		"low", fill(first, "to", from), "medium", fill(middle, "from", from, "to", to), "high", fill(last, "from", to))
}
