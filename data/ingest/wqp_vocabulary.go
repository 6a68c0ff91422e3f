package ingest

import "limnomap/data"

// A wqpQuantity is what a characteristic measures.
type wqpQuantity struct {
	name  string // for error messages
	units map[string]wqpUnitFactor
	in    span
	// otherUnits is true if other units mean another quantity, which is left out, such as the mass of cyanobacteria.
	otherUnits bool
}

// A wqpUnitFactor converts a unit: value * factor + offset.
type wqpUnitFactor struct{ factor, offset float64 }

// The units have small letters and no spaces.
var (
	wqpChlorophyll = &wqpQuantity{name: "chlorophyll", in: span{0, data.MaxChlorophyll.Float(), " µg/l"},
		units: map[string]wqpUnitFactor{"ug/l": {1, 0}, "µg/l": {1, 0}, "μg/l": {1, 0}, "mg/m3": {1, 0}, "ppb": {1, 0}, "ng/ml": {1, 0}, "mg/l": {1000, 0}}}
	wqpCells = &wqpQuantity{name: "cell counts", in: span{0, maxCellDensity, " cells/ml"}, otherUnits: true,
		units: map[string]wqpUnitFactor{"cells/ml": {1, 0}, "#/ml": {1, 0}, "cells/l": {1e-3, 0}, "#/l": {1e-3, 0}, "cells/100ml": {1e-2, 0}, "#/100ml": {1e-2, 0}}}
	wqpSecchi      = &wqpQuantity{name: "Secchi depths", in: span{0, data.MaxSecchi.Float(), " m"}, units: wqpLengths}
	wqpTemperature = &wqpQuantity{name: "temperatures", in: span{data.MinWaterTemperature.Float(), data.MaxWaterTemperature.Float(), " °C"},
		units: map[string]wqpUnitFactor{"degc": {1, 0}, "°c": {1, 0}, "c": {1, 0}, "degf": {5. / 9, -160. / 9}, "°f": {5. / 9, -160. / 9}, "f": {5. / 9, -160. / 9}}}
	wqpDepthOfSample = &wqpQuantity{name: "depths", in: span{-12_000, 12_000, " m"}, units: wqpLengths}

	wqpLengths = map[string]wqpUnitFactor{"m": {1, 0}, "meters": {1, 0}, "cm": {0.01, 0}, "mm": {0.001, 0}, "ft": {0.3048, 0}, "feet": {0.3048, 0}, "in": {0.0254, 0}}
)

// wqpCharacteristics are the characteristics of the portal that are read, in small letters. The rank is the preference within one
// activity: chlorophyll corrected for pheophytin is that of living algae, and a probe measures light, not the pigment. Relative
// fluorescence has no fixed relation to µg/l.
var wqpCharacteristics = map[string]struct {
	quantity *wqpQuantity
	rank     uint8
}{
	"chlorophyll a, corrected for pheophytin":       {wqpChlorophyll, 0},
	"chlorophyll a, free of pheophytin":             {wqpChlorophyll, 0},
	"chlorophyll a":                                 {wqpChlorophyll, 1},
	"chlorophyll a - phytoplankton (suspended)":     {wqpChlorophyll, 1},
	"chlorophyll a, uncorrected for pheophytin":     {wqpChlorophyll, 2},
	"chlorophyll a (probe)":                         {wqpChlorophyll, 3},
	"cyanobacteria":                                 {wqpCells, 0},
	"blue-green algae":                              {wqpCells, 0},
	"algae, blue-green (phylum cyanophyta) density": {wqpCells, 0},
	"depth, secchi disk depth":                      {wqpSecchi, 0},
	"secchi depth":                                  {wqpSecchi, 0},
	"water transparency, secchi disc":               {wqpSecchi, 0},
	"temperature, water":                            {wqpTemperature, 0},
}

// Texts of the domain lists of WQX (EPA, cdx.epa.gov/wqx/download/DomainValues), in small letters. Which of them mean a value
// below a limit, a layer or a quality is as in the tables of EPA's package TADA (USEPA/EPATADA, inst/extdata).
var (
	// Of result detection conditions; a * before them marks those of older systems.
	wqpBelowConditions = []string{"not detected", "non-detect", "not present", "present below quantification limit", "present <ql",
		"detected not quantified", "trace", "between inst detect and quant limit"}
	wqpBelowPrefixes    = []string{"below ", "not detected at "}
	wqpAboveConditions  = []string{"present above quantification limit", "present >ql", "above operating range"}
	wqpNoValue          = []string{"not reported", "unable to measure", "reported in raw data (attached)", "high moisture"}
	wqpEstimatedWith    = []string{"value decensored"}
	wqpNotLimits        = []string{"drinking water", "water quality standard", "holding time", "uncertainty", "taxonomic", "workplan"}
	wqpSurfaceLayers    = []string{"surface", "microlayer", "below surface", "photic zone", "above euphotic", "abovethermoclin"}
	wqpQualityControl   = []string{"control", "blank", "replicate", "duplicate", "spike", "reference", "calibration"}
	wqpGoodStatus       = []string{"accepted", "final", "validated", "approved", "reviewed"}
	wqpSuspectStatus    = []string{"preliminary", "provisional", "raw", "unreviewed"}
	wqpPoorStatus       = []string{"rejected", "invalidated"}
	wqpEstimatedCodes   = []string{"j", "j+", "j-", "j-1", "j-r", "e", "est", "eci", "esd", "eva", "evad", "evid", "f", "i"}
	wqpHoldTimeCodes    = []string{"h", "h2", "h3", "h4", "h5", "hti"}
	wqpBelowCodes       = []string{"u", "uj", "nd", "dl", "idl", "bql", "brl", "k", "lt", "<"}
	wqpAboveCodes       = []string{"gt", "ee", ">"}
	wqpRejectedCodes    = []string{"r", "rex"}
	wqpLakeTypes        = []string{"lake", "lake, reservoir, impoundment", "reservoir", "great lake", "pond", "riverine impoundment", "pond-anchialine", "beach program site-lake", "beach program site-great lake"}
	wqpSurfaceWaters    = []string{"", "surface water", "unknown"}
	wqpPlanktonMaterial = []string{"biological", "biological tissue"}
)

// wqpZones are the time zones that are unambiguous in the portal's domain list, in minutes east of UTC.
var wqpZones = map[string]int{
	"ADT": -3 * 60, "AHST": -10 * 60, "AKDT": -8 * 60, "AKST": -9 * 60, "AST": -4 * 60, "CDT": -5 * 60, "CEST": 2 * 60, "CET": 60, "CST": -6 * 60,
	"EDT": -4 * 60, "EST": -5 * 60, "GMT": 0, "HADT": -9 * 60, "HAST": -10 * 60, "HDT": -9 * 60, "HST": -10 * 60, "MDT": -6 * 60, "MST": -7 * 60,
	"NDT": -2*60 - 30, "NST": -3*60 - 30, "PDT": -7 * 60, "PST": -8 * 60, "SST": -11 * 60, "UTC": 0, "Z": 0,
}
