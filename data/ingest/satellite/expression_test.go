package satellite

import (
	"math"
	"strings"
	"testing"
)

// A name may have an inner expression, which may not contain itself.
func TestExpression(t *testing.T) {
	// f has bits 1 and 3.
	names := map[string]float64{"a": 5, "b": 0, "f": 10, "empty": math.NaN(), "q.water": 1, "q.land": 0, "with space": 7}
	inner := func(name string) (string, bool) {
		text, ok := map[string]string{"open": "a > 1 && !ice", "ice": "b == 1", "self": "(self)"}[name]
		return text, ok
	}
	for _, test := range []struct {
		text string
		want float64
		err  string
	}{
		{"true", 1, ""}, {"False", 0, ""}, {" ( a )\n", 5, ""}, {"2.5e1", 25, ""}, {".5", 0.5, ""}, {"- -a", 5, ""}, {"'with space' == 7", 1, ""}, {"'a'", 5, ""},
		{"a >= 5 && b <= 0", 1, ""}, {"a>4 and b>0", 0, ""}, {"a == 5", 1, ""}, {"a != 5", 0, ""}, {"a<-5", 0, ""}, {"b and b or a", 1, ""}, {"a || b && b", 1, ""},
		{"!b", 1, ""}, {"NOT q.land AND q.water", 1, ""}, {"!!a", 1, ""}, {"!a == 0", 1, ""}, {"q.water and not (q.land or b)", 1, ""},
		{"f & 2", 2, ""}, {"(f & 4) != 0", 0, ""}, {"f & 8 && a", 1, ""}, {"f & 10 == 10", 0, ""}, {"a & 0.5", math.NaN(), ""}, {"bit_set(f, 3)", 1, ""}, {"bit_set(f, 2)", 0, ""},
		{"isnan(empty)", 1, ""}, {"NaN(a)", 0, ""}, {"inf(1)", 0, ""}, {"empty > 1", 0, ""}, {"!(empty > 1)", 1, ""}, {"empty == empty", 0, ""}, {"!empty", 1, ""},
		{"feq(a, 5)", 1, ""}, {"fneq(a, 5.1)", 1, ""}, {"open && a < 9", 1, ""}, {"!ice", 1, ""},
		{"", 0, "too early"}, {"a &&", 0, "too early"}, {"(a", 0, "too early"}, {"a b", 0, `"b" is not expected`}, {"* 2", 0, "not expected"}, {"and a", 0, "not expected"}, {"a ? b : 1", 0, "not expected"},
		{"a + 1", 0, `"+ 1" is not expected here: want names`}, {"12ab", 0, "not expected"}, {"1.2.3", 0, "not expected"}, {"'a", 0, "not expected"}, {"''", 0, "not expected"}, {"a = 5", 0, "not expected"},
		{"nan()", 0, "not expected"}, {"nan(1, 2)", 0, "nan wants 1 arg"}, {"feq(1)", 0, "feq wants 2 arg"}, {"sin(a)", 0, `the function "sin" is not known, only nan`}, {"self", 0, "more than"},
		{strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200), 0, "more than 64"}, {strings.Repeat(" ", 5000), 0, "more than 4096"},
		{"a0&a1&a2&a3&a4&a5&a6&a7&a8&a9&b0&b1&b2&b3&b4&b5&b6", 0, "more than 16 names"},
	} {
		e, err := parseExpression(test.text, inner)
		if err != nil || test.err != "" {
			if err == nil || test.err == "" || !strings.Contains(err.Error(), test.err) || len(err.Error()) > 200 {
				t.Errorf("%.40q: the error is %v, want one with %q", test.text, err, test.err)
			}
			continue
		}
		var values []float64
		for _, name := range e.names {
			values = append(values, names[name])
		}
		if got := e.eval(values); math.Abs(got-test.want) > 1e-12 || math.IsNaN(got) != math.IsNaN(test.want) {
			t.Errorf("%q is %v, want %v", test.text, got, test.want)
		}
	}
}

// Any text is an expression that can be evaluated, or an error.
func FuzzExpression(f *testing.F) {
	for _, text := range []string{"c2rcc_flags.Valid_PE", "!quality_flags.land && conc_chl > 0.5e1", "bit_set(a, 3) == -7 & 2", "not ('x y' or isnan(z.raw)) and feq(2, 3e1)"} {
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
			e.eval(values)
		}
	})
}
