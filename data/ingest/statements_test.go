package ingest

import (
	"io"
	"strings"
	"testing"
)

// Memory holds one statement at a time, however long the file is.
func TestStatementsAreReadOneByOne(t *testing.T) {
	const count = 5_000
	statement := `{"id":"s","lake_id":"x","kind":"info","text":{"en":"` + strings.Repeat("ü", 1000) + `"},"more":[` + strings.Repeat("1,", 500) + `1]},`
	text := io.MultiReader(strings.NewReader(`{"advisories":[`), &endless{text: statement, bytes: (count - 1) * len(statement)}, strings.NewReader(strings.TrimSuffix(statement, ",")+"]}"))
	rs, end, err := open(text, File{}, &layout{columns: advisoryColumns(), json: statementList}, nil)
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
