package api

import (
	"fmt"
	"strings"
	"unicode"
)

// maxAncestors bounds how many sources a policy names: each answer of an embedded map bears them all.
const maxAncestors = 64

// FrameAncestors say whose pages may show an embedded map in a frame: the sources of frame-ancestors in a
// Content-Security-Policy (level 3, section 6.4.2). The zero value lets anybody.
type FrameAncestors struct {
	// sources are those of the directive. Empty, there is no directive: its * stands for http and https alone, and would
	// keep out the pages of apps and a file that somebody tries the map in.
	sources string
}

// UnmarshalText reads *, self, none, or a list of origins such as https://example.org and https://*.example.org:8443,
// between which stand commas or spaces; self may be among these, and both it and none may be quoted as the directive
// quotes them.
func (f *FrameAncestors) UnmarshalText(text []byte) error {
	sources := strings.FieldsFunc(string(text), func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	if len(sources) == 0 || len(sources) > maxAncestors {
		return fmt.Errorf("%d sources are named, allowed are 1 to %d", len(sources), maxAncestors)
	}
	for i, source := range sources {
		read, err := ancestor(source)
		if err != nil {
			return err
		}
		if len(sources) > 1 && (read == "*" || read == "'none'") {
			return fmt.Errorf("%s stands for itself alone, not in a list", read)
		}
		sources[i] = read
	}
	f.sources = strings.Join(sources, " ")
	if f.sources == "*" {
		f.sources = ""
	}
	return nil
}

// MarshalText writes them as they are read.
func (f FrameAncestors) MarshalText() ([]byte, error) {
	if f.sources == "" {
		return []byte("*"), nil
	}
	return []byte(f.sources), nil
}

// others reports whether they let any page but this server's own.
func (f FrameAncestors) others() bool { return f.sources != "'self'" && f.sources != "'none'" }

// ancestor returns a source as the directive writes it.
func ancestor(source string) (string, error) {
	switch s := strings.ToLower(source); s {
	case "*":
		return s, nil
	case "self", "none":
		return "'" + s + "'", nil
	case "'self'", "'none'":
		return s, nil
	default:
		scheme, host, _ := strings.Cut(s, "://")
		// A host that needs quoting would end the directive, or begin another one; IPv6 addresses have no form in it.
		plain := strings.TrimPrefix(host, "*.")
		if (scheme == "https" || scheme == "http") && validHost(plain) && !strings.HasPrefix(plain, "[") {
			return s, nil
		}
	}
	return "", fmt.Errorf("%s is no source, allowed are *, self, none, and origins such as https://example.org or https://*.example.org:8443", echo(source))
}
