package cap_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/paulmach/orb"
	"pgregory.net/rapid"

	"limnomap/api/cap"
	"limnomap/data"
	"limnomap/data/outline"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

// The statement of closure is issued and begins at the first of these times, and ends at the last.
var (
	begins = at("2026-07-01T10:00:00Z")
	during = at("2026-07-03T12:00:00Z")
	ends   = at("2026-07-08T10:00:00Z")
)

func closure() cap.Statement {
	return cap.Statement{
		Advisory: &data.Advisory{
			ID: "by-2026-17", LakeID: "de_by_clean", Kind: data.Closure, Cause: data.Cyanobacteria, Issuer: "Gesundheitsamt Starnberg & Söhne",
			TextEN: "Do not swim.\nKeep dogs & children out.", TextDE: "Nicht baden.", URL: "https://example.org/17?a=1&b=2",
			Issued: begins, ValidFrom: begins, ValidUntil: ends,
		},
		Lake: &data.Lake{ID: "de_by_clean", ExternalID: "Z-1", Name: "Klarer See <Süd>", Point: orb.Point{11.5, 48}},
	}
}

// with returns closure with a change.
func with(change func(a *data.Advisory)) cap.Statement {
	s := closure()
	change(s.Advisory)
	return s
}

var publisher = cap.Publisher{Sender: "lakes.example.org"}

func message(tb testing.TB, s cap.Statement, now time.Time) []byte {
	tb.Helper()
	content, err := publisher.Message(s, now)
	if err != nil {
		tb.Fatal(err)
	}
	return content
}

// valid returns a message, and fails unless it is valid.
func valid(t *testing.T, s cap.Statement, now time.Time) *readMessage {
	t.Helper()
	m, err := checkMessage(message(t, s, now))
	if err != nil {
		t.Fatalf("%v\n%s", err, message(t, s, now))
	}
	return m
}

// golden compares content with a file in testdata.
func golden(t *testing.T, name string, content []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(content, want) {
		t.Errorf("%s differs (go test ./api/cap -update rewrites it):\n%s", path, content)
	}
}

func TestMessages(t *testing.T) {
	withdrawn := with(func(a *data.Advisory) { a.Withdrawn = at("2026-07-03T09:00:00Z") })
	bare := with(func(a *data.Advisory) {
		a.Kind, a.Cause, a.TextEN, a.TextDE, a.URL, a.ValidUntil = data.Warning, data.OtherCause, "", "", "", time.Time{}
	})
	for name, c := range map[string]cap.Statement{"closure.xml": closure(), "withdrawn.xml": withdrawn, "bare.xml": bare} {
		t.Run(name, func(t *testing.T) {
			valid(t, c, during)
			golden(t, name, message(t, c, during))
		})
	}
	t.Run("test.xml", func(t *testing.T) {
		p := cap.Publisher{Sender: cap.SenderOf(""), Notice: "Simulated demo data, not measurements"}
		content, err := p.Message(closure(), during)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := checkMessage(content); err != nil {
			t.Error(err)
		}
		golden(t, "test.xml", content)
	})
}

// A timedStatement is a statement and a moment when it is published.
type timedStatement struct {
	name      string
	statement cap.Statement
	now       time.Time
}

// everyKind returns statements of each kind, cause and choice of languages, with and without an end, early and late, withdrawn
// and not.
func everyKind() (all []timedStatement) {
	for kind := data.Season; kind <= data.Closure; kind++ {
		for cause := data.OtherCause; cause <= data.Bacteria; cause++ {
			for bits := range 1 << 5 {
				s := with(func(a *data.Advisory) {
					a.Kind, a.Cause = kind, cause
					if bits&1 != 0 {
						a.TextEN = ""
					}
					if bits&2 != 0 {
						a.TextDE = ""
					}
					if bits&4 != 0 {
						a.ValidUntil = time.Time{}
					}
					if bits&8 != 0 {
						a.Withdrawn = at("2026-07-03T09:00:00Z")
					}
					if bits&16 != 0 {
						a.Issued = a.ValidFrom.Add(-48 * time.Hour)
					}
				})
				all = append(all, timedStatement{fmt.Sprintf("%s %s %05b", kind, cause, bits), s, during})
			}
		}
	}
	return all
}

func TestEveryKindIsValid(t *testing.T) {
	for _, c := range everyKind() {
		m, a := valid(t, c.statement, c.now), c.statement.Advisory
		var got, want []string
		for _, i := range m.Infos {
			got = append(got, i.Language)
		}
		if a.TextEN != "" || a.TextDE == "" {
			want = append(want, "en")
		}
		if a.TextDE != "" || a.TextEN == "" {
			want = append(want, "de")
		}
		if !slices.Equal(got, want) || (m.MsgType == "Cancel") == a.Withdrawn.IsZero() {
			t.Errorf("%s: %s in the languages %v, want %v", c.name, m.MsgType, got, want)
		}
	}
}

func TestMapping(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*data.Advisory)
		want   string // responseType, urgency, severity, certainty and categories
	}{
		{"closure at once", func(*data.Advisory) {}, "Avoid Immediate Moderate Observed Health Env"},
		{"warning in an hour", func(a *data.Advisory) {
			a.Kind, a.Issued = data.Warning, begins.Add(-time.Hour)
		}, "Avoid Expected Moderate Likely Health Env"},
		{"closure on the next day", func(a *data.Advisory) {
			a.Cause, a.Issued = data.Bacteria, begins.AddDate(0, 0, -1)
		}, "Avoid Future Moderate Likely Health Env"},
		{"closure of the day before", func(a *data.Advisory) {
			a.Cause, a.Issued = data.OtherCause, begins.AddDate(0, 0, 1)
		}, "Avoid Immediate Moderate Observed Health"},
		{"info", func(a *data.Advisory) { a.Kind = data.Info }, "Monitor Unknown Minor Observed Health Env"},
		{"season", func(a *data.Advisory) { a.Kind = data.Season }, "None Unknown Minor Observed Other"},
		{"withdrawn closure", func(a *data.Advisory) { a.Withdrawn = during }, "None Past Moderate Observed Health Env"},
	} {
		i := valid(t, with(func(a *data.Advisory) { c.change(a); a.TextDE = "" }), during).Infos[0]
		if got := strings.Join(append([]string{i.ResponseType, i.Urgency, i.Severity, i.Certainty}, i.Categories...), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Each change of the statement is another message; a later withdrawal is a Cancel of the same one.
func TestIdentifiers(t *testing.T) {
	original := valid(t, closure(), during).Identifier
	seen := map[string]string{original: "the original"}
	for name, change := range map[string]func(*data.Advisory){
		"id":         func(a *data.Advisory) { a.ID = "by-2026-18" },
		"lake":       func(a *data.Advisory) { a.LakeID = "de_by_other" },
		"kind":       func(a *data.Advisory) { a.Kind = data.Warning },
		"cause":      func(a *data.Advisory) { a.Cause = data.Bacteria },
		"issuer":     func(a *data.Advisory) { a.Issuer = "Another" },
		"text_en":    func(a *data.Advisory) { a.TextEN = "Swim." },
		"text_de":    func(a *data.Advisory) { a.TextDE = "" },
		"url":        func(a *data.Advisory) { a.URL = "" },
		"issued":     func(a *data.Advisory) { a.Issued = a.Issued.Add(time.Second) },
		"valid_from": func(a *data.Advisory) { a.ValidFrom = a.ValidFrom.Add(time.Second) },
		"end":        func(a *data.Advisory) { a.ValidUntil = time.Time{} },
		"withdrawn":  func(a *data.Advisory) { a.Withdrawn = during },
	} {
		identifier := valid(t, with(change), during).Identifier
		if other, ok := seen[identifier]; ok {
			t.Errorf("another %s: the identifier %s is that of %s", name, identifier, other)
		}
		seen[identifier] = name
	}
	withdrawn := with(func(a *data.Advisory) { a.Withdrawn = during })
	before, after := valid(t, withdrawn, during.Add(-time.Second)), valid(t, withdrawn, during)
	if got := before.Identifier; got != original {
		t.Errorf("identifier before the withdrawal = %s, want %s", got, original)
	}
	if got, want := after.References, "lakes.example.org,"+original+",2026-07-01T10:00:00-00:00"; got != want {
		t.Errorf("references = %s, want %s", got, want)
	}
	if got := after.Sent; got != "2026-07-03T12:00:00-00:00" {
		t.Errorf("the Cancel was sent %s, want when the statement was withdrawn", got)
	}
}

func TestSenderOf(t *testing.T) {
	for host, want := range map[string]string{
		"": "limnomap", "lakes.example.org": "lakes.example.org", "::1": "::1", "a,b c<d&e": "a-b-c-d-e", "sée": "s-e",
	} {
		if got := cap.SenderOf(host); got != want {
			t.Errorf("SenderOf(%q) = %q, want %q", host, got, want)
		}
	}
}

func TestArea(t *testing.T) {
	box := func(west, south, east, north float64) orb.Polygon {
		return orb.Polygon{{{west, south}, {east, south}, {east, north}, {west, north}, {west, south}}}
	}
	long := closure()
	shore, err := outline.New(orb.MultiPolygon{box(11.49, 47.9, 11.51, 48.1)})
	if err != nil {
		t.Fatal(err)
	}
	long.Lake.Outline = shore
	large := closure()
	large.Lake.AreaKM2 = 100
	for _, c := range []struct {
		name      string
		statement cap.Statement
		want      string
	}{
		{"a point", closure(), "48,11.5 1"},
		{"100 km²", large, "48,11.5 5.7"},
		{"a shore, 22 km from south to north", long, "48,11.5 11.2"},
	} {
		if got := valid(t, c.statement, during).Infos[0].Area.Circle; got != c.want {
			t.Errorf("%s: circle %q, want %q", c.name, got, c.want)
		}
	}
}

func TestIsPublishedAndListed(t *testing.T) {
	day := 24 * time.Hour
	open := func(a *data.Advisory) { a.ValidUntil = time.Time{} }
	withdrawn := func(a *data.Advisory) { a.Withdrawn = during }
	for _, c := range []struct {
		name              string
		change            func(*data.Advisory)
		now               time.Time
		published, listed bool
	}{
		{"issued in the future, by a clock that is behind", func(*data.Advisory) {}, begins.Add(-time.Second), true, true},
		{"issued and valid", func(*data.Advisory) {}, begins, true, true},
		{"issued, valid later", func(a *data.Advisory) { a.Issued = begins.Add(-day) }, begins.Add(-time.Hour), true, true},
		{"ended", func(*data.Advisory) {}, ends, true, true},
		{"ended for seven days less a second", func(*data.Advisory) {}, ends.Add(7*day - time.Second), true, true},
		{"ended for seven days", func(*data.Advisory) {}, ends.Add(7 * day), true, false},
		{"without an end", open, ends.Add(10000 * day), true, true},
		{"withdrawn", withdrawn, during.Add(7*day - time.Second), true, true},
		{"withdrawn for seven days", withdrawn, during.Add(7 * day), true, false},
		{"withdrawn without an end", func(a *data.Advisory) { open(a); withdrawn(a) }, during.Add(7 * day), true, false},
		{"withdrawn after the end", func(a *data.Advisory) { a.Withdrawn = ends.Add(30 * day) }, ends.Add(31 * day), true, false},
		{"over before it was issued", func(a *data.Advisory) { a.Issued = ends }, ends, false, false},
		{"over just after it was issued", func(a *data.Advisory) { a.Issued = ends.Add(-time.Second) }, ends, true, true},
		{"withdrawn before it was issued", func(a *data.Advisory) { a.Withdrawn = a.Issued }, during, false, false},
	} {
		a := with(c.change).Advisory
		if got := cap.IsPublished(a); got != c.published {
			t.Errorf("%s: IsPublished = %t, want %t", c.name, got, c.published)
		}
		if got := cap.IsListed(a, c.now); got != c.listed {
			t.Errorf("%s: IsListed = %t, want %t", c.name, got, c.listed)
		}
	}
}

// anyStatement generates statements and lakes that pass their Check, with a moment when the statement is published.
func anyStatement() *rapid.Generator[timedStatement] {
	printable := rapid.Rune().Filter(func(r rune) bool { return !unicode.IsControl(r) })
	line := rapid.OneOf(
		rapid.StringOfN(printable, 1, 40, -1),
		rapid.SampledFrom([]string{"]]>", "<!--", "&amp;", "\ufffe\uffff", "<?xml?>", "a  b", " ", "\u2028", "é\u0301", "\U0010ffff"}),
	)
	lines := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(line, 0, 4).Draw(t, "lines"), "\n")
	})
	second := rapid.Custom(func(t *rapid.T) time.Time {
		return time.Unix(rapid.Int64Range(at("1990-01-01T00:00:00Z").Unix(), at("2090-01-01T00:00:00Z").Unix()).Draw(t, "time"), 0).UTC()
	})
	address := rapid.Custom(func(t *rapid.T) string {
		return "https://" + rapid.SampledFrom([]string{"example.org", "[::1]:8080", "münchen.de", "a%20b", "a<b>"}).Draw(t, "host") +
			rapid.SampledFrom([]string{"", "/", "?", "#"}).Draw(t, "separator") + rapid.StringN(0, 30, 200).Draw(t, "rest")
	})
	id := rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9_.-]{0,63}`)
	return rapid.Custom(func(t *rapid.T) timedStatement {
		a := &data.Advisory{
			ID:     data.AdvisoryID(id.Draw(t, "id")),
			LakeID: data.LakeID(id.Draw(t, "lake")),
			Kind:   data.AdvisoryKind(rapid.IntRange(int(data.Season), int(data.Closure)).Draw(t, "kind")),
			Cause:  data.Cause(rapid.IntRange(0, int(data.Bacteria)).Draw(t, "cause")),
			Issuer: line.Draw(t, "issuer"), TextEN: lines.Draw(t, "en"), TextDE: lines.Draw(t, "de"),
			Issued: second.Draw(t, "issued"), ValidFrom: second.Draw(t, "from"),
		}
		if a.URL = address.Draw(t, "url"); a.Check() != nil {
			a.URL = ""
		}
		if rapid.Bool().Draw(t, "ends") {
			a.ValidUntil = a.ValidFrom.Add(time.Duration(rapid.IntRange(1, 1e8).Draw(t, "valid")) * time.Second)
		}
		now := a.Issued.Add(time.Duration(rapid.IntRange(0, 1e8).Draw(t, "now")) * time.Second)
		if rapid.Bool().Draw(t, "is withdrawn") {
			a.Withdrawn = a.Issued.Add(time.Duration(rapid.IntRange(1, 1e8).Draw(t, "withdrawn")) * time.Second)
		}
		lake := &data.Lake{
			ID: a.LakeID, Name: line.Draw(t, "name"), AreaKM2: rapid.Float64Range(0, 4e5).Draw(t, "area"),
			Point: orb.Point{rapid.Float64Range(-180, 180).Draw(t, "lon"), rapid.Float64Range(-90, 90).Draw(t, "lat")},
		}
		if err := a.Check(); err != nil {
			t.Fatal(err)
		}
		if err := lake.Check(); err != nil {
			t.Fatal(err)
		}
		return timedStatement{"", cap.Statement{Advisory: a, Lake: lake}, now}
	})
}

// Every valid statement gives a valid message whose texts are those of the statement. A character that XML cannot have is replaced.
func TestAnyStatementGivesAValidMessage(t *testing.T) {
	replaced := strings.NewReplacer("\ufffe", "\ufffd", "\uffff", "\ufffd")
	rapid.Check(t, func(t *rapid.T) {
		c := anyStatement().Draw(t, "statement")
		content, err := publisher.Message(c.statement, c.now)
		if err != nil {
			t.Fatal(err)
		}
		m, err := checkMessage(content)
		if err != nil {
			t.Fatalf("%v\n%s", err, content)
		}
		a := c.statement.Advisory
		var texts []string
		for _, i := range m.Infos {
			if want := replaced.Replace(a.Issuer); i.SenderName != want {
				t.Errorf("senderName = %q, want %q", i.SenderName, want)
			}
			if want := replaced.Replace(c.statement.Lake.Name); i.Area.Description != want {
				t.Errorf("areaDesc = %q, want %q", i.Area.Description, want)
			}
			if i.Description != nil {
				texts = append(texts, *i.Description)
			}
		}
		want := slices.DeleteFunc([]string{replaced.Replace(a.TextEN), replaced.Replace(a.TextDE)}, func(s string) bool { return s == "" })
		if !slices.Equal(texts, want) {
			t.Errorf("descriptions = %q, want %q", texts, want)
		}
	})
}
