package data_test

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"limnomap/data"

	"github.com/paulmach/orb"
)

// lakeID is the pattern in domain.md.
var lakeID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

func TestParseLakeID(t *testing.T) {
	long := strings.Repeat("a", 64)
	for _, in := range []string{"a", "Z", "0", "de_by_starnberger_see", "DEBB_PR_0001", "a.b-c_d", "0..", long} {
		if got, err := data.ParseLakeID(in); err != nil || got != data.LakeID(in) {
			t.Errorf("ParseLakeID(%q) = %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "_a", ".a", "-a", "a b", "a/b", "a\n", "ä", "a%2e", "a\x00", long + "a"} {
		if got, err := data.ParseLakeID(in); err == nil || got != "" {
			t.Errorf("ParseLakeID(%q) = %q, %v, want an error", in, got, err)
		}
	}
}

func FuzzParseLakeID(f *testing.F) {
	for _, s := range []string{"DEBB_PR_0001", "", "..", "a\n", "\xff", strings.Repeat("x", 65)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := data.ParseLakeID(s)
		if (err == nil) != lakeID.MatchString(s) {
			t.Fatalf("ParseLakeID(%q) = %q, %v; the pattern says %v", s, id, err, lakeID.MatchString(s))
		}
		if err != nil && len(err.Error()) > 2000 {
			t.Fatalf("the error repeats %d bytes of the input", len(err.Error()))
		}
	})
}

func TestLakeCheck(t *testing.T) {
	tests := []struct {
		name   string
		change func(*data.Lake)
		want   []string // parts of the error: the column, the value, the allowed values; empty for no error
	}{
		{"as it should be", func(*data.Lake) {}, nil},
		{"longest name", func(l *data.Lake) { l.Name = strings.Repeat("ß", 200) }, nil},
		{"no external id", func(l *data.Lake) { l.ExternalID = "" }, nil},
		{"no region", func(l *data.Lake) { l.Region = "" }, nil},
		{"north pole", func(l *data.Lake) { l.Point = orb.Point{180, 90} }, nil},
		{"south pole", func(l *data.Lake) { l.Point = orb.Point{-180, -90} }, nil},
		{"area unknown", func(l *data.Lake) { l.AreaKM2 = 0 }, nil},
		{"id", func(l *data.Lake) { l.ID = "a b" }, []string{"id", `"a b"`, "letter or digit"}},
		{"no name", func(l *data.Lake) { l.Name = "" }, []string{"name is empty", "1 to 200"}},
		{"long name", func(l *data.Lake) { l.Name = strings.Repeat("ß", 201) }, []string{"name", "201", "at most 200"}},
		{"name not UTF-8", func(l *data.Lake) { l.Name = "M\xfcritz" }, []string{"name", `"M\xfcritz"`, "UTF-8"}},
		{"name of two lines", func(l *data.Lake) { l.Name = "a\nb" }, []string{"name", `"a\nb"`, "U+000A", "one line"}},
		{"name with a C1 control", func(l *data.Lake) { l.Name = "a\u0085" }, []string{"name", "U+0085"}},
		{"external id", func(l *data.Lake) { l.ExternalID = "\x00" }, []string{"external_id", `"\x00"`}},
		{"region", func(l *data.Lake) { l.Region = "\xff" }, []string{"region", `"\xff"`}},
		{"lat", func(l *data.Lake) { l.Point[1] = 90.001 }, []string{"lat", "90.001", "-90 to 90"}},
		{"lat NaN", func(l *data.Lake) { l.Point[1] = math.NaN() }, []string{"lat", "NaN"}},
		{"lon", func(l *data.Lake) { l.Point[0] = -180.5 }, []string{"lon", "-180.5", "-180 to 180"}},
		{"lon infinite", func(l *data.Lake) { l.Point[0] = math.Inf(1) }, []string{"lon", "+Inf"}},
		{"area", func(l *data.Lake) { l.AreaKM2 = -1 }, []string{"area_km2", "-1", "0 or more"}},
		{"area NaN", func(l *data.Lake) { l.AreaKM2 = math.NaN() }, []string{"area_km2", "NaN"}},
		{"area infinite", func(l *data.Lake) { l.AreaKM2 = math.Inf(1) }, []string{"area_km2", "+Inf"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := data.Lake{ID: "de_mv_mueritz", ExternalID: "MV-1", Name: "Müritz", Region: "MV", Point: orb.Point{12.7, 53.4}, AreaKM2: 112.6}
			tt.change(&l)
			err := l.Check()
			if imported := l.CheckImport(); (imported == nil) != (err == nil) {
				t.Errorf("CheckImport() = %v, Check() = %v", imported, err)
			}
			if tt.want == nil {
				if err != nil {
					t.Fatalf("Check() = %v, want nil", err)
				}
				return
			}
			if err == nil {
				t.Fatalf("Check() = nil, want an error that names %q", tt.want)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("Check() = %v, want it to name %q", err, part)
				}
			}
		})
	}
}

// Texts that change how other texts look are not imported, but a database that has them loads.
func TestLakeCheckImport(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*data.Lake)
		want   []string // parts of the error
	}{
		{"name", func(l *data.Lake) { l.Name = "See \u202e1.25" }, []string{"name", `"See \u202e1.25"`, "U+202E", "want text without"}},
		{"invisible name", func(l *data.Lake) { l.Name = "\u200b\u3164" }, []string{"name", "U+200B", "want a letter"}},
		{"mark", func(l *data.Lake) { l.Name = "\u0301" }, []string{"name", "U+0301", "want a letter"}},
		{"region", func(l *data.Lake) { l.Region = "\u2067" }, []string{"region", "U+2067"}},
		{"external id", func(l *data.Lake) { l.ExternalID = "1\u2069" }, []string{"external_id", "U+2069"}},
	} {
		l := data.Lake{ID: "de_mv_mueritz", ExternalID: "MV-1", Name: "Müritz", Region: "MV", Point: orb.Point{12.7, 53.4}}
		tt.change(&l)
		if err := l.Check(); err != nil {
			t.Errorf("%s: Check() = %v, want nil, so that old databases load", tt.name, err)
		}
		err := l.CheckImport()
		for _, part := range tt.want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: CheckImport() = %v, want it to name %q", tt.name, err, part)
			}
		}
	}
}
