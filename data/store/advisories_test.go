package store

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/snapshot"
)

// testAdvisory is a closure in July 2026.
func testAdvisory(id data.AdvisoryID, lake data.LakeID) data.Advisory {
	at := time.Date(2026, 7, 1, 8, 30, 0, 0, time.UTC)
	return data.Advisory{ID: id, LakeID: lake, Kind: data.Closure, Cause: data.Cyanobacteria, Issuer: "Gesundheitsamt Müritz",
		TextEN: "No bathing.\nKeep dogs away.", TextDE: "Badeverbot: „Blaualgen“", URL: "https://example.org/a?b=c&d",
		Issued: at, ValidFrom: at.Add(-time.Hour), ValidUntil: at.AddDate(0, 1, 0)}
}

// putStatements imports statements in one transaction and returns their changes.
func putStatements(tb testing.TB, s *Store, keep AdvisoryColumns, statements ...data.Advisory) (changes []Change) {
	tb.Helper()
	err := s.Import(tb.Context(), func(tx Tx) (err error) {
		changes, err = tx.PutAdvisories(tb.Context(), statements, keep)
		return err
	})
	if err != nil {
		tb.Fatalf("Import: %v", err)
	}
	return changes
}

// A statementBatch is what one call of PutAdvisories imports, and must answer.
type statementBatch struct {
	rows     []data.Advisory
	want     []Change
	repeated []int
}

// putBatches imports batches in one transaction and compares the answers.
func putBatches(t *testing.T, s *Store, keep AdvisoryColumns, batches []statementBatch) {
	t.Helper()
	err := s.Import(t.Context(), func(tx Tx) error {
		for _, batch := range batches {
			got, err := tx.PutAdvisories(t.Context(), batch.rows, keep)
			if err != nil {
				return err
			}
			if !slices.Equal(got, batch.want) || !slices.Equal(tx.Repeated(), batch.repeated) {
				t.Errorf("batch = %v with %v repeated, want %v with %v", got, tx.Repeated(), batch.want, batch.repeated)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// statementsOf returns all statements, by id.
func statementsOf(tb testing.TB, s *Store) []data.Advisory {
	tb.Helper()
	all, rev, err := s.Advisories(tb.Context())
	if err != nil || !rev.Equal(revisionOf(tb, s)) {
		tb.Fatalf("Advisories = revision %v, %v, want %v", rev, err, revisionOf(tb, s))
	}
	slices.SortFunc(all, func(a, b data.Advisory) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Each change of a statement is stored once, and only a change raises the revision.
func testAdvisories(t *testing.T, open opener) {
	s := open(t, time.Now)
	if got := statementsOf(t, s); len(got) > 0 {
		t.Errorf("an empty store has the statements %v", got)
	}
	put(t, s, []data.Lake{testLake("a"), testLake("b")}, nil)
	a, b := testAdvisory("s1", "a"), testAdvisory("S1", "b")
	b.ValidUntil = time.Time{}
	if got := putStatements(t, s, AdvisoryColumns{}, a, testAdvisory("s2", "missing"), b); !slices.Equal(got, []Change{Added, UnknownLake, Added}) {
		t.Errorf("first import = %v, want added, unknown lake, added", got)
	}
	for _, edit := range []struct {
		name string
		do   func()
	}{
		{"kind", func() { a.Kind = data.Season }},
		{"cause", func() { a.Cause = data.OtherCause }},
		{"text_en", func() { a.TextEN = "" }},
		{"text_de", func() { a.TextDE = strings.Repeat("ü", 4000) }},
		{"url", func() { a.URL = "" }},
		{"issued", func() { a.Issued = time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC) }},
		{"valid_from", func() { a.ValidFrom = a.ValidFrom.Add(time.Second) }},
		{"valid_until", func() { a.ValidUntil = a.ValidUntil.Add(time.Second) }},
		{"no valid_until", func() { a.ValidUntil = time.Time{} }},
		{"valid_until again", func() { a.ValidUntil = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC) }},
		{"withdrawn", func() { a.Withdrawn = a.ValidFrom }},
		{"not withdrawn", func() { a.Withdrawn = time.Time{} }},
	} {
		t.Run(edit.name, func(t *testing.T) {
			edit.do()
			revision := revisionOf(t, s).Number
			for _, want := range []Change{Changed, Unchanged} {
				if got := putStatements(t, s, AdvisoryColumns{}, b, a); !slices.Equal(got, []Change{Unchanged, want}) {
					t.Errorf("import = %v, want unchanged, %v", got, want)
				}
				if got := revisionOf(t, s).Number; got != revision+1 {
					t.Errorf("the revision is %d, want %d", got, revision+1)
				}
			}
			if got := statementsOf(t, s); !slices.Equal(got, []data.Advisory{b, a}) {
				t.Errorf("stored %+v, want %+v", got, []data.Advisory{b, a})
			}
		})
	}
}

// An import reads the stored statements and those that it has written, which others see when it is committed.
func testAdvisoriesOfImport(t *testing.T, open opener) {
	s := open(t, time.Now)
	put(t, s, []data.Lake{testLake("a")}, nil)
	first, changed, second := testAdvisory("s1", "a"), testAdvisory("s1", "a"), testAdvisory("s2", "a")
	changed.TextEN, second.ValidUntil = "Bathing is allowed.", time.Time{}
	putStatements(t, s, AdvisoryColumns{}, first)
	stopped := errors.New("stopped")
	for _, end := range []error{stopped, nil} {
		err := s.Import(t.Context(), func(tx Tx) error {
			for _, step := range []struct{ write, want []data.Advisory }{
				{nil, []data.Advisory{first}},
				{[]data.Advisory{changed, second}, []data.Advisory{changed, second}},
			} {
				if _, err := tx.PutAdvisories(t.Context(), step.write, AdvisoryColumns{}); err != nil {
					return err
				}
				got, err := tx.Advisories(t.Context())
				if err != nil {
					return err
				}
				slices.SortFunc(got, func(a, b data.Advisory) int { return cmp.Compare(a.ID, b.ID) })
				if !slices.Equal(got, step.want) {
					t.Errorf("the import reads %+v, want %+v", got, step.want)
				}
			}
			return end
		})
		if err != end {
			t.Fatalf("Import: %v, want %v", err, end)
		}
	}
	if got := statementsOf(t, s); !slices.Equal(got, []data.Advisory{changed, second}) {
		t.Errorf("stored %+v", got)
	}
}

// A row with the id of a statement about another lake, or by another issuer, is not written, whatever columns it lacks and however
// often it is repeated.
func testOtherStatement(t *testing.T, open opener) {
	s := open(t, time.Now)
	put(t, s, []data.Lake{testLake("a"), testLake("b")}, nil)
	stored := testAdvisory("s", "a")
	putStatements(t, s, AdvisoryColumns{}, stored)
	lake, issuer, changed := testAdvisory("s", "b"), stored, stored
	issuer.Issuer = "Stadt"
	changed.Kind = data.Warning
	before := revisionOf(t, s)
	for _, keep := range []AdvisoryColumns{{}, {TextEN: true, TextDE: true, URL: true, Withdrawn: true}} {
		for _, other := range []data.Advisory{lake, issuer} {
			putBatches(t, s, keep, []statementBatch{
				{[]data.Advisory{other, other, stored}, []Change{OtherStatement, OtherStatement, Unchanged}, []int{1, 2}},
				{[]data.Advisory{other, changed}, []Change{OtherStatement, Contradicts}, []int{0, 1}},
			})
		}
	}
	if got := statementsOf(t, s); !slices.Equal(got, []data.Advisory{stored}) || revisionOf(t, s) != before {
		t.Errorf("stored %+v, revision %v, want %+v, %v", got, revisionOf(t, s), stored, before)
	}
	if got := putStatements(t, s, AdvisoryColumns{}, stored, lake, issuer); !slices.Equal(got, []Change{Unchanged, Contradicts, Contradicts}) {
		t.Errorf("after the stored statement = %v, want unchanged, contradicts, contradicts", got)
	}
}

// An id may occur once in an import: a repeated row is unchanged or contradicts, in one batch or in several.
func testRepeatedAdvisories(t *testing.T, open opener) {
	s := open(t, time.Now)
	put(t, s, []data.Lake{testLake("a"), testLake("b")}, nil)
	first, other, stranger := testAdvisory("s", "a"), testAdvisory("s", "b"), testAdvisory("s", "missing")
	next := testAdvisory("t", "a")
	putBatches(t, s, AdvisoryColumns{}, []statementBatch{
		{[]data.Advisory{stranger, stranger}, []Change{UnknownLake, UnknownLake}, nil},
		{[]data.Advisory{first, other, stranger, first}, []Change{Added, Contradicts, UnknownLake, Unchanged}, []int{1, 3}},
		{[]data.Advisory{next, other}, []Change{Added, Contradicts}, []int{1}},
		{nil, []Change{}, nil},
	})
	if got := statementsOf(t, s); !slices.Equal(got, []data.Advisory{first, next}) {
		t.Errorf("stored %+v, want %+v, %+v", got, first, next)
	}
	if got := putStatements(t, s, AdvisoryColumns{}, other); got[0] != OtherStatement {
		t.Errorf("the next import = %v, want another statement", got)
	}
}

// An address that older versions stored, with characters that no import takes any more, is read percent-encoded: it keeps no statement from being shown.
func testStoredAddresses(t *testing.T, open opener) {
	s := open(t, time.Now)
	put(t, s, []data.Lake{testLake("a")}, nil)
	for stored, want := range map[string]string{
		"https://example.org/\u202etxt.exe?a=ä":                "https://example.org/%E2%80%AEtxt.exe?a=%C3%A4",
		"https://exam\u200eple.org/":                           "https://exam%E2%80%8Eple.org/",
		"https://example.org/\u009b2J":                         "https://example.org/%C2%9B2J",
		"https://example.org/" + strings.Repeat("\u200b", 500): "",
		"https://example.org/ä":                                "https://example.org/ä",
	} {
		a := testAdvisory("s", "a")
		a.URL = stored
		putStatements(t, s, AdvisoryColumns{}, a)
		got := statementsOf(t, s)
		if len(got) != 1 || got[0].URL != want {
			t.Errorf("%+q is read as %+v, want the address %q", stored, got, want)
		}
		if _, err := snapshot.Load(t.Context(), s, nil); err != nil {
			t.Errorf("with %+q: %v", stored, err)
		}
	}
}
