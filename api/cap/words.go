package cap

import "limnomap/data"

// A language has the words of the messages in it.
type language struct {
	code      string // RFC 5646
	text      func(*data.Advisory) string
	events    [data.Closure + 1]string
	causes    [data.Bacteria + 1]string // in headlines; empty: the cause is not named
	withdrawn string
	test      string
}

var languages = [...]language{
	{
		code: "en",
		text: func(a *data.Advisory) string { return a.TextEN },
		events: [...]string{
			data.Season: "Bathing season", data.Info: "Bathing water information",
			data.Warning: "Bathing water warning", data.Closure: "Bathing water closure",
		},
		causes:    [...]string{data.OtherCause: "", data.Cyanobacteria: "cyanobacteria", data.Bacteria: "faecal bacteria"},
		withdrawn: "Withdrawn: ",
		test:      "Test: ",
	},
	{
		code: "de",
		text: func(a *data.Advisory) string { return a.TextDE },
		events: [...]string{
			data.Season: "Badesaison", data.Info: "Information zum Badegewässer",
			data.Warning: "Badewarnung", data.Closure: "Badeverbot",
		},
		causes:    [...]string{data.OtherCause: "", data.Cyanobacteria: "Cyanobakterien", data.Bacteria: "Fäkalbakterien"},
		withdrawn: "Zurückgenommen: ",
		test:      "Test: ",
	},
}

// languagesOf returns the languages in which a statement has a text; all if it has none, since the event has a name in each.
func languagesOf(a *data.Advisory) []*language {
	var with, all []*language
	for i := range languages {
		l := &languages[i]
		all = append(all, l)
		if l.text(a) != "" {
			with = append(with, l)
		}
	}
	if len(with) == 0 {
		return all
	}
	return with
}

// headline returns one line about a statement: a Cancel says first that it is withdrawn, and a test that it is one.
func (l *language) headline(s Statement, cancel, test bool) string {
	line := l.events[s.Kind] + ": " + s.Lake.Name
	if cause := l.causes[s.Cause]; cause != "" {
		line += " (" + cause + ")"
	}
	if cancel {
		line = l.withdrawn + line
	}
	if test {
		line = l.test + line
	}
	return line
}
