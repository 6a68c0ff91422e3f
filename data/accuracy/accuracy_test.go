package accuracy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"limnomap/data"
)

var profile = data.Profiles()[0] // 10 and 50 µg/l

func day(t testing.TB, s string) data.Date {
	t.Helper()
	d, err := data.ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func observation(lake string, d data.Date, of data.DataType, chl float64, source string) data.Observation {
	return data.Observation{LakeID: data.LakeID(lake), Date: d, Type: of, Chlorophyll: data.Chlorophyll(math.Round(100 * chl)), Source: source, Level: data.NoLevel, CellDensity: data.NoCellDensity}
}

// Each sample has the nearest pass of each product, and no poor value, no gap and no forecast counts.
func TestMatchesOf(t *testing.T) {
	d := day(t, "2026-07-15")
	poor := observation("a", d, data.Satellite, 99, "LWQ")
	poor.Quality = data.Poor
	gap := observation("a", d, data.Satellite, 0, "CyAN")
	gap.Chlorophyll = data.NoChlorophyll
	scum := observation("a", d+30, data.InSitu, 8, "lab")
	scum.Details.Flags = data.FlagsOf(data.Scum)
	preferred := observation("a", d+31, data.Satellite, 7, "LWQ")
	preferred.Rank = 1
	observations := []data.Observation{
		observation("a", d, data.InSitu, 12, "lab"), observation("a", d, data.InSitu, 20, "other lab"),
		poor, gap, observation("a", d, data.Forecast, 5, ""),
		observation("a", d-2, data.Satellite, 9, "LWQ"), observation("a", d+2, data.Satellite, 11, "LWQ"), observation("a", d-3, data.Satellite, 60, "CyAN"),
		observation("a", d+4, data.Satellite, 13, "third"),
		scum, preferred, observation("a", d+29, data.Satellite, 6, "CyAN"),
		observation("a", d+60, data.InSitu, 3, "lab"), observation("a", d+64, data.Satellite, 3, "LWQ"),
	}
	var got []string
	for _, m := range MatchesOf(observations, 3, &profile) {
		got = append(got, fmt.Sprintf("%s %v %s, %v %s: %d days, %t", m.Product, m.Satellite.Chlorophyll, m.Satellite.Risk, m.Sample.Chlorophyll, m.Sample.Risk, m.Apart(), m.First))
	}
	want := []string{
		"LWQ 9 low, 20 medium: 2 days, true", "CyAN 60 high, 20 medium: 3 days, false",
		"LWQ 7 low, 8 high: 1 days, true", "CyAN 6 low, 8 high: 1 days, false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the matches are\n%q, want\n%q", got, want)
	}
}

func TestSummarize(t *testing.T) {
	d := day(t, "2026-07-15")
	value := func(chl float64) Value {
		o := observation("a", d, data.InSitu, chl, "")
		return valueOf(&o, &profile)
	}
	s := Summarize([]Match{{Lake: "a", Satellite: value(20), Sample: value(10)}, {Lake: "a", Satellite: value(5), Sample: value(20)}, {Lake: "b", Satellite: value(60), Sample: value(12)}, {Lake: "b", Satellite: value(0), Sample: value(0.1)}})
	want := (math.Log(2) + math.Log(0.25) + math.Log(5) + 0) / 4
	if s.Matches != 4 || s.Lakes != 2 || math.Abs(s.Bias-want) > 1e-12 || s.Within != 2 || s.Biased || s.Interval.Known {
		t.Errorf("the summary is %+v, want a bias of %v", s, want)
	}
	if same, low, high := s.Agreement(); same != 2 || low != 1 || high != 1 {
		t.Errorf("%d, %d and %d have the same, a lower and a higher class", same, low, high)
	}
	if of := Summarize(nil); of.Matches != 0 || of.Biased || of.Interval.Known {
		t.Errorf("the summary of nothing is %+v", of)
	}
}

// The quantiles are those of R: qt(0.995, c(9, 19, 99)).
func TestStudentQuantile(t *testing.T) {
	for degrees, want := range map[float64]float64{9: 3.249836, 19: 2.860935, 99: 2.626405} {
		if got := studentQuantile(biasQuantile, degrees); math.Abs(got/want-1) > 1e-3 {
			t.Errorf("with %g degrees of freedom it is %v, want %v", degrees, got, want)
		}
	}
}

// A world has samples of lakes and passes of one product near them: each lake has its own difference, and each match too.
type world struct {
	lakes, matches         int
	bias, ofLakes, ofMatch float64
}

func (w world) ledger(rnd *rand.Rand, regions int) *Ledger {
	b := NewBuilder(3, &profile)
	for lake := range w.lakes {
		id, of := fmt.Sprintf("l%05d", lake), w.ofLakes*rnd.NormFloat64()
		for k := range w.matches {
			d := data.Date(18000 + 20*k)
			sample := math.Exp(2 + rnd.NormFloat64())
			_ = b.Add(observation(id, d, data.InSitu, sample, "lab"))
			_ = b.Add(observation(id, d+data.Date(rnd.IntN(7)-3), data.Satellite, sample*math.Exp(w.bias+of+w.ofMatch*rnd.NormFloat64()), "LWQ"))
		}
	}
	return b.Ledger(func(id data.LakeID) (string, bool) { return fmt.Sprint("r", int(id[len(id)-1])%regions), true }, nil)
}

// all returns the matches of all lakes.
func (l *Ledger) all() (matches []Match) {
	for i := range l.lakes {
		matches = append(matches, l.lakes[i].matches...)
	}
	return matches
}

// A product that shows 1.8 times what samples have is called biased with its size after 20 match-ups, and a good one is not.
func TestBiasOfOneLake(t *testing.T) {
	const count = 2000
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, test := range []struct {
		factor      float64
		least, most int // of count
	}{{1, 0, count / 100}, {1.8, count * 95 / 100, count}, {1 / 1.8, count * 95 / 100, count}} {
		found := 0
		sum := 0.0
		for _, g := range (world{count, 20, math.Log(test.factor), 0, 0.5}).ledger(rnd, 1).Groups(ByLake) {
			if g.Biased {
				found++
				sum += g.Bias
			}
		}
		t.Logf("a factor of %.2f: %d of %d lakes are called biased", test.factor, found, count)
		if found < test.least || found > test.most {
			t.Errorf("a factor of %.2f: %d of %d lakes are called biased, want %d to %d", test.factor, found, count, test.least, test.most)
		}
		if size := math.Exp(sum / float64(found)); test.factor != 1 && math.Abs(size/test.factor-1) > 0.05 {
			t.Errorf("the size of a factor of %.2f is %.3f", test.factor, size)
		}
	}
}

// A product is called biased by the means of lakes: that a lake differs is no bias of the product.
func TestBiasOfAProduct(t *testing.T) {
	const count = 1000
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, test := range []struct {
		factor      float64
		least, most int
	}{{1, 0, count / 100}, {2, count * 95 / 100, count}} {
		found := 0
		for range count {
			if (world{20, 5, math.Log(test.factor), 0.4, 0.5}).ledger(rnd, 1).Groups(ByProduct)[0].Biased {
				found++
			}
		}
		t.Logf("a factor of %g: %d of %d products are called biased", test.factor, found, count)
		if found < test.least || found > test.most {
			t.Errorf("a factor of %g: %d of %d products are called biased, want %d to %d", test.factor, found, count, test.least, test.most)
		}
	}
	few := (world{9, 50, math.Log(3), 0, 0.1}).ledger(rnd, 1).Groups(ByProduct)[0]
	if few.Biased {
		t.Error("a product with samples of 9 lakes is called biased")
	}
}

// Of lakes that the interval of a product was not made from, four of five samples are in it; the same holds for later samples of a lake.
func TestCoverageOfHeldOutLakes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	all := (world{4000, 5, 0.2, 0.4, 0.5}).ledger(rnd, 1).all()
	const used = 2000 // lakes
	at := slices.IndexFunc(all, func(m Match) bool { return m.Lake == "l02000" })
	interval := Summarize(all[:at]).Interval
	checkCoverage(t, fmt.Sprintf("of %d held-out lakes", 4000-used), all[at:], func(data.LakeID) data.Optional[Interval] { return interval })

	own := (world{2000, 40, 0.2, 0.4, 0.5}).ledger(rnd, 1).all()
	intervals := make(map[data.LakeID]data.Optional[Interval])
	var later []Match
	for i := 0; i < len(own); i += 40 {
		intervals[own[i].Lake] = Summarize(own[i : i+20]).Interval
		later = append(later, own[i+20:i+40]...)
	}
	checkCoverage(t, "of later samples of the same lakes", later, func(id data.LakeID) data.Optional[Interval] { return intervals[id] })
}

func checkCoverage(t *testing.T, name string, matches []Match, of func(data.LakeID) data.Optional[Interval]) {
	t.Helper()
	covered := 0
	for _, m := range matches {
		i := of(m.Lake)
		if factor := math.Exp(-m.Difference()); i.Known && i.Value.Lower <= factor && factor <= i.Value.Upper {
			covered++
		}
	}
	share := float64(covered) / float64(len(matches))
	t.Logf("%s %.3f are in the interval", name, share)
	if share < 0.78 || share > 0.82 {
		t.Errorf("%s %.3f are in the interval, want 0.78 to 0.82", name, share)
	}
}

// A lake with few samples has the interval of its region or of its product, and says so.
func TestWhoseInterval(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	b := NewBuilder(3, &profile)
	add := func(lake string, n int) {
		for k := range n {
			d := data.Date(18000 + 10*k)
			_ = b.Add(observation(lake, d, data.InSitu, 10, "lab"))
			_ = b.Add(observation(lake, d, data.Satellite, 10*math.Exp(0.3*rnd.NormFloat64()), "LWQ"))
		}
	}
	add("x_many", 20)
	add("x_few", 2)
	add("y_few", 3)
	add("unknown", 50)
	l := b.Ledger(func(id data.LakeID) (string, bool) { return string(id[0]), id != "unknown" }, nil)
	if l.Len() != 25 {
		t.Errorf("%d matches, want 25", l.Len())
	}
	for lake, want := range map[data.LakeID]By{"x_many": ByLake, "x_few": ByRegion, "y_few": ByProduct} {
		if _, groups := l.Lake(lake); len(groups) != 1 || groups[0].IntervalBy != want || !groups[0].Interval.Known {
			t.Errorf("%s: %+v, want the interval of its %s", lake, groups, want)
		}
	}
	if matches, _ := l.Lake("x_few"); len(matches) != 2 || FirstOf(matches).Matches != 2 {
		t.Errorf("%d matches, want 2", len(matches))
	}
	if matches, groups := l.Lake("nowhere"); len(matches) > 0 || len(groups) > 0 {
		t.Errorf("a lake without samples has %v, %v", matches, groups)
	}
}

func TestWarningsOf(t *testing.T) {
	d := func(s string) data.Date { return day(t, s) }
	say := func(from, until string, kind data.AdvisoryKind, cause data.Cause) data.Advisory {
		a := data.Advisory{LakeID: "a", Kind: kind, Cause: cause, Issued: d(from).Time(), ValidFrom: d(from).Time()}
		if until != "" {
			a.ValidUntil = d(until).Time()
		}
		return a
	}
	withdrawn := say("2025-08-01", "", data.Closure, data.Cyanobacteria)
	withdrawn.Withdrawn = d("2025-08-20").Time()
	statements := []data.Advisory{
		say("2024-07-10", "2024-07-20", data.Warning, data.Cyanobacteria), say("2024-07-20", "2024-08-10", data.Closure, data.Cyanobacteria), // one
		withdrawn,
		say("2025-06-01", "2025-06-10", data.Closure, data.Cyanobacteria), // no pass
		say("2025-05-01", "2025-05-10", data.Closure, data.Bacteria), say("2025-05-01", "2025-05-10", data.Info, data.Cyanobacteria),
		say("2026-07-01", "", data.Closure, data.Cyanobacteria),
	}
	var observations []data.Observation
	for _, v := range []struct {
		date string
		chl  float64
	}{
		{"2023-08-01", 80},                                                                               // before the first year of statements
		{"2024-06-20", 5}, {"2024-06-27", 20}, {"2024-07-04", 60}, {"2024-07-11", 70}, {"2024-07-18", 5}, // 13 and 6 days before
		{"2024-09-20", 12}, {"2024-09-27", 55}, // nobody said so
		{"2025-07-25", 5}, {"2025-08-05", 30}, // 4 days after, never high
		{"2026-06-20", 4}, {"2026-07-04", 6}, // missed
	} {
		observations = append(observations, observation("a", d(v.date), data.Satellite, v.chl, ""))
	}
	poor := observation("a", d("2025-06-03"), data.Satellite, 90, "")
	poor.Quality = data.Poor
	observations = append(observations, poor, observation("a", d("2025-06-03"), data.InSitu, 90, ""))
	want := [2]Warnings{{data.RiskMedium, 2, 1, 1, 1, []int{13, -4}}, {data.RiskHigh, 1, 2, 1, 1, []int{6}}}
	if got := WarningsOf(observations, statements, &profile, d("2026-07-10")); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the statements are %v, want %v", got, want)
	}
	if days, ok := want[0].MedianLead(); !ok || days != 4.5 {
		t.Errorf("the median lead is %v", days)
	}
}
