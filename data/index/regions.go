package index

import (
	"bytes"
	"slices"

	"limnomap/data"
)

// Regions tell which lakes lie in a region. Regions are few and their lakes many: each has one entry, in the order of their
// texts, and a lake costs four bytes. Regions whose texts are folded alike are one.
type regions struct {
	entries
	first []int32 // of the lakes of each region, and behind the last
	lakes []int32 // those of a region by folded name
}

// regionsOf returns the regions of lakes, which byName orders by folded name.
func regionsOf(lakes []data.Lake, byName []int32) regions {
	places, texts := regionPlaces(lakes)
	r := regions{entries: entries{ends: make([]int, 0, len(texts))}, first: make([]int32, len(texts)+1)}
	for _, text := range texts {
		r.text = append(append(r.text, entryStart), text...)
		r.ends = append(r.ends, len(r.text))
	}
	r.clip()
	for i := range lakes {
		if place, ok := places[lakes[i].Region]; ok {
			r.first[place+1]++
		}
	}
	for i := range texts {
		r.first[i+1] += r.first[i]
	}
	r.lakes = make([]int32, r.first[len(texts)])
	next := slices.Clone(r.first)
	for _, lake := range byName {
		if place, ok := places[lakes[lake].Region]; ok {
			r.lakes[next[place]] = lake
			next[place]++
		}
	}
	return r
}

// regionPlaces returns the fields of the regions in their order, and by what a lake calls its region the place of that
// among them. A region without a letter or a digit is none.
func regionPlaces(lakes []data.Lake) (places map[string]int, texts [][]byte) {
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
	places = make(map[string]int, len(fields))
	for name, text := range fields {
		places[name], _ = slices.BinarySearchFunc(texts, text, bytes.Compare)
	}
	return places, texts
}

// appendLakes appends the lakes of the regions that hold q to those found before, each once, until there are limit.
func (r *regions) appendLakes(found []int, q string, limit int) []int {
	before := len(found)
	// Of that many regions, each has a lake, and no lake is in two: there are enough even if all found before are theirs.
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
