package table

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"limnomap/data"
)

// The symbols are those of the map, so readers know them.
func TestSymbolsOfTheMap(t *testing.T) {
	const folder = "../../web/"
	var texts [2]string
	for i, name := range []string{"table/table.html", "src/index.html"} {
		b, err := os.ReadFile(folder + name)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(b)
	}
	paths := regexp.MustCompile(` d="([^"]+)"`).FindAllStringSubmatch(texts[0], -1)
	if len(paths) != 2*int(classes+1) {
		t.Errorf("the table has %d paths, want a body and a sign for each of %d symbols and for the badge", len(paths), classes)
	}
	for _, m := range paths {
		if !strings.Contains(texts[1], ` d="`+m[1]+`"`) {
			t.Errorf("the map's symbols have no path %s", m[1])
		}
	}
}

// An empty cell would be misleading, so no word is missing in any language.
func TestNoWordIsMissing(t *testing.T) {
	for _, language := range Languages {
		w, err := loadWords(os.DirFS("../../web"), language)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []any{w, w.Own} {
			text, err := json.Marshal(part)
			if err != nil {
				t.Fatal(err)
			}
			var read any
			if err := json.Unmarshal(text, &read); err != nil {
				t.Fatal(err)
			}
			if missing := emptyIn(read); missing != "" {
				t.Errorf("%s lacks %s", language, missing)
			}
		}
		if len(w.Own.Months) != 12 {
			t.Errorf("%s has %d months", language, len(w.Own.Months))
		}
		for c := data.RiskLow; c <= data.RiskHigh; c++ {
			if w.Risk[c.String()] == "" || w.RiskShort[c.String()] == "" {
				t.Errorf("%s has no words for %s risk", language, c)
			}
		}
	}
}

// emptyIn returns the path of an empty word in v, empty if there is none.
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
			if missing := emptyIn(inner); missing != "" {
				return name + "." + missing
			}
		}
	}
	return ""
}
