package data

import (
	"fmt"
	"math"
	"strings"
)

// A Level is a guidance level for recreational water, 0 to 3, or NoLevel.
type Level int8

const (
	// NoLevel is the level of a lake without a value.
	NoLevel Level = -1
	// MaxLevel is the level of scum.
	MaxLevel Level = 3
)

// NoCellDensity is the cell density of a lake without a value.
const NoCellDensity = -1

// cellsPerMicrogram converts chlorophyll-a (µg/l) to cyanobacterial cells/ml. It is the factor of both pairs in WHO 2003,
// chapter 8: 20,000 cells/ml at 10 µg/l and 100,000 cells/ml at 50 µg/l.
const cellsPerMicrogram = 2000

// A Risk is what a Level means to bathers, in three classes of this project: no authority has these words.
type Risk uint8

const (
	RiskUnknown Risk = iota // never had a value; null in JSON, and found by no filter
	RiskLow                 // "low": level 0
	RiskMedium              // "medium": level 1
	RiskHigh                // "high": levels 2 and 3
)

var riskNames = [...]string{RiskUnknown: "unknown", RiskLow: "low", RiskMedium: "medium", RiskHigh: "high"}

// ParseRisk reads low, medium or high.
func ParseRisk(s string) (Risk, error) {
	return parseName(s, "risk", RiskLow, RiskMedium, RiskHigh)
}

func (r Risk) String() string { return riskNames[r] }

// Risk returns the risk at level l.
func (l Level) Risk() Risk {
	switch {
	case l < 0:
		return RiskUnknown
	case l == 0:
		return RiskLow
	case l == 1:
		return RiskMedium
	}
	return RiskHigh
}

// A Profile is one authority's classification of chlorophyll-a. Its limits are meant for waters where cyanobacteria
// dominate, which total chlorophyll does not tell. Level 3 (scum) is reported by people, never derived from chlorophyll.
type Profile struct {
	ID     string // "who2003"
	Title  string // short enough for a legend
	Source string // the full citation
	// Limits are where level 1 and level 2 begin.
	Limits [2]Chlorophyll
	// Above is true if a level begins above its limit, not at it.
	Above bool
	// CellLimits are where level 1 and level 2 begin in cyanobacterial cells/ml, at their limits; zero if the authority has no limits of cells.
	CellLimits [2]float64
	// Words are the authority's own ones for what it means to reach levels 1, 2 and 3, which pages quote beside the names of [Risk]. Only WHO 2003
	// has some: the texts around them are written for its table.
	Words [3]string
}

// Profiles returns the known profiles, the default first.
func Profiles() []Profile {
	return []Profile{
		{
			ID:     "who2003",
			Title:  "WHO 2003",
			Source: "WHO: Guidelines for safe recreational water environments, volume 1, 2003, chapter 8",
			Limits: [2]Chlorophyll{10_00, 50_00},
			// Chapter 8 gives each pair as cells or chlorophyll.
			CellLimits: [2]float64{20_000, 100_000},
			Words: [3]string{
				"relatively low probability of adverse health effects",
				"moderate probability of adverse health effects",
				"high probability of adverse health effects",
			},
		},
		{
			// The alert levels of 2021 are biovolumes (mm³/l) or chlorophyll, not cells. Observations have no biovolume.
			ID:     "who2021",
			Title:  "WHO 2021",
			Source: "WHO: Guidelines on recreational water quality, volume 1, 2021",
			Limits: [2]Chlorophyll{12_00, 24_00},
			Above:  true,
		},
		{
			// No limits of cells are known of the recommendation of 2015.
			ID:     "uba2015",
			Title:  "UBA 2015",
			Source: "Umweltbundesamt: Empfehlung zum Schutz von Badenden vor Cyanobakterien-Toxinen, 2015",
			Limits: [2]Chlorophyll{15_00, 75_00},
		},
	}
}

// ProfileByID returns the profile with that id; the error lists the known ids.
func ProfileByID(id string) (*Profile, error) {
	var ids []string
	for _, p := range Profiles() {
		if p.ID == id {
			return &p, nil
		}
		ids = append(ids, p.ID)
	}
	return nil, fmt.Errorf("profile %.80q is none of %s", id, strings.Join(ids, ", "))
}

// Level returns the level of c, 0 to 2, or NoLevel for a gap.
func (p *Profile) Level(c Chlorophyll) Level {
	if !c.Valid() {
		return NoLevel
	}
	var l Level
	for _, limit := range p.Limits {
		if c > limit || c == limit && !p.Above {
			l++
		}
	}
	return l
}

// Classify returns the level and the cell density (cells/ml) of an observation. The level is the worst of those that the
// source reports, as its level or with the flag [Scum], that follow from the chlorophyll, and that follow from the source's own cell count if the profile has limits of cells; NoLevel if there is none.
// The density is that of [CellDensity].
func (p *Profile) Classify(o Observation) (Level, float64) {
	return p.LevelOf(&o), CellDensity(o.Chlorophyll, o.CellDensity, o.Details.BelowLimit)
}

// LevelOf returns the level of [Profile.Classify], without the density and a copy: a load calls it for every observation.
func (p *Profile) LevelOf(o *Observation) Level {
	return max(o.ReportedLevel(), p.Level(o.Chlorophyll), p.levelOfCells(o.CellDensity))
}

// levelOfCells returns the level of a count in cells/ml, NoLevel for none and without limits.
func (p *Profile) levelOfCells(density float64) Level {
	if density < 0 || p.CellLimits == [2]float64{} {
		return NoLevel
	}
	var l Level
	for _, limit := range p.CellLimits {
		if density >= limit {
			l++
		}
	}
	return l
}

// Rounded returns c as people read it: with two significant figures, because neither a satellite nor one sample of a lake knows more. It has
// more figures where fewer would put it into another class: 9.96 is not 10.
func (p *Profile) Rounded(c Chlorophyll) Chlorophyll {
	if !c.Valid() {
		return c
	}
	return Chlorophyll(rounded(int64(c), func(n int64) Level { return p.Level(Chlorophyll(n)) }))
}

// RoundedCells returns a density of cells in the same way, with at most two decimals.
func (p *Profile) RoundedCells(density float64) float64 {
	return float64(rounded(int64(math.Round(density*100)), func(n int64) Level { return p.levelOfCells(float64(n) / 100) })) / 100
}

// rounded returns n, 0 or more, with two significant figures, halves upwards, or with as many more as leave its level as it is. figure in
// web/src/words.js does the same; web/test/figures.json has cases for both.
func rounded(n int64, level func(int64) Level) int64 {
	unit := int64(1)
	for n/unit >= 100 {
		unit *= 10
	}
	for {
		short := (n + unit/2) / unit * unit
		if level(short) == level(n) { // with a unit of 1 they are equal
			return short
		}
		unit /= 10
	}
}

// Rounded returns h, 0 or more, with two significant figures.
func (h Hundredths) Rounded() Hundredths {
	return Hundredths(rounded(int64(h), func(int64) Level { return NoLevel }))
}

// A LevelBasis says what supports a level.
type LevelBasis uint8

const (
	NoBasis       LevelBasis = iota // "": there is no level
	ByChlorophyll                   // "chlorophyll": its class is the level
	ByCells                         // "cells": the source's own count is worse than the class of the chlorophyll
	ByReport                        // "report": the source itself reports a level that is worse than both
)

var basisNames = [...]string{NoBasis: "", ByChlorophyll: "chlorophyll", ByCells: "cells", ByReport: "report"}

// ParseLevelBasis reads what String returns.
func ParseLevelBasis(s string) (LevelBasis, error) {
	if s == "" {
		return NoBasis, nil
	}
	return parseName(s, "level_by", ByChlorophyll, ByCells, ByReport)
}

func (b LevelBasis) String() string { return basisNames[b] }

// Basis returns what supports the level that Classify returned for an observation with this chlorophyll and this count of the
// source's own.
func (p *Profile) Basis(l Level, c Chlorophyll, counted float64) LevelBasis {
	switch l {
	case NoLevel:
		return NoBasis
	case p.Level(c):
		return ByChlorophyll
	case p.levelOfCells(counted):
		return ByCells
	}
	return ByReport
}
