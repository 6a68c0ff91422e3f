package index

import (
	"strings"

	"limnomap/data"
	"limnomap/data/fold"
)

// A state is a federal state of Germany. People search for it in German, in English and by its code.
type state struct {
	code  string // of ISO 3166-2:DE without DE-; also in ids of the European Environment Agency, such as DEBB_PR_0001
	names []string
}

var states = [...]state{
	{"BW", []string{"Baden-Württemberg", "BW"}},
	{"BY", []string{"Bayern", "Bavaria", "BY"}},
	{"BE", []string{"Berlin", "BE"}},
	{"BB", []string{"Brandenburg", "BB"}},
	{"HB", []string{"Bremen", "HB"}},
	{"HH", []string{"Hamburg", "HH"}},
	{"HE", []string{"Hessen", "Hesse", "HE"}},
	{"MV", []string{"Mecklenburg-Vorpommern", "Mecklenburg-Western Pomerania", "MV"}},
	{"NI", []string{"Niedersachsen", "Lower Saxony", "NI"}},
	{"NW", []string{"Nordrhein-Westfalen", "North Rhine-Westphalia", "NW", "NRW"}},
	{"RP", []string{"Rheinland-Pfalz", "Rhineland-Palatinate", "RP"}},
	{"SL", []string{"Saarland", "SL"}},
	{"SN", []string{"Sachsen", "Saxony", "SN"}},
	{"ST", []string{"Sachsen-Anhalt", "Saxony-Anhalt", "ST"}},
	{"SH", []string{"Schleswig-Holstein", "SH"}},
	{"TH", []string{"Thüringen", "Thuringia", "TH"}},
}

// stateNamed returns the state that a region is, or nil.
func stateNamed(region string) *state {
	return statesByName[string(fold.Append(nil, region, fold.Bare))]
}

// stateOfID returns the state in the id of a lake, such as DEBB_PR_0001 or de_bb_beetzsee, or nil.
func stateOfID(id data.LakeID) *state {
	if len(id) < 6 || !strings.EqualFold(string(id[:2]), "DE") {
		return nil
	}
	code := strings.TrimLeft(string(id[2:]), "_-")
	if len(code) < 3 || (code[2] != '_' && code[2] != '-') {
		return nil
	}
	return statesByCode[strings.ToUpper(code[:2])]
}

// By code, and by folded name.
var statesByCode, statesByName = func() (byCode, byName map[string]*state) {
	byCode, byName = make(map[string]*state), make(map[string]*state)
	for i := range states {
		s := &states[i]
		byCode[s.code] = s
		for _, name := range s.names {
			for how := range fold.Spellings {
				byName[string(fold.Append(nil, name, how))] = s
			}
		}
	}
	return byCode, byName
}()
