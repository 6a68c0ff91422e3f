package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// outputMatches reports whether output is the one in a page. In the page … means anything on that line, and a line with only …
// means any lines. White space at the ends of lines is ignored.
func outputMatches(want, output string) bool {
	var b strings.Builder
	b.WriteString(`\A`)
	for _, line := range strings.Split(strings.TrimRight(want, "\n"), "\n") {
		if strings.TrimSpace(line) == "…" {
			b.WriteString(`(?:[^\n]*\n)*?`)
			continue
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(strings.TrimRight(line, " \t\r")), "…", `[^\n]*`) + `\n`)
	}
	b.WriteString(`\z`)
	lines := strings.Split(strings.TrimRight(output, " \t\r\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\r")
	}
	return regexp.MustCompile(b.String()).MatchString(strings.Join(lines, "\n") + "\n")
}

// anyValue matches a JSON value without nested values.
const anyValue = `(?:"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null)`

var jsonToken = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null|\s+|.`)

// jsonMatches is outputMatches for JSON, with white space ignored outside strings. In a string … means any characters,
// elsewhere any members or elements. With alike, values may differ, but not names and nesting.
func jsonMatches(want, output string, alike bool) bool {
	var pattern strings.Builder
	tokens := slices.DeleteFunc(jsonToken.FindAllString(want, -1), func(s string) bool { return strings.TrimSpace(s) == "" })
	for i, token := range tokens {
		name := i+1 < len(tokens) && tokens[i+1] == ":"
		switch {
		case token == "…":
			pattern.WriteString(`.*?`)
		case alike && !name && !strings.Contains("{}[],:", token):
			pattern.WriteString(anyValue)
		default:
			pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(token), "…", `[^"]*`))
		}
	}
	var got strings.Builder
	for _, token := range jsonToken.FindAllString(output, -1) {
		if strings.TrimSpace(token) != "" {
			got.WriteString(token)
		}
	}
	return regexp.MustCompile(`(?s)\A` + pattern.String() + `\z`).MatchString(got.String())
}

func TestOutputMatches(t *testing.T) {
	for _, tt := range []struct {
		want, output string
		as           bool
	}{
		{"a\nb\n", "a\nb", true},
		{"a\nb\n", "a\nb\nc\n", false},
		{"a…c\n", "abc\n", true},
		{"a…c\n", "ab\nc\n", false},
		{"a\n…\nd\n", "a\nb\nc\nd\n", true},
		{"a\n…\n", "a\n", true},
		{"a\n…\nd\n", "b\nd\n", false},
		{"HTTP/1.1 200 OK\n…\n", "HTTP/1.1 200 OK\r\nVary: x\r\n\r\n", true},
		{"a.c\n", "abc\n", false},
	} {
		if got := outputMatches(tt.want, tt.output); got != tt.as {
			t.Errorf("outputMatches(%q, %q) = %v, want %v", tt.want, tt.output, got, tt.as)
		}
	}
	for _, tt := range []struct {
		want, output string
		as           bool
	}{
		{"{\n  \"a\": 1,\n  \"b c\": [ … ]\n}", `{"a":1,"b c":[{"d":2},3]}`, true},
		{`{"a": 1}`, `{"a":2}`, false},
		{`{"a": "x y"}`, `{"a":"xy"}`, false},
		{`{"a": "q\" z"}`, `{"a":"q\" z"}`, true},
		{`{"a": "…"}`, `{"a":"2026-11-21"}`, true},
		{`{"a": "…"}`, `{"a":"2026-11-21","b":"c"}`, false},
	} {
		if got := jsonMatches(tt.want, tt.output, false); got != tt.as {
			t.Errorf("jsonMatches(%q, %q) = %v, want %v", tt.want, tt.output, got, tt.as)
		}
	}
	for _, tt := range []struct {
		want, output string
		as           bool
	}{
		{`{"a": 1, "b": "x"}`, `{"a":null,"b":"y z"}`, true},
		{`{"a": 1, …}`, `{"a":-2.5e3,"b":[]}`, true},
		{`{"a": 1}`, `{"b":1}`, false},
		{`{"a": 1}`, `{"a":1,"b":2}`, false},
		{`{"a": 1}`, `{"a":[1]}`, false},
	} {
		if got := jsonMatches(tt.want, tt.output, true); got != tt.as {
			t.Errorf("jsonMatches(%q, %q, alike) = %v, want %v", tt.want, tt.output, got, tt.as)
		}
	}
}
