package main

import (
	"bytes"
	"image/png"
	"strings"
	"testing"

	"limnomap/api"
	"limnomap/api/sign"
	"limnomap/api/words"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/render/lakecard"
	"limnomap/render/symbol"
)

// The symbol of a lake without a current value is a ring, whatever its last risk; that of a closed lake is the sign of closed ones.
func TestMarks(t *testing.T) {
	for _, tt := range []struct {
		verdict sign.Verdict
		want    symbol.Mark
	}{
		{sign.Verdict{Class: words.LowRisk, Risk: data.RiskLow}, symbol.Mark{Class: symbol.Low}},
		{sign.Verdict{Class: words.MediumRisk, Risk: data.RiskMedium, Worse: true}, symbol.Mark{Class: symbol.Medium, Worse: true}},
		{sign.Verdict{Class: words.HighRisk, Risk: data.RiskHigh, Old: true}, symbol.Mark{Class: symbol.High, Old: true}},
		{sign.Verdict{Class: words.NoValue, Risk: data.RiskLow, Old: true}, symbol.Mark{Class: symbol.None, Old: true}},
		{sign.Verdict{Class: words.NoValue}, symbol.Mark{}},
		{sign.Verdict{Class: words.Closed, Risk: data.RiskLow}, symbol.Mark{Class: symbol.Low, Closed: true}},
		{sign.Verdict{Class: words.Closed}, symbol.Mark{Closed: true}},
	} {
		if got := markOf(&tt.verdict); got != tt.want {
			t.Errorf("markOf(%+v) = %+v, want %+v", tt.verdict, got, tt.want)
		}
	}
}

func TestPictures(t *testing.T) {
	scale, err := colormap.New(colormap.Default, colormap.Limits{Level1: 10, Level2: 50})
	mustDo(t, err)
	if api.PreviewMapSide != lakecard.MapSide {
		t.Errorf("api fills a map of %d pixels, which is drawn with %d", api.PreviewMapSide, lakecard.MapSide)
	}
	verdict := &sign.Verdict{Language: "de", Name: "Müritz", Class: words.HighRisk, Risk: data.RiskHigh, Swim: "Nicht baden", Text: "Hohes Risiko", Date: "16. November 2026", Limits: "Grenzen", Simulated: "simuliert"}
	badge, err := pictures{}.Badge(scale, verdict)
	for _, want := range []string{"<title id=\"t\">Müritz: simuliert · Nicht baden · Hohes Risiko · 16. November 2026</title>", "Grenzen", `xml:lang="de"`, colormap.Hex(scale.ClassColor(2))} {
		if err != nil || !strings.Contains(string(badge), want) {
			t.Errorf("the badge lacks %q, %v: %s", want, err, badge)
		}
	}
	preview, err := pictures{}.Preview(scale, &api.PreviewPicture{Verdict: verdict, ID: "de_mv_mueritz"})
	mustDo(t, err)
	if size, err := png.DecodeConfig(bytes.NewReader(preview)); err != nil || size.Width != lakecard.PreviewWidth || size.Height != lakecard.PreviewHeight {
		t.Errorf("the preview is %d x %d pixels, %v", size.Width, size.Height, err)
	}
}
