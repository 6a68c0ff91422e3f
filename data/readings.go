package data

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
)

// A Reading is a value of a satellite, or of a sample.
type Reading struct {
	Date        Date
	Chlorophyll Chlorophyll
}

// LakeReadings are the values of one lake that forecasts are made of: those of satellites that are not [Poor], or such samples
// of a lake without any.
type LakeReadings struct {
	Number   int64 // of the lake, in this database only
	ID       LakeID
	Latitude float64
	Region   string
	Readings []Reading // in order of date, and of value on one date: the order of imports must not matter
}

// A ReadingSummary is what is known of such values before they are read.
type ReadingSummary struct {
	Revision Revision
	Newest   Optional[Date] // of the newest one of a satellite, of the newest sample if there is none; absent without both
	Lakes    int64          // with and without values
}

// Sort puts the readings of a day, which are in order of date, in their order.
func (l *LakeReadings) Sort() {
	slices.SortFunc(l.Readings, func(a, b Reading) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Chlorophyll, b.Chlorophyll))
	})
}

// Hash returns a number that is another one, as good as certainly, if a forecast that is made of the readings is another one.
func (l *LakeReadings) Hash() int64 {
	h := fnv.New64a()
	var buf [8]byte
	add := func(n uint64) {
		binary.LittleEndian.PutUint64(buf[:], n)
		h.Write(buf[:]) // a hash never fails
	}
	add(math.Float64bits(l.Latitude))
	for _, r := range l.Readings {
		add(uint64(uint32(r.Date))<<32 | uint64(uint32(r.Chlorophyll)))
	}
	return int64(h.Sum64())
}
