package satellite

import (
	"math"
	"strings"
	"testing"
)

func TestExpression(t *testing.T) {
	// a is 5, b is 0, flags is 10 (bits 1 and 3), empty is NaN, and the flags water 1 and land 0.
	names := map[string]float64{"a": 5, "b": 0, "f": 10, "empty": math.NaN(), "q.water": 1, "q.land": 0, "with space": 7}
	for _, test := range []struct {
		text string
		want float64
	}{
		{"true", 1}, {"false", 0}, {"a", 5}, {"(a)", 5}, {" a\n", 5}, {"2.5e1", 25}, {".5", 0.5}, {"0x1F", 31}, {"1e-3", 0.001},
		{"a > 4", 1}, {"a >= 5 && b <= 0", 1}, {"a>4 and b>0", 0}, {"a>4 or b>0", 1}, {"a == 5", 1}, {"a != 5", 0}, {"a < 5", 0},
		{"!b", 1}, {"not b", 1}, {"NOT q.land AND q.water", 1}, {"!q.land && q.water", 1}, {"!!a", 1}, {"!a == 0", 1},
		{"q.water and not (q.land or b)", 1}, {"a || b && b", 5 - 4}, {"b and b or a", 1}, {"a > 4 || empty > 4", 1},
		{"1 + 2 * 3", 7}, {"(1 + 2) * 3", 9}, {"7 - 2 - 1", 4}, {"-a + 6", 1}, {"a / 2", 2.5}, {"a % 3", 2}, {"- - 1", 1}, {"+a", 5},
		{"f & 2", 2}, {"(f & 4) != 0", 0}, {"f | 1", 11}, {"f ^ 2", 8}, {"~f & 15", 5}, {"f & 8 && a", 1}, {"bit_set(f, 3)", 1}, {"bit_set(f, 2)", 0},
		{"a > 4 ? 10 : 20", 10}, {"b ? 1 : a > 9 ? 2 : 3", 3},
		{"isnan(empty)", 1}, {"nan(a)", 0}, {"empty > 1", 0}, {"!(empty > 1)", 1}, {"empty == empty", 0}, {"!isnan(empty) && a", 0}, {"inf(a / b)", 1}, {"isfinite(a)", 1},
		{"abs(-a)", 5}, {"min(a, b, 3)", 0}, {"max(a,b)", 5}, {"sqrt(4)", 2}, {"log10(1000)", 3}, {"log(exp(1))", 1}, {"pow(2, 10)", 1024}, {"floor(2.7)", 2}, {"round(2.5)", 3},
		{"feq(a, 5)", 1}, {"fneq(a, 5.1, 0.01)", 1}, {"'with space' == 7", 1}, {"'a'", 5}, {"PI > 3.14", 1}, {"inf > 1e308", 1},
	} {
		e, err := parseExpression(test.text, nil)
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		var values []float64
		for _, name := range e.names {
			v, ok := names[name]
			if !ok {
				t.Errorf("%q names %q", test.text, name)
			}
			values = append(values, v)
		}
		if got := e.eval(values); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%q is %v, want %v", test.text, got, test.want)
		}
	}
	if e, err := parseExpression("empty", nil); err != nil || e.valid([]float64{math.NaN()}) {
		t.Errorf("NaN is true, or %v", err)
	}
}

func TestExpressionErrors(t *testing.T) {
	for text, want := range map[string]string{
		"": "ends too early", "a &&": "ends too early", "(a": "want a )", "a b": "not expected", "a ~ b": "not expected", "* 2": "not expected", "and a": "not expected",
		"a ? b": "want :", "min()": "not expected", "abs(1, 2)": "abs wants", "pow(1": "pow wants", "sin(a)": "sin", "1e": "no number", "0x": "no number", "1.2.3": "no number", "12ab": "no number",
		"''": "not expected", "'a": "not expected", "a = 5": "not expected", "a; b": "not expected", "\"a\"": "not expected", "a[1]": "not expected", "a.b(1)": "not known",
		strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200): "too deep", strings.Repeat("!", 200) + "1": "too deep", strings.Repeat("1+", 1100) + "1": "too long",
		strings.Repeat(" ", 5000): "at most 4096", "a0+a1+a2+a3+a4+a5+a6+a7+a8+a9+b0+b1+b2+b3+b4+b5+b6": "more than 16 names",
	} {
		if _, err := parseExpression(text, nil); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 400 {
			t.Errorf("%.40q: the error is %v, want one with %q", text, err, want)
		}
	}
}

// A name may stand for an expression, which may not stand for itself.
func TestInnerExpressions(t *testing.T) {
	inner := func(name string) (string, bool) {
		text, ok := map[string]string{"water": "a > 1 && !ice", "ice": "b == 1", "self": "self + 1"}[name]
		return text, ok
	}
	e, err := parseExpression("water && a < 9", inner)
	if err != nil || len(e.names) != 2 {
		t.Fatalf("%v, %v", e.names, err)
	}
	for _, test := range []struct{ a, b, want float64 }{{5, 0, 1}, {5, 1, 0}, {0, 0, 0}, {10, 0, 0}} {
		if got := e.eval([]float64{test.a, test.b}); got != test.want {
			t.Errorf("of %v and %v: %v, want %v", test.a, test.b, got, test.want)
		}
	}
	if _, err := parseExpression("self", inner); err == nil || !strings.Contains(err.Error(), "expressions in expressions") {
		t.Errorf("an expression of itself: %v", err)
	}
}

// Any text is an expression that can be evaluated, or an error.
func FuzzExpression(f *testing.F) {
	for _, text := range []string{"c2rcc_flags.Valid_PE", "!quality_flags.land && conc_chl > 0.5e1", "bit_set(a, 3) ? min(b, 2) : -~7 % 2", "not ('x y' or isnan(z.raw)) and 0x1F >= 3"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := parseExpression(text, func(name string) (string, bool) { return "a || self", name == "self" })
		if err != nil {
			return
		}
		if len(e.names) > maxExpressionNames {
			t.Fatalf("%d names", len(e.names))
		}
		for _, v := range []float64{0, 1, -1, math.NaN(), math.Inf(1), 1e300} {
			values := make([]float64, len(e.names))
			for i := range values {
				values[i] = v
			}
			e.valid(values)
		}
	})
}
