package snapshot

import (
	"slices"

	"limnomap/data"
)

// waters are those that have several sites.
type waters struct {
	sites map[string][]int32 // by WaterID: indexes in Lakes, ascending
	first map[int32]int32    // by the other sites of a water: the one that has the pixels of all of it
}

// watersOf returns the waters of lakes; nil if none has several sites.
func watersOf(lakes []data.Lake) *waters {
	var w *waters
	for i := range lakes {
		if id := lakes[i].WaterID; id != "" {
			if w == nil {
				w = &waters{sites: make(map[string][]int32), first: make(map[int32]int32)}
			}
			w.sites[id] = append(w.sites[id], int32(i))
		}
	}
	if w == nil {
		return nil
	}
	for id, sites := range w.sites {
		if len(sites) == 1 {
			delete(w.sites, id)
			continue
		}
		site := func(i int32) data.Site { return data.Site{ID: lakes[i].ID, Outline: lakes[i].Outline} }
		first := slices.MinFunc(sites, func(a, b int32) int { return data.CompareSites(site(a), site(b)) })
		for _, i := range sites {
			if i != first {
				w.first[i] = first
			}
		}
	}
	return w
}

// firstSite returns the lake that has the pixels of Lakes[i]: the first site of its water, or itself.
func (w *waters) firstSite(i int) int {
	if w != nil {
		if first, ok := w.first[int32(i)]; ok {
			return int(first)
		}
	}
	return i
}

// FirstSite returns the lake that has the pixels of Lakes[i]: the first site of its water (see [data.CompareSites]), or itself.
func (s *Snapshot) FirstSite(i int) int { return s.waters.firstSite(i) }

// Sites returns the sites of the water of Lakes[i], itself too; nil if it is not known to have several. The slice is shared and must not be changed.
func (s *Snapshot) Sites(i int) []int32 {
	if id := s.Lakes[i].WaterID; s.waters != nil && id != "" {
		return s.waters.sites[id]
	}
	return nil
}
