package render

import (
	"strings"
	"testing"

	"limnomap/data/snapshot"
	"limnomap/render/symbol"
)

// TestStylesNameTheirSigns checks that the list of styles says which ones draw signs.
func TestStylesNameTheirSigns(t *testing.T) {
	for _, s := range Styles() {
		draws := renderer().styles[s.ID].signs != nil
		if names := len(s.Signs) == len(symbol.Signs()); names != draws || !draws && s.Signs != nil {
			t.Errorf("style %s names the signs %v and draws signs: %v", s.ID, s.Signs, draws)
		}
	}
}

// TestOldInWords checks that the words of the legend agree with the limit.
func TestOldInWords(t *testing.T) {
	if snapshot.OldAfter != 14 || !strings.Contains(symbol.OldLabel, "older than two weeks") {
		t.Errorf("a value is old after %d days, the legend says %q", snapshot.OldAfter, symbol.OldLabel)
	}
}
