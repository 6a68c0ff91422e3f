package snapshot

import "limnomap/data"

// A currentRule decides which observation of a lake is current on a day. It is the same for all lakes and weeks:
//
//  1. Only measurements with a value that is not [data.Poor] count, and of the satellite only those of the best source of their week (see
//     [data.SourceOrder]).
//  2. The newest pass of the satellite and the newest sample are compared. If several sources have one of that date,
//     [lakeReadings.newest] decides.
//  3. The sample is the last known value if it is at most samplePrefer days older than the pass; but a stale sample is not, if the pass is not
//     stale. Otherwise the pass is.
//  4. The last known value is current if it is not stale.
//
// For example, with samplePrefer 14 and staleAfter 28: of a sample of 15 July and a pass of 29 July, the sample is current on 29 July; of a
// sample of 14 July, the pass is.
type currentRule struct {
	profile      *data.Profile
	staleAfter   int // days
	samplePrefer int // days
}

// stale reports whether a value of that date is too old on asOf to be current: by more than staleAfter days.
func (r *currentRule) stale(date, asOf data.Date) bool {
	return int64(asOf)-int64(date) > int64(r.staleAfter)
}

// A known is the last known value of a lake.
type known struct {
	of lakeReadings
	at int // index in of; -1 if there never was a value
	by data.DataType
}

func (k known) exists() bool { return k.at >= 0 }

func (k known) reading() reading { return k.of.readings[k.at] }

// last returns the last known value on asOf of a lake with these passes and samples.
func (r *currentRule) last(passes, samples lakeReadings, asOf data.Date) known {
	passes = passes.until(asOf)
	pass := known{passes, passes.newest(r.profile), data.Satellite}
	if len(samples.readings) == 0 { // as of most lakes
		return pass
	}
	samples = samples.until(asOf)
	sample := known{samples, samples.newest(r.profile), data.InSitu}
	if !sample.exists() || pass.exists() && !r.prefers(sample.reading().date(), pass.reading().date(), asOf) {
		return pass
	}
	return sample
}

// prefers reports whether the sample of one date wins against the pass of another.
func (r *currentRule) prefers(sample, pass, asOf data.Date) bool {
	return int64(pass)-int64(sample) <= int64(r.samplePrefer) && (!r.stale(sample, asOf) || r.stale(pass, asOf))
}

// state returns the state on asOf of a lake with these passes and samples.
func (r *currentRule) state(passes, samples lakeReadings, asOf data.Date) State {
	state := unknownState()
	state.Trophic, state.TrophicBy = trophicOf(passes.until(asOf).readings, samples.until(asOf).readings, asOf)
	last := r.last(passes, samples, asOf)
	if !last.exists() {
		return state
	}
	o, taken, _ := last.of.observation(last.at)
	level, _ := r.profile.Classify(o)
	state.Risk = level.Risk()
	state.MeasuredBy = last.by
	state.Date = o.Date
	state.TakenOffset = int32(taken - int64(o.Date)*data.SecondsPerDay)
	if r.stale(o.Date, asOf) {
		return state
	}
	state.Chlorophyll = o.Chlorophyll
	state.Level = level
	state.CountedCells = o.CellDensity
	state.BelowLimit = o.Details.BelowLimit
	state.period = periodOf(&o)
	return state
}
