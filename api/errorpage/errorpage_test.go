package errorpage

import (
	"os"
	"strings"
	"testing"

	"limnomap/api/pages"
	"limnomap/api/words/wordstest"
)

const web = "../../web"

func TestNoWordIsMissing(t *testing.T) { wordstest.NoneMissing[ownWords](t, web, "error") }

func TestPage(t *testing.T) {
	m, err := New(os.DirFS(web), "/base/")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		status   int
		language string
		want     string
	}{
		{400, "en", "There is a mistake in this address"}, {404, "de", "Unter dieser Adresse gibt es nichts"}, {405, "en", "This request cannot be answered"},
		{429, "de", "Zu viele Anfragen"}, {500, "en", "The server made a mistake"}, {502, "en", "The server made a mistake"}, {503, "de", "Der Server kann gerade nicht antworten"},
	} {
		e := Error{Status: test.status, Phrase: "Phrase", Detail: "A <detail>.", Mistakes: []Mistake{{"q", `"<script>"`}}, RequestID: "id1"}
		content, language, err := m.Page(e, &pages.Reader{Language: test.language})
		if err != nil || language != test.language {
			t.Fatal(language, err)
		}
		for _, want := range []string{"<h1>" + test.want, `href="/base/"`, `href="/base/table"`, `href="/base/error.css"`, "A &lt;detail&gt;.", "&#34;&lt;script&gt;&#34;", "id1", "noindex"} {
			if !strings.Contains(string(content), want) {
				t.Errorf("the page of %d lacks %s:\n%s", test.status, want, content)
			}
		}
	}
	if content, language, _ := m.Page(Error{Status: 404}, &pages.Reader{Language: "../x", AcceptLanguage: []string{"de"}}); language != "de" || strings.Contains(string(content), "<details open") {
		t.Errorf("a mistyped address in %s: %s", language, content)
	}
}
