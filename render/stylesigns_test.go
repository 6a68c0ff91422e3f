package render

import (
	"testing"

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
