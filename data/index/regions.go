package index

import (
	"bytes"
	"cmp"
	"slices"

	"limnomap/data"
)

// regions are the regions of lakes. There are few regions with many lakes each: a region has one entry, in the order of their texts, and a
// lake takes four bytes. Regions with the same folded texts are one region; the first region is that of the lakes without one.
type regions struct {
	entries
	of []int32 // the region of each entry of the NameIndex
}

// regionsOf returns the regions of lakes. The order byName is that of the entries.
func regionsOf(lakes []data.Lake, byName []int32) regions {
	type source struct {
		region string
		byID   *state
	}
	sources := func(l *data.Lake) source { return source{l.Region, stateOfID(l.ID)} }
	texts := map[source][]byte{}
	for i := range lakes {
		s := sources(&lakes[i])
		if _, known := texts[s]; known {
			continue
		}
		text := appendFields([]byte{entryStart}, 1, s.region)
		if state := cmp.Or(stateNamed(s.region), s.byID); state != nil {
			for _, name := range state.names {
				text = appendFields(text, 1, name)
			}
		}
		texts[s] = text
	}
	r := regions{of: make([]int32, len(lakes))}
	distinct := [][]byte{{entryStart}}
	for _, text := range texts {
		distinct = append(distinct, text)
	}
	slices.SortFunc(distinct, bytes.Compare)
	distinct = slices.CompactFunc(distinct, bytes.Equal)
	for _, text := range distinct {
		r.text = append(r.text, text...)
		r.ends = append(r.ends, len(r.text))
	}
	r.clip()
	r.ends = slices.Clip(r.ends)
	positions := make(map[source]int32, len(texts))
	for s, text := range texts {
		position, _ := slices.BinarySearchFunc(distinct, text, bytes.Compare)
		positions[s] = int32(position)
	}
	for entry, lake := range byName {
		r.of[entry] = positions[sources(&lakes[lake])]
	}
	return r
}

// ranks returns the rank of a word in each region.
func (r *regions) ranks(w *word, lenient bool) []rank {
	ranks := make([]rank, len(r.ends))
	for region := range ranks {
		ranks[region] = w.inRegion(r.at(region), lenient)
	}
	return ranks
}
