package demo

import (
	"crypto/sha256"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"limnomap/data"
)

// noon is a Wednesday, two days after its week's pass.
var noon = time.Date(2026, time.November, 18, 12, 0, 0, 0, time.UTC)

func TestPastDoesNotChange(t *testing.T) {
	m := models(parseLakes(lakesCSV))
	week := newestPass(noon)
	before := newEdition(m, week)
	for _, later := range []data.Week{1, 2, 52, passes - 1} {
		after := newEdition(m, week+later)
		for i := range m {
			for k := int(later); k < passes; k++ {
				if got, want := after.observation(i, k-int(later)), before.observation(i, k); got != want {
					t.Fatalf("%d weeks later %s reads %+v, was %+v", later, m[i].lake.ID, got, want)
				}
			}
		}
	}
}

func TestValuesDependOnTheLakeOnly(t *testing.T) {
	lakes := parseLakes(lakesCSV)
	week := newestPass(noon)
	all := newEdition(models(lakes), week)
	// Only the last lakes: with other neighbours and other indices of lake and region.
	const from = 200
	some := newEdition(models(lakes[from:]), week)
	for i := range lakes[from:] {
		for k := range passes {
			if got, want := some.observation(i, k), all.observation(from+i, k); got != want {
				t.Fatalf("without the first %d lakes %s reads %+v, want %+v", from, lakes[from+i].ID, got, want)
			}
		}
	}
}

func TestTwoRunsAgree(t *testing.T) {
	week := data.DateOf(time.Date(2025, time.December, 29, 0, 0, 0, 0, time.UTC)).Week()
	hash := func() [sha256.Size]byte {
		m := models(parseLakes(lakesCSV))
		e := newEdition(m, week)
		h := sha256.New()
		for i := range m {
			for k := passes - 52; k < passes; k++ {
				fmt.Fprintln(h, e.observation(i, k))
			}
		}
		return [sha256.Size]byte(h.Sum(nil))
	}
	if first, second := hash(), hash(); first != second {
		t.Errorf("two runs gave %x and %x", first, second)
	}
}

// TestSomeValues holds a few values of the past, which no release may change without meaning to: every demo's pictures
// and ETags would change with them.
func TestSomeValues(t *testing.T) {
	e := New(fixed(time.Date(2025, time.August, 27, 0, 0, 0, 0, time.UTC)))
	for _, test := range []struct {
		lake data.LakeID
		want string // of the four newest passes, newest first
	}{
		{"de_bw_bodensee_obersee", "null 0.97 null 2.02"},
		{"de_bb_stechlinsee", "1.65 1.54 2.13 2.45"},
		{"de_ni_duemmer", "94.98 null 111.97 132.13"},
	} {
		_, history, err := e.History(t.Context(), test.lake, data.Newest(4))
		must(t, err)
		var got []string
		for _, o := range history {
			got = append(got, o.Chlorophyll.String())
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s in August 2025 = %s, want %s", test.lake, got, test.want)
		}
	}
}

func TestValuesArePlausible(t *testing.T) {
	s := New(func() time.Time { return noon })
	e := s.current()
	for i := range s.models {
		for k := range passes {
			o := e.observation(i, k)
			if !o.Chlorophyll.Valid() {
				continue
			}
			if c := o.Chlorophyll.Float(); c < minSimulated || c > maxSimulated {
				t.Errorf("%s on %s = %g µg/l, want %g to %g", o.LakeID, o.Date, c, minSimulated, float64(maxSimulated))
			}
		}
	}
}

func TestShareOfClouds(t *testing.T) {
	s := New(func() time.Time { return noon })
	e := s.current()
	gaps, all := map[bool]float64{}, map[bool]float64{} // by whether it is November to February
	for i := range s.models {
		for k := range passes {
			o := e.observation(i, k)
			month := o.Date.Time().Month()
			winter := month >= time.November || month <= time.February
			all[winter]++
			if !o.Chlorophyll.Valid() {
				gaps[winter]++
			}
		}
	}
	share := (gaps[true] + gaps[false]) / (all[true] + all[false])
	if share < 0.15 || share > 0.45 {
		t.Errorf("%.0f %% of passes have no value, want 15 to 45", 100*share)
	}
	winter, rest := gaps[true]/all[true], gaps[false]/all[false]
	if winter < rest+0.1 {
		t.Errorf("%.0f %% of winter's passes have no value, %.0f %% of the others: winter must be cloudier", 100*winter, 100*rest)
	}
	t.Logf("without a value: %.1f %%, in winter %.1f, else %.1f", 100*share, 100*winter, 100*rest)
}

func TestDrawnMeansAreBounded(t *testing.T) {
	for _, m := range models(parseLakes(lakesCSV)) {
		if m.mean < 1 || m.mean > 100 {
			t.Errorf("%s has a mean of %g µg/l, want 1 to 100", m.lake.ID, m.mean)
		}
	}
}

func TestAnomaliesPersist(t *testing.T) {
	s := New(func() time.Time { return noon })
	e := s.current()
	var before, after []float64
	for i := range s.models {
		last := math.NaN()
		for k := range passes {
			o := e.observation(i, k)
			now := math.NaN()
			if o.Chlorophyll.Valid() {
				now = math.Log(o.Chlorophyll.Float()) - s.models[i].level(o.Date)
			}
			if !math.IsNaN(last) && !math.IsNaN(now) {
				before, after = append(before, last), append(after, now)
			}
			last = now
		}
	}
	r := correlation(before, after)
	if r < 0.4 {
		t.Errorf("lag-1 autocorrelation of weekly anomalies = %.2f, want more than 0.4", r)
	}
	t.Logf("lag-1 autocorrelation: %.2f over %d pairs", r, len(before))
}

func TestBloomsAreFew(t *testing.T) {
	m := models(parseLakes(lakesCSV))
	first := newestPass(noon) - (passes - 1)
	weeks, lakes := 0, 0
	for i := range m {
		bloomed := false
		for k := range data.Week(passes) {
			f := m[i].bloom(first + k)
			if f < 0 || f > math.Log(maxBloomFactor) {
				t.Fatalf("%s blooms by a factor of %g, want 1 to %g", m[i].lake.ID, math.Exp(f), maxBloomFactor)
			}
			if f > 0 {
				weeks++
				bloomed = true
			}
		}
		if bloomed {
			lakes++
		}
	}
	share := float64(weeks) / float64(len(m)*passes)
	if share < 0.002 || share > 0.03 {
		t.Errorf("%.2f %% of all weeks are in bloom, want 0.2 to 3", 100*share)
	}
	t.Logf("%d of %d lakes bloomed in three years, in %.2f %% of all weeks", lakes, len(m), 100*share)
}

func correlation(x, y []float64) float64 {
	var sx, sy, sxx, syy, sxy float64
	for i := range x {
		sx += x[i]
		sy += y[i]
		sxx += x[i] * x[i]
		syy += y[i] * y[i]
		sxy += x[i] * y[i]
	}
	n := float64(len(x))
	return (n*sxy - sx*sy) / math.Sqrt((n*sxx-sx*sx)*(n*syy-sy*sy))
}
