package main

import (
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"limnomap/data/apikey"
)

// Passwords, tokens and keys are kept out of errors and logs where these are made. What is in this file stands behind that:
//
//   - hide is for the value of a flag, which limnomap config prints: what is not known to be harmless is left out.
//   - withoutSecrets is for any text, an error or a line of the log, in which somebody may have typed a secret where it does
//     not belong: what looks like one is left out.
//   - secretFlags tells which secrets stand in the command line.

// hidden stands for what is not shown of a secret. No URL can hold it as it is, so that nobody has it for a password.
const hidden = "<hidden>"

// isSecret reports whether the value of a flag may hold a password.
func isSecret(flag *kong.Flag) bool { return flag.Tag.Has("secret") }

// shown returns a text of a flag's value without what must not be shown of it.
func shown(flag *kong.Flag, text string) string {
	if !isSecret(flag) && !strings.Contains(text, "@") { // the key of a basemap is in every page
		return text
	}
	return hide(text)
}

// openParameters are those of a database's URL that are no secrets. A link to a file may have its key in any of its own.
var openParameters = []string{"sslmode", "application_name", "connect_timeout", "search_path", "vfs", "nolock", "psow"}

// hide returns text without the passwords, tokens and keys that a URL may hold. It rather hides too much.
func hide(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		if strings.Contains(strings.ToLower(text), "password") {
			return hidden // as in a connection string of another form
		}
		return withoutSecrets(text)
	}
	address, query, queried := strings.Cut(rest, "?")
	if strings.Contains(query, "@") { // of a password with a question mark, or of a parameter
		return scheme + "://" + hidden
	}
	if i := strings.LastIndexByte(address, '@'); i >= 0 {
		user, _, password := strings.Cut(address[:i], ":")
		if password {
			user += ":" + hidden
		} else if strings.HasPrefix(strings.ToLower(scheme), "http") {
			user = hidden // a token may stand in the user's place
		}
		address = user + address[i:]
	}
	if !queried {
		return scheme + "://" + address
	}
	parameters := strings.Split(query, "&")
	for i, p := range parameters {
		if name, _, valued := strings.Cut(p, "="); !slices.Contains(openParameters, name) {
			parameters[i] = hidden
			if valued {
				parameters[i] = name + "=" + hidden
			}
		}
	}
	return scheme + "://" + address + "?" + strings.Join(parameters, "&")
}

// withoutUser reports whether text is surely no URL with a user, whatever @ it has, as a basemap's …/{y}@2x.png.
func withoutUser(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.User == nil && !strings.Contains(u.RawQuery, "@")
}

// checkHidden returns an error if a flag's value is one that was hidden: what limnomap config prints is taken again but
// for the secrets.
func checkHidden(ctx *kong.Context) error {
	for _, flag := range ctx.Flags() {
		texts, _, err := valuesOf(flag)
		if err != nil {
			return err
		}
		for _, text := range texts {
			if strings.Contains(text, hidden) {
				return fmt.Errorf("--%s: %s stands for a secret that was not shown: write the secret itself", flag.Name, hidden)
			}
		}
	}
	return nil
}

// secretNames are what names of parameters contain that bear secrets: password, access_token, api-key, X-Amz-Signature.
const secretNames = `pass|secret|token|key|sig`

var secretParameter = regexp.MustCompile(`(?i)` + secretNames)

// looksSecret are what withoutSecrets hides. What is hidden ends before a quote or a backslash, so that a line of the log
// stays one.
var looksSecret = []struct {
	hints   []string // one of which is in whatever the pattern matches
	pattern *regexp.Regexp
	shown   string
}{
	// The user and password of any URL, up to the last @ of the word: a password that should have been escaped may hold one.
	{[]string{"://"}, regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^\s"'\\` + "`" + `]*@`), "${1}" + hidden + "@"},
	// The same without a scheme, as a word of its own.
	{[]string{"@"}, regexp.MustCompile(`((?:^|[\s"'=])[^\s"'\\` + "`" + `/:@=]*:)[^\s"'\\` + "`" + `/]+@`), "${1}" + hidden + "@"},
	// A PostgreSQL connection string of keywords, whose values may be quoted, or the query of a URL.
	{[]string{"word=", "WORD=", "ecret=", "ECRET=", "oken=", "OKEN=", "api_key=", "apikey=", "API_KEY="},
		regexp.MustCompile(`(?i)((?:password|secret|token|api_?key)=)(?:\\"[^"\\]*|"[^\s",}\\][^"\\]*|'[^'"\\]*|[^\s"'\\&` + "`" + `]+)`), "${1}" + hidden},
	// A parameter of a URL. By itself key=agency tells who asked, and is no secret.
	{[]string{"?"}, regexp.MustCompile(`(?i)([?&][^\s"'\\` + "`" + `=&?]*(?:` + secretNames + `)[^\s"'\\` + "`" + `=&?]*=)[^\s"'\\&` + "`" + `]+`), "${1}" + hidden},
	// An API key (apikey.Prefix, and what crypto/rand.Text makes).
	{[]string{apikey.Prefix}, regexp.MustCompile(apikey.Prefix + `[A-Z2-7]{26,}`), apikey.Prefix + hidden},
}

// placeholder is what an error says of the form of a URL, whose password is none.
var placeholder = regexp.MustCompile(`^[a-z]+://\[?USER:PASSWORD@$`)

// withoutSecrets returns text with what looks like a secret hidden.
func withoutSecrets(text string) string {
	for _, s := range looksSecret {
		if !slices.ContainsFunc(s.hints, func(hint string) bool { return strings.Contains(text, hint) }) {
			continue
		}
		text = s.pattern.ReplaceAllStringFunc(text, func(found string) string {
			if placeholder.MatchString(found) {
				return found
			}
			return s.pattern.ReplaceAllString(found, s.shown)
		})
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

// secretFlags returns the names of the flags that bear a password or token, by the command line itself: what comes from
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

// bearsSecret reports whether a flag's value is a URL with a password, with a token in the user's place as hide takes it,
// or with a parameter that is named like a secret; or without a scheme what looks like one.
func bearsSecret(value string) bool {
	if !strings.Contains(value, "://") {
		return withoutSecrets(value) != value
	}
	u, err := url.Parse(value)
	if err != nil {
		return strings.Contains(value, "@") // such as a password with a character that needs escaping
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
