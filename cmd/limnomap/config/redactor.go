package config

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Redactor hides the secrets of the settings wherever they appear, and whatever else looks like a secret: see [Redact]. It is safe for
// concurrent use.
type Redactor struct {
	mu    sync.RWMutex
	known []string // texts to hide, the longest first; guarded by mu, replaced whole
}

// minKnown is the length of the shortest text that is hidden wherever it appears: a shorter one may be a part of any word.
const minKnown = 6

var (
	// secretVariables are variables of other programs' libraries that are a secret, or a list of NAME=SECRET.
	secretVariables = regexp.MustCompile(`^(PGPASSWORD|OTEL_EXPORTER_OTLP(_[A-Z]+)?_HEADERS)$`)
	// proxyVariables hold the URL of a proxy.
	proxyVariables = regexp.MustCompile(`(?i)^(https?|all)_proxy$`)
)

// NewRedactor returns a Redactor that knows the secrets in a command line and in an environment.
func NewRedactor(args, environ []string) *Redactor {
	r := new(Redactor)
	for _, arg := range args {
		if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
			arg = value
		}
		r.add(secretsIn(arg)...)
	}
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		switch {
		case strings.HasPrefix(name, envPrefix), proxyVariables.MatchString(name):
			r.add(secretsIn(value)...)
		case secretVariables.MatchString(name):
			r.add(value)
			for header := range strings.SplitSeq(value, ",") {
				_, secret, _ := strings.Cut(header, "=")
				r.add(strings.TrimSpace(secret))
			}
		}
	}
	return r
}

// add makes the Redactor know secrets, as they are and as errors and logs write them: in a URL, and in quotes, up to three times, as in a
// line of the log with an error that quotes an error.
func (r *Redactor) add(secrets ...string) {
	var forms []string
	for _, secret := range secrets {
		if len(secret) < minKnown {
			continue
		}
		for _, form := range []string{secret, url.PathEscape(secret), url.QueryEscape(secret)} {
			for range 4 {
				forms = append(forms, form)
				quoted := strconv.Quote(form)
				form = quoted[1 : len(quoted)-1]
			}
		}
	}
	r.learn(forms)
}

// Adopt makes r know the secrets of other too, those of settings that were read later.
func (r *Redactor) Adopt(other *Redactor) { r.learn(other.texts()) }

func (r *Redactor) learn(texts []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Concat(r.known, texts)
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	r.known = slices.Compact(all)
}

func (r *Redactor) texts() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.known
}

// Redact returns text without secrets, in which control and directional characters are escaped.
func (r *Redactor) Redact(text string) string {
	for _, secret := range r.texts() {
		text = strings.ReplaceAll(text, secret, dots)
	}
	return Redacted(text)
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
