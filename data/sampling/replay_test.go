package sampling

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"limnomap/data/forecast"
	"limnomap/data/forecast/forecasttest"
)

// A site is a lake of the replay, and what a strategy knows of it.
type site struct {
	latitude, longitude float64
	near                []int            // sites within 50 km
	filter              *forecast.Filter // nil for an order that does not predict
	values              []forecast.Value // known ones, in ascending order of day
	truth               map[int]float64  // by week
}

func (s *site) know(v forecast.Value) {
	if s.filter != nil {
		s.filter.Add(v)
	}
	s.values = append(s.values, v)
}

func (s *site) last() (v forecast.Value, ok bool) {
	if len(s.values) == 0 {
		return v, false
	}
	return s.values[len(s.values)-1], true
}

// readSites returns one half of the lakes of the global series. The truth of a week is its first sample.
func readSites(t testing.TB, even bool) (sites []*site, weeks []int) {
	t.Helper()
	longitude := make(map[string]float64)
	for _, row := range forecasttest.Rows(t, forecasttest.Open(t, "data/global_lakes_coordinates.csv")) {
		longitude[row[0]], _ = strconv.ParseFloat(row[2], 64)
	}
	seen := make(map[int]bool)
	for _, l := range forecasttest.Lakes(t) {
		if l.Even() != even {
			continue
		}
		s := &site{latitude: l.Latitude, longitude: math.NaN(), truth: make(map[int]float64)}
		if x, ok := longitude[l.Name]; ok {
			s.longitude = x
		}
		for _, v := range l.Values {
			week := weekOf(v.Day)
			if _, ok := s.truth[week]; !ok {
				s.truth[week] = v.Chl
			}
			seen[week] = true
		}
		sites = append(sites, s)
	}
	for i, a := range sites {
		for k, b := range sites {
			x, y := (a.longitude-b.longitude)*math.Cos(a.latitude*math.Pi/180), a.latitude-b.latitude
			if i != k && math.Hypot(x, y)*111 <= 50 { // false for NaN
				a.near = append(a.near, k)
			}
		}
	}
	for week := range seen {
		weeks = append(weeks, week)
	}
	slices.Sort(weeks)
	return sites, weeks
}

func weekOf(day int) int  { return (day + 3) / 7 } // as in data.Date.Week
func monday(week int) int { return 7*week - 3 }
func yearOf(day int) int  { return day * 400 / 146_097 }

// A strategy returns what it sorts sites by, the highest first.
type strategy struct {
	name  string
	value func(sites []*site, i, day int, limit float64) float64
}

var strategies = []strategy{
	{"random", func([]*site, int, int, float64) float64 { return 0 }},
	{"routine", func(sites []*site, i, day int, _ float64) float64 {
		v, ok := sites[i].last()
		if !ok {
			return math.Inf(1)
		}
		return float64(day - v.Day)
	}},
	{"highest last value", func(sites []*site, i, _ int, _ float64) float64 {
		v, _ := sites[i].last()
		return v.Chl
	}},
	plan(novelDays, apartShare),
}

// plan returns the order of a plan with other constants.
func plan(novelDays, apartShare float64) strategy {
	return strategy{planName, func(sites []*site, i, day int, limit float64) float64 {
		s := sites[i]
		l := Lake{Prediction: s.filter.Predict(day), SinceSample: -1}
		if v, ok := s.last(); ok {
			l.SinceSample = day - v.Day
			var others []float64
			for _, k := range s.near {
				if o, ok := sites[k].last(); ok && day-o.Day <= 35 {
					others = append(others, math.Log(max(o.Chl, 0.1)))
				}
			}
			if len(others) >= 3 && l.SinceSample <= 35 {
				slices.Sort(others)
				l.Apart = math.Log(max(v.Chl, 0.1)) - others[len(others)/2]
			}
		}
		return l.score(limit, novelDays, apartShare)
	}}
}

const planName = "plan"

// An outcome is what a strategy has found.
type outcome struct {
	taken, found int
	visited, hit map[[2]int]bool // sites and years with a sample, and with an exceedance that was found
}

// replay lets a strategy choose a share of the sites that were sampled in each week with at least ten. The values of the first quarter of the weeks are known.
// Later it knows all values of earlier weeks, as if satellites had shown them, or only those of its own samples.
func replay(sites []*site, weeks []int, s strategy, limit, share float64, ownOnly bool) (o outcome, all outcome) {
	rnd := rand.New(rand.NewPCG(1, 1))
	o.visited, o.hit, all.visited, all.hit = make(map[[2]int]bool), make(map[[2]int]bool), make(map[[2]int]bool), make(map[[2]int]bool)
	for _, site := range sites {
		site.filter, site.values = nil, nil
		if s.name == planName {
			site.filter = forecast.New(site.latitude)
		}
	}
	for n, week := range weeks {
		day := monday(week)
		var at []int
		for i, site := range sites {
			if _, ok := site.truth[week]; ok {
				at = append(at, i)
			}
		}
		chosen := len(at)
		if n >= len(weeks)/4 && len(at) >= 10 {
			chosen = int(math.Ceil(share * float64(len(at))))
			rnd.Shuffle(len(at), func(i, j int) { at[i], at[j] = at[j], at[i] })
			values := make(map[int]float64)
			for _, i := range at {
				values[i] = s.value(sites, i, day, limit)
			}
			slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
			count := func(o *outcome, at []int) {
				for _, i := range at {
					o.taken++
					o.visited[[2]int{i, yearOf(day)}] = true
					if sites[i].truth[week] >= limit {
						o.found++
						o.hit[[2]int{i, yearOf(day)}] = true
					}
				}
			}
			count(&o, at[:chosen])
			count(&all, at)
			if !ownOnly {
				chosen = len(at)
			}
		}
		for _, i := range at[:chosen] {
			sites[i].know(forecast.Value{Day: day, Chl: sites[i].truth[week]})
		}
	}
	return o, all
}

// In one half of the lakes the plan's constants find as much as others or more.
func TestConstants(t *testing.T) {
	sites, weeks := readSites(t, true)
	found := func(novelDays, apartShare float64) (perSample float64) {
		n := 0.
		for _, ownOnly := range []bool{false, true} {
			for _, limit := range []float64{10, 50} {
				for _, share := range []float64{0.1, 0.25} {
					o, _ := replay(sites, weeks, plan(novelDays, apartShare), limit, share, ownOnly)
					perSample += float64(o.found) / float64(o.taken)
					n++
				}
			}
		}
		t.Logf("%v days, a share of %v: %.4f exceedances per sample", novelDays, apartShare, perSample/n)
		return perSample / n
	}
	best := found(novelDays, apartShare)
	for _, days := range []float64{0.5, 7, 14, 30} {
		if other := found(days, apartShare); other > best+0.001 {
			t.Errorf("%v days find %.4f exceedances per sample, %v find %.4f", days, other, novelDays, best)
		}
	}
	for _, share := range []float64{0, 1} {
		if other := found(novelDays, share); other > best+0.001 {
			t.Errorf("a share of %v finds %.4f exceedances per sample, %v finds %.4f", share, other, apartShare, best)
		}
	}
}

// In past years of the other half the plan finds more exceedances with each sample than any other order: the tables of docs/sampling-plan.md.
func TestReplay(t *testing.T) {
	sites, weeks := readSites(t, false)
	for _, ownOnly := range []bool{false, true} {
		for _, limit := range []float64{10, 50} {
			for _, share := range []float64{0.1, 0.25, 0.5} {
				best, planned := 0, 0
				line := ""
				for _, s := range strategies {
					o, all := replay(sites, weeks, s, limit, share, ownOnly)
					line += fmt.Sprintf(" | %.3f %d %d", float64(o.found)/float64(o.taken), len(o.hit), len(o.visited))
					if s.name == planName {
						planned = o.found
						line += fmt.Sprintf(" | of %d in %d, %d of %d", all.found, all.taken, len(all.hit), len(all.visited))
					} else {
						best = max(best, o.found)
					}
				}
				t.Logf("own %t, %v µg/l, share %v%s", ownOnly, limit, share, line)
				if planned < best {
					t.Errorf("%v µg/l, a share of %v, own values only %t: the plan finds %d, another order %d", limit, share, ownOnly, planned, best)
				}
			}
		}
	}
}
