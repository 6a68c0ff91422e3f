package docs

import (
	"regexp"
	"slices"
	"strings"
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
