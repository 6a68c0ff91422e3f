package vector

import (
	"bytes"
	"slices"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/protobuf/encoding/protowire"
)

// A valueList is the values of a layer, each once. A tile has twenty thousand, most of which are texts of one lake.
type valueList struct {
	encoded []byte  // fields of the layer, in the order of the indexes
	ends    []int32 // of the values in encoded
	lengths []int32 // of the values without their tags and lengths
	slots   []int32 // a hash table with open addressing of indexes plus one; its size is a power of two, at least twice that of ends
}

// reset empties l.
func (l *valueList) reset() {
	l.encoded, l.ends, l.lengths = l.encoded[:0], l.ends[:0], l.lengths[:0]
	clear(l.slots)
}

// index returns the index of a value, and adds it if it is new.
func (l *valueList) index(value []byte) uint64 {
	if 2*(len(l.ends)+1) > len(l.slots) {
		l.grow()
	}
	slot := l.slotOf(value)
	if i := l.slots[slot]; i != 0 {
		return uint64(i - 1)
	}
	l.encoded = protowire.AppendTag(l.encoded, fieldValue, protowire.BytesType)
	l.encoded = protowire.AppendBytes(l.encoded, value)
	l.ends, l.lengths = append(l.ends, int32(len(l.encoded))), append(l.lengths, int32(len(value)))
	l.slots[slot] = int32(len(l.ends))
	return uint64(len(l.ends) - 1)
}

// slotOf returns the slot of a value, or the one for it.
func (l *valueList) slotOf(value []byte) int {
	mask := len(l.slots) - 1
	slot := int(xxhash.Sum64(value)) & mask
	for l.slots[slot] != 0 && !bytes.Equal(l.at(int(l.slots[slot]-1)), value) {
		slot = (slot + 1) & mask
	}
	return slot
}

// at returns the i-th value.
func (l *valueList) at(i int) []byte { return l.encoded[l.ends[i]-l.lengths[i] : l.ends[i]] }

func (l *valueList) grow() {
	l.slots = make([]int32, max(1024, 2*len(l.slots)))
	for i := range l.ends {
		l.slots[l.slotOf(l.at(i))] = int32(i + 1)
	}
}

// A keyList is the keys of a layer, each once. There are few.
type keyList struct {
	encoded []byte // fields of the layer, in the order of the indexes
	names   []string
}

// reset empties l.
func (l *keyList) reset() { l.encoded, l.names = l.encoded[:0], l.names[:0] }

// index returns the index of a key, and adds it if it is new.
func (l *keyList) index(key string) uint64 {
	i := slices.Index(l.names, key)
	if i < 0 {
		i = len(l.names)
		l.names = append(l.names, key)
		l.encoded = protowire.AppendTag(l.encoded, fieldKey, protowire.BytesType)
		l.encoded = protowire.AppendString(l.encoded, key)
	}
	return uint64(i)
}
