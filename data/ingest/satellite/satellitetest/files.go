// Package satellitetest writes small satellite files for tests.
package satellitetest

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
)

// A TIFF is a GeoTIFF of one band in a single strip.
type TIFF struct {
	Width, Height int
	Bytes         []byte    // the values of uint8
	Floats        []float32 // those of float32
	X0, Y0, Step  float64   // the upper left corner and the size of pixels
	EPSG          uint16    // 0 means 4326
	NoData, Unit  string
	Items         map[string]string // metadata of GDAL
	SNAP          string            // the header of SNAP
}

// Encode returns the bytes of the file.
func (f TIFF) Encode() []byte {
	order := binary.LittleEndian
	type field struct {
		tag, kind uint16
		count     int
		data      []byte
	}
	short := func(tag uint16, values ...uint16) field {
		var b []byte
		for _, v := range values {
			b = order.AppendUint16(b, v)
		}
		return field{tag, 3, len(values), b}
	}
	long := func(tag uint16, v uint32) field { return field{tag, 4, 1, order.AppendUint32(nil, v)} }
	doubles := func(tag uint16, values ...float64) field {
		var b []byte
		for _, v := range values {
			b = order.AppendUint64(b, math.Float64bits(v))
		}
		return field{tag, 12, len(values), b}
	}
	text := func(tag uint16, s string) field { return field{tag, 2, len(s) + 1, append([]byte(s), 0)} }

	pixels, bits, format := f.Bytes, uint16(8), uint16(1)
	if f.Floats != nil {
		bits, format = 32, 3
		pixels = nil
		for _, v := range f.Floats {
			pixels = order.AppendUint32(pixels, math.Float32bits(v))
		}
	}
	const header = 8
	model, key := uint16(2), uint16(2048)
	if f.EPSG != 0 && f.EPSG != 4326 {
		model, key = 1, 3072
	}
	fields := []field{long(256, uint32(f.Width)), long(257, uint32(f.Height)), short(258, bits), short(259, 1), short(262, 1), long(273, header),
		short(277, 1), long(278, uint32(f.Height)), long(279, uint32(len(pixels))), short(339, format),
		doubles(33550, f.Step, f.Step, 0), doubles(33922, 0, 0, 0, f.X0, f.Y0, 0),
		short(34735, 1, 1, 0, 3, 1024, 0, 1, model, 1025, 0, 1, 1, key, 0, 1, cmp.Or(f.EPSG, 4326))}
	items := ""
	if f.Unit != "" {
		items = `<Item name="UNITTYPE" sample="0" role="unittype">` + f.Unit + `</Item>`
	}
	for _, name := range slices.Sorted(maps.Keys(f.Items)) {
		items += fmt.Sprintf("<Item name=%q>%s</Item>", name, f.Items[name])
	}
	if items != "" {
		fields = append(fields, text(42112, "<GDALMetadata>"+items+"</GDALMetadata>"))
	}
	if f.SNAP != "" {
		fields = append(fields, text(65000, f.SNAP))
	}
	if f.NoData != "" {
		fields = append(fields, text(42113, f.NoData))
	}
	slices.SortFunc(fields, func(a, b field) int { return int(a.tag) - int(b.tag) })
	out := append([]byte("II*\x00"), 0, 0, 0, 0)
	out = append(out, pixels...)
	if len(out)%2 == 1 {
		out = append(out, 0)
	}
	offsets := make([]int, len(fields))
	for i, fd := range fields {
		if len(fd.data) > 4 {
			offsets[i] = len(out)
			out = append(out, fd.data...)
			if len(out)%2 == 1 {
				out = append(out, 0)
			}
		}
	}
	order.PutUint32(out[4:], uint32(len(out)))
	out = order.AppendUint16(out, uint16(len(fields)))
	for i, fd := range fields {
		out = order.AppendUint16(out, fd.tag)
		out = order.AppendUint16(out, fd.kind)
		out = order.AppendUint32(out, uint32(fd.count))
		if len(fd.data) > 4 {
			out = order.AppendUint32(out, uint32(offsets[i]))
		} else {
			out = append(out, append(slices.Clone(fd.data), 0, 0, 0, 0)[:4]...)
		}
	}
	return order.AppendUint32(out, 0)
}

// A NetCDF is a file of NetCDF-3 classic with variables over time, lat and lon.
type NetCDF struct {
	Lats, Lons []float64
	// Times are days since 1970-01-01; none means one step without a time. Bounds are the begin and the end of each, nil for none.
	Times, Bounds []float64
	Attributes    map[string]string
	Variables     []Variable
}

// A Variable is a variable of a [NetCDF].
type Variable struct {
	Name   string
	Text   map[string]string // attributes
	Fill   float32           // 0 means none
	Floats []float32
	// Ints are values of int32 in place of Floats, and Numbers attributes with such numbers.
	Ints    []int32
	Numbers map[string][]int32
	// Scalar is a variable without dimensions and values, whose attributes say something.
	Scalar bool
}

// Encode returns the bytes of the file, by the specification of the classic format (NetCDF User's Guide, appendix B).
func (f NetCDF) Encode() []byte {
	order := binary.BigEndian
	name := func(b []byte, s string) []byte {
		b = append(order.AppendUint32(b, uint32(len(s))), s...)
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
		return b
	}
	attributes := func(b []byte, texts map[string]string, fill float32, numbers map[string][]int32) []byte {
		n := len(texts) + len(numbers)
		if fill != 0 {
			n++
		}
		if n == 0 {
			return append(b, make([]byte, 8)...)
		}
		b = order.AppendUint32(order.AppendUint32(b, 12), uint32(n))
		for _, key := range slices.Sorted(maps.Keys(texts)) {
			b = name(b, key)
			b = order.AppendUint32(b, 2)
			b = name(b, texts[key])
		}
		if fill != 0 {
			b = name(b, "_FillValue")
			b = order.AppendUint32(order.AppendUint32(b, 5), 1)
			b = order.AppendUint32(b, math.Float32bits(fill))
		}
		for _, key := range slices.Sorted(maps.Keys(numbers)) {
			b = name(b, key)
			b = order.AppendUint32(order.AppendUint32(b, 4), uint32(len(numbers[key])))
			for _, v := range numbers[key] {
				b = order.AppendUint32(b, uint32(v))
			}
		}
		return b
	}
	type variable struct {
		name  string
		dims  []uint32
		text  map[string]string
		fill  float32
		ints  map[string][]int32
		kind  uint32
		bytes []byte
	}
	doubles := func(values []float64) (b []byte) {
		for _, v := range values {
			b = order.AppendUint64(b, math.Float64bits(v))
		}
		return b
	}
	all := []variable{
		{name: "lat", dims: []uint32{1}, text: map[string]string{"units": "degrees_north"}, kind: 6, bytes: doubles(f.Lats)},
		{name: "lon", dims: []uint32{2}, text: map[string]string{"units": "degrees_east"}, kind: 6, bytes: doubles(f.Lons)},
	}
	steps := max(1, len(f.Times))
	if f.Times != nil {
		text := map[string]string{"units": "days since 1970-01-01"}
		if f.Bounds != nil {
			text["bounds"] = "time_bnds"
			all = append(all, variable{name: "time_bnds", dims: []uint32{0, 3}, kind: 6, bytes: doubles(f.Bounds)})
		}
		all = append(all, variable{name: "time", dims: []uint32{0}, text: text, kind: 6, bytes: doubles(f.Times)})
	}
	for _, v := range f.Variables {
		var b []byte
		to := variable{name: v.Name, dims: []uint32{0, 1, 2}, text: v.Text, fill: v.Fill, ints: v.Numbers, kind: 5}
		for _, x := range v.Floats {
			b = order.AppendUint32(b, math.Float32bits(x))
		}
		if v.Ints != nil || v.Scalar {
			to.kind = 4
		}
		for _, x := range v.Ints {
			b = order.AppendUint32(b, uint32(x))
		}
		if v.Scalar {
			to.dims, b = nil, make([]byte, 4)
		}
		to.bytes = b
		all = append(all, to)
	}
	header := func(starts []uint32) []byte {
		b := append([]byte("CDF\x01"), 0, 0, 0, 0)
		b = order.AppendUint32(order.AppendUint32(b, 10), 4)
		for i, n := range []int{steps, len(f.Lats), len(f.Lons), 2} {
			b = order.AppendUint32(name(b, []string{"time", "lat", "lon", "bnds"}[i]), uint32(n))
		}
		b = attributes(b, f.Attributes, 0, nil)
		b = order.AppendUint32(order.AppendUint32(b, 11), uint32(len(all)))
		for i, v := range all {
			b = name(b, v.name)
			b = order.AppendUint32(b, uint32(len(v.dims)))
			for _, d := range v.dims {
				b = order.AppendUint32(b, d)
			}
			b = attributes(b, v.text, v.fill, v.ints)
			b = order.AppendUint32(order.AppendUint32(b, v.kind), uint32(len(v.bytes)))
			b = order.AppendUint32(b, starts[i])
		}
		return b
	}
	starts := make([]uint32, len(all))
	at := uint32(len(header(starts)))
	for i, v := range all {
		starts[i] = at
		at += uint32(len(v.bytes))
	}
	b := header(starts)
	for _, v := range all {
		b = append(b, v.bytes...)
	}
	return b
}
