package ingest

import (
	"fmt"
	"slices"
	"strings"
)

// The columns of a table of observations whose names are not known may say what its values are: the name of a parameter, a unit, or < for a limit.
// Such a file is refused: a temperature, or a number in mg/l, would be stored as chlorophyll in µg/l.

// An unreadColumn is a column of a table of observations whose name is not known.
type unreadColumn struct {
	at      int
	name    string
	about   bool            // whether it is about another column than that of chlorophyll: then only names of parameters in it count
	hasUnit bool            // whether its texts may be units of chlorophyll
	last    string          // its field in the last row
	known   map[string]bool // its texts so far
	// chlorophyll is a text that is a name of chlorophyll-a, and other one that is not; or empty.
	chlorophyll, other string
}

// The bounds of what is remembered of columns that are not known. A column with more texts has no names of parameters.
const (
	maxUnreadColumns = 30
	maxUnreadText    = 100
)

// unreadColumnsOf returns the columns of a header that are not known. One whose name begins as that of another one is about that: tp_sign about tp_value.
func (t *table) unreadColumnsOf(header []string) (found []unreadColumn) {
	if len(t.columns) <= obsSign || t.columns[obsParameter].name != parameterColumn {
		return nil
	}
	chl := t.positions[obsChl]
	for at, h := range header {
		name := plainName(h)
		if name == "" || slices.Contains(t.positions, at) || len(found) == maxUnreadColumns {
			continue
		}
		about := false
		for other, o := range header {
			base := plainName(o)
			begins := len(base) >= 2 && base != name && strings.HasPrefix(name, base) || len(firstWord(h)) >= 2 && firstWord(h) == firstWord(o)
			about = about || other != at && other != chl && begins
		}
		about = about && (chl < 0 || firstWord(h) != firstWord(header[chl]))
		found = append(found, unreadColumn{at: at, name: strings.TrimSpace(h), about: about, known: make(map[string]bool),
			hasUnit: !about && (at == chl+1 || strings.HasPrefix(name, "chl") || strings.Contains(name, "unit"))})
	}
	return found
}

// firstWord returns the first word of the name of a column in small letters.
func firstWord(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if end := strings.IndexAny(name, " _.-("); end >= 0 {
		return name[:end]
	}
	return name
}

// unreadText returns a field of a column that is not known, empty for no value. It does not decide the encoding of the file, and a text that cannot be
// decoded is none.
func (t *table) unreadText(raw string) string {
	if c := &t.unreadCharset; !c.inUTF8 && c.single == nil {
		if c.failed != nil {
			return ""
		}
		*c = t.charset
	}
	text, err := t.unreadCharset.decode(raw)
	if text = fieldValue(text); err != nil || slices.Contains(t.format.nulls, text) {
		return ""
	}
	return text
}

// checkUnread returns an error if a column that is not known says what the value of a row is.
func (t *table) checkUnread(fields []string) error {
	for i := range t.unread {
		c := &t.unread[i]
		raw := fields[c.at]
		if raw == c.last || len(raw) > maxUnreadText {
			continue
		}
		c.last = raw
		text := t.unreadText(raw)
		if text == "" || text[0] >= '0' && text[0] <= '9' {
			continue
		}
		switch text {
		case "<", "<=", "≤", ">", ">=", "≥":
			if !c.about && t.has.lacks(obsSign) && t.has.lacks(obsBelowLimit) {
				return fmt.Errorf("line %d: the column %.40q, whose name is not known, has %q: want --map sign=%.40s if it is about chl, or --set sign== if it is not", t.line, c.name, text, c.name)
			}
		}
		if c.known[text] || len(c.known) > maxParameters {
			continue
		}
		c.known[strings.Clone(text)] = true
		if c.hasUnit && t.has.lacks(obsUnit) && t.columns[obsChl].inUnit == "" && otherUnit(text) {
			return fmt.Errorf("line %d: the column %.40q, whose name is not known, has the unit %.40q: want --map unit=%.40s if it is that of chl, or --set unit=µg/l if chl is in µg/l", t.line, c.name, text, c.name)
		}
		if !t.has.lacks(obsParameter) {
			continue
		}
		base, _, _ := chlorophyllUnits.inName(text)
		if slices.Contains(chlorophyllNames, parameterKey(base)) {
			c.chlorophyll = text
		} else {
			c.other = text
		}
	}
	return nil
}

// otherUnit reports whether a text is a unit other than µg/l. One word such as g, or T 1, may be anything.
func otherUnit(text string) bool {
	factor, known := chlorophyllUnits.units[unitKey(text)]
	per := slices.ContainsFunc(unitParts(text)[min(1, len(unitParts(text))):], func(word string) bool { return strings.Trim(word, "0123456789") != "" })
	return known && factor != unitFactor{1, 0} || !known && (isUnit(text) && per || slices.Contains(chlorophyllUnits.foreign, unitKey(text)))
}

// checkUnreadNames returns an error if a column that is not known has names of parameters.
func (t *table) checkUnreadNames() error {
	for _, c := range t.unread {
		if c.chlorophyll != "" && c.other != "" && len(c.known) <= maxParameters && t.has.lacks(obsParameter) {
			return fmt.Errorf("the column %.40q, whose name is not known, has %.60q and %.60q: want --map parameter=%.40s, or --set parameter=chl if all values are of chlorophyll-a", c.name, c.chlorophyll, c.other, c.name)
		}
	}
	return nil
}
