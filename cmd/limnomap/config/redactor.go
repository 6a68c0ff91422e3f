package config

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// A Redactor hides the secrets of the settings wherever they appear, and whatever else looks like a secret: see [Redact]. It is safe for
// concurrent use.
type Redactor struct {
	known atomic.Pointer[[]string] // texts to hide, the longest first

	mu           sync.Mutex
	own, adopted []string // texts to hide: those of this process, and those of settings that were read later, the last ones first
}

const (
	// minKnown is the length of the shortest text that is hidden wherever it appears: a shorter one may be a part of any word.
	minKnown = 6
	// maxAdopted bounds the texts of earlier settings that are looked for in each line of the log.
	maxAdopted = 1000
)

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
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, secret := range secrets {
		if len(secret) < minKnown {
			continue
		}
		for _, form := range []string{secret, url.PathEscape(secret), url.QueryEscape(secret)} {
			for range 4 {
				r.own = append(r.own, form)
				quoted := strconv.Quote(form)
				form = quoted[1 : len(quoted)-1]
			}
		}
	}
	r.publish()
}

// Adopt makes r know the secrets of other too. Of those that it adopted earlier it forgets the oldest.
func (r *Redactor) Adopt(other *Redactor) {
	if r == other {
		return
	}
	other.mu.Lock()
	present := slices.Clone(other.own)
	other.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	earlier := slices.DeleteFunc(r.adopted, func(text string) bool { return slices.Contains(present, text) })
	r.adopted = append(present, earlier[:min(len(earlier), maxAdopted)]...)
	r.publish()
}

// publish makes what r knows visible to RedactKnown. The caller holds r.mu.
func (r *Redactor) publish() {
	all := slices.Concat(r.own, r.adopted)
	slices.Sort(all)
	all = slices.Compact(all)
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	r.known.Store(&all)
}

// Redact returns text without secrets, in which control and directional characters are escaped.
func (r *Redactor) Redact(text string) string {
	if known := r.known.Load(); known != nil {
		for _, secret := range *known {
			text = strings.ReplaceAll(text, secret, dots)
		}
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
