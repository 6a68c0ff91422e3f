package ingest

import "limnomap/data"

// A wqpQuantity is what a characteristic measures.
type wqpQuantity struct {
	*dimension
	name string // for error messages
	in   span
	// otherUnits is true if other units mean another quantity, which is left out, such as the mass of cyanobacteria.
	otherUnits bool
}

var (
	wqpChlorophyll = &wqpQuantity{dimension: chlorophyllUnits, name: "chlorophyll", in: span{0, data.MaxChlorophyll.Float(), " µg/l"}}
	wqpCells       = &wqpQuantity{dimension: cellUnits, name: "cell counts", in: span{0, maxCellDensity, " cells/ml"}, otherUnits: true}
	wqpSecchi      = &wqpQuantity{dimension: lengthUnits, name: "Secchi depths", in: span{0, data.MaxSecchi.Float(), " m"}}
	wqpTemperature = &wqpQuantity{dimension: temperatureUnits, name: "temperatures", in: span{data.MinWaterTemperature.Float(), data.MaxWaterTemperature.Float(), " °C"}}
	depthOfSample  = &wqpQuantity{dimension: lengthUnits, name: "depths", in: span{-12_000, 12_000, " m"}}
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
