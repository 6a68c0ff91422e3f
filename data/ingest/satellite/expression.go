package satellite

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// An expression says which pixels count, in the part of the language of SNAP's valid_pixel_expression that products use: numbers, comparisons,
// &&, ||, ! (also and, or, not), & of bits, parentheses, the functions below, and names of variables and of flags, such as quality_flags.cloud.
// Numbers are float64; 0 and NaN are false.
type expression struct {
	names []string // of the operands, each once
	eval  term
}

// A term is a part of an expression. It gets the values of the names.
type term func(values []float64) float64

func isTrue(f float64) bool { return f != 0 && !math.IsNaN(f) }

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Bounds of an expression, which a file may bring.
const (
	maxExpression      = 4096 // bytes, with those of inner expressions
	maxExpressionDepth = 64
	maxExpressionNames = 16
)

var (
	// token is a number, a word, a name between quotes, or an operator.
	token = regexp.MustCompile(`^(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[A-Za-z_$][\w$.]*|'[^']+'|&&|\|\||[=!<>]=|[-<>!&(),])`)
	// operatorWords are the words for operators.
	operatorWords = map[string]string{"and": "&&", "or": "||", "not": "!"}
	// operators are the binary ones, by their precedence: the lowest first.
	operators = [][]string{{"||"}, {"&&"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"}}
)

// functions are the binary operators, and functions of SNAP of one or two arguments.
var functions = map[string]struct {
	arguments int
	of        func(a, b float64) float64
}{
	"||":      {0, func(a, b float64) float64 { return truth(isTrue(a) || isTrue(b)) }},
	"&&":      {0, func(a, b float64) float64 { return truth(isTrue(a) && isTrue(b)) }},
	"&":       {0, func(a, b float64) float64 { return bits(a, b, func(x, y int64) int64 { return x & y }) }},
	"==":      {0, func(a, b float64) float64 { return truth(a == b) }},
	"!=":      {0, func(a, b float64) float64 { return truth(a != b) }},
	"<=":      {0, func(a, b float64) float64 { return truth(a <= b) }},
	">=":      {0, func(a, b float64) float64 { return truth(a >= b) }},
	"<":       {0, func(a, b float64) float64 { return truth(a < b) }},
	">":       {0, func(a, b float64) float64 { return truth(a > b) }},
	"nan":     {1, func(a, _ float64) float64 { return truth(math.IsNaN(a)) }},
	"isnan":   {1, func(a, _ float64) float64 { return truth(math.IsNaN(a)) }},
	"inf":     {1, func(a, _ float64) float64 { return truth(math.IsInf(a, 0)) }},
	"feq":     {2, func(a, b float64) float64 { return truth(math.Abs(a-b) <= 1e-6) }}, // the tolerance of SNAP
	"fneq":    {2, func(a, b float64) float64 { return truth(!(math.Abs(a-b) <= 1e-6)) }},
	"bit_set": {2, func(a, b float64) float64 { return bits(a, b, func(x, y int64) int64 { return x >> (y & 63) & 1 }) }},
}

// bits returns the result of an operation on whole numbers. Of others it is NaN.
func bits(a, b float64, do func(x, y int64) int64) float64 {
	x, ok := wholeNumber(a)
	y, ok2 := wholeNumber(b)
	if !ok || !ok2 {
		return math.NaN()
	}
	return float64(do(x, y))
}

// wholeNumber returns a whole number, up to the largest up to which float64 has all.
func wholeNumber(f float64) (int64, bool) {
	return int64(f), f == math.Trunc(f) && math.Abs(f) <= 1<<53
}

// parseExpression parses an expression. inner returns the inner expression of a name, such as that of a mask; nil has none.
// Errors do not name the whole text.
func parseExpression(text string, inner func(name string) (string, bool)) (*expression, error) {
	p := &expressionParser{inner: inner}
	var err error
	p.eval, err = p.whole(text)
	return &p.expression, err
}

// An expressionParser reads an expression by recursive descent.
type expressionParser struct {
	expression
	inner func(name string) (string, bool)
	rest  string // of the text
	bytes int    // of all texts
	depth int
}

// whole parses a whole text, which may be that of an inner expression.
func (p *expressionParser) whole(text string) (of term, err error) {
	if p.bytes += len(text); p.bytes > maxExpression {
		return nil, fmt.Errorf("more than %d bytes", maxExpression)
	}
	before := p.rest
	p.rest = text
	if of, err = p.binary(0); err == nil && p.token() != "" {
		err = p.unexpected()
	}
	p.rest = before
	return of, err
}

// token returns the next token, and the rest itself if it begins with none; "" at the end.
func (p *expressionParser) token() string {
	p.rest = strings.TrimSpace(p.rest)
	if t := token.FindString(p.rest); t != "" {
		return t
	}
	return p.rest
}

// take passes the next token if it is one of these operators, and returns it.
func (p *expressionParser) take(operators ...string) (string, bool) {
	t := p.token()
	operator := t
	if o, ok := operatorWords[strings.ToLower(t)]; ok {
		operator = o
	}
	if !slices.Contains(operators, operator) {
		return "", false
	}
	p.rest = p.rest[len(t):]
	return operator, true
}

func (p *expressionParser) unexpected() error {
	if p.rest == "" {
		return fmt.Errorf("the expression ends too early")
	}
	return fmt.Errorf("%.40q is not expected here: want names, numbers, comparisons, and, or, not, & and parentheses", p.rest)
}

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
		a, do := left, functions[operator].of
		var b term
		b, err = p.binary(level + 1)
		left = func(v []float64) float64 { return do(a(v), b(v)) }
	}
	return left, err
}

func (p *expressionParser) unary() (term, error) {
	if p.depth++; p.depth > maxExpressionDepth {
		return nil, fmt.Errorf("more than %d parentheses and operators in one another", maxExpressionDepth)
	}
	defer func() { p.depth-- }()
	// As in SNAP, not a == b is (not a) == b.
	operator, ok := p.take("!", "-", "(")
	if !ok {
		return p.primary()
	}
	if operator == "(" {
		of, err := p.binary(0)
		if _, ok := p.take(")"); err == nil && !ok {
			err = p.unexpected()
		}
		return of, err
	}
	of, err := p.unary()
	if operator == "-" {
		return func(v []float64) float64 { return -of(v) }, err
	}
	return func(v []float64) float64 { return truth(!isTrue(of(v))) }, err
}

// primary parses a number, a name or a call.
func (p *expressionParser) primary() (term, error) {
	word := p.token()
	if word == "" || !token.MatchString(word) || strings.ContainsAny(word[:1], "&|=<>!(),-") || operatorWords[strings.ToLower(word)] != "" {
		return nil, p.unexpected()
	}
	p.rest = p.rest[len(word):]
	if value, err := strconv.ParseFloat(word, 64); err == nil && !isLetter(word[0]) {
		return func([]float64) float64 { return value }, nil
	}
	lower := strings.ToLower(word)
	if lower == "true" || lower == "false" {
		return func([]float64) float64 { return truth(lower == "true") }, nil
	}
	if _, ok := p.take("("); ok {
		return p.call(lower)
	}
	return p.name(strings.Trim(word, "'"))
}

// call parses the arguments of a function.
func (p *expressionParser) call(name string) (term, error) {
	f := functions[name]
	if f.arguments == 0 {
		return nil, fmt.Errorf("the function %.40q is not known, only nan, isnan, inf, feq, fneq and bit_set", name)
	}
	var arguments [2]term
	for i, end := range []string{",", ")"}[2-f.arguments:] {
		var err error
		if arguments[i], err = p.binary(0); err != nil {
			return nil, err
		}
		if _, ok := p.take(end); !ok {
			return nil, fmt.Errorf("%s wants %d arguments in parentheses", name, f.arguments)
		}
	}
	a, b := arguments[0], arguments[f.arguments-1]
	return func(v []float64) float64 { return f.of(a(v), b(v)) }, nil
}

// name returns the term of a variable or a flag, or of an inner expression.
func (p *expressionParser) name(name string) (term, error) {
	if p.inner != nil {
		if text, ok := p.inner(name); ok {
			return p.whole(text)
		}
	}
	i := slices.Index(p.names, name)
	if i < 0 {
		if i = len(p.names); i == maxExpressionNames {
			return nil, fmt.Errorf("more than %d names", maxExpressionNames)
		}
		p.names = append(p.names, name)
	}
	return func(v []float64) float64 { return v[i] }, nil
}
