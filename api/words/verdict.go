package words

import (
	"time"

	"limnomap/data"
	"limnomap/data/snapshot"
)

// A Verdict is what every page, sign and picture says about a lake on a day, before it is put into words. The script of the map decides the
// same from a record of the status; web/test/verdicts.json has cases for both.
type Verdict struct {
	Class      Class // with what authorities say
	ValueClass Class // without; NoValue if there is no current value
	Warned     bool  // an authority warns, and has not closed the lake
	Risk       data.Risk
	Worse      string // what made the risk worse than that of the chlorophyll, see WorseBy
	Never      bool   // the lake was never measured; otherwise Risk and Measured are of its last value
	Measured   data.Date
	Old        bool // the last value is too old to say anything about the water on that day
}

// VerdictOf returns the verdict of the i-th lake of a view.
func VerdictOf(view *snapshot.View, i int, today data.Date) Verdict {
	state := &view.States[i]
	v := Verdict{Class: ClassOf(view, i), ValueClass: classOfValue(state), Warned: view.Advisories.Kind(i) == data.Warning, Risk: state.Risk}
	v.Worse = WorseBy(view.Profile.Basis(state.Level, state.Chlorophyll, state.CountedCells), state.CellOrigin())
	if v.Never = state.Risk == data.RiskUnknown; !v.Never {
		v.Measured = data.DateOf(time.Unix(state.MeasuredAt(), 0))
		v.Old = Old(v.Measured, today)
	}
	return v
}

// WorseBy returns what made a level worse than that of the chlorophyll: "report", or the origin of the cells, which are a count or an index of
// cyanobacteria; empty if nothing did.
func WorseBy(basis data.LevelBasis, cells data.CellOrigin) string {
	switch basis {
	case data.ByCells:
		return cells.String()
	case data.ByReport:
		return basis.String()
	}
	return ""
}

// SwimName returns the name of what a verdict says about swimming: by what an authority says, else by the current value, unless that is old. An old
// or missing value never says that the water is fine, and an old bloom is not taken to be over.
func (v *Verdict) SwimName() string {
	switch {
	case v.Class == Closed:
	case v.Warned:
		return "warned"
	case v.Old && v.ValueClass == HighRisk:
		return "oldHigh"
	case v.Old && v.ValueClass != NoValue:
		return "old"
	}
	return v.Class.String()
}

// SwimText returns whether to swim, in words.
func (w *Words) SwimText(v *Verdict) string { return w.Verdict[v.SwimName()] }

// An Advice is what a verdict means for some of the bathers.
type Advice struct{ Name, Text string }

// AdviceOf returns what a verdict means for swimmers, small children and dogs. Where the last known risk is medium or worse, an old or missing value is no
// better for children and dogs than a new one of medium risk.
func (w *Words) AdviceOf(v *Verdict) []Advice {
	var all []Advice
	for i, a := range []advice{w.People.Swimmer, w.People.Child, w.People.Dog} {
		text := a.Look
		switch v.SwimName() {
		case "old", "none":
			if i > 0 && (v.Risk == data.RiskMedium || v.Risk == data.RiskHigh) {
				text = a.Medium
			}
		case "closed", "warned", "high", "oldHigh":
			text = a.No
		case "medium":
			text = a.Medium
		case "low":
			text = a.Low
		}
		all = append(all, Advice{a.Name, text})
	}
	return all
}

// Badge reports whether a symbol in the colour of the value does not show all: the risk is worse than the value, or there is a warning.
func (v *Verdict) Badge() bool { return v.Worse != "" || v.Warned }

// RiskText returns the text about a lake's risk, and what made it worse than that of its chlorophyll value. Without a current value it
// starts with that, because the last risk is not today's.
func (w *Words) RiskText(v *Verdict) string {
	risk := v.Risk.String()
	switch {
	case v.ValueClass != NoValue && v.Worse != "":
		return w.Risk[risk] + " (" + w.WorseText(v.Worse) + ")"
	case v.ValueClass != NoValue:
		return w.Risk[risk]
	case v.Never:
		return w.Common.NoValue + " (" + w.Common.Never + ")"
	}
	return w.Common.NoValue + " (" + Fill(w.Lake.LastKnown, "risk", w.RiskShort[risk]) + ")"
}

// WorseText returns in words what WorseBy returns.
func (w *Words) WorseText(worse string) string {
	return map[string]string{data.Counted.String(): w.Lake.Counted, data.Index.String(): w.Lake.Index, data.ByReport.String(): w.Lake.Report}[worse]
}
