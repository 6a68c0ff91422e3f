package eventfeed

import (
	"slices"
	"strings"

	"limnomap/data"
)

// Kinds is a set of kinds of events. The zero value is all of them.
type Kinds uint16

// ParseKinds reads the names of kinds with commas between them.
func ParseKinds(s string) (k Kinds, err error) {
	for name := range strings.SplitSeq(s, ",") {
		kind, err := data.ParseEventKind(strings.TrimSpace(name))
		if err != nil {
			return 0, err
		}
		k |= 1 << kind
	}
	return k, nil
}

// Has reports whether a kind is in the set.
func (k Kinds) Has(kind data.EventKind) bool { return k == 0 || k&(1<<kind) != 0 }

// String returns what ParseKinds reads; empty for all.
func (k Kinds) String() string {
	var names []string
	for _, kind := range data.EventKinds() {
		if k != 0 && k.Has(kind) {
			names = append(names, kind.String())
		}
	}
	return strings.Join(names, ",")
}

// A Filter says which events a reader asks for. The zero value is all of them.
type Filter struct {
	Lakes  []data.LakeID // none: all
	Region string        // in upper or lower case; empty: all
	Box    *data.Box     // nil: everywhere
	Kinds  Kinds
	// MinLevel lets events of values pass only if the level before or after is at least this, and those of forecasts if the level that is
	// forecast is, and those of a bloom in a part of a lake if this is at most 2. An event of an official statement always passes.
	MinLevel data.Level
}

// Places finds lakes by their ids; a snapshot does.
type Places interface {
	Lake(id data.LakeID) (*data.Lake, bool)
}

// Matches reports whether an event passes. An event of a lake that is gone is in no region and no box.
func (f *Filter) Matches(e *data.Event, places Places) bool {
	if !f.Kinds.Has(e.Kind) || len(f.Lakes) > 0 && !slices.Contains(f.Lakes, e.LakeID) {
		return false
	}
	switch {
	case e.Kind.OfAdvisory():
	case e.Kind == data.ForecastExceeds:
		if e.Forecast.Level < f.MinLevel {
			return false
		}
	case e.Kind == data.BloomShare: // of level 2 and above
		if f.MinLevel > 2 {
			return false
		}
	case max(e.Before.Level, e.After.Level) < f.MinLevel:
		return false
	}
	if f.Region == "" && f.Box == nil {
		return true
	}
	lake, ok := places.Lake(e.LakeID)
	return ok && (f.Region == "" || strings.EqualFold(lake.Region, f.Region)) && (f.Box == nil || f.Box.Contains(lake.Point.Lon(), lake.Point.Lat()))
}

// UnmarshalText reads the names of kinds; no text is all of them.
func (k *Kinds) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*k = 0
		return nil
	}
	*k, err = ParseKinds(string(text))
	return err
}

// MarshalText returns what UnmarshalText reads.
func (k Kinds) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
