package store

import (
	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"limnomap/data"
)

// importedKeys holds the keys of the rows of an import so far, to detect a row that repeats a key. Such a row is
// [Contradicts] if it differs from what is stored, which by then are the values of the first row.
//
// It needs little memory because imports are dense. For each date, type and source there is a compressed bitmap of lakes, with one
// bit for each, or two bytes if they are few. Ten million rows of 96,000 lakes and 104 weeks take 1.3 MB, and 146 million
// rows of 1.4 million lakes 19 MB. A date and type takes at least a quarter of a kilobyte; an archive has some thousands.
type importedKeys struct {
	lakes        roaring64.Bitmap
	observations map[seriesDate]*roaring64.Bitmap // of lakes
	outranked    map[seriesDate]*roaring64.Bitmap // those of which all rows so far were OlderVersion or WorseThanStored
}

// A seriesDate is a date in the observations of one type and source.
type seriesDate struct {
	date     data.Date
	dataType data.DataType
	source   int64 // its number
}

func newImportedKeys() *importedKeys {
	return &importedKeys{observations: make(map[seriesDate]*roaring64.Bitmap), outranked: make(map[seriesDate]*roaring64.Bitmap)}
}

// addLake adds the lake that the store knows by this number, and reports whether it is new.
func (k *importedKeys) addLake(lake int64) bool { return k.lakes.CheckedAdd(uint64(lake)) }

// addObservation adds a lake's row of that date, type and source, and reports whether it is new.
func (k *importedKeys) addObservation(lake int64, d data.Date, t data.DataType, source int64) bool {
	p, member := seriesDate{d, t, source}, uint64(lake)
	if t == data.InSitu && source > 0 {
		// Samples are few for each date and laboratory: those of all laboratories share a bitmap.
		p.source, member = allSources, uint64(lake)<<sourceBits|uint64(source)
	}
	return lakesIn(k.observations, p).CheckedAdd(member)
}

// addOutranked adds the key of a satellite's row that was OlderVersion or WorseThanStored, whose key is new.
func (k *importedKeys) addOutranked(lake int64, d data.Date, source int64) {
	lakesIn(k.outranked, seriesDate{d, data.Satellite, source}).Add(uint64(lake))
}

// takeOutranked reports whether all earlier rows with the key of a satellite's row were OlderVersion or WorseThanStored. Then that row
// counts as the first.
func (k *importedKeys) takeOutranked(lake int64, d data.Date, source int64) bool {
	lakes := k.outranked[seriesDate{d, data.Satellite, source}]
	return lakes != nil && lakes.CheckedRemove(uint64(lake))
}

// merge is like the function merge, for a row of the import. first reports whether it is the first one with its key; another one may be Contradicts.
func (k *importedKeys) merge(lake, source int64, first bool, stored, in *data.Observation, keep ObservationColumns) (data.Observation, Change) {
	merged, change, outranks := merge(stored, in, keep)
	switch {
	case change == OlderVersion || change == WorseThanStored:
		if first {
			k.addOutranked(lake, in.Date, source)
		}
		return merged, change
	case in.Type == data.Satellite && k.takeOutranked(lake, in.Date, source) || outranks:
		first = true
	}
	if change == Changed && !first {
		return *stored, Contradicts
	}
	return merged, change
}

// lakesIn returns a bitmap, which may be new.
func lakesIn(of map[seriesDate]*roaring64.Bitmap, p seriesDate) *roaring64.Bitmap {
	lakes := of[p]
	if lakes == nil {
		lakes = roaring64.New()
		of[p] = lakes
	}
	return lakes
}

const (
	// allSources is the source of the bitmaps for all of them.
	allSources = -1
	sourceBits = 10
)

// The numbers of all sources fit into the bits.
const _ = uint(1<<sourceBits - 1 - MaxSources)
