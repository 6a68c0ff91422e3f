package main

import (
	"limnomap/api"
	"limnomap/api/sign"
	"limnomap/api/words"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/render/lakecard"
	"limnomap/render/symbol"
)

// pictures draws the pictures of one lake for api, which does not import render.
type pictures struct{}

func (pictures) Badge(m *colormap.Map, v *sign.Verdict) ([]byte, error) {
	b := &lakecard.Badge{Language: v.Language, Name: v.Name, Text: v.Line(), Note: v.Limits, Mark: markOf(v), Warned: v.Warned}
	return b.SVG(m)
}

func (pictures) Preview(m *colormap.Map, p *api.PreviewPicture) ([]byte, error) {
	preview := &lakecard.Preview{
		Product: p.Product, Name: p.Name, ID: string(p.ID), Verdict: p.Swim, Also: p.Reason(), Date: p.Day, Limits: p.Limits, Notice: p.Notice, Credits: p.Credits,
		Mark: markOf(p.Verdict), Warned: p.Warned,
	}
	if p.Old { // says that it is old
		preview.Date = p.Verdict.Date
	}
	for _, tile := range p.Map {
		preview.Map = append(preview.Map, lakecard.PlacedTile(tile))
	}
	return preview.PNG(m)
}

// markOf returns the symbol of a verdict.
func markOf(v *sign.Verdict) symbol.Mark {
	mark := symbol.Mark{Closed: v.Class == words.Closed, Worse: v.Worse, Old: v.Old}
	if v.Class != words.NoValue {
		mark.Class = symbolClasses[v.Risk]
	}
	return mark
}

var symbolClasses = map[data.Risk]symbol.Class{data.RiskUnknown: symbol.None, data.RiskLow: symbol.Low, data.RiskMedium: symbol.Medium, data.RiskHigh: symbol.High}
