// Package params reads the query parameters of a request.
//
// It gathers all that is wrong with them, so that a client learns about every mistake at once. It reads the raw query:
// url.Values silently leaves out a pair with a broken escape, and without that filter the answer would hold lakes that the
// client did not ask for.
package params

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"limnomap/api/answer"
)

// A Params reads the parameters of one request.
type Params struct {
	query   string
	anyCase bool
	errs    []answer.ParameterError
}

// Of returns the parameters of r.
func Of(r *http.Request) Params { return Params{query: r.URL.RawQuery} }

// OfAnyCase returns the parameters of r, whose names are found in upper and lower case, as services of OGC need it.
func OfAnyCase(r *http.Request) Params { return Params{query: r.URL.RawQuery, anyCase: true} }

// Refuse notes that a parameter is wrong, and how.
func (p *Params) Refuse(name, format string, args ...any) {
	p.errs = append(p.errs, answer.ParameterError{Parameter: name, Detail: fmt.Sprintf(format, args...)})
}

// Errors returns the mistakes in the parameters read so far.
func (p *Params) Errors() []answer.ParameterError { return p.errs }

// Err returns the mistakes in the parameters read so far as one problem, or nil.
func (p *Params) Err() error {
	if len(p.errs) == 0 {
		return nil
	}
	names := make([]string, len(p.errs))
	for i, e := range p.errs {
		names[i] = e.Parameter
	}
	return &answer.Problem{
		Status: http.StatusBadRequest,
		Detail: "wrong parameter: " + strings.Join(names, ", "),
		Errors: p.errs,
	}
}

// maxQuoted bounds how much of a value an error repeats.
const maxQuoted = 64

// Quote returns a value as an error shows it.
func Quote(value string) string {
	if len(value) > maxQuoted {
		return strconv.Quote(strings.ToValidUTF8(value[:maxQuoted], "")) + "…"
	}
	return strconv.Quote(value)
}

// Text returns the value of a parameter, and whether there is a readable one. The query is searched once for each
// name: it is short, and nothing has to be allocated for parameters that are not read.
func (p *Params) Text(name string) (value string, ok bool) {
	for rest := p.query; rest != ""; {
		var pair string
		pair, rest, _ = strings.Cut(rest, "&")
		key, raw, _ := strings.Cut(pair, "=")
		if key, err := url.QueryUnescape(key); err != nil || key != name && !(p.anyCase && strings.EqualFold(key, name)) {
			continue
		}
		if ok {
			p.Refuse(name, "given more than once; give it once or not at all")
			return "", false
		}
		var err error
		if value, err = url.QueryUnescape(raw); err != nil {
			p.Refuse(name, "%s has a broken percent escape", Quote(raw))
			return "", false
		}
		ok = true
	}
	return value, ok
}

// Required returns the value of a parameter that must be given.
func (p *Params) Required(name string) (value string, ok bool) {
	before := len(p.errs)
	if value, ok = p.Text(name); !ok && len(p.errs) == before {
		p.errs = append(p.errs, answer.ParameterError{Parameter: name, Detail: "not given; it is required", Missing: true})
	}
	return value, ok
}

// IsDecimal reports whether s is written like a decimal number. strconv.ParseFloat accepts hexadecimal numbers,
// underscores, NaN and infinities too.
func IsDecimal(s string) bool { return strings.Trim(s, "+-.0123456789eE") == "" }

// Float returns the value of a parameter that is a number from lowest to highest.
func (p *Params) Float(name string, lowest, highest float64) (value float64, ok bool) {
	s, ok := p.Text(name)
	if !ok {
		return 0, false
	}
	if IsDecimal(s) {
		f, err := strconv.ParseFloat(s, 64)
		if err == nil && f >= lowest && f <= highest {
			return f, true
		}
	}
	p.Refuse(name, "%s is not a number from %v to %v", Quote(s), lowest, highest)
	return 0, false
}

// Degrees returns the value of a parameter that must be given and is a number from -highest to highest.
func (p *Params) Degrees(name string, highest float64) float64 {
	if _, ok := p.Required(name); !ok {
		return 0
	}
	value, _ := p.Float(name, -highest, highest)
	return value
}

// Integer returns the value of a parameter that is a whole number from lowest to highest, or byDefault.
func (p *Params) Integer(name string, lowest, highest, byDefault int) int {
	s, ok := p.Text(name)
	if !ok {
		return byDefault
	}
	n, err := strconv.Atoi(s)
	if err == nil && s[0] != '+' && n >= lowest && n <= highest {
		return n
	}
	p.Refuse(name, "%s is not a whole number from %d to %d", Quote(s), lowest, highest)
	return byDefault
}

// Parsed returns the value of a parameter as parse reads it, or byDefault. If parse returns an error, the request is refused with
// the value and mistake, such as "is not a day".
func Parsed[T any](p *Params, name string, byDefault T, parse func(string) (T, error), mistake string) T {
	s, ok := p.Text(name)
	if !ok {
		return byDefault
	}
	value, err := parse(s)
	if err != nil {
		p.Refuse(name, "%s %s", Quote(s), mistake)
		return byDefault
	}
	return value
}

// OneOf returns the value of a parameter that must be one of allowed, or the first of them.
func OneOf[T ~string](p *Params, name string, allowed []T) T {
	s, ok := p.Text(name)
	if !ok {
		return allowed[0]
	}
	for _, a := range allowed {
		if s == string(a) {
			return a
		}
	}
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = string(a)
	}
	p.Refuse(name, "%s is none of %s", Quote(s), strings.Join(names, ", "))
	return allowed[0]
}

// FormatOf returns in which of the allowed forms a request wants its answer: by the parameter f; otherwise html where the client accepts HTML before
// all else, as browsers do; otherwise the first.
func FormatOf(p *Params, r *http.Request, allowed ...string) string {
	before := len(p.errs)
	if _, ok := p.Text("f"); len(p.errs) > before {
		return allowed[0]
	} else if !ok && slices.Contains(allowed, "html") {
		first, _, _ := strings.Cut(r.Header.Get("Accept"), ",")
		first, _, _ = strings.Cut(first, ";")
		if strings.EqualFold(strings.TrimSpace(first), "text/html") {
			return "html"
		}
	}
	return OneOf(p, "f", allowed)
}
