package deploy

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// An exampleLake is a lake of the status document.
type exampleLake struct {
	ID, Name, Risk, Color string
	Lat, Lon              float64
	Chl                   *float64
	MeasuredAt            *time.Time `json:"measured_at"`
	Advisory              *struct{ Kind string }
}

// official returns what scripts print of the official statement about a lake.
func (l exampleLake) official() string {
	switch {
	case l.Advisory == nil:
		return ""
	case l.Advisory.Kind == "closure":
		return "CLOSED"
	}
	return l.Advisory.Kind
}

// readLakes returns the lakes of a server.
func readLakes(t *testing.T, server string) []exampleLake {
	t.Helper()
	var status struct{ Lakes []exampleLake }
	limnomaptest.GetJSON(t, server+"/api/v1/bathing-lakes/status", &status)
	if len(status.Lakes) == 0 {
		t.Fatal("the server has no lakes")
	}
	return status.Lakes
}

// loneliest returns the wanted lake with the most distant neighbour, so that the map shows only this lake there.
func loneliest(t *testing.T, lakes []exampleLake, wanted func(exampleLake) bool) exampleLake {
	t.Helper()
	var lake exampleLake
	farthest := 0.0
	for i, a := range lakes {
		if !wanted(a) {
			continue
		}
		nearest := math.Inf(1)
		for j, b := range lakes {
			if i != j {
				nearest = min(nearest, math.Hypot((a.Lon-b.Lon)*math.Cos(a.Lat*math.Pi/180), a.Lat-b.Lat))
			}
		}
		if nearest > farthest {
			lake, farthest = a, nearest
		}
	}
	if lake.ID == "" {
		t.Fatal("there is no such lake")
	}
	return lake
}

func decodePNG(t *testing.T, content []byte) image.Image {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(content))
	must(t, err)
	return picture
}

// parseColour reads #rrggbb.
func parseColour(t *testing.T, text string) color.NRGBA {
	t.Helper()
	c := color.NRGBA{A: 0xff}
	if _, err := fmt.Sscanf(text, "#%02x%02x%02x", &c.R, &c.G, &c.B); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return c
}

// near reports whether no channel of two colours, except alpha, differs by more than the given amount.
func near(a, b color.Color, most int) bool {
	p, q := color.NRGBAModel.Convert(a).(color.NRGBA), color.NRGBAModel.Convert(b).(color.NRGBA)
	for _, d := range [...]int{int(p.R) - int(q.R), int(p.G) - int(q.G), int(p.B) - int(q.B)} {
		if max(d, -d) > most {
			return false
		}
	}
	return true
}

// over returns what a colour looks like on an opaque background.
func over(c, background color.NRGBA) color.NRGBA {
	mix := func(c, b, a uint8) uint8 { return uint8((int(c)*int(a) + int(b)*(255-int(a)) + 127) / 255) }
	return color.NRGBA{mix(c.R, background.R, c.A), mix(c.G, background.G, c.A), mix(c.B, background.B, c.A), 0xff}
}
