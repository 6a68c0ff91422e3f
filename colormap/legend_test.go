package colormap

import (
	"encoding/json"
	"math"
	"testing"
)

func TestLegendAgreesWithTheMap(t *testing.T) {
	for _, id := range IDs() {
		for _, limits := range profiles() {
			m := newMap(t, id, limits)
			l := m.Legend()
			if len(l.Steps) != Steps || l.Steps[0].From != nil || l.Steps[Steps-1].To != nil {
				t.Fatalf("%s, %s: want %d steps with open ends, got %+v", id, limits.Title, Steps, l.Steps)
			}
			for i, s := range l.Steps {
				if got := Hex(m.table[i]); s.Color != got {
					t.Errorf("%s, %s: step %d is %s in the legend, %s in the map", id, limits.Title, i, s.Color, got)
				}
				if i > 0 && (m.Index(*s.From) != i || *l.Steps[i-1].To != *s.From) {
					t.Errorf("%s, %s: step %d begins at %v, where Index = %d", id, limits.Title, i, *s.From, m.Index(*s.From))
				}
			}
			var colors int
			for n, c := range l.Classes {
				if c.Level != n || c.Risk != [...]string{"low", "medium", "high"}[n] {
					t.Errorf("class %d is level %d, %s", n, c.Level, c.Risk)
				}
				colors += len(c.Colors)
				var middle float64
				switch {
				case c.From == nil:
					middle = *c.To / 2
				case c.To == nil:
					middle = *c.From * 2
				default:
					middle = math.Sqrt(*c.From * *c.To)
				}
				if got := class(m, m.Index(middle)); got != n {
					t.Errorf("%s, %s: %v of class %d has a colour of class %d", id, limits.Title, middle, n, got)
				}
			}
			if colors != Steps {
				t.Errorf("%s, %s: the classes have %d colours, want %d", id, limits.Title, colors, Steps)
			}
		}
	}
}

func TestLegendLabels(t *testing.T) {
	for i, want := range [][classes]string{
		{"below 10", "10 to below 50", "50 or more"},
		{"12 or less", "above 12, up to 24", "above 24"},
		{"below 15", "15 to below 75", "75 or more"},
	} {
		for n, c := range newMap(t, Default, profiles()[i]).Legend().Classes {
			if c.Label != want[n] {
				t.Errorf("%s: class %d is %q, want %q", profiles()[i].Title, n, c.Label, want[n])
			}
		}
	}
}

func TestLegendJSON(t *testing.T) {
	body, err := json.Marshal(newMap(t, Default, profiles()[0]).Legend())
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"colormap": "limno", "title": "Limno", "quantity": "chlorophyll-a", "unit": "µg/l", "scale": "logarithmic",
		"min": 1.0, "max": 100.0, "max_label": "100 or more", "profile": "WHO 2003", "note": legendNote,
	} {
		if got[key] != want {
			t.Errorf("%s = %v, want %v", key, got[key], want)
		}
	}
	noData, _ := got["no_data"].(map[string]any)
	if noData["color"] != "#9aa0a6" || noData["label"] != "no data" {
		t.Errorf("no_data = %v", noData)
	}
	classes, _ := got["classes"].([]any)
	low, _ := classes[0].(map[string]any)
	if from, ok := low["from"]; !ok || from != nil || low["to"] != 10.0 {
		t.Errorf("the lowest class is %v, want from null to 10", low)
	}
}

// TestLegendIsACopy changes a legend and checks that the map did not change.
func TestLegendIsACopy(t *testing.T) {
	m := newMap(t, Default, profiles()[0])
	*m.Legend().Classes[1].From = 0
	*m.Legend().Steps[1].From = 0
	if l := m.Legend(); *l.Classes[1].From != 10 || *l.Steps[1].From != m.Threshold(1) || m.Limits().Level1 != 10 {
		t.Errorf("a changed legend changed the map: %+v", l)
	}
}
