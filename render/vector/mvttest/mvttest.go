// Package mvttest decodes Mapbox Vector Tiles for tests, by the specification: https://github.com/mapbox/vector-tile-spec, version 2.1.
package mvttest

import (
	"math"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// The fields of the messages, and what the tiles have in some of them.
const (
	tileLayers                                                                  = 3
	layerName, layerFeatures, layerKeys, layerValues, layerExtent, layerVersion = 1, 2, 3, 4, 5, 15
	featureTags, featureType, featureGeometry                                   = 2, 3, 4
	valueString, valueDouble, valueUint, valueBool                              = 1, 3, 5, 7

	version    = 2
	typePoint  = 1
	moveToOnce = 1<<3 | 1 // a command that has one point
)

// A Feature is a point of a tile, with its properties.
type Feature struct {
	X, Y       int64
	Properties map[string]any // text, float64, uint64 or bool
}

// Features returns the features of a tile that is not compressed. It must have one layer of that name and extent, with points only.
func Features(tb testing.TB, tile []byte, name string, extent uint64) []Feature {
	tb.Helper()
	layers := messageOf(tb, tile)[tileLayers]
	if len(layers) != 1 {
		tb.Fatalf("the tile has %d layers, want one", len(layers))
	}
	layer := messageOf(tb, layers[0].bytes)
	if got := string(layer[layerName][0].bytes); got != name {
		tb.Fatalf("the layer is named %q, want %q", got, name)
	}
	if e, v := layer[layerExtent][0].number, layer[layerVersion][0].number; e != extent || v != version {
		tb.Fatalf("the layer has extent %d and version %d, want %d and %d", e, v, extent, version)
	}
	var features []Feature
	for _, encoded := range layer[layerFeatures] {
		m := messageOf(tb, encoded.bytes)
		if len(m) != 3 || m[featureType][0].number != typePoint {
			tb.Fatalf("a feature has the fields %v, want tags, the type of a point and a geometry", m)
		}
		f := Feature{Properties: make(map[string]any)}
		tags := varints(tb, m[featureTags][0].bytes)
		for i := 0; i < len(tags); i += 2 {
			f.Properties[string(layer[layerKeys][tags[i]].bytes)] = valueOf(messageOf(tb, layer[layerValues][tags[i+1]].bytes))
		}
		geometry := varints(tb, m[featureGeometry][0].bytes)
		if len(geometry) != 3 || geometry[0] != moveToOnce {
			tb.Fatalf("a feature has the geometry %v, want one point", geometry)
		}
		f.X, f.Y = protowire.DecodeZigZag(geometry[1]), protowire.DecodeZigZag(geometry[2])
		features = append(features, f)
	}
	return features
}

func valueOf(value map[protowire.Number][]field) any {
	switch {
	case value[valueString] != nil:
		return string(value[valueString][0].bytes)
	case value[valueDouble] != nil:
		return math.Float64frombits(value[valueDouble][0].number)
	case value[valueBool] != nil:
		return value[valueBool][0].number == 1
	case value[valueUint] != nil:
		return value[valueUint][0].number
	}
	return nil
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
