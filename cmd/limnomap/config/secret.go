package config

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// dots are printed in place of a secret. No setting may have them as its value: see checkDots.
const dots = "•••"

// A Secret is the value of a setting that must not be shown, such as a key or a URL with a password. It prints as dots, however it is
// formatted.
type Secret struct {
	text *string // a pointer: fmt calls no methods of an unexported field, and would print a text
}

// NewSecret returns text as a Secret.
func NewSecret(text string) Secret { return Secret{&text} }

// Reveal returns the secret itself, "" if there is none.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsSet reports whether there is a secret.
func (s Secret) IsSet() bool { return s.Reveal() != "" }

// String returns dots, or "" if there is no secret.
func (s Secret) String() string {
	if !s.IsSet() {
		return ""
	}
	return dots
}

// Format implements fmt.Formatter: all verbs print dots.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText implements encoding.TextMarshaler, for JSON too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the secret itself.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = NewSecret(string(text))
	return nil
}

// A Location is the name of a file or of a folder, or a URL that may have a password.
type Location struct{ Secret }

// NewLocation returns text as a Location.
func NewLocation(text string) Location { return Location{NewSecret(text)} }

// UnmarshalText reads a Location. It refuses a mistyped URL, so that no error about a file shows a part of it.
func (l *Location) UnmarshalText(text []byte) error {
	*l = NewLocation(string(text))
	if !isMistyped(l.Reveal()) {
		return nil
	}
	if _, err := os.Stat(l.Reveal()); err == nil {
		return nil
	}
	return errors.New("neither a file nor a URL such as postgres://USER:PASSWORD@HOST:PORT/DATABASE, redis://HOST or https://HOST/PATH")
}

// Name returns the text if it certainly has no secret, such as the name of a file, and otherwise dots.
func (l Location) Name() string {
	if text := l.Reveal(); len(secretsIn(text)) == 0 && !(hasScheme.MatchString(text) && strings.Contains(text, "?")) {
		return text
	}
	return l.String()
}

// hasScheme matches the beginning of a URL.
var hasScheme = regexp.MustCompile(`(?i)^[a-z][a-z0-9+.-]*://`)

// login matches the user and password of a mistyped URL, but not "Contact: me@example.org".
var login = regexp.MustCompile(`:[^\s].*@`)

// delimiters are those of a URL as a program may have escaped them.
var delimiters = strings.NewReplacer("%3A", ":", "%3a", ":", "%40", "@")

// serverScheme matches the scheme of a server's URL, and what looks like one. Without // after it, it is mistyped.
var serverScheme = regexp.MustCompile(`(?i)^((postgres(ql)?|rediss?|https?):|[a-z][a-z0-9+.-]+:/)`)

// isMistyped reports whether text looks like a login to a server or like its URL, but does not begin as a URL.
func isMistyped(text string) bool {
	text = withoutScheme(text)
	plain := delimiters.Replace(text)
	return !hasScheme.MatchString(text) && (login.MatchString(plain) || serverScheme.MatchString(plain))
}

// withoutScheme returns what follows a scheme before which no user stands.
func withoutScheme(text string) string {
	return strings.TrimPrefix(strings.TrimPrefix(text, "file:"), "mailto:")
}

// secretsIn returns what must not be shown of the value of any setting: parts of a URL, or all of a text that may be a mistyped one.
func secretsIn(text string) []string {
	if !hasScheme.MatchString(text) {
		if rest := withoutScheme(text); isMistyped(text) || Redact(rest) != rest {
			return []string{text, filepath.Clean(text)}
		}
		return nil
	}
	u, err := url.Parse(strings.NewReplacer("{", "", "}", "").Replace(text)) // tiles are at {s}.example.org
	isHTTP := err == nil && strings.HasPrefix(u.Scheme, "http")
	var query url.Values
	if err == nil {
		query, err = url.ParseQuery(u.RawQuery)
	}
	if err != nil || strings.Contains(u.RawQuery+u.Fragment, "@") || u.User == nil && strings.Contains(u.Path, "@") && !isHTTP {
		return []string{text, filepath.Clean(text)}
	}
	var found []string
	if password, ok := u.User.Password(); ok {
		found = append(found, text, password)
	} else if u.User != nil && isHTTP {
		found = append(found, text, u.User.Username()) // a token
	}
	for name, values := range query {
		if secretParameter.MatchString(name) {
			found = append(found, values...)
		}
	}
	return found
}
