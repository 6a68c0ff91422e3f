package store

import (
	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"limnomap/data"
)

// A once remembers which keys an import has brought, so that the same one again is told from the first. A row that
// comes again and would change what is stored is [Contradicts]: what is stored is what the first of them says, as far as
// the import knows it.
//
// It is small because imports are dense: of the lakes that have a row on one date and of one type, which are as many
// as there are lakes or a part of them, a compressed bitmap keeps one bit each, or two bytes where they are few. Ten
// million rows of 96,000 lakes and 104 weeks take 1.3 MB, and 146 million of 1.4 million lakes 19 MB. Each date and type
// costs a quarter of a kilobyte on its own, and an archive has some thousands of them.
type once struct {
	lakes        roaring64.Bitmap
	observations map[pass]*roaring64.Bitmap // of lakes
}

// A pass is a date and a data type.
type pass struct {
	date     data.Date
	dataType data.DataType
}

func newOnce() *once { return &once{observations: make(map[pass]*roaring64.Bitmap)} }

// lake reports whether a lake comes for the first time. Its key is the number that the store knows it by.
func (o *once) lake(key int64) bool { return o.lakes.CheckedAdd(uint64(key)) }

// observation reports whether a lake's row of that date and type comes for the first time.
func (o *once) observation(key int64, d data.Date, t data.DataType) bool {
	p := pass{d, t}
	lakes := o.observations[p]
	if lakes == nil {
		lakes = roaring64.New()
		o.observations[p] = lakes
	}
	return lakes.CheckedAdd(uint64(key))
}
