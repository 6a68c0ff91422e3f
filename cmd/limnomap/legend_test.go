package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data"
)

// TestAnswersOfLegends fetches the legends of all styles from a server: those of styles that draw signs explain each sign with the words
// of legend.json, and that of heat, the default, none.
func TestAnswersOfLegends(t *testing.T) {
	base, _ := startServer(t)
	var legend struct {
		Signs    []struct{ ID, Label string }
		Scheme   string
		Guidance []struct{ Words string }
	}
	limnomaptest.GetJSON(t, base+"/api/v1/legend.json", &legend)
	if len(legend.Signs) != 2 {
		t.Fatalf("legend.json has the signs %v, want two", legend.Signs)
	}
	if who := data.Profiles()[0]; len(legend.Guidance) != len(who.Words) || legend.Guidance[2].Words != who.Words[2] || !strings.Contains(legend.Scheme, who.Words[0]) {
		t.Errorf("legend.json has the scheme %q and the guidance %v, want the words of %s", legend.Scheme, legend.Guidance, who.Title)
	}
	fetch := func(path string) []byte {
		t.Helper()
		resp, body := limnomaptest.Get(t, base+path)
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %.300s", path, resp.Status, body)
		}
		return body
	}
	for style, explains := range map[string]bool{"heat": false, "dots": true, "lakes": true} {
		for _, width := range []int{160, 320, 1024} {
			query := fmt.Sprintf("?style=%s&width=%d", style, width)
			var svg struct {
				XMLName xml.Name
				Width   int        `xml:"width,attr"`
				Height  int        `xml:"height,attr"`
				Circles []struct{} `xml:"circle"`
				Texts   []string   `xml:"text"`
			}
			if err := xml.Unmarshal(fetch("/api/v1/legend.svg"+query), &svg); err != nil || svg.XMLName.Local != "svg" || svg.Width != width {
				t.Fatalf("legend.svg%s is a %s of width %d: %v", query, svg.XMLName.Local, svg.Width, err)
			}
			words := strings.Join(svg.Texts, " ")
			for _, sign := range legend.Signs {
				if got := strings.Contains(words, sign.Label); got != explains {
					t.Errorf("legend.svg%s explains the sign %s: %v, want %v: %s", query, sign.ID, got, explains, words)
				}
			}
			if got := len(svg.Circles) > 0; got != explains {
				t.Errorf("legend.svg%s has discs: %v, want %v", query, got, explains)
			}
			for scale := 1; scale <= 2; scale++ {
				path := fmt.Sprintf("/api/v1/legend.png%s&scale=%d", query, scale)
				img, err := png.DecodeConfig(bytes.NewReader(fetch(path)))
				if err != nil || img.Width != width*scale || img.Height != svg.Height*scale {
					t.Errorf("%s is %d x %d (%v), want %d x %d", path, img.Width, img.Height, err, width*scale, svg.Height*scale)
				}
			}
		}
	}
	for _, form := range []string{"svg", "png"} {
		if !bytes.Equal(fetch("/api/v1/legend."+form), fetch("/api/v1/legend."+form+"?style=heat")) {
			t.Errorf("legend.%s is not that of the style heat", form)
		}
	}
	var styles struct{ Styles []json.RawMessage }
	limnomaptest.GetJSON(t, base+"/api/v1/styles", &styles)
	for _, style := range styles.Styles {
		if bytes.Contains(style, []byte("Signs")) || bytes.Contains(style, []byte("Look")) {
			t.Errorf("the list of styles has members that it does not describe: %s", style)
		}
	}
}
