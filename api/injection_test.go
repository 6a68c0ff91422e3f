package api

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// A lake may have any name. Each answer shows it unchanged: it does not become an element of HTML, a member of JSON or a row of
// a table.
func TestHostileNames(t *testing.T) {
	names := []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `</td></tr></table><form action=//evil>`, `';alert(1)//`,
		`=HYPERLINK("//evil")`, `a","b":"c`, "javascript:alert(1)", `{{.}} ${7*7}`,
	}
	source := testSource(t)
	names = names[:min(len(names), len(source.lakes))]
	for i := range names {
		source.lakes[i].Name, source.lakes[i].Region = names[i], names[i]
	}
	s := newServer(t, testOptions(t), source)

	for _, target := range []string{"/table", "/table?q=script", "/table?q=" + "%22%3E%3Cscript%3Ealert(1)%3C/script%3E"} {
		w := get(t, s, http.StatusOK, target)
		root, err := html.Parse(bytes.NewReader(w.Body.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for n := range root.Descendants() {
			switch {
			case n.Type == html.TextNode:
				text.WriteString(n.Data)
			case n.Type != html.ElementNode:
			case n.Data == "script" || n.Data == "img":
				t.Errorf("%s has an element %s", target, n.Data)
			default:
				for _, a := range n.Attr {
					if strings.HasPrefix(a.Key, "on") || a.Key == "action" && strings.Contains(a.Val, "evil") || strings.HasPrefix(strings.TrimSpace(a.Val), "javascript:") {
						t.Errorf("%s: <%s %s=%q>", target, n.Data, a.Key, a.Val)
					}
				}
			}
		}
		if target == "/table" {
			for _, name := range names {
				if !strings.Contains(text.String(), name) {
					t.Errorf("the page does not show the name %s", name)
				}
			}
		}
	}

	var status struct{ Lakes []struct{ Name string } }
	if err := json.Unmarshal(get(t, s, http.StatusOK, "/api/v1/bathing-lakes/status").Body.Bytes(), &status); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(get(t, s, http.StatusOK, "/api/v1/bathing-lakes/status.csv").Body).ReadAll()
	if err != nil || len(rows) != len(source.lakes)+1 {
		t.Fatalf("the table has %d rows, %v, want one for each lake and one of names", len(rows), err)
	}
	for i, name := range names {
		inJSON, inTable := false, false
		for _, l := range status.Lakes {
			inJSON = inJSON || l.Name == name
		}
		for _, row := range rows {
			for _, cell := range row {
				inTable = inTable || cell == name
			}
		}
		if !inJSON || !inTable {
			t.Errorf("name %d, %s: in JSON %v, in the table %v", i, name, inJSON, inTable)
		}
	}
}
