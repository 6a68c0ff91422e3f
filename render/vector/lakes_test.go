package vector

import (
	"flag"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
	"google.golang.org/protobuf/encoding/protowire"

	"limnomap/colormap"
	"limnomap/data"
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
func viewOf(lakes []testLake) *data.View {
	profile := data.Profiles()[0]
	v := &data.View{}
	for i, l := range lakes {
		s := data.State{Chlorophyll: data.NoChlorophyll, Level: data.NoLevel, CellDensity: data.NoCellDensity, Risk: l.risk}
		if l.chl >= 0 {
			s.Chlorophyll = data.Chlorophyll(math.Round(l.chl * 100))
			s.Level, _ = profile.Classify(data.Observation{Chlorophyll: s.Chlorophyll, Level: data.NoLevel, CellDensity: data.NoCellDensity})
			s.Risk, s.Trophic = s.Level.Risk(), data.Mesotrophic
		}
		if s.Risk != data.RiskUnknown {
			s.MeasuredAt = 1_780_000_000 + int64(i)
		}
		v.Lakes = append(v.Lakes, data.Lake{
			ID: data.LakeID(fmt.Sprintf("lake_%07d", i)), Name: fmt.Sprintf("Sée „%d“", i), Point: orb.Point{l.lon, l.lat}, AreaKM2: l.areaKM2,
		})
		v.States = append(v.States, s)
	}
	return v
}

func layerOf(v *data.View) *Layer { return NewLayer(NewIndex(v.Lakes), v) }

// A feature is a decoded lake of a tile.
type feature struct {
	x, y       int64
	properties map[string]any
}

// decoded returns the features of a tile by id.
func decoded(tb testing.TB, tile []byte) map[string]feature {
	tb.Helper()
	plain, err := Unzip(tile)
	if err != nil {
		tb.Fatal(err)
	}
	layers := messageOf(tb, plain)[fieldLayer]
	if len(layers) != 1 {
		tb.Fatalf("the tile has %d layers, want one", len(layers))
	}
	layer := messageOf(tb, layers[0].bytes)
	if name := string(layer[fieldName][0].bytes); name != LayerName {
		tb.Fatalf("the layer is named %q, want %q", name, LayerName)
	}
	if extent, version := layer[fieldExtent][0].number, layer[fieldVersion][0].number; extent != Extent || version != 2 {
		tb.Fatalf("the layer has extent %d and version %d, want %d and 2", extent, version, Extent)
	}
	features := make(map[string]feature)
	for _, encoded := range layer[fieldFeature] {
		m := messageOf(tb, encoded.bytes)
		if len(m) != 3 || m[fieldType][0].number != typePoint {
			tb.Fatalf("a feature has the fields %v, want tags, the type of a point and a geometry", m)
		}
		f := feature{properties: make(map[string]any)}
		tags := varints(tb, m[fieldTags][0].bytes)
		for i := 0; i < len(tags); i += 2 {
			value := messageOf(tb, layer[fieldValue][tags[i+1]].bytes)
			var v any
			switch {
			case value[fieldString] != nil:
				v = string(value[fieldString][0].bytes)
			case value[fieldDouble] != nil:
				v = math.Float64frombits(value[fieldDouble][0].number)
			case value[fieldUint] != nil:
				v = value[fieldUint][0].number
			}
			f.properties[string(layer[fieldKey][tags[i]].bytes)] = v
		}
		geometry := varints(tb, m[fieldGeometry][0].bytes)
		if len(geometry) != 3 || geometry[0] != moveToOnce {
			tb.Fatalf("a feature has the geometry %v, want one point", geometry)
		}
		f.x, f.y = protowire.DecodeZigZag(geometry[1]), protowire.DecodeZigZag(geometry[2])
		id, _ := f.properties["id"].(string)
		if _, ok := features[id]; ok || id == "" {
			tb.Fatalf("the tile has two features with the id %q", id)
		}
		features[id] = f
	}
	return features
}

// A field is a decoded field of a protobuf message.
type field struct {
	number uint64 // of a varint or a fixed 64-bit value
	bytes  []byte
}

// messageOf returns the fields of a protobuf message.
func messageOf(tb testing.TB, b []byte) map[protowire.Number][]field {
	tb.Helper()
	fields := make(map[protowire.Number][]field)
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			tb.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		var f field
		switch kind {
		case protowire.VarintType:
			f.number, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			f.number, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(b)
		default:
			tb.Fatalf("field %d has the unexpected type %d", number, kind)
		}
		if n < 0 {
			tb.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		fields[number] = append(fields[number], f)
	}
	return fields
}

// varints returns the numbers of a packed field.
func varints(tb testing.TB, b []byte) (numbers []uint64) {
	tb.Helper()
	for len(b) > 0 {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			tb.Fatal(protowire.ParseError(n))
		}
		numbers, b = append(numbers, v), b[n:]
	}
	return numbers
}

// tileOf returns the decoded tile.
func tileOf(tb testing.TB, v *data.View, t maptile.Tile) map[string]feature {
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
