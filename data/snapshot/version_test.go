package snapshot_test

import (
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/snapshot"
)

// versioned returns a source with a value in every kind of field.
func versioned(t *testing.T) *memory {
	m := &memory{
		lakes: lakes("a", "b"),
		observations: []data.Observation{
			obs(t, "a", "2026-07-01", 12.34), obs(t, "a", "2026-07-08", -1), obs(t, "b", "2026-07-08", 0),
		},
	}
	m.lakes[1].Region, m.lakes[1].AreaKM2 = "BY", 56.4
	m.lakes[1].Outline = squareOutline(t, 10, 50)
	m.observations[0].Level, m.observations[0].CellDensity = 3, 1234.5
	m.observations[0].MeasuredAt = time.Date(2026, 7, 1, 10, 15, 0, 0, time.UTC)
	return m
}

// The same data must have the same version on every machine and in every release: otherwise replicas disagree during a
// rolling update. If this test fails, the encoding has changed: raise versionFormat, then update the literal.
func TestVersionIsCanonical(t *testing.T) {
	const want = "5979cdf6cf8ec177"
	if got := load(t, versioned(t), nil).Version; got != want {
		t.Errorf("Version = %s, want %s", got, want)
	}
}

func TestVersionChanges(t *testing.T) {
	uba := data.Profiles()[2]
	looser := data.Profiles()[0]
	looser.Limits[1]++
	above := data.Profiles()[0]
	above.Above = true
	cells := data.Profiles()[0]
	cells.CellLimits[0]++
	tests := []struct {
		name   string
		change func(*memory)
		opts   *snapshot.Options
		same   bool
	}{
		{name: "nothing", same: true},
		{name: "revision", change: func(m *memory) { m.revision.Number++ }, same: true},
		{name: "defaults spelled out", opts: &snapshot.Options{Profile: &data.Profiles()[0], StaleAfter: 28}, same: true},
		{name: "midnight spelled out", change: func(m *memory) { m.observations[1].MeasuredAt = m.observations[1].Date.Time() }, same: true},
		{name: "profile", opts: &snapshot.Options{Profile: &uba}},
		{name: "limit", opts: &snapshot.Options{Profile: &looser}},
		{name: "above", opts: &snapshot.Options{Profile: &above}},
		{name: "limit of cells", opts: &snapshot.Options{Profile: &cells}},
		{name: "stale after", opts: &snapshot.Options{StaleAfter: 27}},
		{name: "sample prefer", opts: &snapshot.Options{SamplePrefer: new(int)}},
		{name: "type", change: func(m *memory) { m.observations[1].Type = data.InSitu }},
		{name: "quality", change: func(m *memory) { m.observations[0].Quality = data.Suspect }},
		{name: "source", change: func(m *memory) { m.observations[0].Source = "x" }, same: true},
		{name: "details", change: func(m *memory) { m.observations[0].Details.Secchi = data.Known(data.Hundredths(1)) }, same: true},
		{name: "period", change: func(m *memory) {
			m.observations[0].Details.PeriodStart = data.Known(m.observations[0].Date - 6)
		}},
		{name: "composite", change: func(m *memory) { m.observations[0].Details.Composite = data.MaximumComposite }},
		{name: "active statement", change: func(m *memory) { m.advisories = []data.Advisory{closure()} }},
		{name: "active statement of no lake", change: func(m *memory) {
			m.advisories = []data.Advisory{closure()}
			m.advisories[0].LakeID = "x"
		}, same: true},
		{name: "withdrawn statement", change: func(m *memory) {
			m.advisories = []data.Advisory{closure()}
			m.advisories[0].Withdrawn = at("2026-07-02T00:00:00Z")
		}},
		{name: "pixels", change: func(m *memory) { m.pixels.Digest++ }},
		{name: "lake more", change: func(m *memory) { m.lakes = append(m.lakes, lakes("c")...) }},
		{name: "id", change: func(m *memory) { m.lakes[1].ID, m.observations[2].LakeID = "c", "c" }},
		{name: "external id", change: func(m *memory) { m.lakes[0].ExternalID = "x" }},
		{name: "name", change: func(m *memory) { m.lakes[0].Name = "x" }},
		{name: "name takes from external id", change: func(m *memory) { m.lakes[0].ExternalID, m.lakes[0].Name = "aL", "ake a" }},
		{name: "lon", change: func(m *memory) { m.lakes[0].Point[0]++ }},
		{name: "lat", change: func(m *memory) { m.lakes[0].Point[1]++ }},
		{name: "region", change: func(m *memory) { m.lakes[0].Region = "BY" }},
		{name: "area", change: func(m *memory) { m.lakes[0].AreaKM2 = 1 }},
		{name: "outline", change: func(m *memory) { m.lakes[0].Outline = squareOutline(t, 9, 50) }},
		{name: "other lake", change: func(m *memory) { m.observations[1].LakeID = "b"; m.observations[1].Date-- }},
		{name: "date", change: func(m *memory) { m.observations[1].Date++ }},
		{name: "value", change: func(m *memory) { m.observations[0].Chlorophyll++ }},
		{name: "gap filled", change: func(m *memory) { m.observations[1].Chlorophyll = 0 }},
		{name: "gap less", change: func(m *memory) { m.observations = append(m.observations[:1], m.observations[2]) }},
		{name: "own level", change: func(m *memory) { m.observations[0].Level = 2 }},
		{name: "own density", change: func(m *memory) { m.observations[0].CellDensity = data.NoCellDensity }},
		{name: "time", change: func(m *memory) { m.observations[0].MeasuredAt = m.observations[0].MeasuredAt.Add(time.Second) }},
	}
	base := load(t, versioned(t), nil).Version
	if len(base) != 16 {
		t.Errorf("Version = %q, want 16 digits", base)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := versioned(t)
			if tt.change != nil {
				tt.change(m)
			}
			opts := &snapshot.Options{}
			if tt.opts != nil {
				*opts = *tt.opts
			}
			opts.Present = func() data.Present { return data.At(at("2026-07-05T00:00:00Z")) }
			if got := load(t, m, opts).Version; (got == base) != tt.same {
				t.Errorf("Version = %s, was %s, want the same: %v", got, base, tt.same)
			}
		})
	}
}
