package config

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
)

// A Redactor hides the passwords of this process, which it knows from its arguments, its environment and its files, wherever they
// appear, and whatever else looks like a secret: see [Redact]. It is safe for concurrent use.
type Redactor struct {
	known atomic.Pointer[[]string] // secrets to hide: own and adopted, the longest first

	mu      sync.Mutex
	own     []string // of the settings of this process
	adopted []string // of settings that were read later, those of the last Adopt first
}

const (
	// minKnown is the length of the shortest password that is hidden wherever it appears. A shorter one may be a part of any word; it
	// is hidden only where it looks like a password.
	minKnown = 6
	// maxKnown bounds the texts that are looked for in each line of the log: beyond it the oldest of earlier settings are forgotten,
	// and never one of the first or the present settings.
	maxKnown = 1000
)

// secretVariables match variables of other programs' libraries whose whole value is a secret, or a list of NAME=SECRET.
var secretVariables = regexp.MustCompile(`^(PGPASSWORD|OTEL_EXPORTER_OTLP(_[A-Z]+)?_HEADERS)$`)

// proxyVariables match variables with the URL of a proxy.
var proxyVariables = regexp.MustCompile(`(?i)^(https?|all)_proxy$`)

// NewRedactor returns a Redactor that knows the secrets in a command line and in an environment.
func NewRedactor(args, environ []string) *Redactor {
	r := new(Redactor)
	for _, arg := range args {
		r.Add(arg)
		if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
			r.Add(value)
		}
	}
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		switch {
		case strings.HasPrefix(name, envPrefix), proxyVariables.MatchString(name):
			r.Add(value)
		case secretVariables.MatchString(name):
			r.addSecrets(value)
			for _, header := range strings.Split(value, ",") {
				_, secret, _ := strings.Cut(header, "=")
				r.addSecrets(strings.TrimSpace(secret))
			}
		}
	}
	return r
}

// Add makes the Redactor know the secrets in the value of a setting.
func (r *Redactor) Add(value string) { r.addSecrets(passwordsIn(value)...) }

// addFile makes the Redactor know the secrets in the lines of a configuration file.
func (r *Redactor) addFile(text []byte) {
	var secrets []string
	for line := range bytes.Lines(text) {
		_, value, _ := strings.Cut(string(line), ":")
		for _, value := range []string{value, strings.TrimLeft(string(line), " -")} {
			secrets = append(secrets, passwordsIn(strings.Trim(value, " \t\r\n\"'[]"))...)
		}
	}
	r.addSecrets(secrets...)
}

// Adopt makes r know the settings of other, which are the present ones from now on. What r knows of its own settings it knows for
// ever: they may still be in use. Of those that it adopted earlier it forgets the oldest.
func (r *Redactor) Adopt(other *Redactor) {
	if r == other {
		return
	}
	other.mu.Lock()
	present := slices.Clone(other.own)
	other.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	isPresent := make(map[string]bool, len(present))
	for _, text := range present {
		isPresent[text] = true
	}
	all := slices.Clone(present)
	for _, text := range r.adopted {
		if !isPresent[text] {
			all = append(all, text)
		}
	}
	r.adopted = all[:min(len(all), max(len(present), maxKnown-len(r.own)))]
	r.publish()
}

// addSecrets adds secrets and their parts, as they are and in the forms in which errors and logs write them.
func (r *Redactor) addSecrets(secrets ...string) {
	var all []string
	for _, secret := range secrets {
		parts := []string{secret}
		for _, part := range strings.FieldsFunc(secret, func(c rune) bool { return strings.ContainsRune(`@/\:#?&=%'",;<>`, c) || unicode.IsSpace(c) }) {
			// A part of small letters may be any word, which errors must be able to use.
			if strings.Trim(part, "abcdefghijklmnopqrstuvwxyz") != "" {
				parts = append(parts, part)
			}
		}
		for _, part := range parts {
			if len(part) >= minKnown {
				all = append(all, writtenForms(part)...)
			}
		}
	}
	if len(all) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.own = append(r.own, all...)
	slices.Sort(r.own)
	r.own = slices.Compact(r.own)
	r.publish()
}

// publish makes what r knows visible to RedactKnown. The caller holds r.mu.
func (r *Redactor) publish() {
	all := slices.Concat(r.own, r.adopted)
	slices.SortFunc(all, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	all = slices.Compact(all)
	r.known.Store(&all)
}

// writtenForms returns the texts by which errors and logs may write a secret: as it is, in a URL, and in quotes, up to three times,
// as in a line of the log with an error that quotes an error.
func writtenForms(secret string) []string {
	forms := []string{secret, url.PathEscape(secret), url.QueryEscape(secret), strings.TrimPrefix(url.UserPassword("", secret).String(), ":")}
	quote := func(s string) string { s = strconv.Quote(s); return s[1 : len(s)-1] }
	quoted := forms
	for range 3 {
		var next []string
		for _, form := range quoted {
			next = append(next, quote(form), quoteJSON(form))
		}
		slices.Sort(next)
		quoted = slices.Compact(next)
		forms = append(forms, quoted...)
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

// quoteJSON returns the inside of a JSON string as slog writes it.
func quoteJSON(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return s
	}
	return b.String()[1 : b.Len()-2]
}

// Redact returns text without secrets, in which control and directional characters are escaped.
func (r *Redactor) Redact(text string) string { return Redacted(r.RedactKnown(text)) }

// RedactKnown returns text without the secrets of the settings.
func (r *Redactor) RedactKnown(text string) string {
	if known := r.known.Load(); known != nil {
		for _, secret := range *known {
			text = hide(text, secret)
		}
	}
	return text
}

// hide replaces a secret in text, and a beginning of it where text is cut off: errors show only the beginning of a long value.
func hide(text, secret string) string {
	start := secret[:minKnown]
	for from := 0; ; {
		i := strings.Index(text[from:], start)
		if i < 0 {
			return text
		}
		i += from
		n := minKnown
		for n < len(secret) && i+n < len(text) && text[i+n] == secret[n] {
			n++
		}
		if n < len(secret) && i+n < len(text) && !strings.HasPrefix(text[i+n:], `"`) && !strings.HasPrefix(text[i+n:], `\"`) {
			from = i + minKnown // another word that begins like the secret
			continue
		}
		text = text[:i] + hidden + text[i+n:]
		from = i + len(hidden)
	}
}

// Error returns err with a text without secrets.
func (r *Redactor) Error(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if redacted := r.Redact(text); redacted != text {
		return redactedError{err, redacted}
	}
	return err
}

// A redactedError is an error with another text.
type redactedError struct {
	error
	text string
}

func (e redactedError) Error() string { return e.text }

func (e redactedError) Unwrap() error { return e.error }

var (
	// schemes match the beginning of a URL, however it is written: postgres:/, postgres//, http:\\, redis:.
	schemes = regexp.MustCompile(`(?i)^[\s"'(<]*(?:jdbc:)?(?:[a-z][a-z0-9+.-]*\s*(?:[:;]\s*[/\\]{1,3}|[/\\]{2,3})\s*|(?:postgres|postgre|postgresql|pg|redis|rediss|unix|https?|file|mysql|ftp)\s*[:;]\s*)`)
	// keywordPassword matches a password with its name, in a value that is not a URL.
	keywordPassword = regexp.MustCompile(`(?i)(?:` + secretNames + `)\s*[=:]\s*(.+)`)
	// nextKeyword matches what follows such a password.
	nextKeyword = regexp.MustCompile(`&|\s+[A-Za-z_]+\s*=`)
)

// delimiters are the delimiters of a URL as a program may have escaped them.
var delimiters = strings.NewReplacer("%3A", ":", "%3a", ":", "%40", "@", "%2F", "/", "%2f", "/")

var escape = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// unescape replaces the escapes of a URL that are valid.
func unescape(s string) string {
	return escape.ReplaceAllStringFunc(s, func(e string) string {
		code, _ := strconv.ParseUint(e[1:], 16, 8)
		return string([]byte{byte(code)})
	})
}

// passwordsIn returns what may be a password in the value of a setting: too much rather than too little, except that the host and
// path of a valid URL without a user are none, and neither is prose, such as "Contact: me@example.org".
func passwordsIn(value string) []string {
	var found []string
	for _, v := range []string{value, delimiters.Replace(value), unescape(value)} {
		found = append(found, urlPasswords(v)...)
		if m := keywordPassword.FindStringSubmatch(v); m != nil {
			found = append(found, m[1])
			if i := nextKeyword.FindStringIndex(m[1]); i != nil {
				found = append(found, m[1][:i[0]])
			}
		}
		_, query, _ := strings.Cut(v, "?")
		for parameter := range strings.SplitSeq(query, "&") {
			if name, secret, _ := strings.Cut(parameter, "="); secretParameter.MatchString(name) {
				found = append(found, secret)
			}
		}
	}
	for i, s := range found {
		s = strings.TrimSpace(s)
		found[i] = s
		found = append(found, strings.Trim(s, `"'\`), unescape(s))
	}
	slices.Sort(found)
	return slices.DeleteFunc(slices.Compact(found), func(s string) bool { return s == "" || s == hidden })
}

// urlPasswords returns the parts of a URL, or of a mistyped one, that may be a password.
func urlPasswords(v string) (found []string) {
	scheme := schemes.FindString(v)
	if i := strings.Index(v, "://"); i >= 0 {
		scheme = v[:i+len("://")]
	}
	rest := v[len(scheme):]
	at := strings.LastIndexByte(rest, '@')
	if at < 0 {
		// Without @, but with something after the colon that is not a port, the host is missing.
		user, password, ok := strings.Cut(rest, ":")
		port, _, _ := strings.Cut(password, "/")
		if _, err := strconv.ParseUint(port, 10, 16); ok && err != nil && port != "" && scheme != "" && !strings.HasPrefix(user, "[") && !strings.Contains(user, "/") {
			return []string{password}
		}
		return nil
	}
	if u, err := url.Parse(v); err == nil && u.Host != "" && u.User == nil && !strings.Contains(u.RawQuery, "@") && strings.HasPrefix(u.Scheme, "http") {
		return nil // @ is in the path, as in {y}@2x.png
	}
	user := rest[:at]
	if !strings.ContainsAny(user, ": \t/<\"") && strings.Contains(strings.ToLower(scheme), "http") {
		return []string{user} // a token
	}
	for range 4 { // the user, or an unknown scheme, may contain a colon
		before, password, ok := strings.Cut(user, ":")
		if !ok {
			break
		}
		if !strings.HasPrefix(password, " ") {
			found = append(found, password)
			if _, password, ok := strings.Cut(before+":"+password, "/"); ok && scheme == "" {
				found = append(found, password) // USER/PASSWORD@HOST, and the password contains a colon
			}
		}
		user = password
	}
	return found
}
