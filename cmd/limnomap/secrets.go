package main

import (
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Passwords and keys are kept out of errors and logs where these are made. What follows stands behind that, for what is
// typed where it does not belong: a database's URL without its flag, an API key in a path.

var secrets = []struct {
	hints   []string // one of which is in whatever the pattern matches
	pattern *regexp.Regexp
	shown   string
}{
	// The user and password of any URL, up to the last @ of the word: a password that should have been escaped may hold one.
	{[]string{"://"}, regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^\s"'\\` + "`" + `]*@`), "${1}" + hidden + "@"},
	// A PostgreSQL connection string of keywords, or the query of a URL.
	{[]string{"word=", "WORD=", "ecret=", "ECRET=", "oken=", "OKEN=", "api_key=", "apikey=", "API_KEY="},
		regexp.MustCompile(`(?i)((?:password|secret|token|api_?key)=)[^\s"'\\&` + "`" + `]+`), "${1}" + hidden},
	// An API key (keyPrefix, and what crypto/rand.Text makes).
	{[]string{keyPrefix}, regexp.MustCompile(keyPrefix + `[A-Z2-7]{26,}`), keyPrefix + hidden},
}

// withoutSecrets returns text with what looks like a secret hidden.
func withoutSecrets(text string) string {
	for _, s := range secrets {
		if slices.ContainsFunc(s.hints, func(hint string) bool { return strings.Contains(text, hint) }) {
			text = s.pattern.ReplaceAllString(text, s.shown)
		}
	}
	return text
}

// A discreetWriter hides what looks like a secret. Each Write is of a whole line, as those of a log are.
type discreetWriter struct{ io.Writer }

func (w discreetWriter) Write(line []byte) (int, error) {
	if _, err := io.WriteString(w.Writer, withoutSecrets(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}

// secretQuery are parts of the names of parameters that bear secrets.
var secretQuery = regexp.MustCompile(`(?i)pass|secret|token|key|sig`)

// secretFlags returns the names of the flags that bear a password in a URL, by the command line itself: what comes from
// the environment or a file is told to nobody by ps.
func secretFlags(args []string) []string {
	var names []string
	name := ""
	for _, arg := range args {
		value := arg
		if flag, ok := strings.CutPrefix(arg, "--"); ok {
			name, value, _ = strings.Cut(flag, "=")
		}
		if bearsSecret(value) {
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

// bearsSecret reports whether a flag's value is a URL with a password, or with a parameter that is named like one.
func bearsSecret(value string) bool {
	if !strings.Contains(value, "://") {
		return false
	}
	u, err := url.Parse(value)
	if err != nil {
		return strings.Contains(value, "@") // such as a password with a character that needs escaping
	}
	if _, ok := u.User.Password(); ok {
		return true
	}
	for parameter := range u.Query() {
		if secretQuery.MatchString(parameter) {
			return true
		}
	}
	return false
}
