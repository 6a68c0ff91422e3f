package legend

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"limnomap/colormap"
	"limnomap/render/symbol"
)

//go:embed words/*.json
var files embed.FS

// English is the language whose texts are those of colormap and symbol.
const English = "en"

// ErrLanguage is returned for a language that legends do not have.
var ErrLanguage = errors.New("language of legends")

// Words are the texts of legends in one language, with {names} to be filled in.
type Words struct {
	language string

	DecimalPoint string
	Quantity     string
	Classes      string            // {profile}
	Risks        map[string]string // by risk

	// The limits of a class, with {from} and {to}.

	Below, Middle, OrMore, OrLess, MiddleAbove, Above string

	NoData, NoValue, Old, Cluster, Size, Note string

	// Scheme says whose words the names of the risks are, and Quotes what WHO 2003 says itself; {profile}.
	Scheme, Quotes string

	Signs, Looks map[symbol.SignID]string

	Description struct{ Scale, Class, Markers, Waters, Field, Sign string } // for readers who do not see the picture
	Forecast    struct {
		Title, TitleHigh, Reaches, Above, Below, Middle, OrMore, NoData, Note, Absent, Grey, Description string
	}
}

// In returns the words of a language. It returns ErrLanguage if there are none.
func In(language string) (*Words, error) {
	content, err := files.ReadFile("words/" + language + ".json")
	if err != nil {
		return nil, fmt.Errorf("%w: %q", ErrLanguage, language)
	}
	w := &Words{language: language}
	if err := json.Unmarshal(content, w); err != nil {
		return nil, fmt.Errorf("legend in %s: %w", language, err)
	}
	return w, nil
}

// Legend returns the legend of m with these words. Names that programs read stay as they are.
func (w *Words) Legend(m *colormap.Map) colormap.Legend {
	l := m.Legend()
	l.Quantity, l.NoData.Label, l.Note = w.Quantity, w.NoData, w.Note
	l.MaxLabel = fill(w.OrMore, "from", w.number(l.Max))
	switch {
	case l.Guidance != nil:
		l.Scheme = fill(w.Quotes, "profile", l.Profile)
	case l.Scheme != "":
		l.Scheme = fill(w.Scheme, "profile", l.Profile)
	}
	for i, c := range l.Classes {
		l.Classes[i].Label = w.limits(c, m.Limits().Above)
	}
	return l
}

// limits returns the values of a class in words.
func (w *Words) limits(c colormap.LegendClass, above bool) string {
	first, middle, last := w.Below, w.Middle, w.OrMore
	if above {
		first, middle, last = w.OrLess, w.MiddleAbove, w.Above
	}
	switch {
	case c.From == nil:
		return fill(first, "to", w.number(*c.To))
	case c.To == nil:
		return fill(last, "from", w.number(*c.From))
	}
	return fill(middle, "from", w.number(*c.From), "to", w.number(*c.To))
}

// ForecastLegend returns the legend of a map of forecasts with these words.
func (w *Words) ForecastLegend(m *colormap.Map) colormap.ForecastLegend {
	l := m.ForecastLegend()
	reaches := w.Forecast.Reaches
	if m.Limits().Above {
		reaches = w.Forecast.Above
	}
	l.Title, l.NoData.Label, l.Note = w.Forecast.Title, w.Forecast.NoData, w.Forecast.Note
	if m.High() {
		l.Title = w.Forecast.TitleHigh
	}
	l.Quantity = fill(reaches, "limit", w.number(l.Limit))
	for i, c := range l.Classes {
		text := w.Forecast.Middle
		switch {
		case i == 0:
			text = w.Forecast.Below
		case i == len(l.Classes)-1:
			text = w.Forecast.OrMore
		}
		l.Classes[i].Label = fill(text, "from", w.number(c.From), "to", w.number(c.To))
	}
	return l
}

// SignsOf returns signs with these words.
func (w *Words) SignsOf(signs []symbol.Sign) []symbol.Sign {
	all := make([]symbol.Sign, 0, len(signs)) // never nil, which JSON has as null
	for _, sign := range signs {
		all = append(all, symbol.Sign{ID: sign.ID, Label: w.Signs[sign.ID], Look: w.Looks[sign.ID]})
	}
	return all
}

// number writes v as the language does.
func (w *Words) number(v float64) string {
	return strings.Replace(strconv.FormatFloat(v, 'f', -1, 64), ".", w.DecimalPoint, 1)
}

// fill returns text with its {names} filled in. Values come in pairs of name and value.
func fill(text string, values ...string) string {
	for i := 0; i < len(values); i += 2 {
		values[i] = "{" + values[i] + "}"
	}
	return strings.NewReplacer(values...).Replace(text)
}
