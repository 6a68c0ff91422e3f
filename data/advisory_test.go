package data_test

import (
	"strings"
	"testing"
	"time"

	"limnomap/data"
)

func at(s string) time.Time {
	if s == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

// closure is a valid statement about lake a.
func closure() data.Advisory {
	return data.Advisory{
		ID: "by-2026-17", LakeID: "a", Kind: data.Closure, Cause: data.Cyanobacteria, Issuer: "Gesundheitsamt Starnberg",
		TextEN: "Do not swim.\nKeep dogs out.", TextDE: "Nicht baden.", URL: "https://example.org/17",
		Issued: at("2026-07-01T08:00:00Z"), ValidFrom: at("2026-07-01T10:00:00Z"), ValidUntil: at("2026-07-08T10:00:00Z"),
	}
}

func TestAdvisoryIsActive(t *testing.T) {
	withdrawn := closure()
	withdrawn.Withdrawn = at("2026-07-03T00:00:00Z")
	open := closure()
	open.ValidUntil = time.Time{}
	late := closure()
	late.Issued = at("2026-07-02T00:00:00Z")
	for _, c := range []struct {
		name   string
		a      data.Advisory
		at     string
		active bool
	}{
		{"before", closure(), "2026-07-01T09:59:59Z", false},
		{"the first moment", closure(), "2026-07-01T10:00:00Z", true},
		{"the last second", closure(), "2026-07-08T09:59:59Z", true},
		{"expired", closure(), "2026-07-08T10:00:00Z", false},
		{"before it is withdrawn", withdrawn, "2026-07-02T23:59:59Z", true},
		{"withdrawn", withdrawn, "2026-07-03T00:00:00Z", false},
		{"without an end", open, "2036-07-03T00:00:00Z", true},
		{"not issued yet", late, "2026-07-01T12:00:00Z", false},
		{"issued", late, "2026-07-02T00:00:00Z", true},
	} {
		if got := c.a.ActiveAt(at(c.at)); got != c.active {
			t.Errorf("%s: ActiveAt(%s) = %v, want %v", c.name, c.at, got, c.active)
		}
	}
}

func TestAdvisoryCheck(t *testing.T) {
	valid := closure()
	if err := valid.CheckImport(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(*data.Advisory)
		want   string // in the error
	}{
		{"no id", func(a *data.Advisory) { a.ID = "" }, "id"},
		{"a wrong lake", func(a *data.Advisory) { a.LakeID = "a b" }, "lake_id"},
		{"no kind", func(a *data.Advisory) { a.Kind = data.NoAdvisory }, "kind"},
		{"an unknown kind", func(a *data.Advisory) { a.Kind = data.Closure + 1 }, "kind"},
		{"an unknown cause", func(a *data.Advisory) { a.Cause = data.Bacteria + 1 }, "cause"},
		{"no issuer", func(a *data.Advisory) { a.Issuer = "" }, "issuer"},
		{"an issuer on two lines", func(a *data.Advisory) { a.Issuer = "A\nB" }, "issuer"},
		{"an issuer that turns text around", func(a *data.Advisory) { a.Issuer = "A\u202eB" }, "issuer"},
		{"a long text", func(a *data.Advisory) { a.TextDE = strings.Repeat("ä", 4001) }, "text_de"},
		{"a text with a bell", func(a *data.Advisory) { a.TextEN = "a\ab" }, "text_en"},
		{"a text that turns text around", func(a *data.Advisory) { a.TextEN = "fine\nA\u202eB" }, "text_en"},
		{"a script as link", func(a *data.Advisory) { a.URL = "javascript:alert(1)" }, "url"},
		{"a link with a user", func(a *data.Advisory) { a.URL = "https://a@example.org" }, "url"},
		{"a link that turns text around", func(a *data.Advisory) { a.URL = "https://example.org/\u202etxt.exe" }, "url"},
		{"a link with an isolate", func(a *data.Advisory) { a.URL = "https://example.org/?q=\u2067a" }, "url"},
		{"a link with a mark", func(a *data.Advisory) { a.URL = "https://exam\u200eple.org/" }, "url"},
		{"a link with an invisible character", func(a *data.Advisory) { a.URL = "https://exam\u200bple.org/" }, "url"},
		{"a link with a control character", func(a *data.Advisory) { a.URL = "https://example.org/\u009b2J" }, "url"},
		{"a link with bytes that are not UTF-8", func(a *data.Advisory) { a.URL = "https://example.org/\x9b2J" }, "url"},
		{"a long link", func(a *data.Advisory) { a.URL = "https://example.org/" + strings.Repeat("a", 2000) }, "url"},
		{"not issued", func(a *data.Advisory) { a.Issued = time.Time{} }, "issued"},
		{"no begin", func(a *data.Advisory) { a.ValidFrom = time.Time{} }, "valid_from"},
		{"withdrawn before it was issued", func(a *data.Advisory) { a.Withdrawn = a.Issued.Add(-time.Second) }, "withdrawn"},
		{"an end before the begin", func(a *data.Advisory) { a.ValidUntil = a.ValidFrom }, "valid_until"},
	} {
		a := closure()
		c.change(&a)
		if err := a.CheckImport(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: CheckImport = %v, want an error about %s", c.name, err, c.want)
		}
	}
}

// Names are read as they are written.
func TestAdvisoryNames(t *testing.T) {
	for k := data.Season; k <= data.Closure; k++ {
		if got, err := data.ParseAdvisoryKind(k.String()); err != nil || got != k {
			t.Errorf("ParseAdvisoryKind(%s) = %v, %v", k, got, err)
		}
	}
	for c := data.OtherCause; c <= data.Bacteria; c++ {
		if got, err := data.ParseCause(c.String()); err != nil || got != c {
			t.Errorf("ParseCause(%s) = %v, %v", c, got, err)
		}
	}
	if _, err := data.ParseAdvisoryKind(""); err == nil {
		t.Error("an empty kind is read")
	}
	if _, err := data.ParseCause("algae"); err == nil {
		t.Error("an unknown cause is read")
	}
}
