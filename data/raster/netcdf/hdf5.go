package netcdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"limnomap/data/raster/hdf5"
)

// Bounds of a NetCDF-4 file.
const (
	maxGroups    = 1024
	maxDepth     = 16 // of groups; deeper ones are left out, because links may lead back
	maxVariables = 16384
)

// otherFormats are the first bytes of files that people take for NetCDF.
var otherFormats = []struct{ magic, name string }{
	{"\x0e\x03\x13\x01", "HDF4: convert it with h4toh5 or gdal_translate"},
	{"GRIB", "GRIB"},
	{"II*\x00", "TIFF"}, {"MM\x00*", "TIFF"}, {"II+\x00", "BigTIFF"}, {"MM\x00+", "BigTIFF"},
	{"\x1f\x8b", "gzip: decompress it first"},
	{"PK\x03\x04", "ZIP: unpack it first"},
	{"BZh", "bzip2: decompress it first"},
	{"<", "HTML or XML, perhaps an error page of a download"},
	{"{", "JSON, perhaps an error of a download"},
}

// A netCDF4 collects the variables of an HDF5 file.
type netCDF4 struct {
	file     *File
	datasets []*hdf5Dataset
	groups   int
	scales   map[uint64]*scale // by address
	byID     map[int64]*scale  // by _Netcdf4Dimid
}

// A scale is a dimension: an HDF5 dimension scale.
type scale struct {
	path   string
	length int64 // the largest of the variables that have it, for an unlimited one
}

// A hdf5Dataset is a dataset that becomes a variable.
type hdf5Dataset struct {
	*hdf5.Dataset
	path  string
	shape []int64
	scale *scale
	err   error // it cannot be opened
}

func openHDF5(r io.ReaderAt, size int64, magic []byte, opts *Options) (*File, error) {
	for _, other := range otherFormats {
		if bytes.HasPrefix(magic, []byte(other.magic)) {
			return nil, damaged("the file looks like %s", other.name)
		}
	}
	h, err := hdf5.Open(r, size, &hdf5.Options{Workers: opts.Workers})
	if err != nil {
		return nil, fromHDF5(err)
	}
	root := h.Root()
	n := &netCDF4{
		file:   &File{byName: map[string]*Variable{}, attributeSet: attributeSet{hdf5Attributes{root}}},
		scales: map[uint64]*scale{}, byID: map[int64]*scale{},
	}
	if err := n.walk(root, "", 0); err != nil {
		return nil, fromHDF5(err)
	}
	n.addVariables()
	return n.file, nil
}

// walk collects the datasets of a group, then those of its subgroups.
func (n *netCDF4) walk(g *hdf5.Group, prefix string, depth int) error {
	n.groups++
	if n.groups > maxGroups {
		return unsupported("more than %d groups", maxGroups)
	}
	names, err := g.Names()
	if err != nil {
		if depth == 0 {
			return err
		}
		return nil // a damaged subgroup does not fail the file
	}
	type subgroup struct {
		*hdf5.Group
		path string
	}
	var groups []subgroup
	for _, name := range names {
		full := prefix + name
		d, err := g.Dataset(name)
		if errors.Is(err, hdf5.ErrNotFound) {
			if sub, err := g.Group(name); err == nil && depth < maxDepth {
				groups = append(groups, subgroup{sub, full})
			}
			continue
		}
		if len(n.datasets) == maxVariables {
			return unsupported("more than %d variables", maxVariables)
		}
		if err != nil {
			n.datasets = append(n.datasets, &hdf5Dataset{path: full, err: fmt.Errorf("variable %s: %w", full, fromHDF5(err))})
			continue
		}
		n.addDataset(&hdf5Dataset{Dataset: d, path: full, shape: d.Shape()})
	}
	for _, sub := range groups {
		if err := n.walk(sub.Group, sub.path+"/", depth+1); err != nil {
			return err
		}
	}
	return nil
}

// Names that the NetCDF library gives to datasets and in attributes.
const (
	notAVariable  = "This is a netCDF dimension but not a netCDF variable"
	nonCoordinate = "_nc4_non_coord_" // before the name of a variable with the name of a dimension that it is no coordinate of
)

// addDataset collects a dataset, and its dimension if it is one. A dimension without a variable is no variable.
func (n *netCDF4) addDataset(d *hdf5Dataset) {
	if attributeText(d, "CLASS") == "DIMENSION_SCALE" {
		d.scale = &scale{path: d.path}
		if len(d.shape) > 0 {
			d.scale.length = d.shape[0]
		}
		if _, exists := n.scales[d.Address()]; !exists {
			n.scales[d.Address()] = d.scale
		}
		if ids := attributeInts(d, "_Netcdf4Dimid"); len(ids) == 1 {
			if _, exists := n.byID[ids[0]]; !exists {
				n.byID[ids[0]] = d.scale
			}
		}
		if strings.HasPrefix(attributeText(d, "NAME"), notAVariable) {
			return
		}
	}
	n.datasets = append(n.datasets, d)
}

// addVariables makes variables of datasets.
func (n *netCDF4) addVariables() {
	scales := make([][]*scale, len(n.datasets))
	for i, d := range n.datasets { // the lengths of unlimited dimensions are known after the last dataset
		if d.err == nil {
			scales[i] = n.scalesOf(d)
		}
	}
	for i, d := range n.datasets {
		n.file.add(n.variable(d, scales[i]))
	}
}

// scalesOf returns the dimensions of a dataset, nil for those that are unknown.
func (n *netCDF4) scalesOf(d *hdf5Dataset) []*scale {
	shape, maxShape := d.shape, d.MaxShape()
	list := make([]*scale, len(shape))
	switch {
	case len(shape) == 0:
	case d.scale != nil:
		list[0] = d.scale
		for k, id := range attributeInts(d, "_Netcdf4Coordinates") { // a coordinate variable of several dimensions
			if k < len(list) && n.byID[id] != nil {
				list[k] = n.byID[id]
			}
		}
	default:
		// A dimension may have no scale or several. The references do not say which dimension they are of.
		references := n.references(d)
		for k := range list {
			for i, s := range references {
				if s.length == shape[k] || isUnlimited(maxShape, k) {
					list[k] = s
					references = references[i+1:]
					break
				}
			}
		}
	}
	for k, s := range list {
		switch {
		case s == nil:
		case isUnlimited(maxShape, k):
			s.length = max(s.length, shape[k])
		case s.length != shape[k]:
			list[k] = nil
		}
	}
	return list
}

func isUnlimited(maxShape []int64, k int) bool { return k < len(maxShape) && maxShape[k] < 0 }

// references returns the dimensions that the attribute DIMENSION_LIST refers to.
func (n *netCDF4) references(d *hdf5Dataset) []*scale {
	a, err := d.Attribute("DIMENSION_LIST")
	if a == nil || err != nil {
		return nil
	}
	references, err := a.References()
	if err != nil {
		return nil
	}
	var list []*scale
	for _, reference := range references[:min(len(references), 64)] {
		if s := n.scales[reference]; s != nil {
			list = append(list, s)
		}
	}
	return list
}

// variable returns the variable of a dataset.
func (n *netCDF4) variable(d *hdf5Dataset, scales []*scale) *Variable {
	dir, base := path.Split(d.path)
	v := &Variable{file: n.file, name: dir + strings.TrimPrefix(base, nonCoordinate)}
	if d.err != nil {
		v.typ, v.err = "unknown", d.err
		return v
	}
	v.attributeSet = attributeSet{hdf5Attributes{d}}
	v.typ, v.chunk = typeName(d.Type()), d.ChunkShape()
	for k, length := range d.shape {
		dimension, coordinate := Dimension{Len: length}, ""
		if s := scales[k]; s != nil {
			dimension = Dimension{s.path, s.length}
			coordinate = s.path
		}
		v.dimensions = append(v.dimensions, dimension)
		v.coordinates = append(v.coordinates, coordinate)
	}
	_, err := d.AttributeNames() // without them missing values would be taken for values
	if err == nil {
		err = d.Err()
	}
	if err != nil {
		v.err = fmt.Errorf("variable %s: %w", v.name, fromHDF5(err))
	}
	v.data = d
	return v
}

func typeName(t hdf5.Type) string {
	unsigned := "u"
	if t.Signed {
		unsigned = ""
	}
	switch {
	case t.Class == hdf5.Integer || t.Class == hdf5.Enum:
		return fmt.Sprintf("%sint%d", unsigned, 8*t.Size)
	case t.Class == hdf5.Float:
		return fmt.Sprintf("float%d", 8*t.Size)
	case t.Class == hdf5.String && t.Size == 1:
		return "char"
	case t.Class == hdf5.String || t.Class == hdf5.VariableLength && t.Text:
		return "string"
	default:
		return t.Class.String()
	}
}

// gather reads windows. Values beyond the dataset, which the NetCDF library does not write for a record that another variable has,
// are the fill value.
func (d *hdf5Dataset) gather(ctx context.Context, windows []Window, each func(i int, part Window, values []float64) error) error {
	if !slices.ContainsFunc(windows, d.exceeds) {
		return fromHDF5(d.Gather(ctx, windows, each))
	}
	within := make([]Window, len(windows))
	var beyond []Window // of window owners[i]
	var owners []int
	shape := slices.Clone(d.shape) // with what is beyond
	for i, w := range windows {
		rest := Window{Start: slices.Clone(w.Start), Shape: slices.Clone(w.Shape)}
		for k, n := range d.shape {
			shape[k] = max(shape[k], w.Start[k]+w.Shape[k])
			if over := min(rest.Shape[k], rest.Start[k]+rest.Shape[k]-n); over > 0 {
				box := Window{Start: slices.Clone(rest.Start), Shape: slices.Clone(rest.Shape)}
				rest.Shape[k] -= over
				box.Start[k] += rest.Shape[k]
				box.Shape[k] = over
				beyond, owners = append(beyond, box), append(owners, i)
			}
		}
		if slices.Contains(rest.Shape, 0) {
			clear(rest.Start)
		}
		within[i] = rest
	}
	filled := func(i int, part Window, values []float64) error { return each(owners[i], part, values) }
	if err := d.Unwritten(shape).Gather(ctx, beyond, filled); err != nil {
		return fromHDF5(err)
	}
	return fromHDF5(d.Gather(ctx, within, each))
}

// exceeds reports whether a window has values beyond the dataset.
func (d *hdf5Dataset) exceeds(w Window) bool {
	for k, n := range d.shape {
		if w.Start[k]+w.Shape[k] > n {
			return true
		}
	}
	return false
}

// An hdf5Object has attributes.
type hdf5Object interface {
	Attribute(name string) (*hdf5.Attribute, error)
	AttributeNames() ([]string, error)
}

// hdf5Attributes are the attributes of a group or dataset.
type hdf5Attributes struct{ hdf5Object }

// hiddenAttributes are how the NetCDF library and HDF5 store dimensions.
var hiddenAttributes = []string{
	"_NCProperties", "_nc3_strict", "_Netcdf4Dimid", "_Netcdf4Coordinates", "CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST",
}

func (s hdf5Attributes) names() []string {
	names, err := s.AttributeNames()
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(hiddenAttributes, name) })
}

func (s hdf5Attributes) each(fn func(name string, value attribute)) {
	for _, name := range s.names() {
		if a, ok := s.find(name); ok {
			fn(name, a)
		}
	}
}

func (s hdf5Attributes) find(name string) (attribute, bool) {
	a, err := s.Attribute(name)
	if a == nil || err != nil {
		return attribute{}, false
	}
	return decodeAttribute(a)
}

// decodeAttribute returns the value of an attribute, if it is a text or numbers and not damaged.
func decodeAttribute(a *hdf5.Attribute) (attribute, bool) {
	n := int64(1)
	for _, length := range a.Shape() {
		if length > maxNumbers || n*length > maxNumbers {
			return attribute{}, false
		}
		n *= length
	}
	t := a.Type()
	var value attribute
	var err error
	switch {
	case t.Class == hdf5.String || t.Class == hdf5.VariableLength && t.Text:
		var texts []string
		texts, err = a.Strings()
		value.isText, value.text = true, cleanText([]byte(strings.Join(texts, " ")))
	case t.Class == hdf5.Integer || t.Class == hdf5.Enum:
		var ints []int64
		if ints, err = a.Ints(); err == nil {
			value.numbers, err = a.Floats()
		}
		for _, i := range ints {
			value.bits = append(value.bits, uint64(i))
		}
	case t.Class == hdf5.Float:
		value.numbers, err = a.Floats()
	default:
		return attribute{}, false
	}
	return value, err == nil
}

func attributeText(o hdf5Object, name string) string {
	a, _ := hdf5Attributes{o}.find(name)
	return a.text
}

func attributeInts(o hdf5Object, name string) []int64 {
	a, _ := hdf5Attributes{o}.find(name)
	var ints []int64
	for _, bits := range a.bits {
		ints = append(ints, int64(bits))
	}
	return ints
}

// An hdf5Error is an error of package hdf5, which is one of this package too.
type hdf5Error struct{ err, kind error }

func (e *hdf5Error) Error() string   { return e.err.Error() }
func (e *hdf5Error) Unwrap() []error { return []error{e.err, e.kind} }

// fromHDF5 makes an error of package hdf5 one of this package.
func fromHDF5(err error) error {
	switch {
	case errors.Is(err, ErrFormat) || errors.Is(err, ErrUnsupported):
		return err
	case errors.Is(err, hdf5.ErrFormat) || errors.Is(err, hdf5.ErrNotFound):
		return &hdf5Error{err, ErrFormat}
	case errors.Is(err, hdf5.ErrUnsupported):
		return &hdf5Error{err, ErrUnsupported}
	default:
		return err
	}
}
