package snapshot

import "limnomap/data"

// A currentRule says which observation of a lake is current. The rule is the same for all lakes and weeks:
//
// Only measurements with a value that is not [Poor] count, and of the satellite only those of the best source of their week: see
// [SourceOrder]. Of the satellite's passes and of the samples, the newest counts each; of several sources on one date, see
// [lakeSamples.newest]. The sample wins if it is at most samplePrefer days older than the pass, unless it is stale and the pass is not.
// What wins is current if it is not stale, and otherwise the last known value.
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
	of lakeSamples
	at int // index in of; -1 if there never was a value
	by data.DataType
}

func (k known) exists() bool { return k.at >= 0 }

func (k known) sample() sample { return k.of.samples[k.at] }

// last returns the last known value on asOf of a lake with these passes and samples.
func (r *currentRule) last(passes, samples lakeSamples, asOf data.Date) known {
	passes = passes.until(asOf)
	pass := known{passes, passes.newest(r.profile), data.Satellite}
	if len(samples.samples) == 0 { // as of most lakes
		return pass
	}
	samples = samples.until(asOf)
	sample := known{samples, samples.newest(r.profile), data.InSitu}
	if !sample.exists() || pass.exists() && !r.prefers(sample.sample().date(), pass.sample().date(), asOf) {
		return pass
	}
	return sample
}

// prefers reports whether the sample of one date wins against the pass of another.
func (r *currentRule) prefers(sample, pass, asOf data.Date) bool {
	return int64(pass)-int64(sample) <= int64(r.samplePrefer) && (!r.stale(sample, asOf) || r.stale(pass, asOf))
}

// state returns the state on asOf of a lake with these passes and samples.
func (r *currentRule) state(passes, samples lakeSamples, asOf data.Date) State {
	state := unknownState()
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
	state.Trophic = trophicOf(passes.until(asOf).samples, asOf)
	return state
}
