package answer

import (
	"strings"
	"testing"
)

func TestNegotiate(t *testing.T) {
	const refused = "refused"
	for _, test := range []struct {
		name, accept, want string
	}{
		{"browser", "gzip, deflate, br, zstd", "br"},
		{"weights", "br;q=0.1, gzip;q=0.9, zstd;q=0.5", "gzip"},
		{"capitals and blanks", " GZIP ; Q=1.0 ", "gzip"},
		{"old name", "x-gzip", "gzip"},
		{"anything but", "*, br;q=0", "zstd"},
		{"empty", "", "identity"},
		{"identity preferred", "identity, gzip;q=0.5", "identity"},
		{"identity forbidden", "identity;q=0, gzip;q=0.001", "gzip"},
		{"identity forbidden, nothing else", "identity;q=0", refused},
		{"everything forbidden", "*;q=0", refused},
		{"weight that is a word", "gzip;q=high", "identity"},
		{"weight that is not a number", "br;q=NaN, gzip", "gzip"},
		{"another parameter", "gzip;level=9", "identity"},
		{"too many elements", strings.Repeat("a,", maxAccepted) + "gzip", "identity"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, ok := negotiate([]string{test.accept}, compressedBefore)
			got := e.String()
			if !ok {
				got = refused
			}
			if got != test.want {
				t.Errorf("negotiate(%q) = %s, want %s", test.accept, got, test.want)
			}
		})
	}
	t.Run("several fields are one list", func(t *testing.T) {
		if e, _ := negotiate([]string{"gzip;q=0.2", "zstd"}, compressedBefore); e != Zstd {
			t.Errorf("negotiate = %s, want zstd", e)
		}
	})
}

// FuzzAcceptEncoding checks that no coding is chosen that the client excludes or does not name.
func FuzzAcceptEncoding(f *testing.F) {
	for _, seed := range []string{"", "gzip", "br;q=1.0, zstd;q=0.5, *;q=0", "identity;q=0", "gzip;q=NaN", "gzip;q=1e400", ";;;=,,,", "x-gzip;Q=0.001", strings.Repeat("gzip,", 100)} {
		f.Add(seed, seed)
	}
	offer := []Coding{Brotli, Zstd, Gzip, Identity}
	f.Fuzz(func(t *testing.T, one, two string) {
		e, ok := negotiate([]string{one, two}, offer)
		if e >= codings || !ok && e != Identity {
			t.Fatalf("negotiate(%q, %q) = %v, %v", one, two, e, ok)
		}
		if e != Identity && !strings.Contains(strings.ToLower(one+two), e.String()) && !strings.Contains(one+two, "*") {
			t.Fatalf("negotiate(%q, %q) = %v, which is not in it", one, two, e)
		}
		if e, ok := negotiate([]string{"*;q=0", one}, nil); e != Identity || ok {
			t.Fatalf("negotiate with nothing to offer = %v, %v", e, ok)
		}
	})
}
