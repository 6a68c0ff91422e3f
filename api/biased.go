package api

import (
	"maps"

	"limnomap/api/record"
	"limnomap/data"
	"limnomap/data/accuracy"
)

// biasedColumns are members of the lakes at which a satellite product is biased.
var biasedColumns = record.Columns[lakeRecord]{
	record.New("biased", "boolean", func(b []byte, _ record.Format, r lakeRecord) []byte {
		if biased := r.biased.Load(); biased == nil || !(*biased)[r.lake.ID] {
			return b
		}
		return append(b, "true"...)
	}),
}.Optional()

// markBiased makes records say at which lakes a product is biased. If these are others than before, the lists of all lakes are made again.
func (s *common) markBiased(l *accuracy.Ledger) {
	biased := make(map[data.LakeID]bool)
	groups := l.Groups(accuracy.ByLake)
	for i := range groups {
		if groups[i].Biased {
			biased[data.LakeID(groups[i].Of)] = true
		}
	}
	if before := s.encoder.biased.Swap(&biased); before != nil && maps.Equal(*before, biased) || before == nil && len(biased) == 0 {
		return
	}
	s.preparing.Lock()
	defer s.preparing.Unlock()
	for {
		before := s.current.Load()
		p := *before
		p.lists = newLists(before.lists)
		if !s.current.CompareAndSwap(before, &p) {
			continue // a newer snapshot has been published
		}
		before.lists.records.Store(nil)
		if before.lists.take() {
			before.lists.finish(errPassedOver)
		}
		s.finishListsOf(&p)
		return
	}
}
