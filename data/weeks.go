package data

import "sort"

// countWeeks fills in the LakesWithData of all Weeks in one pass over the samples: a value counts from the week that
// holds it until a newer one replaces it or it is stale, so it adds one where that span begins and takes one away
// where it ends. Building each week's view instead would cost weeks times as much.
func (s *Snapshot) countWeeks() {
	steps := make([]int, len(s.Weeks)+1)
	for i := range s.Lakes {
		end := len(s.Weeks) // the week of the next newer value
		samples := s.satellite.of(i).samples
		for k := len(samples) - 1; k >= 0; k-- {
			if !samples[k].valid() {
				continue
			}
			date := samples[k].date()
			begin := sort.Search(end, func(w int) bool { return s.asOf[w] >= date })
			stale := begin + sort.Search(end-begin, func(w int) bool { return s.stale(date, s.asOf[begin+w]) })
			steps[begin]++
			steps[stale]--
			end = begin
		}
	}
	lakes := 0
	for w := range s.Weeks {
		lakes += steps[w]
		s.Weeks[w].LakesWithData = lakes
	}
}
