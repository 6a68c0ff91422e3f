package ingest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Long tables have one row for each parameter: its name is in one column, and all values are in another. Only the rows of chlorophyll-a count.

// parameterColumn is the column with the names of parameters.
const parameterColumn = "parameter"

// parameterColumns are other names of the column parameter.
var parameterColumns = []string{"parameter_name", "parametername", "parameter name", "param", "determinand", "determinand.label", "observedPropertyDeterminandLabel", "observedProperty", "analyte",
	"CharacteristicName", "Result_Characteristic", "characteristic", "variable", "measurand", "Messgröße", "Messgroesse", "Kenngröße", "paramètre", "parámetro", "parametro", "parâmetro", "parametr", "Parameternavn", "parametri"}

// chlorophyllNames are the names of chlorophyll-a as parameterKey returns them, in English, the languages of the Nordic and Baltic countries, German, Dutch, French, Spanish,
// Portuguese, Italian, Polish, Czech, Slovak, Croatian, Russian, Ukrainian and Greek, and its codes in the EEA's Waterbase and in the register of the Chemical Abstracts Service.
// The a of chlorophyll-a is a Latin one in all of them.
var chlorophyllNames = []string{"chlorophylla", "chla", "chl", "chlorophyll", "chlorophyla", "chlorophyllalpha", "chlorophyllacorrectedforpheophytin", "chlorophyllafreeofpheophytin",
	"chlorophyllauncorrectedforpheophytin", "chlorophyllaprobe", "chlorophyllaphytoplanktonsuspended", "klorofylla", "klorofyll", "klorofyla", "klorofyl", "aklorofylli", "klorofyllia", "klorofülla",
	"chlorofyla", "chlorofyl", "chlorophyllea", "chlorophylle", "clorofilaa", "clorofila", "clorofillaa", "clorofilla", "chlorofila", "chlorofil", "klorofila", "klorofil", "chlorofilasa", "hlorofilsa",
	"хлорофиллa", "хлорофилл", "хлорофілa", "хлорофіл", "χλωροφύλληa", "χλωροφύλλη", "eea3164010", "479618"}

// chlorophyllStems are in the names of pigments of which a table may mean another one, or another method.
var chlorophyllStems = []string{"chloroph", "chlorof", "klorof", "clorof", "hlorof", "хлороф", "χλωροφ", "chla", "chlb", "chlt"}

// parameterKey returns the name of a parameter in small letters, without separators.
func parameterKey(name string) string {
	return strings.NewReplacer("α", "a", "а", "a").Replace(plainName(strings.Map(func(r rune) rune {
		if strings.ContainsRune("/'’\"[]", r) {
			return '-'
		}
		return r
	}, name)))
}

// checkParameters returns an error if parameters are given for a table of observations without a column for them.
func (l *layout) checkParameters(has columnSet) error {
	if len(l.format.parameters) == 0 {
		return nil
	}
	if l.columns[0].name == wqpColumns()[0].name {
		return errors.New("--parameter is for other tables: of results of the Water Quality Portal those of chlorophyll are known")
	}
	if at := slices.IndexFunc(l.columns, func(c column) bool { return c.name == parameterColumn }); at >= 0 && has.lacks(at) {
		return fmt.Errorf("line 1 lacks a column with the names of parameters, which --parameter needs: --map %s=NAME names it", parameterColumn)
	}
	return nil
}

// maxParameters bounds how many different parameters of a file are remembered.
const maxParameters = 1000

// parameters are those of a long table so far.
type parameters struct {
	known map[string]parameter
	first string // the key of the first one that is chlorophyll-a by its own name
	name  string // its name
	rows  int    // how many rows are of chlorophyll-a
}

// A parameter is what a name in a long table means.
type parameter struct {
	err  error  // why its rows are left out or bad
	unit string // in its name; or empty
}

// checkParameter leaves out a row of a long table that is not of chlorophyll-a. It returns the unit in the parameter's name.
func (r *row) checkParameter() (unit string) {
	name := r.required(obsParameter, "the name of a parameter")
	if r.err != nil {
		return ""
	}
	p, ok := r.parameters.known[name]
	if !ok {
		p = r.parameters.parse(name, r.format.parameters)
		if r.parameters.known == nil {
			r.parameters.known = make(map[string]parameter)
		}
		if len(r.parameters.known) < maxParameters {
			r.parameters.known[strings.Clone(name)] = p
		}
	}
	if r.fail(p.err) == nil {
		r.parameters.rows++
	}
	return p.unit
}

// parse finds out what a name means. With chosen, those are the keys of the parameters that count.
func (ps *parameters) parse(name string, chosen []string) (p parameter) {
	other := leftOut(fmt.Sprintf("other parameter: %.60q", name))
	base, unit, err := chlorophyllUnits.inName(name)
	if err != nil {
		base = name
	}
	key := parameterKey(base)
	if len(chosen) > 0 {
		if !slices.Contains(chosen, key) && !slices.Contains(chosen, parameterKey(name)) {
			return parameter{err: other}
		}
		if err != nil {
			return parameter{err: fmt.Errorf("parameter %.60q %w", name, err)}
		}
		return parameter{unit: unit}
	}
	switch {
	case err == nil && slices.Contains(chlorophyllNames, key) && (ps.first == "" || ps.first == key):
		ps.first, ps.name = key, name
		return parameter{unit: unit}
	case err == nil && slices.Contains(chlorophyllNames, key):
		return parameter{err: fmt.Errorf("parameter %.60q: want one name of chlorophyll-a in the file, which also has %.60q; --parameter says which counts", name, ps.name)}
	case slices.ContainsFunc(chlorophyllStems, func(stem string) bool { return strings.Contains(parameterKey(name), stem) }):
		return parameter{err: fmt.Errorf("parameter %.60q: want a name of chlorophyll-a that is known, or name the parameters that are with --parameter", name)}
	}
	return parameter{err: other}
}

// check returns an error if no row of a long table is of chlorophyll-a, although it has others.
func (ps *parameters) check(chosen []string) error {
	if ps.rows > 0 || len(ps.known) == 0 {
		return nil
	}
	names := quoted(slices.Sorted(maps.Keys(ps.known)))
	if len(chosen) > 0 {
		return fmt.Errorf("no row is of the parameter that --parameter names: the file has %s", names)
	}
	return fmt.Errorf("no row is of a parameter that is known as chlorophyll-a: the file has %s; name those that are with --parameter", names)
}
