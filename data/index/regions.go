package index

import (
	"bytes"
	"slices"

	"limnomap/data"
)

// regions find the lakes of a region. There are few regions with many lakes each: a region has one entry, in the order of
// their texts, and a lake takes four bytes. Regions with the same folded text are one region.
type regions struct {
	entries
	first []int32 // index in lakes of each region's first lake, and of the end
	lakes []int32 // region by region, in the order of folded names
}

// regionsOf returns the regions of lakes. The order byName is by folded name.
func regionsOf(lakes []data.Lake, byName []int32) regions {
	positions, texts := regionPositions(lakes)
	r := regions{entries: entries{ends: make([]int, 0, len(texts))}, first: make([]int32, len(texts)+1)}
	for _, text := range texts {
		r.text = append(append(r.text, entryStart), text...)
		r.ends = append(r.ends, len(r.text))
	}
	r.clip()
	for i := range lakes {
		if position, ok := positions[lakes[i].Region]; ok {
			r.first[position+1]++
		}
	}
	for i := range texts {
		r.first[i+1] += r.first[i]
	}
	r.lakes = make([]int32, r.first[len(texts)])
	next := slices.Clone(r.first)
	for _, lake := range byName {
		if position, ok := positions[lakes[lake].Region]; ok {
			r.lakes[next[position]] = lake
			next[position]++
		}
	}
	return r
}

// regionPositions returns the sorted folded texts of the regions, and for each region as written its index among them.
// A region without a letter or a digit is left out.
func regionPositions(lakes []data.Lake) (positions map[string]int, texts [][]byte) {
	fields := make(map[string][]byte)
	for i := range lakes {
		if _, known := fields[lakes[i].Region]; !known {
			fields[lakes[i].Region] = appendFields(nil, 0, lakes[i].Region)
		}
	}
	for name, text := range fields {
		if len(text) == 0 {
			delete(fields, name)
			continue
		}
		texts = append(texts, text)
	}
	slices.SortFunc(texts, bytes.Compare)
	texts = slices.CompactFunc(texts, bytes.Equal)
	positions = make(map[string]int, len(fields))
	for name, text := range fields {
		positions[name], _ = slices.BinarySearchFunc(texts, text, bytes.Compare)
	}
	return positions, texts
}

// appendLakes appends the lakes of the regions that contain q to those found before, each once, up to limit.
func (r *regions) appendLakes(found []int, q string, limit int) []int {
	before := len(found)
	// Each region has at least one lake, and no lake is in two regions: so limit regions are enough.
	for _, region := range r.find(q, limit) {
		for _, lake := range r.lakes[r.first[region]:r.first[region+1]] {
			if len(found) >= limit {
				return found
			}
			if !slices.Contains(found[:before], int(lake)) {
				found = append(found, int(lake))
			}
		}
	}
	return found
}
