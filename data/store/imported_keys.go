package store

import (
	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"limnomap/data"
)

// importedKeys holds the keys of the rows of an import so far, to detect a row that repeats a key. Such a row is
// [Contradicts] if it differs from what is stored, which by then are the values of the first row.
//
// It needs little memory because imports are dense. For each date and type there is a compressed bitmap of lakes, with one
// bit for each, or two bytes if they are few. Ten million rows of 96,000 lakes and 104 weeks take 1.3 MB, and 146 million
// rows of 1.4 million lakes 19 MB. A date and type takes at least a quarter of a kilobyte; an archive has some thousands.
type importedKeys struct {
	lakes        roaring64.Bitmap
	observations map[dateAndType]*roaring64.Bitmap // of lakes
}

type dateAndType struct {
	date     data.Date
	dataType data.DataType
}

func newImportedKeys() *importedKeys {
	return &importedKeys{observations: make(map[dateAndType]*roaring64.Bitmap)}
}

// addLake adds the lake that the store knows by this number, and reports whether it is new.
func (k *importedKeys) addLake(lake int64) bool { return k.lakes.CheckedAdd(uint64(lake)) }

// addObservation adds a lake's row of that date and type, and reports whether it is new.
func (k *importedKeys) addObservation(lake int64, d data.Date, t data.DataType) bool {
	p := dateAndType{d, t}
	lakes := k.observations[p]
	if lakes == nil {
		lakes = roaring64.New()
		k.observations[p] = lakes
	}
	return lakes.CheckedAdd(uint64(lake))
}
