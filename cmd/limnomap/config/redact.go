package config

import (
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"limnomap/data/apikey"
	"limnomap/data/linetext"
)

// Errors and log messages leave secrets out where they are made. This file is the second line of defence:
//
//   - printable and redactURL are for the value of a flag, which limnomap config prints. They leave out all that is not
//     known to be harmless.
//   - Redact is for any text, such as an error or a line of the log, that may hold a secret in an unexpected place. It leaves
//     out what looks like one. A Redactor also leaves out the passwords that it knows from the settings.
//   - SecretsIn finds secrets on the command line.

// hidden is printed instead of a secret. A URL cannot hold < or > unescaped, so it is not a password itself.
const hidden = "<hidden>"

// printable returns the value of a flag without what must not be printed.
func printable(flag *kong.Flag, text string) string {
	if !isSecret(flag) && (!strings.Contains(text, "@") || hasNoUser(text)) { // the key of a basemap is public: every page has it
		return text
	}
	return redactURL(text)
}

// hasNoUser reports whether text is certainly not a URL with a user, although it may contain @, as {y}@2x.png does.
func hasNoUser(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.User == nil && !strings.Contains(u.RawQuery, "@")
}

// publicParameters are the parameters of a database URL that are not secrets. A URL of a file may have its key in any
// other one.
var publicParameters = []string{"sslmode", "application_name", "connect_timeout", "search_path", "vfs", "nolock", "psow"}

// redactURL returns text without the passwords, tokens and keys that a URL may hold. It hides too much rather than too
// little.
func redactURL(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		if strings.Contains(strings.ToLower(text), "password") {
			return hidden // a connection string that is not a URL
		}
		return Redact(text)
	}
	address, query, hasQuery := strings.Cut(rest, "?")
	if strings.Contains(query, "@") { // the password contains a question mark, or a parameter contains @
		return scheme + "://" + hidden
	}
	if i := strings.LastIndexByte(address, '@'); i >= 0 {
		user, _, hasPassword := strings.Cut(address[:i], ":")
		if hasPassword {
			user += ":" + hidden
		} else if strings.HasPrefix(strings.ToLower(scheme), "http") {
			user = hidden // it may be a token
		}
		address = user + address[i:]
	}
	if !hasQuery {
		return scheme + "://" + address
	}
	parameters := strings.Split(query, "&")
	for i, p := range parameters {
		if name, _, hasValue := strings.Cut(p, "="); !slices.Contains(publicParameters, name) {
			parameters[i] = hidden
			if hasValue {
				parameters[i] = name + "=" + hidden
			}
		}
	}
	return scheme + "://" + address + "?" + strings.Join(parameters, "&")
}

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
	{[]string{"://"}, regexp.MustCompile(`(://)(?:[^\s"\\]|\\.)*@`), "${1}" + hidden + "@"},
	// The same without a scheme or with a mistyped one: the word from its first colon to its last @.
	{[]string{"@"}, regexp.MustCompile(`((?:^|[\s"=])(?:[^\s"\\:@=]|\\[^:])*\\?:)(?:[^\s"\\/]|\\.|/[^\s"\\/]|/\\.)(?:[^\s"\\]|\\.)*@`), "${1}" + hidden + "@"},
	// A PostgreSQL connection string of keywords, whose values may be quoted, or the query of a URL.
	{[]string{"word=", "WORD=", "word =", "ecret=", "ECRET=", "oken=", "OKEN=", "api_key=", "apikey=", "API_KEY=", "pwd=", "pass=", "passwd=", "phrase=", "PHRASE="},
		regexp.MustCompile(`(?i)((?:` + secretNames + `)\s?=\s?)(?:\\"[^"\\]*|"[^\s",}\\][^"\\]*|'[^'"\\]*|[^\s"'\\&` + "`" + `]+)`), "${1}" + hidden},
	// A parameter of a URL. Outside of a URL, key=agency in the log names an API key, which is not a secret.
	{[]string{"?"}, regexp.MustCompile(`(?i)([?&][^\s"'\\` + "`" + `=&?]*(?:` + parameterNames + `)[^\s"'\\` + "`" + `=&?]*=)[^\s"'\\&` + "`" + `]+`), "${1}" + hidden},
	// An API key: the prefix and a text from crypto/rand.Text.
	{[]string{apikey.Prefix}, regexp.MustCompile(apikey.Prefix + `[A-Z2-7]{26,}`), apikey.Prefix + hidden},
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

// Redact returns text with <hidden> instead of what looks like a secret.
func Redact(text string) string {
	for _, s := range secretPatterns {
		if !slices.ContainsFunc(s.hints, func(hint string) bool { return strings.Contains(text, hint) }) || s.hints[0] == "@" && !colonBeforeAt(text) {
			continue
		}
		text = s.pattern.ReplaceAllStringFunc(text, func(match string) string {
			if placeholder.MatchString(match) {
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
		if hasSecret(value) {
			if name == "" {
				name = "an argument"
			}
			names = append(names, name)
		}
		if !strings.HasPrefix(arg, "-") {
			name = ""
		}
	}
	return names
}

// hasSecret reports whether value is a URL with a password, with a token as its user, or with a parameter that is named like a
// secret, or whether it looks like a secret without being a URL.
func hasSecret(value string) bool {
	if !strings.Contains(value, "://") {
		return Redact(value) != value || len(passwordsIn(value)) > 0
	}
	u, err := url.Parse(value)
	if err != nil {
		return strings.Contains(value, "@") // a password with an unescaped character
	}
	if _, ok := u.User.Password(); ok || u.User != nil && strings.HasPrefix(u.Scheme, "http") {
		return true
	}
	for parameter := range u.Query() {
		if secretParameter.MatchString(parameter) {
			return true
		}
	}
	return false
}
