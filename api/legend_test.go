package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"limnomap/api/words"
)

func TestLegends(t *testing.T) {
	opts := testOptions(t)
	legends := &fakeLegends{}
	opts.Legends = legends
	s := newServer(t, opts, nil) // a legend needs no data
	for _, test := range []struct{ target, contentType, holds string }{
		{"/api/v1/legend.json", "application/json", `"colormap":"limno"`},
		{"/api/v1/legend.json", "application/json", "cyanobacteria dominate"},
		{"/api/v1/legend.json", "application/json", `,"signs":[{"id":"closed","label":"Closed by an official statement"},` +
			`{"id":"worse","label":"Level worse than the colour: cells or report"}]}` + "\n"},
		{"/api/v1/legend.svg?width=400", "image/svg+xml", `width="400"`},
		{"/api/v1/legend.png", "image/png", "limno 320 1"},
		{"/api/v1/legend.png?width=200&scale=2&colormap=viridis", "image/png", "viridis 200 2 in en"},
		{"/api/v1/legend.png?lang=pl", "image/png", "limno 320 1 in pl"},
		{"/api/v1/legend.svg?lang=cs", "image/svg+xml", "limno in cs"},
		{"/api/v1/legend.json?lang=nl", "application/json", `"note":"in nl"`},
	} {
		w := get(t, s, http.StatusOK, test.target)
		if got := w.Header().Get("Content-Type"); got != test.contentType {
			t.Errorf("Content-Type of %s = %q, want %q", test.target, got, test.contentType)
		}
		if !strings.Contains(w.Body.String(), test.holds) {
			t.Errorf("%s = %.200s, want it to hold %s", test.target, w.Body, test.holds)
		}
	}
	drawn := legends.drawn.Load()
	get(t, s, http.StatusOK, "/api/v1/legend.png")
	if got := legends.drawn.Load(); got != drawn {
		t.Errorf("a legend that was drawn before is drawn again")
	}
	for query, parameter := range map[string]string{
		"colormap=jet": "colormap", "lang=xx": "lang", "lang=EN": "lang", "lang=": "lang", "width=159": "width", "width=1025": "width", "width=321": "width", "width=%2B320": "width", "width=wide": "width",
		"scale=0": "scale", "scale=3": "scale", "scale=1&scale=1": "scale",
	} {
		for _, form := range []string{"json", "svg", "png"} {
			wantProblem(t, do(s, http.MethodGet, "/api/v1/legend."+form+"?"+query), http.StatusBadRequest, parameter)
		}
	}
	wantProblem(t, do(s, http.MethodGet, "/api/v1/legend.gif"), http.StatusNotFound)
}

// A width between two that are allowed is refused with all that are allowed, and is not rounded.
func TestLegendWidthsAreNamed(t *testing.T) {
	s := newServer(t, testOptions(t), nil)
	w := do(s, http.MethodGet, "/api/v1/legend.png?width=250")
	if want := `\"250\" is none of 160, 200, 240, 256, 300, 320, 400, 480, 512, 640, 800, 1024`; w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
		t.Errorf("width=250: %d, %s, want 400 and %s", w.Code, w.Body, want)
	}
	var description struct {
		Components struct {
			Parameters map[string]struct{ Schema struct{ Enum []any } }
		}
	}
	if err := json.Unmarshal(get(t, s, http.StatusOK, pathOpenAPI).Body.Bytes(), &description); err != nil {
		t.Fatal(err)
	}
	if got := description.Components.Parameters["width"].Schema.Enum; fmt.Sprint(got) != fmt.Sprint(legendWidths) {
		t.Errorf("the widths of the OpenAPI document are %v, want %v", got, legendWidths)
	}
}

// A crowd that asks for every legend of a language, with every value of the other parameters, draws each once: the server keeps them all, and
// draws one at a time.
func TestConcurrentLegendsAreDrawnOnce(t *testing.T) {
	opts := testOptions(t)
	legends := &fakeLegends{}
	opts.Legends = legends
	s := newServer(t, opts, nil)
	all := 0
	var crowd sync.WaitGroup
	for _, id := range s.common.colormaps.ids {
		for width := 150; width <= 1100; width++ {
			if !slices.Contains(legendWidths, width) && width%37 != 0 {
				continue
			}
			for _, form := range []string{"svg?scale=1", "svg?scale=2", "png?scale=1", "png?scale=2"} {
				if slices.Contains(legendWidths, width) && form != "svg?scale=2" {
					all++
				}
				for range 3 {
					crowd.Go(func() {
						do(s, http.MethodGet, fmt.Sprintf("/api/v1/legend.%s&width=%d&colormap=%s", form, width, id))
					})
				}
			}
		}
	}
	crowd.Wait()
	if got := int(legends.drawn.Load()); got != all || legends.together.Load() > 1 {
		t.Errorf("%d legends were drawn, up to %d at a time, want %d, one at a time", got, legends.together.Load(), all)
	}
}

// The legends that are kept are bounded, also if clients ask for all languages. The default language is not drawn again for a few in others.
func TestLegendsAreBounded(t *testing.T) {
	opts := testOptions(t)
	legends := &fakeLegends{}
	opts.Legends = legends
	s := newServer(t, opts, nil)
	requests := 0
	for _, language := range words.Languages {
		for _, id := range s.common.colormaps.ids {
			for _, style := range s.common.styleIDs {
				for _, width := range legendWidths {
					for _, form := range []string{"svg?", "png?scale=1&", "png?scale=2&"} {
						get(t, s, http.StatusOK, fmt.Sprintf("/api/v1/legend.%swidth=%d&colormap=%s&style=%s&lang=%s", form, width, id, style, language))
						requests++
					}
				}
			}
		}
	}
	h := s.handlers.descriptions
	if most := maxLegends(len(s.common.colormaps.byID), len(s.common.styleIDs)); int(legends.drawn.Load()) != requests || h.drawn.Len() > most || most >= requests {
		t.Errorf("of %d legends %d were drawn and %d are kept, want at most %d", requests, legends.drawn.Load(), h.drawn.Len(), most)
	}
}
