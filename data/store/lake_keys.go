package store

import (
	"hash/maphash"

	"limnomap/data"
)

// lakeKeys maps the ids of lakes to their numbers. It takes some 40 bytes for each lake besides the id, in a few large pieces without
// pointers: a map would take twice as much, and the garbage collector would go through all ids again and again.
type lakeKeys struct {
	seed maphash.Seed
	text []byte   // all ids, one after the other
	ends []int    // text[ends[i-1]:ends[i]] is the id of entry i
	keys []int64  // of entry i
	slot []uint32 // 1 + the number of an entry, or 0; entries are in the first free slot from that of their hash on
}

// leastSlots is a power of two, as any number of slots.
const leastSlots = 1 << 10

func newLakeKeys() *lakeKeys {
	return &lakeKeys{seed: maphash.MakeSeed(), slot: make([]uint32, leastSlots)}
}

func (k *lakeKeys) len() int { return len(k.keys) }

// clear removes all entries and keeps the memory.
func (k *lakeKeys) clear() {
	k.text, k.ends, k.keys = k.text[:0], k.ends[:0], k.keys[:0]
	clear(k.slot)
}

// reserve makes room for n entries at once, of which there must be none yet.
func (k *lakeKeys) reserve(n int) {
	const usualID = 20 // bytes
	slots := len(k.slot)
	for slots < 2*n {
		slots *= 2
	}
	k.text, k.ends, k.keys, k.slot = make([]byte, 0, usualID*n), make([]int, 0, n), make([]int64, 0, n), make([]uint32, slots)
}

// get returns the number of a lake.
func (k *lakeKeys) get(id data.LakeID) (key int64, ok bool) {
	if n := k.slot[k.find(id)]; n > 0 {
		return k.keys[n-1], true
	}
	return 0, false
}

// set sets the number of a lake. It copies the id, which may be a substring of a whole row.
func (k *lakeKeys) set(id data.LakeID, key int64) {
	at := k.find(id)
	if n := k.slot[at]; n > 0 {
		k.keys[n-1] = key
		return
	}
	k.text = append(k.text, id...)
	k.ends = append(k.ends, len(k.text))
	k.keys = append(k.keys, key)
	k.slot[at] = uint32(len(k.keys))
	if len(k.keys) > len(k.slot)/2 {
		k.slot = make([]uint32, 2*len(k.slot))
		for i := range k.keys {
			k.slot[k.find(k.id(i))] = uint32(i + 1)
		}
	}
}

// id returns the id of entry i, which is valid until the next change.
func (k *lakeKeys) id(i int) data.LakeID {
	first := 0
	if i > 0 {
		first = k.ends[i-1]
	}
	return data.LakeID(k.text[first:k.ends[i]])
}

// find returns the slot of an id, or the free one where it belongs.
func (k *lakeKeys) find(id data.LakeID) int {
	mask := len(k.slot) - 1
	at := int(maphash.String(k.seed, string(id))) & mask
	for ; k.slot[at] > 0 && k.id(int(k.slot[at]-1)) != id; at = (at + 1) & mask {
	}
	return at
}
