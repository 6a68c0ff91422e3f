package lakecard

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"image/color"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"limnomap/colormap"
	"limnomap/render/symbol"
)

var update = flag.Bool("update", false, "rewrite the golden pictures in testdata")

func who2003(t testing.TB, id colormap.ID) *colormap.Map {
	t.Helper()
	m, err := colormap.New(id, colormap.Limits{Level1: 10, Level2: 50, Title: "WHO 2003"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// badges has one of each sort.
func badges() map[string]*Badge {
	const day, note = "23 November 2026", "A satellite sees neither scum on the shore nor bacteria."
	return map[string]*Badge{
		"low":     {Language: "en", Name: "Großer Müggelsee", Text: "Low risk · " + day, Note: note, Mark: symbol.Mark{Class: symbol.Low}},
		"medium":  {Language: "de", Name: "Třeboň Żnin", Text: "Mittleres Risiko · 23. November 2026", Note: note, Mark: symbol.Mark{Class: symbol.Medium}},
		"high":    {Language: "en", Name: "Müritz", Text: "High risk (cell count) · " + day, Note: note, Mark: symbol.Mark{Class: symbol.High, Worse: true}},
		"none":    {Language: "en", Name: "Wolkensee", Text: "No current value · never measured", Note: note},
		"old":     {Language: "en", Name: "Altsee", Text: "Low risk · old value from 3 November 2026", Note: note, Mark: symbol.Mark{Class: symbol.Low, Old: true}},
		"closed":  {Language: "en", Name: "Grünsee", Text: "Closed · until further notice", Note: note, Mark: symbol.Mark{Closed: true}},
		"warned":  {Language: "en", Name: "Warnsee", Text: "Official warning · Low risk · " + day, Note: note, Mark: symbol.Mark{Class: symbol.Low, Worse: true}, Warned: true},
		"hostile": {Language: `"><script>`, Name: `<script>alert("1")</script>&` + strings.Repeat("x", 300), Text: "]]>\x00" + strings.Repeat("W", 300), Note: "&amp;", Mark: symbol.Mark{Class: symbol.High}},
		"wide":    {Language: "en", Name: "琵琶湖 بحيرة", Text: "Low risk · " + day, Note: note, Mark: symbol.Mark{Class: symbol.Low}},
	}
}

func TestGoldenBadges(t *testing.T) {
	for name, badge := range badges() {
		got, err := badge.SVG(who2003(t, colormap.Default))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", "badge_"+name+".svg")
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("the badge %s differs from %s, %v (go test ./render/lakecard -args -update):\n%s", name, path, err, got)
		}
	}
}

// Badges are well-formed SVG with two texts that are within them, whatever the names contain; they run and load nothing.
func TestBadgesAreWellFormed(t *testing.T) {
	for name, badge := range badges() {
		content, err := badge.SVG(who2003(t, colormap.Default))
		if err != nil {
			t.Fatal(err)
		}
		var width, end float64
		texts := 0
		for d := xml.NewDecoder(bytes.NewReader(content)); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, content)
			}
			element, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			number := func(attribute string) float64 {
				for _, a := range element.Attr {
					if a.Name.Local == attribute {
						v, err := strconv.ParseFloat(a.Value, 64)
						if err != nil {
							t.Fatal(err)
						}
						return v
					}
				}
				return 0
			}
			switch element.Name.Local {
			case "svg":
				width = number("width")
			case "text":
				if texts++; number("x") < end {
					t.Errorf("%s: a text begins at %v, within the one before it", name, number("x"))
				}
				end = number("x") + number("textLength")
			case "script", "style", "image", "a", "foreignObject", "use":
				t.Errorf("%s has an element %s", name, element.Name.Local)
			}
		}
		if texts != 2 || end > width || width > 900 {
			t.Errorf("%s: %d texts, which end at %v of %v", name, texts, end, width)
		}
	}
}

// The text of each class is legible on its ground in every colour map (WCAG 2.2, level AA).
func TestBadgeContrast(t *testing.T) {
	grounds := []color.NRGBA{nameGround, graveGround, noneGround, oldGround}
	for _, id := range colormap.IDs() {
		for _, class := range []symbol.Class{symbol.Low, symbol.Medium, symbol.High} {
			grounds = append(grounds, classColor(who2003(t, id), class))
		}
	}
	for _, ground := range grounds {
		if got := contrast(ground, inkOn(ground)); got < 4.5 {
			t.Errorf("text on %s has a contrast of %.2f, want 4.5", colormap.Hex(ground), got)
		}
	}
	if got := contrast(nameGround, symbol.WhiteColor()); got < 4.5 {
		t.Errorf("the name has a contrast of %.2f, want 4.5", got)
	}
}

// An old value, a lake without a value and a warned one never have the ground of a current value.
func TestBadgeGrounds(t *testing.T) {
	m := who2003(t, colormap.Default)
	for _, class := range []symbol.Class{symbol.None, symbol.Low, symbol.Medium, symbol.High} {
		value := classColor(m, class)
		for _, got := range []color.NRGBA{
			groundOf(symbol.Mark{Class: class, Old: true}, false, value), groundOf(symbol.Mark{Class: class, Closed: true}, false, value), groundOf(symbol.Mark{Class: class}, true, value),
		} {
			if got == value {
				t.Errorf("class %d: the ground is %v, that of a current value", class, got)
			}
		}
	}
}
