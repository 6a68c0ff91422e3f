package ingest

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// checkStatements reads all statements of a text, and checks what is kept of each.
func checkStatements(t *testing.T, s *statements, text string, now time.Time) {
	t.Helper()
	for number := 1; ; number++ {
		r, err := s.next()
		if len(s.values) > maxMembers*maxMembers || len(s.ignored) > maxShownColumns+1 {
			t.Fatalf("kept are %d values and %d names", len(s.values), len(s.ignored))
		}
		if err == io.EOF {
			if !json.Valid([]byte(strings.TrimPrefix(text, "\ufeff"))) {
				t.Fatal("a file that is not JSON was read to its end")
			}
			if s.number() != number-1 {
				t.Fatalf("%d statements at the end, want %d", s.number(), number-1)
			}
			if _, err := s.next(); err != io.EOF {
				t.Fatalf("after the end next = %v, want EOF", err)
			}
			return
		}
		var bad badRow
		if errors.As(err, &bad) {
			if bad == "" {
				t.Fatalf("statement %d is rejected without a reason", number)
			}
			continue
		}
		if err != nil {
			return
		}
		if s.number() != number {
			t.Fatalf("number() = %d, want %d", s.number(), number)
		}
		a, err := advisoryKind{now: now}.parse(r)
		if err != nil {
			continue
		}
		if err := a.CheckImport(); err != nil {
			t.Fatalf("%+v: %v", a, err)
		}
	}
}

// Memory holds one statement at a time, however long the file is.
func TestStatementsAreReadOneByOne(t *testing.T) {
	const count = 5_000
	statement := `{"id":"s","lake_id":"x","kind":"info","text":{"en":"` + strings.Repeat("ü", 1000) + `"},"more":[` + strings.Repeat("1,", 500) + `1]},`
	text := io.MultiReader(strings.NewReader(`{"advisories":[`), io.LimitReader(&repeating{text: statement}, int64((count-1)*len(statement))), strings.NewReader(strings.TrimSuffix(statement, ",")+"]}"))
	rs, end, err := open(text, &layout{columns: advisoryColumns(), json: statementList})
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	for err == nil {
		if _, err = rs.next(); cap(rs.(*statements).value) > 4*maxStatementBytes {
			t.Fatalf("%d bytes are kept", cap(rs.(*statements).value))
		}
	}
	if err != io.EOF || rs.number() != count {
		t.Errorf("%d statements, %v, want %d", rs.number(), err, count)
	}
}

// repeating repeats a text for ever.
type repeating struct {
	text string
	at   int
}

func (r *repeating) Read(p []byte) (int, error) {
	n := copy(p, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
}
