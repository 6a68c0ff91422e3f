package table

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"limnomap/api/words"
	"limnomap/api/words/wordstest"
)

// The symbols are those of the map, so readers know them.
func TestSymbolsOfTheMap(t *testing.T) {
	const folder = "../../web/"
	var texts [2]string
	for i, name := range []string{"pages/symbols.html", "src/index.html"} {
		b, err := os.ReadFile(folder + name)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(b)
	}
	paths := regexp.MustCompile(` d="([^"]+)"`).FindAllStringSubmatch(texts[0], -1)
	if len(paths) != 2*int(words.Classes+1) {
		t.Errorf("the pages have %d paths, want a body and a sign for each of %d symbols and for the badge", len(paths), words.Classes)
	}
	for _, m := range paths {
		if !strings.Contains(texts[1], ` d="`+m[1]+`"`) {
			t.Errorf("the map's symbols have no path %s", m[1])
		}
	}
}

// An empty cell would be misleading, so no word is missing in any language.
func TestNoWordIsMissing(t *testing.T) {
	wordstest.NoneMissing[ownWords](t, "../../web", "table")
}
