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
	hasUnit bool            // whether its texts may be units of chlorophyll
	last    string          // its text in the last row
	known   map[string]bool // its texts so far
	// chlorophyll is a text that is a name of chlorophyll-a, and other one that is not; or empty.
	chlorophyll, other string
}

// The bounds of what is remembered of columns that are not known. A column with more texts has no names of parameters.
const (
	maxUnreadColumns = 30
	maxUnreadText    = 100
)

// unreadColumnsOf returns the columns of a header that are not known. One whose name begins with that of another one is about that: tp_sign about tp.
func (t *table) unreadColumnsOf(header []string) (found []unreadColumn) {
	if len(t.columns) <= obsSign || t.columns[obsParameter].name != parameterColumn {
		return nil
	}
	for at, h := range header {
		name := plainName(h)
		isAbout := func(other string) bool {
			base := plainName(other)
			return len(base) >= 2 && base != name && strings.HasPrefix(name, base)
		}
		if name == "" || slices.Contains(t.positions, at) || slices.ContainsFunc(t.ignored, isAbout) || len(found) == maxUnreadColumns {
			continue
		}
		found = append(found, unreadColumn{at: at, name: strings.TrimSpace(h), hasUnit: at == t.positions[obsChl]+1 || strings.HasPrefix(name, "chl") || strings.Contains(name, "unit"), known: make(map[string]bool)})
	}
	return found
}

// checkUnread returns an error if a column that is not known says what the value of a row is.
func (t *table) checkUnread(fields []string) error {
	for i := range t.unread {
		c := &t.unread[i]
		text := strings.TrimSpace(fields[c.at])
		if text == "" || text == c.last || text[0] >= '0' && text[0] <= '9' || len(text) > maxUnreadText {
			continue
		}
		c.last = text
		switch text {
		case "<", "<=", "≤", ">", ">=", "≥":
			if t.has.lacks(obsSign) && t.has.lacks(obsBelowLimit) {
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
		base, _, _ := chlorophyllUnits.inName(text)
		if slices.Contains(chlorophyllNames, parameterKey(base)) {
			c.chlorophyll = text
		} else {
			c.other = text
		}
	}
	return nil
}

// otherUnit reports whether a text is a unit other than µg/l. One word such as g may be anything.
func otherUnit(text string) bool {
	factor, known := chlorophyllUnits.units[unitKey(text)]
	return known && factor != unitFactor{1, 0} || !known && (isUnit(text) && len(unitParts(text)) > 1 || slices.Contains(chlorophyllUnits.foreign, unitKey(text)))
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
