// Package wordstest checks that no word of a page is missing. Only tests import it.
package wordstest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"

	"limnomap/api/words"
)

// pluralForms are the names of the forms in files of words.
var pluralForms = map[plural.Form]string{plural.Other: "other", plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many"}

// NoneMissing checks the words that a page reads from a folder of web, with those that all pages share. An empty text would be misleading.
func NoneMissing[Own any](t *testing.T, web, folder string) {
	t.Helper()
	set, err := words.Load[Own](os.DirFS(web), folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range set.All() {
		for _, part := range []any{p.Words, p.Format, p.Own} {
			text, err := json.Marshal(part)
			if err != nil {
				t.Fatal(err)
			}
			if missing := emptyWord(t, text); missing != "" {
				t.Errorf("%s/%s.json, or what it shares, lacks %s", folder, p.Language, missing)
			}
		}
		checkPlurals(t, filepath.Join(web, folder, p.Language+".json"), p.Language)
		checkPlurals(t, filepath.Join(web, "pages", p.Language+".json"), p.Language)
	}
}

// emptyWord returns the path of an empty word in a text in JSON, empty if there is none.
func emptyWord(t testing.TB, text []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return emptyIn(v)
}

func emptyIn(v any) string {
	switch v := v.(type) {
	case nil:
		return "words"
	case string:
		if v == "" {
			return "words"
		}
	case map[string]any:
		for name, inner := range v {
			if group, ok := inner.(map[string]any); ok && len(group) == 0 {
				return name
			}
			if missing := emptyIn(inner); missing != "" {
				return name + "." + missing
			}
		}
	case []any:
		for _, inner := range v {
			if missing := emptyIn(inner); missing != "" {
				return missing
			}
		}
	}
	return ""
}

// checkPlurals checks that each text of a file with plural forms has all forms of whole numbers in that language.
func checkPlurals(t *testing.T, file, lang string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var texts map[string]any
	if err := json.Unmarshal(content, &texts); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	tag := language.MustParse(lang)
	for name, text := range texts {
		forms, ok := text.(map[string]any)
		if !ok || forms["other"] == nil {
			continue
		}
		for n := range 1000 {
			form := pluralForms[plural.Cardinal.MatchPlural(tag, n, 0, 0, 0, 0)]
			if forms[form] == nil {
				t.Errorf("%s: %s has no form %s, for %d", file, name, form, n)
				break
			}
		}
	}
}
