package words

import (
	"strings"
	"time"

	"limnomap/data"
	"limnomap/data/linetext"
)

// A Statement is an official one that says more than any value: a closure or a warning.
type Statement struct {
	Kind           string // its name in the API
	Title          string // its kind in words
	Validity       string
	Cause, Issuer  string // Cause may be empty
	Help           string
	Text, Language string // both empty without a text; Language is that of the text
	URL            string // empty if there is none
}

// StatementOf returns a statement in words, or nil if it is none that pages show: a closure or a warning.
func (w *Words) StatementOf(a *data.Advisory) *Statement {
	if a == nil || a.Kind < data.Warning {
		return nil
	}
	kind := a.Kind.String()
	s := &Statement{
		Kind: kind, Title: w.Advisory.Kinds[kind], Validity: w.Advisory.Open, Cause: w.Advisory.Causes[a.Cause.String()],
		Issuer: linetext.Clean(a.Issuer), Help: w.Advisory.Help[kind], URL: a.URL,
	}
	if !a.ValidUntil.IsZero() {
		// A statement is valid before its end, which often is a midnight: the day before is the last one.
		s.Validity = Fill(w.Advisory.Until, "date", w.Day(data.DateOf(a.ValidUntil.Add(-time.Second))))
	}
	texts := map[string]string{"en": a.TextEN, "de": a.TextDE}
	for _, language := range append([]string{w.Language}, Languages...) {
		if s.Text == "" && texts[language] != "" {
			s.Text, s.Language = cleanLines(texts[language]), language
		}
	}
	return s
}

// cleanLines returns a text without characters that change how the text around it looks.
func cleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = linetext.Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}
