package api

import (
	"cmp"
	"slices"

	"limnomap/api/record"
	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/data/statistics"
)

const (
	// rankedPasses are the newest passes of a year by which the sites of a water are compared, and recentPasses those of which a clearer site was clearer in
	// all but one.
	rankedPasses, recentPasses = 12, statistics.MinRanked
	// maxClearer bounds the clearer sites of an answer.
	maxClearer = 3
	// maxRankedSites bounds the sites that are compared.
	maxRankedSites = 100
)

// A clearerSite is a site of the same water that was clearer in the last passes.
type clearerSite struct {
	lake   int // index
	passes int // in how many of recentPasses
}

// clearerSites returns the sites of the water of the i-th lake that were clearer in its last passes, the clearest first: none if these do not agree
// (see [statistics.RanksAgree]), if fewer than five show all sites, or if the last is old.
func clearerSites(snap *snapshot.Snapshot, i int) (clearer []clearerSite) {
	sites := slices.DeleteFunc(slices.Clone(snap.Sites(i)), func(site int32) bool { // one with the outline of the water is no shore
		return snap.Lakes[site].Outline != "" && snap.FirstSite(int(site)) == int(site)
	})
	own := slices.Index(sites, int32(i))
	if own < 0 || len(sites) > maxRankedSites {
		return nil
	}
	byDate := make(map[data.Date][]float64) // of the sites so far
	for n, site := range sites {
		measured, _ := snap.Measured(int(site))
		for _, v := range statistics.ValuesOf(measured, statistics.OfSatellite) {
			if last := snap.Current.AsOf; v.Date > last || v.Date <= last-365 {
				continue
			}
			if values := byDate[v.Date]; len(values) == n {
				byDate[v.Date] = append(values, v.Chlorophyll)
			}
		}
	}
	var dates []data.Date
	for date, values := range byDate {
		if len(values) == len(sites) {
			dates = append(dates, date)
		}
	}
	slices.Sort(dates)
	dates = dates[max(0, len(dates)-rankedPasses):]
	passes := make([][]float64, len(dates))
	for k, date := range dates {
		passes[k] = byDate[date]
	}
	if len(dates) == 0 || snap.Current.AsOf-dates[len(dates)-1] > snapshot.OldAfter || !statistics.RanksAgree(passes) {
		return nil
	}
	recent := passes[len(passes)-recentPasses:]
	for n, site := range sites {
		state, ownState := &snap.Current.States[site], &snap.Current.States[i]
		if n == own || !state.Chlorophyll.Valid() || state.Risk > ownState.Risk || snap.Current.Advisories.Kind(int(site)) >= data.Warning {
			continue
		}
		found := clearerSite{lake: int(site)}
		for _, values := range recent {
			if values[n] < values[own] {
				found.passes++
			}
		}
		if found.passes >= recentPasses-1 {
			clearer = append(clearer, found)
		}
	}
	slices.SortStableFunc(clearer, func(a, b clearerSite) int {
		return cmp.Compare(snap.Current.States[a.lake].Chlorophyll, snap.Current.States[b.lake].Chlorophyll)
	})
	return clearer[:min(len(clearer), maxClearer)]
}

// appendWater appends what is known of the water that the i-th lake is a site of.
func appendWater(content record.Object, snap *snapshot.Snapshot, i int) record.Object {
	if snap.Sites(i) == nil {
		return content
	}
	content = content.Open("water").Text("water_id", snap.Lakes[i].WaterID).Int("sites", len(snap.Sites(i))).Array("clearer")
	for n, c := range clearerSites(snap, i) {
		if n > 0 {
			content = append(content, ',')
		}
		site := &snap.Lakes[c.lake]
		content = append(content, record.Object("{").Text("id", string(site.ID)).Text("name", site.Name).Int("passes", c.passes).Close("}")...)
	}
	return content.Close("]}")
}
