package store

import (
	"reflect"
	"testing"
	"time"

	"limnomap/data"
)

// The decisions are listed with what they changed, and stay when their imports are no longer among the newest.
func testDecisions(t *testing.T, open opener) {
	now := time.Unix(1_800_000_000, 0).UTC()
	s := open(t, func() time.Time { return now })
	first, changed := testAdvisory("s", "a"), testAdvisory("s", "a")
	first.ValidUntil, changed.Withdrawn = time.Time{}, changed.Issued.Add(time.Hour)
	decisions := [][]data.StatementChange{{{After: first}}, {{Before: &first, After: changed}}}
	mustImport := func(fn func(Tx) error) {
		t.Helper()
		if err := s.Import(t.Context(), fn); err != nil {
			t.Fatal(err)
		}
	}
	put := func(from ImportInfo, a data.Advisory) {
		t.Helper()
		mustImport(func(tx Tx) error {
			tx.Describe(from)
			_, err := tx.PutAdvisories(t.Context(), []data.Advisory{a}, AdvisoryColumns{})
			return err
		})
	}
	mustImport(func(tx Tx) error {
		_, err := tx.PutLakes(t.Context(), []data.Lake{testLake("a")}, LakeColumns{})
		return err
	})
	for i, changes := range decisions {
		put(ImportInfo{By: "key x", Files: []ImportFile{{Name: "desk", Statements: StatementChanges(changes)}}}, decisions[i][0].After)
	}
	put(ImportInfo{By: "me", Files: []ImportFile{{Name: `"statements":.csv`}}}, testAdvisory("other", "a"))
	want := []data.Decided{{Number: 3, At: now, By: "key x", Changes: decisions[1]}, {Number: 2, At: now, By: "key x", Changes: decisions[0]}}
	check := func(before int64, limit int, want []data.Decided) {
		t.Helper()
		if got, err := s.Decisions(t.Context(), before, limit); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Decisions(%d, %d) = %+v, %v, want %+v", before, limit, got, err, want)
		}
	}
	check(0, 10, want)
	check(0, 1, want[:1])
	check(3, 10, want[1:])

	if err := s.db.update(t.Context(), "number an import", func(q querier) error {
		_, err := q.exec(t.Context(), "UPDATE limnomap.imports SET number = 5000 WHERE number = 4")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	put(ImportInfo{By: "me"}, testAdvisory("last", "a"))
	check(0, 10, want)
	if all, err := s.Imports(t.Context()); err != nil || len(all) != 4 {
		t.Errorf("Imports = %+v, %v, want the last two and the decisions, without the import of the lake", all, err)
	}
	if _, err := s.Undo(t.Context(), 0, false); err != nil {
		t.Fatal(err)
	}
}
