package vector

import (
	"flag"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/render/vector/mvttest"
)

var update = flag.Bool("update", false, "add hashes that are missing in testdata")

// encoder is shared by all tests, as an Encoder does not change.
var encoder = sync.OnceValue(func() *Encoder { return New(colormap.Limits{Level1: 10, Level2: 50}) })

// A testLake is a lake and its value in µg/l; a negative number means no value, and then risk is that of an older one.
type testLake struct {
	lon, lat, chl, areaKM2 float64
	risk                   data.Risk // of the last known value, where there is no current one
}

// viewOf returns a view of lakes whose ids ascend.
func viewOf(lakes []testLake) *snapshot.View {
	profile := data.Profiles()[0]
	v := &snapshot.View{}
	for i, l := range lakes {
		s := snapshot.State{Chlorophyll: data.NoChlorophyll, Level: data.NoLevel, CountedCells: data.NoCellDensity, Risk: l.risk}
		if l.chl >= 0 {
			s.Chlorophyll = data.Chlorophyll(math.Round(l.chl * 100))
			s.Level, _ = profile.Classify(data.Observation{Chlorophyll: s.Chlorophyll, Level: data.NoLevel, CellDensity: data.NoCellDensity})
			s.Risk, s.Trophic = s.Level.Risk(), data.Mesotrophic
		}
		if s.Risk != data.RiskUnknown {
			s.Date, s.TakenOffset = 20_601, 73_600+int32(i)
		}
		v.Lakes = append(v.Lakes, data.Lake{
			ID: data.LakeID(fmt.Sprintf("lake_%07d", i)), Name: fmt.Sprintf("Sée „%d“", i), Point: orb.Point{l.lon, l.lat}, AreaKM2: l.areaKM2,
		})
		v.States = append(v.States, s)
	}
	return v
}

// withAdvisories adds statements to v: kinds by the index of the lake.
func withAdvisories(v *snapshot.View, kinds map[int]data.AdvisoryKind) *snapshot.View {
	issued := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	var statements []data.Advisory
	for i, kind := range kinds {
		id := v.Lakes[i].ID
		statements = append(statements, data.Advisory{
			ID: data.AdvisoryID(id), LakeID: id, Kind: kind, Issuer: "Gesundheitsamt", Issued: issued, ValidFrom: issued,
		})
	}
	v.Advisories, _ = snapshot.NewAdvisories(v.Lakes, statements).ActiveAt(data.At(issued))
	return v
}

func layerOf(v *snapshot.View) *Layer { return NewLayer(NewIndex(v.Lakes), v) }

// decoded returns the features of a tile by id.
func decoded(tb testing.TB, tile []byte) map[string]mvttest.Feature {
	tb.Helper()
	plain, err := Unzip(tile)
	if err != nil {
		tb.Fatal(err)
	}
	features := make(map[string]mvttest.Feature)
	for _, f := range mvttest.Features(tb, plain, LayerName, Extent) {
		id, _ := f.Properties["id"].(string)
		if _, ok := features[id]; ok || id == "" {
			tb.Fatalf("the tile has two features with the id %q", id)
		}
		features[id] = f
	}
	return features
}

// tileOf returns the decoded tile.
func tileOf(tb testing.TB, v *snapshot.View, t maptile.Tile) map[string]mvttest.Feature {
	tb.Helper()
	b, err := encoder().Encode(layerOf(v), v, t)
	if err != nil {
		tb.Fatal(err)
	}
	return decoded(tb, b)
}

// grid returns n lakes in a square, with areas and risks in no particular order.
func grid(n int, lon, lat, degrees float64) []testLake {
	lakes := make([]testLake, n)
	for i := range lakes {
		// The R2 sequence spreads points evenly over a square: multiples of 1/p and 1/p², p³ = p + 1.
		const p = 1.32471795724474602596
		lakes[i] = testLake{
			lon:     lon + degrees*math.Mod(float64(i)/p, 1),
			lat:     lat + degrees*math.Mod(float64(i)/(p*p), 1),
			chl:     math.Exp(4.5 * math.Mod(float64(i)*0.618, 1)),
			areaKM2: float64(i * 7919 % 1009 % 40),
		}
	}
	return lakes
}
