package netcdf

import (
	"context"
	"fmt"
	"math"
	"path"
	"strings"
)

// A Grid says where the pixels of a variable are.
type Grid struct {
	X, Y          int // which dimensions of the variable are columns and rows
	Width, Height int
	// Transform leads from corners of pixels to coordinates, in the order of GDAL: x = T0 + column*T1 + row*T2 and
	// y = T3 + column*T4 + row*T5. T5 is positive if rows go north. Coordinates are degrees, or metres where the unit is known.
	Transform [6]float64
	// Geographic says that x is longitude and y latitude. Longitudes may exceed 180.
	Geographic bool
	// Period is the number of columns after which a grid around the Earth repeats, 0 for other grids.
	Period int
	// Mapping has the attributes of the grid mapping variable: string, float64 or []float64. It is nil without one.
	Mapping map[string]any
}

// periodTolerance is by how many columns a grid around the Earth may miss 360 degrees. Coordinates written with few digits do.
const periodTolerance = 0.1

// maxAxis bounds the values of an axis.
const maxAxis = 1 << 21

// Advice in errors of grids.
const (
	adviceSwath   = "take a product on a regular grid (level 3), or make one with gdalwarp -geoloc -t_srs EPSG:4326"
	adviceRegular = "make a regular grid with gdalwarp -t_srs EPSG:4326"
)

// Grid finds the grid of a variable by the coordinate variables of its dimensions.
func (v *Variable) Grid(ctx context.Context) (*Grid, error) {
	g, err := v.grid(ctx)
	if err != nil {
		return nil, fmt.Errorf("grid of variable %s: %w", v.name, err)
	}
	return g, nil
}

func (v *Variable) grid(ctx context.Context) (*Grid, error) {
	g := &Grid{X: -1, Y: -1, Mapping: v.mapping()}
	var x, y *Variable
	var kindX, kindY axisKind
	for k := range v.dimensions {
		c, kind := v.axisOf(k)
		switch kind {
		case axisLongitude, axisX:
			if x != nil {
				return nil, unsupported("two axes of columns, %s and %s", x.name, c.name)
			}
			g.X, x, kindX = k, c, kind
		case axisLatitude, axisY:
			if y != nil {
				return nil, unsupported("two axes of rows, %s and %s", y.name, c.name)
			}
			g.Y, y, kindY = k, c, kind
		}
	}
	if x == nil || y == nil {
		return nil, v.noAxes()
	}
	if (kindX == axisLongitude) != (kindY == axisLatitude) {
		return nil, unsupported("axis %s is of longitude or latitude, and the other of %s and %s is not", x.name, x.name, y.name)
	}
	g.Geographic = kindX == axisLongitude || g.Mapping["grid_mapping_name"] == "latitude_longitude"
	g.Width, g.Height = int(v.dimensions[g.X].Len), int(v.dimensions[g.Y].Len)
	firstX, stepX, err := x.axis(ctx, g.Geographic)
	if err != nil {
		return nil, err
	}
	firstY, stepY, err := y.axis(ctx, false)
	if err != nil {
		return nil, err
	}
	g.Transform = [6]float64{firstX - stepX/2, stepX, 0, firstY - stepY/2, 0, stepY}
	if g.Geographic {
		if lastY := firstY + float64(g.Height-1)*stepY; math.Abs(firstY) > 90.001 || math.Abs(lastY) > 90.001 {
			return nil, damaged("latitudes of axis %s go from %g to %g", y.name, firstY, lastY)
		}
		columns := 360 / math.Abs(stepX)
		if period := math.Round(columns); math.Abs(period-columns) < periodTolerance && float64(g.Width) >= period {
			g.Period = int(period)
		}
	}
	return g, nil
}

// noAxes explains why a variable has no grid.
func (v *Variable) noAxes() error {
	names := make([]string, len(v.dimensions))
	for k, d := range v.dimensions {
		names[k] = d.Name
	}
	list := strings.Join(names, ", ")
	if strings.Trim(list, ", ") == "" {
		list = "without names"
	}
	var swath []string
	for _, name := range strings.Fields(v.Text("coordinates")) {
		if c, ok := v.lookup(name); ok && len(c.dimensions) == 2 {
			swath = append(swath, name)
		}
	}
	if len(swath) > 0 {
		return unsupported("its coordinates %s are two-dimensional, as those of a swath: %s", strings.Join(swath, ", "), adviceSwath)
	}
	for _, c := range v.file.variables {
		if kind := c.axisKind(); len(c.dimensions) == 2 && (kind == axisLongitude || kind == axisLatitude) {
			return unsupported("its dimensions (%s) have no axes, but variable %s has two-dimensional coordinates, as those of a swath: %s",
				list, c.name, adviceSwath)
		}
	}
	return unsupported("its dimensions (%s) have no coordinate variables of longitude and latitude or of a projection", list)
}

// An axisKind is what a coordinate variable has.
type axisKind uint8

const (
	axisNone axisKind = iota
	axisLongitude
	axisLatitude
	axisX // of a projection, or of an unknown system
	axisY
)

var (
	axisStandardNames = map[string]axisKind{
		"longitude": axisLongitude, "latitude": axisLatitude,
		"projection_x_coordinate": axisX, "projection_y_coordinate": axisY,
		"projection_x_angular_coordinate": axisX, "projection_y_angular_coordinate": axisY,
		"grid_longitude": axisX, "grid_latitude": axisY,
	}
	axisUnits = map[string]axisKind{
		"degrees_east": axisLongitude, "degree_east": axisLongitude, "degrees_e": axisLongitude, "degree_e": axisLongitude,
		"degreese": axisLongitude, "degreee": axisLongitude,
		"degrees_north": axisLatitude, "degree_north": axisLatitude, "degrees_n": axisLatitude, "degree_n": axisLatitude,
		"degreesn": axisLatitude, "degreen": axisLatitude,
	}
	axisNames = map[string]axisKind{
		"lon": axisLongitude, "long": axisLongitude, "longitude": axisLongitude, "longitudes": axisLongitude, "nav_lon": axisLongitude,
		"lat": axisLatitude, "latitude": axisLatitude, "latitudes": axisLatitude, "nav_lat": axisLatitude,
		"x": axisX, "easting": axisX, "xc": axisX, "rlon": axisX,
		"y": axisY, "northing": axisY, "yc": axisY, "rlat": axisY,
	}
)

// axisKind classifies a variable by its standard name, unit, name or axis, in this order.
func (v *Variable) axisKind() axisKind {
	if _, integer := integerSize(v.typ); v.err != nil || !integer && !strings.HasPrefix(v.typ, "float") || v.isTime() {
		return axisNone
	}
	if kind := axisStandardNames[strings.ToLower(v.Text("standard_name"))]; kind != axisNone {
		return kind
	}
	if kind := axisUnits[strings.ToLower(v.Text("units"))]; kind != axisNone {
		return kind
	}
	if kind := axisNames[strings.ToLower(path.Base(v.name))]; kind != axisNone {
		return kind
	}
	switch strings.ToUpper(v.Text("axis")) {
	case "X":
		return axisX
	case "Y":
		return axisY
	}
	return axisNone
}

// axisOf returns the coordinate variable of dimension k and its kind. It is the variable with the name of the dimension, or
// a one-dimensional one that the attribute "coordinates" names.
func (v *Variable) axisOf(k int) (*Variable, axisKind) {
	if c := v.coordinate(k); c != nil {
		if kind := c.axisKind(); kind != axisNone {
			return c, kind
		}
	}
	for _, name := range strings.Fields(v.Text("coordinates")) {
		c, ok := v.lookup(name)
		if ok && len(c.dimensions) == 1 && c.dimensions[0] == v.dimensions[k] && c.dimensions[0].Name != "" {
			if kind := c.axisKind(); kind != axisNone {
				return c, kind
			}
		}
	}
	return nil, axisNone
}

// coordinate returns the coordinate variable of dimension k, nil if there is none.
func (v *Variable) coordinate(k int) *Variable {
	c, ok := v.file.byName[v.coordinates[k]]
	if !ok || len(c.dimensions) != 1 || c.dimensions[0] != v.dimensions[k] || c.dimensions[0].Name == "" {
		return nil
	}
	return c
}

// lookup finds a variable by a name that an attribute has: in the group of v, then in the groups around it.
func (v *Variable) lookup(name string) (*Variable, bool) {
	if strings.HasPrefix(name, "/") {
		return v.file.Variable(name)
	}
	group := v.name
	for {
		i := strings.LastIndexByte(group, '/')
		if i < 0 {
			break
		}
		group = group[:i]
		if found, ok := v.file.byName[group+"/"+name]; ok {
			return found, true
		}
	}
	found, ok := v.file.byName[name]
	return found, ok
}

// maxMappingNumbers bounds the numbers of an attribute of a grid mapping: the longest that the CF conventions know, towgs84, has seven.
const maxMappingNumbers = 64

// mapping returns the attributes of the grid mapping variable.
func (v *Variable) mapping() map[string]any {
	// The extended form is "crs: x y", with a list of coordinates.
	words := strings.Fields(v.Text("grid_mapping"))
	if len(words) == 0 {
		return nil
	}
	m, ok := v.lookup(strings.TrimSuffix(words[0], ":"))
	if !ok {
		return nil
	}
	mapping := map[string]any{}
	if m.attributes == nil {
		return mapping
	}
	m.attributes.each(func(name string, a attribute) {
		switch _, known := mapping[name]; {
		case known: // of several of one name the first counts
		case len(a.numbers) > maxMappingNumbers:
		case a.isText:
			mapping[name] = a.text
		case len(a.numbers) == 1:
			mapping[name] = a.numbers[0]
		case len(a.numbers) > 1:
			mapping[name] = a.numbers
		}
	})
	return mapping
}

// axis returns the first value of an axis and its step, after checking that all values are where they put them. With around,
// longitudes may jump by 360 degrees once.
func (v *Variable) axis(ctx context.Context, around bool) (first, step float64, err error) {
	n := v.dimensions[0].Len
	if n < 2 {
		return 0, 0, unsupported("axis %s has %d values, so its pixels have no size", v.name, n)
	}
	values, err := v.decodeAll(ctx, maxAxis)
	if err != nil {
		return 0, 0, err
	}
	if around && values[1] > values[0] {
		for i := range values {
			if values[i] < values[0] {
				values[i] += 360
			}
		}
	}
	first, last := values[0], values[n-1]
	step = (last - first) / float64(n-1)
	if step == 0 || math.IsNaN(step) || math.IsInf(step, 0) {
		return 0, 0, unsupported("axis %s goes from %g to %g: %s", v.name, first, last, adviceRegular)
	}
	tolerance := 0.05 * math.Abs(step)
	if v.typ == "float32" { // rounding
		tolerance = min(tolerance+math.Max(math.Abs(first), math.Abs(last))/(1<<23), 0.25*math.Abs(step))
	}
	for i, value := range values {
		if want := first + float64(i)*step; !(math.Abs(value-want) <= tolerance) {
			return 0, 0, unsupported("axis %s is irregular: value %d is %g, %g would be regular: %s", v.name, i, value, want, adviceRegular)
		}
	}
	switch units := strings.ToLower(v.Text("units")); {
	case units == "km":
		first, step = first*1000, step*1000
	case strings.Contains(units, "foot") || strings.Contains(units, "feet") || strings.HasSuffix(units, "ft"):
		return 0, 0, unsupported("axis %s is in units of %.40q, want metres: gdalwarp -t_srs EPSG:4326 converts the file", v.name, units)
	}
	return first, step, nil
}

// decodeAll returns all values of a small variable, row by row. A missing one is an error.
func (v *Variable) decodeAll(ctx context.Context, limit int64) ([]float64, error) {
	n := int64(1)
	whole := Window{Start: make([]int64, len(v.dimensions)), Shape: make([]int64, len(v.dimensions))}
	for k, d := range v.dimensions {
		n *= d.Len
		whole.Shape[k] = d.Len
	}
	if len(v.dimensions) > 2 || n > limit {
		return nil, fmt.Errorf("variable %s: %w", v.name, unsupported("%d values in %d dimensions, want at most %d in two", n, len(v.dimensions), limit))
	}
	d, err := v.Decoder()
	if err != nil {
		return nil, err
	}
	values := make([]float64, n)
	err = v.Gather(ctx, []Window{whole}, func(_ int, part Window, raw []float64) error {
		for i, r := range raw {
			at, rest := int64(0), int64(i) // in the variable, and in the part
			for k, stride := len(whole.Shape)-1, int64(1); k >= 0; k-- {
				at += stride * (part.Start[k] + rest%part.Shape[k])
				rest /= part.Shape[k]
				stride *= whole.Shape[k]
			}
			value, state := d.Decode(r)
			if state == Fill {
				return fmt.Errorf("variable %s: %w", v.name, damaged("value %d is missing", at))
			}
			values[at] = value
		}
		return nil
	})
	return values, err
}
