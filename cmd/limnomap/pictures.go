package main

import (
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

// markOf returns the symbol of a verdict.
func markOf(v *sign.Verdict) symbol.Mark {
	mark := symbol.Mark{Closed: v.Class == words.Closed, Worse: v.Worse, Old: v.Old}
	if v.Class != words.NoValue {
		mark.Class = symbolClasses[v.Risk]
	}
	return mark
}

var symbolClasses = map[data.Risk]symbol.Class{data.RiskUnknown: symbol.None, data.RiskLow: symbol.Low, data.RiskMedium: symbol.Medium, data.RiskHigh: symbol.High}
