package store

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/data"
)

// readStatements reads and checks all statements.
func readStatements(t *testing.T) func(*Store) error {
	return func(s *Store) error {
		all, _, err := s.Advisories(t.Context())
		for i := range all {
			if err == nil {
				err = all[i].Check()
			}
		}
		return err
	}
}

// ofStatement returns a change of one value of the statement s.
func ofStatement(t *testing.T, name, column, value, back, want string) hostileChange {
	set := func(value string) []string {
		return []string{fmt.Sprintf("UPDATE limnomap.advisories SET %s = %s WHERE lake = 1", column, value)}
	}
	do, undo := set(value), set(back)
	if column == "lake" {
		undo = []string{"UPDATE limnomap.advisories SET lake = 1"}
	}
	return hostileChange{name: name, do: do, undo: undo, want: want, reader: readStatements(t)}
}

// hostileStatements are changes in both databases, where long is a text of 10 MB.
func hostileStatements(t *testing.T, long string) []hostileChange {
	return []hostileChange{
		ofStatement(t, "id of 10 MB", "id", long, "'s'", "id is missing, or longer than 256 bytes"),
		ofStatement(t, "id with slashes", "id", "'../s'", "'s'", "want a letter or digit"),
		ofStatement(t, "lake that does not exist", "lake", "99", "1", `statement "s": `),
		ofStatement(t, "kind of 257", "kind", "257", "4", "out of range: kind 257"),
		ofStatement(t, "kind of -1", "kind", "-1", "4", "out of range: kind -1"),
		ofStatement(t, "kind of 9", "kind", "9", "4", "kind 9: want closure"),
		ofStatement(t, "cause of 256", "cause", "256", "1", "out of range: kind 4, cause 256"),
		ofStatement(t, "cause of 3", "cause", "3", "1", "cause 3: want"),
		ofStatement(t, "no issuer", "issuer", "''", "'Amt'", "issuer is empty"),
		ofStatement(t, "issuer of 10 MB", "issuer", long, "'Amt'", "issuer is missing, or longer than 1024 bytes"),
		ofStatement(t, "English of 10 MB", "text_en", long, "''", "text_en is missing, or longer than 16384 bytes"),
		ofStatement(t, "German of 10 MB", "text_de", long, "''", "text_de is missing, or longer than 16384 bytes"),
		ofStatement(t, "text of 16,000 characters", "text_en", "substr("+long+", 1, 16000)", "''", "has 16000 characters"),
		ofStatement(t, "address of 10 MB", "url", long, "''", "url is missing, or longer than 2048 bytes"),
		ofStatement(t, "address of a script", "url", "'javascript:alert(1)'", "''", "want an address"),
		ofStatement(t, "issued in the year 292277026596", "issued", "9223372036854775807", "1", "want one of the years 0 to 9999"),
		ofStatement(t, "withdrawn in the year -292277026596", "withdrawn", "-9223372036854775807", "NULL", "want one of the years 0 to 9999"),
		ofStatement(t, "end before the beginning", "valid_until", "-5", "NULL", "valid_until is not after valid_from"),
	}
}

func putStatementOfAmt(t *testing.T, s *Store) {
	t.Helper()
	put(t, s, []data.Lake{testLake("a")}, nil)
	a := testAdvisory("s", "a")
	a.Issuer, a.TextEN, a.TextDE, a.URL = "Amt", "", "", ""
	putStatements(t, s, AdvisoryColumns{}, a)
}

func TestPostgresHostileStatements(t *testing.T) {
	open, exec := hostilePostgres(t, putStatementOfAmt)
	exec(`ALTER TABLE limnomap.advisories DROP CONSTRAINT advisories_pkey, DROP CONSTRAINT advisories_lake_fkey, DROP CONSTRAINT advisories_kind_check,
		DROP CONSTRAINT advisories_cause_check, DROP CONSTRAINT advisories_issuer_check, DROP CONSTRAINT advisories_check, ALTER text_en DROP NOT NULL`)
	testHostile(t, open, exec, append(hostileStatements(t, "repeat('x', 10000000)"),
		ofStatement(t, "no text", "text_en", "NULL", "''", "text_en is missing"),
		hostileChange{name: "more than a server holds", reader: readStatements(t), want: "of all official statements in the database have more than 67108864 bytes",
			do: []string{fmt.Sprintf(`INSERT INTO limnomap.advisories (id, lake, kind, cause, issuer, text_en, text_de, url, issued, valid_from)
				SELECT 'n' || i, 1, 4, 1, 'Amt', repeat('x', 16000), repeat('x', 16000), '', 1, 1 FROM generate_series(1, %d) AS i`, maxAdvisoryMemory/32_000+1)},
			undo: []string{"DELETE FROM limnomap.advisories WHERE id <> 's'"}, most: 2 * maxAdvisoryMemory}))
}

func TestSQLiteHostileStatements(t *testing.T) {
	open, exec := hostileSQLite(t, putStatementOfAmt)
	testHostile(t, open, exec, append(hostileStatements(t, "substr(hex(zeroblob(5000000)), 1)"),
		ofStatement(t, "text that is not UTF-8", "text_en", "CAST(x'ff' AS TEXT)", "''", "want UTF-8"),
		ofStatement(t, "issuer with a zero byte", "issuer", "CAST(x'610062' AS TEXT)", "'Amt'", "control character")))
}

// More statements than a server holds are an error, and so is an import of the last one.
func TestAdvisoriesAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lakes.db")
	s := openFile(t, path, true)
	put(t, &s.Store, []data.Lake{testLake("a")}, nil)
	execSQL(t, path, fmt.Sprintf(`INSERT INTO advisories (id, lake, kind, cause, issuer, text_en, text_de, url, issued, valid_from)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT 'n' || i, 1, 4, 1, 'Amt', '', '', '', 1, 1 FROM n`, maxAdvisories))
	if got := statementsOf(t, &s.Store); len(got) != maxAdvisories {
		t.Fatalf("Advisories = %d, want %d", len(got), maxAdvisories)
	}
	err := s.Import(t.Context(), func(tx Tx) error {
		_, err := tx.PutAdvisories(t.Context(), []data.Advisory{testAdvisory("s", "a")}, AdvisoryColumns{})
		return err
	})
	const want = "more than 100000 official statements"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("an import of one more = %v, want an error with %q", err, want)
	}
	changed := testAdvisory("n1", "a")
	changed.Issuer = "Amt"
	if got := putStatements(t, &s.Store, AdvisoryColumns{}, changed); got[0] != Changed {
		t.Errorf("an import of a stored one = %v, want changed", got)
	}
	execSQL(t, path, "INSERT INTO advisories (id, lake, kind, cause, issuer, text_en, text_de, url, issued, valid_from) VALUES ('s', 1, 4, 1, 'Amt', '', '', '', 1, 1)")
	if _, _, err := s.Advisories(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Advisories of %d = %v, want an error with %q", maxAdvisories+1, err, want)
	}
}
