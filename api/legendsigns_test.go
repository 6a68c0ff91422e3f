package api

import (
	"encoding/json"
	"encoding/xml"
	"net/http"
	"slices"
	"strings"
	"testing"

	"limnomap/api/ogc"
	"limnomap/tiles"
)

const bothSigns = "|Closed by an official statement|Level worse than the colour: cells or report"

// signServer returns a server whose styles are heat, dots, lakes with the signs of dots, and plain without signs.
func signServer(t *testing.T, legends Legends) *Server {
	t.Helper()
	opts := testOptions(t)
	opts.Legends = legends
	opts.Styles = append(opts.Styles,
		tiles.Style{ID: "lakes", Title: "Waters", Look: tiles.Look{Signs: slices.Clone(opts.Styles[1].Signs)}}, tiles.Style{ID: "plain", Title: "Plain"})
	return newServer(t, opts, testSource(t))
}

// The image of a style explains the signs that the style draws, with the words of legend.json.
func TestLegendsOfStyles(t *testing.T) {
	s := signServer(t, &fakeLegends{})
	for query, want := range map[string]string{
		"": "", "?style=heat": "", "?style=plain": "", "?style=dots": bothSigns, "?style=lakes": bothSigns,
		"?style=dots&colormap=viridis&width=200&scale=2": bothSigns,
	} {
		for _, form := range []string{"svg", "png"} {
			body := get(t, s, http.StatusOK, "/api/v1/legend."+form+query).Body.String()
			got := ""
			if i := strings.IndexByte(body, '|'); i >= 0 {
				got = strings.TrimSuffix(body[i:], " --></svg>")
			}
			if got != want {
				t.Errorf("legend.%s%s explains the signs %q, want %q", form, query, got, want)
			}
		}
	}
	var legend struct{ Signs []tiles.Sign }
	byDefault := get(t, s, http.StatusOK, "/api/v1/legend.json").Body.String()
	if err := json.Unmarshal([]byte(byDefault), &legend); err != nil || labels(legend.Signs) != bothSigns {
		t.Errorf("legend.json has the signs %v (%v), want %q", legend.Signs, err, bothSigns)
	}
	for _, style := range []string{"heat", "dots"} {
		if got := get(t, s, http.StatusOK, "/api/v1/legend.json?style="+style).Body.String(); got != byDefault {
			t.Errorf("legend.json of %s = %s, want that of all styles", style, got)
		}
	}
	for _, query := range []string{"style=watercolour", "style=mvt", "style=dots&style=dots"} {
		for _, form := range []string{"json", "svg", "png"} {
			wantProblem(t, do(s, http.MethodGet, "/api/v1/legend."+form+"?"+query), http.StatusBadRequest, "style")
		}
	}
}

// A server whose styles draw no signs has an empty list, as the schema requires.
func TestLegendWithoutSigns(t *testing.T) {
	opts := testOptions(t)
	opts.Styles = opts.Styles[:1]
	if got := get(t, newServer(t, opts, nil), http.StatusOK, "/api/v1/legend.json").Body.String(); !strings.HasSuffix(got, `,"signs":[]}`+"\n") {
		t.Errorf("legend.json ends with %s, want no signs", got[max(0, len(got)-100):])
	}
}

// TileJSON and WMTS link the legend of their style.
func TestLinksToLegendsOfStyles(t *testing.T) {
	s := signServer(t, &fakeLegends{})
	for query, want := range map[string]string{
		"": "/api/v1/legend.svg", "?style=heat": "/api/v1/legend.svg", "?style=lakes": "/api/v1/legend.svg?style=lakes",
		"?colormap=cividis":            "/api/v1/legend.svg?colormap=cividis",
		"?colormap=cividis&style=dots": "/api/v1/legend.svg?colormap=cividis&style=dots",
	} {
		if got := object(t, get(t, s, http.StatusOK, tileJSONURL+query))["legend_url"]; got != want {
			t.Errorf("legend_url of %q = %v, want %s", query, got, want)
		}
	}
	var capabilities struct {
		Styles []struct {
			Identifier string
			Legend     struct {
				Href string `xml:"http://www.w3.org/1999/xlink href,attr"`
			} `xml:"LegendURL"`
		} `xml:"Contents>Layer>Style"`
	}
	if err := xml.Unmarshal(get(t, s, http.StatusOK, ogc.PathCapabilities).Body.Bytes(), &capabilities); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"heat": "/api/v1/legend.png", "dots": "/api/v1/legend.png?style=dots", "lakes": "/api/v1/legend.png?style=lakes", "plain": "/api/v1/legend.png?style=plain",
	}
	if len(capabilities.Styles) != len(want) {
		t.Errorf("WMTS has %d styles, want %d", len(capabilities.Styles), len(want))
	}
	for _, style := range capabilities.Styles {
		if style.Legend.Href != want[style.Identifier] {
			t.Errorf("LegendURL of %s = %s, want %s", style.Identifier, style.Legend.Href, want[style.Identifier])
		}
		explains := strings.Contains(get(t, s, http.StatusOK, style.Legend.Href).Body.String(), bothSigns)
		if signs := style.Identifier == "dots" || style.Identifier == "lakes"; explains != signs {
			t.Errorf("the legend of %s explains signs: %v, want %v", style.Identifier, explains, signs)
		}
	}
}
