package middleware

import (
	"fmt"
	"strings"
	"unicode"
)

// maxAncestors bounds how many sources a policy has: each answer with an embedded map lists them all.
const maxAncestors = 64

// FrameAncestors say which sites may show an embedded map in a frame: the sources of frame-ancestors in a
// Content-Security-Policy (level 3, section 6.4.2). The zero value allows all.
type FrameAncestors struct {
	// sources are those of the directive. If it is empty, the directive is left out: its * allows only http and https, not
	// the pages of apps or a local file in which someone tries the map.
	sources string
}

// UnmarshalText reads *, self, none, or a list of origins such as https://example.org and https://*.example.org:8443,
// separated by commas or spaces. The list may contain self. Both self and none may be quoted as in the directive.
func (f *FrameAncestors) UnmarshalText(text []byte) error {
	sources := strings.FieldsFunc(string(text), func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	if len(sources) == 0 || len(sources) > maxAncestors {
		return fmt.Errorf("%d sources, want 1 to %d", len(sources), maxAncestors)
	}
	for i, source := range sources {
		parsed, err := parseAncestor(source)
		if err != nil {
			return err
		}
		if len(sources) > 1 && (parsed == "*" || parsed == "'none'") {
			return fmt.Errorf("%s must be the only source, not part of a list", parsed)
		}
		sources[i] = parsed
	}
	f.sources = strings.Join(sources, " ")
	if f.sources == "*" {
		f.sources = ""
	}
	return nil
}

// MarshalText writes the sources in the form that UnmarshalText reads.
func (f FrameAncestors) MarshalText() ([]byte, error) {
	if f.sources == "" {
		return []byte("*"), nil
	}
	return []byte(f.sources), nil
}

// AllowOthers reports whether pages of other sites are allowed.
func (f FrameAncestors) AllowOthers() bool { return f.sources != "'self'" && f.sources != "'none'" }

// parseAncestor returns a source as the directive writes it.
func parseAncestor(source string) (string, error) {
	switch s := strings.ToLower(source); s {
	case "*":
		return s, nil
	case "self", "none":
		return "'" + s + "'", nil
	case "'self'", "'none'":
		return s, nil
	default:
		scheme, host, _ := strings.Cut(s, "://")
		// A host that needs quoting would end the directive, or start another one; IPv6 addresses are not allowed in it.
		plain := strings.TrimPrefix(host, "*.")
		if (scheme == "https" || scheme == "http") && validHost(plain) && !strings.HasPrefix(plain, "[") {
			return s, nil
		}
	}
	return "", fmt.Errorf("%.64q is not a source: want *, self, none, or origins such as https://example.org or https://*.example.org:8443", source)
}
