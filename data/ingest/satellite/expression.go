package satellite

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// An expression says which pixels count, in the language of SNAP's valid_pixel_expression: comparisons, arithmetic, &&, ||, ! (also and, or, not),
// the bit operations, a condition with ? and :, some functions, and names of variables and of flags, such as quality_flags.cloud. Numbers are
// float64; 0 and NaN are false.
type expression struct {
	text  string
	names []string // of the operands, each once
	eval  term
}

// A term is a part of an expression. It gets the values of the names.
type term func(values []float64) float64

// valid reports whether a pixel counts.
func (e *expression) valid(values []float64) bool { return isTrue(e.eval(values)) }

func isTrue(f float64) bool { return f != 0 && !math.IsNaN(f) }

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Bounds of an expression, which a file may bring.
const (
	maxExpression      = 4096 // bytes
	maxExpressionDepth = 64
	maxExpressionTerms = 1024
	maxExpressionNames = 16
	maxExpressionNests = 8 // of expressions in expressions
)

// parseExpression parses an expression. inner returns the expression that a name stands for, if it is not one of a variable; nil has none.
func parseExpression(text string, inner func(name string) (string, bool)) (*expression, error) {
	p := &expressionParser{inner: inner, e: &expression{text: text}}
	var err error
	p.e.eval, err = p.whole(text)
	return p.e, err
}

// An expressionParser reads an expression by recursive descent.
type expressionParser struct {
	inner        func(name string) (string, bool)
	e            *expression
	terms, nests int // so far

	text  string
	at    int
	depth int
}

// whole parses a whole text, which may be that of an inner expression.
func (p *expressionParser) whole(text string) (term, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("an expression of %d bytes: want at most %d", len(text), maxExpression)
	}
	before := *p
	p.text, p.at = text, 0
	t, err := p.condition()
	if err == nil && p.space() < len(p.text) {
		err = p.errorf("%.20q is not expected here", p.text[p.at:])
	}
	p.text, p.at = before.text, before.at
	return t, err
}

func (p *expressionParser) errorf(format string, args ...any) error {
	return fmt.Errorf("expression %.200q, character %d: %s", p.text, p.at+1, fmt.Sprintf(format, args...))
}

// space passes white space, and returns the position.
func (p *expressionParser) space() int {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
	return p.at
}

// word passes a name or keyword at the position; quoted ones are between single quotes.
func (p *expressionParser) word() (word string, quoted, ok bool) {
	p.space()
	rest := p.text[p.at:]
	if strings.HasPrefix(rest, "'") {
		end := strings.IndexByte(rest[1:], '\'')
		if end < 1 {
			return "", true, false
		}
		p.at += end + 2
		return rest[1 : end+1], true, true
	}
	n := 0
	for n < len(rest) && (isLetter(rest[n]) || rest[n] == '_' || rest[n] == '$' || n > 0 && (isDigit(rest[n]) || rest[n] == '.')) {
		n++
	}
	p.at += n
	return rest[:n], false, n > 0
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// take passes one of these operators or keywords, the first that is there.
func (p *expressionParser) take(operators ...string) (operator string, ok bool) {
	at := p.space()
	for _, o := range operators {
		if isLetter(o[0]) {
			if word, quoted, found := p.word(); found && !quoted && strings.EqualFold(word, o) {
				return o, true
			}
			p.at = at
			continue
		}
		// & is not the first half of &&.
		if rest, found := strings.CutPrefix(p.text[at:], o); found && !(len(o) == 1 && strings.Contains("&|", o) && strings.HasPrefix(rest, o)) &&
			!(o == "!" && strings.HasPrefix(rest, "=")) {
			p.at += len(o)
			return o, true
		}
	}
	return "", false
}

// enter counts a term.
func (p *expressionParser) enter() error {
	p.terms++
	if p.depth++; p.depth > maxExpressionDepth || p.terms > maxExpressionTerms {
		return p.errorf("the expression is too long, or its parentheses are too deep")
	}
	return nil
}

func (p *expressionParser) condition() (term, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	test, err := p.binary(0)
	if err != nil {
		return nil, err
	}
	if _, ok := p.take("?"); !ok {
		return test, nil
	}
	yes, err := p.condition()
	if err != nil {
		return nil, err
	}
	if _, ok := p.take(":"); !ok {
		return nil, p.errorf("want : and what counts otherwise")
	}
	no, err := p.condition()
	return func(v []float64) float64 {
		if isTrue(test(v)) {
			return yes(v)
		}
		return no(v)
	}, err
}

// operators are the binary ones, those that bind least first.
var operators = [][]string{{"||", "or"}, {"&&", "and"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/", "%"}}

func (p *expressionParser) binary(level int) (term, error) {
	if level == len(operators) {
		return p.unary()
	}
	left, err := p.binary(level + 1)
	for err == nil {
		operator, ok := p.take(operators[level]...)
		if !ok {
			break
		}
		if p.terms++; p.terms > maxExpressionTerms {
			return nil, p.errorf("the expression is too long")
		}
		var right term
		right, err = p.binary(level + 1)
		left = operation(operator, left, right)
	}
	return left, err
}

// operation returns a term of two.
func operation(operator string, a, b term) term {
	switch operator {
	case "||", "or":
		return func(v []float64) float64 { return truth(isTrue(a(v)) || isTrue(b(v))) }
	case "&&", "and":
		return func(v []float64) float64 { return truth(isTrue(a(v)) && isTrue(b(v))) }
	case "|":
		return bitOperation(a, b, func(x, y int64) int64 { return x | y })
	case "^":
		return bitOperation(a, b, func(x, y int64) int64 { return x ^ y })
	case "&":
		return bitOperation(a, b, func(x, y int64) int64 { return x & y })
	case "==":
		return func(v []float64) float64 { return truth(a(v) == b(v)) }
	case "!=":
		return func(v []float64) float64 { return truth(a(v) != b(v)) }
	case "<=":
		return func(v []float64) float64 { return truth(a(v) <= b(v)) }
	case ">=":
		return func(v []float64) float64 { return truth(a(v) >= b(v)) }
	case "<":
		return func(v []float64) float64 { return truth(a(v) < b(v)) }
	case ">":
		return func(v []float64) float64 { return truth(a(v) > b(v)) }
	case "+":
		return func(v []float64) float64 { return a(v) + b(v) }
	case "-":
		return func(v []float64) float64 { return a(v) - b(v) }
	case "*":
		return func(v []float64) float64 { return a(v) * b(v) }
	case "/":
		return func(v []float64) float64 { return a(v) / b(v) }
	}
	return func(v []float64) float64 { return math.Mod(a(v), b(v)) }
}

// bitOperation returns an operation on whole numbers. Of others it is NaN.
func bitOperation(a, b term, do func(x, y int64) int64) term {
	return func(v []float64) float64 {
		x, ok := wholeNumber(a(v))
		y, ok2 := wholeNumber(b(v))
		if !ok || !ok2 {
			return math.NaN()
		}
		return float64(do(x, y))
	}
}

// maxExact is the largest whole number up to which float64 has all.
const maxExact = 1 << 53

func wholeNumber(f float64) (int64, bool) {
	return int64(f), f == math.Trunc(f) && math.Abs(f) <= maxExact
}

func (p *expressionParser) unary() (term, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	operator, ok := p.take("!", "not", "~", "-", "+")
	if !ok {
		return p.primary()
	}
	// As in SNAP, not a == b is (not a) == b.
	of, err := p.unary()
	switch operator {
	case "!", "not":
		return func(v []float64) float64 { return truth(!isTrue(of(v))) }, err
	case "~":
		return bitOperation(of, of, func(x, _ int64) int64 { return ^x }), err
	case "-":
		return func(v []float64) float64 { return -of(v) }, err
	}
	return of, err
}

// constants are the names of numbers.
var constants = map[string]float64{"true": 1, "false": 0, "nan": math.NaN(), "pi": math.Pi, "inf": math.Inf(1)}

// functions are those of SNAP that are about one pixel, by their names and how many arguments they have.
var functions = map[string]struct {
	least, most int
	of          func(x []float64) float64
}{
	"nan":      {1, 1, func(x []float64) float64 { return truth(math.IsNaN(x[0])) }},
	"isnan":    {1, 1, func(x []float64) float64 { return truth(math.IsNaN(x[0])) }},
	"inf":      {1, 1, func(x []float64) float64 { return truth(math.IsInf(x[0], 0)) }},
	"isinf":    {1, 1, func(x []float64) float64 { return truth(math.IsInf(x[0], 0)) }},
	"isfinite": {1, 1, func(x []float64) float64 { return truth(!math.IsNaN(x[0]) && !math.IsInf(x[0], 0)) }},
	"abs":      {1, 1, func(x []float64) float64 { return math.Abs(x[0]) }},
	"sqrt":     {1, 1, func(x []float64) float64 { return math.Sqrt(x[0]) }},
	"exp":      {1, 1, func(x []float64) float64 { return math.Exp(x[0]) }},
	"log":      {1, 1, func(x []float64) float64 { return math.Log(x[0]) }}, // natural, as in SNAP
	"log10":    {1, 1, func(x []float64) float64 { return math.Log10(x[0]) }},
	"floor":    {1, 1, func(x []float64) float64 { return math.Floor(x[0]) }},
	"round":    {1, 1, func(x []float64) float64 { return math.Floor(x[0] + 0.5) }},
	"pow":      {2, 2, func(x []float64) float64 { return math.Pow(x[0], x[1]) }},
	"min":      {1, 8, slices.Min[[]float64]},
	"max":      {1, 8, slices.Max[[]float64]},
	"feq":      {2, 3, func(x []float64) float64 { return truth(math.Abs(x[0]-x[1]) <= tolerance(x)) }},
	"fneq":     {2, 3, func(x []float64) float64 { return truth(!(math.Abs(x[0]-x[1]) <= tolerance(x))) }},
	"bit_set":  {2, 2, bitSet},
}

// tolerance is the third argument, or that of SNAP.
func tolerance(x []float64) float64 {
	if len(x) > 2 {
		return x[2]
	}
	return 1e-6
}

func bitSet(x []float64) float64 {
	n, ok := wholeNumber(x[0])
	bit, ok2 := wholeNumber(x[1])
	if !ok || !ok2 || bit < 0 || bit > 63 {
		return math.NaN()
	}
	return truth(n>>bit&1 != 0)
}

func (p *expressionParser) primary() (term, error) {
	at := p.space()
	rest := p.text[at:]
	switch {
	case rest == "":
		return nil, p.errorf("it ends too early")
	case rest[0] == '(':
		p.at++
		of, err := p.condition()
		if err != nil {
			return nil, err
		}
		if _, ok := p.take(")"); !ok {
			return nil, p.errorf("want a )")
		}
		return of, nil
	case isDigit(rest[0]) || rest[0] == '.':
		return p.number()
	}
	word, quoted, ok := p.word()
	if !ok {
		return nil, p.errorf("%.20q is not expected here", rest)
	}
	if !quoted {
		if p.space() < len(p.text) && p.text[p.at] == '(' {
			return p.call(word)
		}
		if c, ok := constants[strings.ToLower(word)]; ok {
			return func([]float64) float64 { return c }, nil
		}
		if slices.Contains([]string{"and", "or", "not"}, strings.ToLower(word)) {
			p.at = at
			return nil, p.errorf("%q is not expected here", word)
		}
	}
	return p.name(word)
}

// name returns the term of a variable or a flag, or of the expression that a name stands for.
func (p *expressionParser) name(name string) (term, error) {
	if p.inner != nil {
		if text, ok := p.inner(name); ok {
			if p.nests++; p.nests > maxExpressionNests {
				return nil, p.errorf("%.80q: more than %d expressions in expressions", name, maxExpressionNests)
			}
			return p.whole(text)
		}
	}
	i := slices.Index(p.e.names, name)
	if i < 0 {
		if i = len(p.e.names); i == maxExpressionNames {
			return nil, p.errorf("more than %d names", maxExpressionNames)
		}
		p.e.names = append(p.e.names, name)
	}
	return func(v []float64) float64 { return v[i] }, nil
}

func (p *expressionParser) number() (term, error) {
	rest := p.text[p.at:]
	n := 0
	hex := strings.HasPrefix(strings.ToLower(rest), "0x")
	for n < len(rest) && (isDigit(rest[n]) || isLetter(rest[n]) || rest[n] == '.' || !hex && n > 0 && rest[n-1]|0x20 == 'e' && (rest[n] == '-' || rest[n] == '+')) {
		n++
	}
	var value float64
	var err error
	if hex {
		var whole uint64
		whole, err = strconv.ParseUint(rest[2:n], 16, 53)
		value = float64(whole)
	} else {
		value, err = strconv.ParseFloat(rest[:n], 64)
	}
	if err != nil {
		return nil, p.errorf("%.40q is no number", rest[:n])
	}
	p.at += n
	return func([]float64) float64 { return value }, nil
}

// call returns the term of a function.
func (p *expressionParser) call(name string) (term, error) {
	f, ok := functions[strings.ToLower(name)]
	if !ok {
		return nil, p.errorf("the function %.40q is not known", name)
	}
	p.at++ // the parenthesis
	var arguments []term
	for {
		of, err := p.condition()
		if err != nil {
			return nil, err
		}
		arguments = append(arguments, of)
		if _, ok := p.take(","); !ok {
			break
		}
	}
	if _, ok := p.take(")"); !ok || len(arguments) < f.least || len(arguments) > f.most {
		return nil, p.errorf("%s wants %d to %d arguments in parentheses", name, f.least, f.most)
	}
	return func(v []float64) float64 {
		x := make([]float64, len(arguments))
		for i, of := range arguments {
			x[i] = of(v)
		}
		return f.of(x)
	}, nil
}
