package config

import (
	"cmp"
	"io"
	"regexp"
	"slices"
	"strings"

	"limnomap/data/apikey"
	"limnomap/data/linetext"
)

// Secrets are of the type [Secret]. This file is the second line of defence for texts that may have one in an unexpected place, such as
// an error that repeats a value of the wrong flag, or the line of the log about a request: Redact hides what looks like a secret, and a
// Redactor also what it knows from the settings.

const (
	// secretNames matches the names of secrets at their end: password, client_secret, access_token, api_key.
	secretNames = `pass(?:word|wd|phrase)?|pwd|secret|token|api_?key`
	// parameterNames matches parts of the names of parameters of a URL with secrets: these, and api-key, X-Amz-Signature.
	parameterNames = secretNames + `|key|sig`
)

var secretParameter = regexp.MustCompile(`(?i)` + parameterNames)

// secretPatterns are what Redact hides. No match contains a quote or a backslash, so a line of the log keeps its form.
var secretPatterns = []struct {
	hints       []string // each match contains one of them; searching for them first is quick
	pattern     *regexp.Regexp
	replacement string
}{
	// The user and password of any URL, up to the last @ of the word: an unescaped password may contain @.
	{[]string{"://"}, regexp.MustCompile(`(://)(?:[^\s"\\]|\\.)*@`), "${1}" + dots + "@"},
	// The same without a scheme or with a mistyped one: the word from its first colon to its last @.
	{[]string{"@"}, regexp.MustCompile(`((?:^|[\s"=])(?:[^\s"\\:@=]|\\[^:])*\\?:)(?:[^\s"\\/]|\\.|/[^\s"\\/]|/\\.)(?:[^\s"\\]|\\.)*@`), "${1}" + dots + "@"},
	// A PostgreSQL connection string of keywords, whose values may be quoted, or the query of a URL.
	{[]string{"word=", "WORD=", "word =", "ecret=", "ECRET=", "oken=", "OKEN=", "api_key=", "apikey=", "API_KEY=", "pwd=", "pass=", "passwd=", "phrase=", "PHRASE="},
		regexp.MustCompile(`(?i)((?:` + secretNames + `)\s?=\s?)(?:\\"[^"\\]*|"[^\s",}\\][^"\\]*|'[^'"\\]*|[^\s"'\\&` + "`" + `]+)`), "${1}" + dots},
	// A parameter of a URL. Outside of a URL, key=agency in the log names an API key, which is not a secret.
	{[]string{"?"}, regexp.MustCompile(`(?i)([?&][^\s"'\\` + "`" + `=&?]*(?:` + parameterNames + `)[^\s"'\\` + "`" + `=&?]*=)[^\s"'\\&` + "`" + `]+`), "${1}" + dots},
	// An API key: the prefix and a text from crypto/rand.Text.
	{[]string{apikey.Prefix}, regexp.MustCompile(apikey.Prefix + `[A-Z2-7]{26,}`), apikey.Prefix + dots},
}

// colonBeforeAt reports whether a word of text has an @ after a colon. Without this, each line of the log about a tile {y}@2x.png
// would cost 20 µs.
func colonBeforeAt(text string) bool {
	colon := false
	for i := range len(text) {
		switch text[i] {
		case ':':
			colon = true
		case '@':
			if colon {
				return true
			}
		case ' ', '\t', '\n', '\r':
			colon = false
		}
	}
	return false
}

// placeholder matches the example in an error that describes the form of a URL, which has no password.
var placeholder = regexp.MustCompile(`^://\[?USER:PASSWORD@$`)

// mailAddress matches the beginning of the address of an operator, which has no password.
var mailAddress = regexp.MustCompile("(?i)^[\\s\"=]?mailto:[a-z0-9.!#$%&'*+=?^_{|}~-]+@$")

// Redact returns text with dots instead of what looks like a secret.
func Redact(text string) string {
	for _, s := range secretPatterns {
		if !slices.ContainsFunc(s.hints, func(hint string) bool { return strings.Contains(text, hint) }) || s.hints[0] == "@" && !colonBeforeAt(text) {
			continue
		}
		text = s.pattern.ReplaceAllStringFunc(text, func(match string) string {
			if placeholder.MatchString(match) || mailAddress.MatchString(match) {
				return match
			}
			return s.pattern.ReplaceAllString(match, s.replacement)
		})
	}
	return text
}

// Redacted returns text as [Redact] does, with control and directional characters escaped. It is for a text whose known secrets are
// hidden already, or where none are known.
func Redacted(text string) string { return linetext.Escape(Redact(text)) }

// A RedactingWriter redacts each Write, which must be a whole line, as those of a slog.Handler are.
type RedactingWriter struct {
	io.Writer
	Redactor *Redactor
}

func (w RedactingWriter) Write(line []byte) (int, error) {
	if _, err := io.WriteString(w.Writer, w.Redactor.Redact(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}

// SecretsIn returns the names of the flags on a command line that hold a password or a token.
func SecretsIn(args []string) []string {
	var names []string
	name := ""
	for _, arg := range args {
		value := arg
		if flag, ok := strings.CutPrefix(arg, "--"); ok {
			name, value, _ = strings.Cut(flag, "=")
		}
		if len(secretsIn(value)) > 0 {
			names = append(names, cmp.Or(name, "an argument"))
		}
		if !strings.HasPrefix(arg, "-") {
			name = ""
		}
	}
	return names
}
