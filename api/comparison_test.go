package api

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/accuracy"
)

// A countedSource counts what comparisons read.
type countedSource struct {
	*fakeSource
	whole, histories, read int
}

func (c *countedSource) NearSamples(ctx context.Context, days int, observation func(data.Observation) error) (data.Revision, error) {
	c.whole++
	return c.fakeSource.NearSamples(ctx, days, observation)
}

func (c *countedSource) History(ctx context.Context, id data.LakeID, q data.HistoryQuery) (data.Lake, []data.Observation, error) {
	c.histories++
	return c.fakeSource.History(ctx, id, q)
}

func (c *countedSource) Forecasts(ctx context.Context, issued data.Optional[data.Date], each func(data.LakeForecast) error) (data.ForecastIssue, data.Revision, error) {
	c.read++
	return c.fakeSource.Forecasts(ctx, issued, each)
}

// described returns all that a ledger tells.
func described(l *accuracy.Ledger, lakes []data.Lake) string {
	var b strings.Builder
	for by := range accuracy.AllBy() {
		fmt.Fprintf(&b, "%+v\n", l.Groups(accuracy.By(by)))
	}
	fmt.Fprintf(&b, "%d %+v\n%+v\n", l.Len(), l.Warnings, l.Forecasts)
	for _, lake := range lakes {
		matches, _ := l.Lake(lake.ID)
		warnings, ok := l.WarningsOf(lake.ID)
		fmt.Fprintf(&b, "%s %+v %+v %t\n", lake.ID, matches, warnings, ok)
	}
	return b.String()
}

// A changingSource changes at random.
type changingSource struct {
	*countedSource
	rnd *rand.Rand
	now time.Time
}

func (c *changingSource) observe(o data.Observation) {
	same := func(other data.Observation) bool {
		return other.LakeID == o.LakeID && data.CompareInScan(other, o) == 0
	}
	c.observations = append(slices.DeleteFunc(c.observations, same), o)
}

// observation returns a random one of a lake.
func (c *changingSource) observation(lake data.LakeID) data.Observation {
	o := data.Observation{LakeID: lake, Date: data.DateOf(c.now) - data.Date(c.rnd.IntN(400)), Chlorophyll: data.Chlorophyll(c.rnd.IntN(9000)), Level: data.NoLevel, CellDensity: data.NoCellDensity}
	if o.Source = []string{"LWQ", "CyAN", ""}[c.rnd.IntN(3)]; o.Source == "CyAN" {
		o.Rank = 1
	}
	if c.rnd.IntN(2) == 0 {
		o.Type, o.Source, o.Rank = data.InSitu, []string{"lab", ""}[c.rnd.IntN(2)], 0
	}
	if c.rnd.IntN(6) == 0 {
		o.Quality = data.Poor
	}
	return o
}

// change makes one change and returns its name.
func (c *changingSource) change() string {
	lake := c.lakes[c.rnd.IntN(len(c.lakes))].ID
	of := c.rnd.IntN(10)
	switch {
	case of < 4:
		for range 1 + c.rnd.IntN(3) {
			c.observe(c.observation(lake))
		}
		return "new values"
	case of == 4 && len(c.observations) > 0:
		o := &c.observations[c.rnd.IntN(len(c.observations))]
		o.Chlorophyll, o.Quality = data.Chlorophyll(c.rnd.IntN(9000)), data.Quality(c.rnd.IntN(2))*data.Poor
		return "another value"
	case of == 5 && len(c.observations) > 0:
		at := c.rnd.IntN(len(c.observations))
		c.observations = slices.Delete(c.observations, at, at+1)
		return "a value less"
	case of == 6 && len(c.lakes) > 20:
		c.lakes = slices.DeleteFunc(c.lakes, func(l data.Lake) bool { return l.ID == lake })
		c.observations = slices.DeleteFunc(c.observations, func(o data.Observation) bool { return o.LakeID == lake })
		c.advisories = slices.DeleteFunc(c.advisories, func(a data.Advisory) bool { return a.LakeID == lake })
		for i := range c.issues {
			c.issues[i].lakes = slices.DeleteFunc(slices.Clone(c.issues[i].lakes), func(f data.LakeForecast) bool { return f.LakeID == lake })
		}
		return "a lake less"
	case of == 7:
		from := c.now.AddDate(0, 0, -c.rnd.IntN(300)).UTC().Truncate(24 * time.Hour)
		c.advisories = slices.DeleteFunc(c.advisories, func(a data.Advisory) bool { return a.LakeID == lake })
		c.advisories = append(c.advisories, data.Advisory{ID: data.AdvisoryID("a_" + lake), LakeID: lake, Kind: data.Closure, Cause: data.Cyanobacteria, Issuer: "Amt", Issued: from, ValidFrom: from,
			ValidUntil: from.AddDate(0, 0, 5)})
		return "a statement"
	case of == 8:
		c.now = c.now.AddDate(0, 0, 1)
		return "a day"
	}
	issue := fakeIssue{ForecastIssue: data.ForecastIssue{Issued: data.DateOf(c.now) - 7 - data.Date(c.rnd.IntN(20)), Model: "limnomap-1", Weeks: data.ForecastWeeks, Input: c.revision.Number}}
	for _, l := range c.lakes {
		f := data.LakeForecast{LakeID: l.ID, BasedOn: issue.Issued}
		for k := range f.Weeks {
			f.Weeks[k] = data.StoredForecast{Chl: data.TenThousandths(10_000 * (1 + c.rnd.IntN(80))), Sigma: 5_000}
		}
		issue.lakes = append(issue.lakes, f)
	}
	c.issues = slices.DeleteFunc(slices.Clone(c.issues), func(i fakeIssue) bool { return i.Issued == issue.Issued })
	c.issues = append(c.issues, issue)
	slices.SortFunc(c.issues, func(a, b fakeIssue) int { return int(b.Issued - a.Issued) })
	return "an issue"
}

// end ends an import: its rows are in the order of a source, and it has a revision.
func (c *changingSource) end() {
	slices.SortFunc(c.observations, func(a, b data.Observation) int {
		if a.LakeID != b.LakeID {
			return strings.Compare(string(a.LakeID), string(b.LakeID))
		}
		return data.CompareInScan(a, b)
	})
	slices.SortFunc(c.advisories, func(a, b data.Advisory) int { return strings.Compare(string(a.LakeID), string(b.LakeID)) })
	c.revision.Number++
}

// state returns what can be set again.
func (c *changingSource) state() fakeSource {
	s := *c.fakeSource
	s.lakes, s.observations, s.advisories, s.issues = slices.Clone(s.lakes), slices.Clone(s.observations), slices.Clone(s.advisories), slices.Clone(s.issues)
	return s
}

// setState undoes all since a state, in a later revision.
func (c *changingSource) setState(s fakeSource) {
	number := c.revision.Number
	*c.fakeSource = s
	*c.fakeSource = c.state() // not what is kept of it
	c.revision.Number = number
}

// A ledger that follows changes, deletions and what undoes them is the one that is made as a whole, also if the source was ahead of the snapshot; and it reads
// little of what has not changed.
func TestLedgerFollowsChanges(t *testing.T) {
	c := &changingSource{&countedSource{fakeSource: testSource(t)}, rand.New(rand.NewPCG(1, 5)), testNow()}
	c.observations, c.advisories, c.issues, c.lakes = nil, nil, nil, nil
	for i := range 24 {
		id := data.LakeID(fmt.Sprintf("de_%02d", i))
		c.lakes = append(c.lakes, data.Lake{ID: id, ExternalID: string(id), Name: "See", Region: []string{"Bayern", "Berlin", ""}[i%3], Point: testSource(t).lakes[0].Point})
		for range 20 {
			o := c.observation(id)
			c.observe(o)
			if o.Type == data.InSitu && c.rnd.IntN(3) > 0 {
				o.Date, o.Type, o.Source = o.Date-data.Date(c.rnd.IntN(4)), data.Satellite, "LWQ"
				c.observe(o)
			}
		}
	}
	c.end()
	var before *accuracy.Ledger
	var states []fakeSource
	follow := func(name string, ahead func()) {
		t.Helper()
		snap := snapshotAt(t, c.fakeSource, c.now)
		whole, err := CompareMap(t.Context(), nil, snap, c.fakeSource, c.fakeSource, c.fakeSource, 3)
		if err != nil {
			t.Fatal(err)
		}
		if ahead != nil {
			ahead()
		}
		followed, err := CompareMap(t.Context(), before, snap, c, c, c, 3)
		if err != nil {
			t.Fatal(err)
		}
		before = followed
		if got, want := described(followed, c.lakes), described(whole, c.lakes); got != want && ahead == nil {
			t.Fatalf("after %s the ledger is\n%s\nwant\n%s", name, got, want)
		}
	}
	follow("the start", nil)
	if before.Len() < 50 || len(before.Groups(accuracy.ByProduct)) < 2 {
		t.Fatalf("%d matches of %d products", before.Len(), len(before.Groups(accuracy.ByProduct)))
	}
	c.whole, c.histories = 0, 0
	const steps = 150
	for step := range steps {
		states = append(states, c.state())
		switch name := ""; {
		case step%5 == 4:
			c.setState(states[max(0, len(states)-1-c.rnd.IntN(6))])
			c.end()
			follow("what was undone", nil)
		case step%7 == 6: // the source is ahead of the snapshot, and then goes back
			snapshotted := c.state()
			follow("", func() {
				for range 3 {
					name = c.change()
				}
				c.end()
			})
			c.setState(snapshotted)
			c.end()
			follow(name+" that was seen and undone", nil)
		default:
			name = c.change()
			c.end()
			follow(name, nil)
		}
	}
	t.Logf("in %d steps: %d times all samples, %d histories", steps, c.whole, c.histories)
	if c.whole > steps/3 {
		t.Errorf("all samples were read %d times in %d steps", c.whole, steps)
	}
	follow("nothing", nil)
	c.whole, c.histories, c.read = 0, 0, 0
	follow("nothing", nil)
	if c.whole > 0 || c.histories > 0 || c.read > 0 {
		t.Errorf("without a change all samples are read %d times, %d histories and %d issues", c.whole, c.histories, c.read)
	}
}
