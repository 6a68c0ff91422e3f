package vector

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// The fields of the messages of a vector tile (specification 2.1, section 4).
const (
	fieldLayer protowire.Number = 3 // of Tile

	fieldName     protowire.Number = 1 // of Layer
	fieldFeature  protowire.Number = 2
	fieldKey      protowire.Number = 3
	fieldValue    protowire.Number = 4
	fieldExtent   protowire.Number = 5
	fieldVersion  protowire.Number = 15
	fieldTags     protowire.Number = 2 // of Feature
	fieldType     protowire.Number = 3
	fieldGeometry protowire.Number = 4

	fieldString protowire.Number = 1 // of Value
	fieldDouble protowire.Number = 3
	fieldUint   protowire.Number = 5
	fieldBool   protowire.Number = 7
)

const (
	// specVersion is the major version of the specification.
	specVersion = 2
	// typePoint is the geometry type of a point.
	typePoint = 1
	// moveToOnce is the command MoveTo with one point: a point's whole geometry (section 4.3).
	moveToOnce = 1<<3 | 1
)

// A layerWriter writes the one layer of a tile, feature by feature: first the properties, then the point. It is reused for one tile after
// another.
type layerWriter struct {
	features []byte // fields of the layer
	keys     keyList
	values   valueList

	tags, value, geometry, feature []byte // of the current feature
}

// reset makes w a writer of a layer without features.
func (w *layerWriter) reset() {
	w.features, w.tags = w.features[:0], w.tags[:0]
	w.keys.reset()
	w.values.reset()
}

// text adds a property to the next feature.
func (w *layerWriter) text(key, v string) {
	w.value = protowire.AppendTag(w.value[:0], fieldString, protowire.BytesType)
	w.value = protowire.AppendString(w.value, v)
	w.property(key)
}

// number adds a property to the next feature.
func (w *layerWriter) number(key string, v float64) {
	w.value = protowire.AppendTag(w.value[:0], fieldDouble, protowire.Fixed64Type)
	w.value = protowire.AppendFixed64(w.value, math.Float64bits(v))
	w.property(key)
}

// integer adds a property to the next feature.
func (w *layerWriter) integer(key string, v uint64) {
	w.value = protowire.AppendTag(w.value[:0], fieldUint, protowire.VarintType)
	w.value = protowire.AppendVarint(w.value, v)
	w.property(key)
}

// boolean adds a property to the next feature.
func (w *layerWriter) boolean(key string, v bool) {
	w.value = protowire.AppendTag(w.value[:0], fieldBool, protowire.VarintType)
	w.value = protowire.AppendVarint(w.value, protowire.EncodeBool(v))
	w.property(key)
}

// property adds w.value to the next feature. Each key and each value is in the layer once.
func (w *layerWriter) property(key string) {
	w.tags = protowire.AppendVarint(protowire.AppendVarint(w.tags, w.keys.index(key)), w.values.index(w.value))
}

// point ends a feature: it has the properties that were added since the last one.
func (w *layerWriter) point(x, y int32) {
	w.geometry = protowire.AppendVarint(w.geometry[:0], moveToOnce)
	w.geometry = protowire.AppendVarint(w.geometry, protowire.EncodeZigZag(int64(x)))
	w.geometry = protowire.AppendVarint(w.geometry, protowire.EncodeZigZag(int64(y)))

	w.feature = protowire.AppendTag(w.feature[:0], fieldTags, protowire.BytesType)
	w.feature = protowire.AppendBytes(w.feature, w.tags)
	w.feature = protowire.AppendTag(w.feature, fieldType, protowire.VarintType)
	w.feature = protowire.AppendVarint(w.feature, typePoint)
	w.feature = protowire.AppendTag(w.feature, fieldGeometry, protowire.BytesType)
	w.feature = protowire.AppendBytes(w.feature, w.geometry)

	w.features = protowire.AppendTag(w.features, fieldFeature, protowire.BytesType)
	w.features = protowire.AppendBytes(w.features, w.feature)
	w.tags = w.tags[:0]
}

// tile returns the bytes of the tile.
func (w *layerWriter) tile() []byte {
	name := protowire.AppendString(protowire.AppendTag(nil, fieldName, protowire.BytesType), LayerName)
	last := protowire.AppendVarint(protowire.AppendTag(nil, fieldExtent, protowire.VarintType), Extent)
	last = protowire.AppendVarint(protowire.AppendTag(last, fieldVersion, protowire.VarintType), specVersion)

	size := len(name) + len(w.features) + len(w.keys.encoded) + len(w.values.encoded) + len(last)
	b := make([]byte, 0, size+protowire.SizeTag(fieldLayer)+protowire.SizeVarint(uint64(size)))
	b = protowire.AppendTag(b, fieldLayer, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(size))
	for _, part := range [...][]byte{name, w.features, w.keys.encoded, w.values.encoded, last} {
		b = append(b, part...)
	}
	return b
}
