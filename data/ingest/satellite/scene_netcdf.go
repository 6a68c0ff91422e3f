package satellite

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"limnomap/data"
	"limnomap/data/raster/crs"
	"limnomap/data/raster/netcdf"
)

// tsiVariable is the class of LWQ version 1.
const tsiVariable = "trophic_state_index"

// openNetCDF opens a NetCDF file.
func openNetCDF(ctx context.Context, file File, opts *Options) (*scene, error) {
	f, err := netcdf.Open(file, file.Size, &netcdf.Options{Workers: opts.Workers})
	if err != nil {
		return nil, err
	}
	s := new(scene)
	if s.product, err = productOfNetCDF(file.Name, f, opts); err != nil {
		return nil, err
	}
	if opts.Band > 0 {
		return nil, fmt.Errorf("band %d: a NetCDF file has variables: want --variable", opts.Band)
	}
	v, err := variableOf(f, s.product, opts)
	if err != nil {
		return nil, err
	}
	if err := v.Err(); err != nil {
		return nil, fmt.Errorf("variable %s: %w", v.Name(), err)
	}
	g, err := v.Grid(ctx)
	if err != nil {
		return nil, fmt.Errorf("variable %s: %w", v.Name(), err)
	}
	if s.grid, err = gridOfNetCDF(g); err != nil {
		return nil, fmt.Errorf("variable %s: %w", v.Name(), err)
	}
	at, when, err := planeOf(ctx, v, g, opts)
	if err != nil {
		return nil, fmt.Errorf("variable %s: %w", v.Name(), err)
	}
	s.variable = v.Name()
	s.value = layer{name: v.Name(), gather: netcdfGatherer(v, g, at)}
	if chunk := v.ChunkShape(); chunk != nil {
		s.value.block = image.Pt(int(min(chunk[g.X], int64(g.Width))), int(min(chunk[g.Y], int64(g.Height))))
	}
	if s.value.decode, err = netcdfDecoder(s.product, v, opts); err != nil {
		return nil, fmt.Errorf("variable %s: %w", v.Name(), err)
	}
	if indexed(s.product.ID) {
		s.limit = indexLimit
	}
	if v.Name() == tsiVariable {
		s.method = "tsi"
	}
	if s.source, err = sourceOf(s.product, ownSource(s.product, file.Name, g), opts); err != nil {
		return nil, err
	}
	s.version = versionOf(cmp.Or(f.Text("product_version"), f.Text("processing_version"), versionOfName(file.Name)),
		cmp.Or(f.Text("date_created"), f.Text("processing_time"), f.Text("creation_date"), f.Text("date_modified")))
	s.addUncertainty(f, v, g, at, opts)
	if _, after, found := strings.Cut(s.version, " "); s.product.ID == LWQ && (!found || after == "") {
		s.addObservations(f, v, g, at)
	}
	s.date, err = dateOf(dating{name: file.Name, start: f.Text("time_coverage_start"), end: f.Text("time_coverage_end"), time: when}, opts)
	return s, err
}

// productOfNetCDF returns the product of a NetCDF file, by its name or what it says about itself.
func productOfNetCDF(name string, f *netcdf.File, opts *Options) (Product, error) {
	id := opts.Product
	if id == "" {
		base := strings.ToLower(path.Base(name))
		about := strings.ToLower(f.Text("title") + " " + f.Text("identifier") + " " + f.Text("id"))
		switch {
		case dekadName.MatchString(base), strings.Contains(about, "lwq"), strings.Contains(about, "lake water quality"):
			id = LWQ
		case strings.HasPrefix(base, "esacci-lakes"), strings.Contains(about, "lakes") && strings.Contains(about, "cci"):
			id = LakesCCI
		default:
			id = OwnRaster
		}
	}
	return ProductOf(id)
}

// variableOf returns the variable with the values.
func variableOf(f *netcdf.File, p Product, opts *Options) (*netcdf.Variable, error) {
	name := opts.Variable
	if name == "" && (p.ID == LWQ || p.ID == LakesCCI) {
		name = "chla_mean"
	}
	if name != "" {
		if v, ok := f.Variable(name); ok {
			return v, nil
		}
		if _, ok := f.Variable(tsiVariable); ok && opts.Variable == "" {
			return nil, fmt.Errorf("this file of LWQ has no chlorophyll, only %s in steps of 10, as version 1 has: --variable %s makes a rough value of it",
				tsiVariable, tsiVariable)
		}
		return nil, fmt.Errorf("no variable %.80q: want --variable with one of %s", name, namesOf(f, isRaster))
	}
	var found []*netcdf.Variable
	for _, v := range f.Variables() {
		if isRaster(v) && isChlorophyll(v) {
			found = append(found, v)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, fmt.Errorf("no variable that is known as chlorophyll: want --variable with one of %s", namesOf(f, isRaster))
	}
	return nil, fmt.Errorf("several variables of chlorophyll: want --variable with one of %s", namesOf(f, func(v *netcdf.Variable) bool { return slices.Contains(found, v) }))
}

// isRaster reports whether a variable may have columns and rows.
func isRaster(v *netcdf.Variable) bool {
	return len(v.Dimensions()) >= 2 && (strings.HasPrefix(v.Type(), "int") || strings.HasPrefix(v.Type(), "uint") || strings.HasPrefix(v.Type(), "float"))
}

// isChlorophyll knows the standard name of CF, and the names of variables in files of ACOLITE (chl_oc3, chl_re_gons), C2RCC and SNAP (conc_chl),
// Sentinel-3 (CHL_NN) and NASA (chlor_a).
func isChlorophyll(v *netcdf.Variable) bool {
	name := strings.ToLower(path.Base(v.Name()))
	for _, part := range []string{"unc", "err", "std", "flag", "mask", "count", "bias", "rmsd", "log", "day", "anom", "trend", "clim", "ratio", "class"} {
		if strings.Contains(name, part) {
			return false
		}
	}
	standard := v.Text("standard_name")
	return strings.HasPrefix(name, "chl") || name == "conc_chl" ||
		strings.HasPrefix(standard, "mass_concentration_of_chlorophyll") && !strings.Contains(standard, " ")
}

// namesOf lists variables for an error.
func namesOf(f *netcdf.File, take func(*netcdf.Variable) bool) string {
	const most = 30
	var names []string
	for _, v := range f.Variables() {
		if take(v) {
			names = append(names, v.Name())
		}
	}
	if len(names) == 0 {
		return "its variables, but it has none with columns and rows"
	}
	if n := len(names) - most; n > 0 {
		names = append(names[:most], fmt.Sprintf("and %d others", n))
	}
	return strings.Join(names, ", ")
}

// planeOf returns the index of the plane to read in the dimensions beside columns and rows, and its time, which is zero without one.
func planeOf(ctx context.Context, v *netcdf.Variable, g *netcdf.Grid, opts *Options) (at []int64, when time.Time, err error) {
	dimensions := v.Dimensions()
	at = make([]int64, len(dimensions))
	times, err := v.Times(ctx)
	if err != nil && !opts.Date.Known {
		return nil, when, err
	}
	for i, d := range dimensions {
		if i == g.X || i == g.Y || d.Len == 1 {
			continue
		}
		if d.Len == 0 {
			return nil, when, fmt.Errorf("dimension %s is empty", d.Name)
		}
		if i != v.TimeDimension() || int64(len(times)) != d.Len {
			return nil, when, fmt.Errorf("dimension %s has %d steps: want one beside columns and rows", d.Name, d.Len)
		}
		at[i] = int64(slices.IndexFunc(times, func(t time.Time) bool { return opts.Date.Known && data.DateOf(t) == opts.Date.Value }))
		if at[i] < 0 {
			return nil, when, fmt.Errorf("%d times, from %s to %s: want --date with one of these days", d.Len, data.DateOf(times[0]), data.DateOf(times[len(times)-1]))
		}
	}
	if t := v.TimeDimension(); t >= 0 && at[t] < int64(len(times)) {
		when = times[at[t]]
	}
	return at, when, nil
}

// netcdfDecoder returns the decoder of a variable.
func netcdfDecoder(p Product, v *netcdf.Variable, opts *Options) (decoder, error) {
	d, err := v.Decoder()
	if err != nil {
		return nil, err
	}
	decode := func(raw float64) (float64, pixelState) {
		value, state := d.Decode(raw)
		switch {
		case state == netcdf.Fill || math.IsNaN(value):
			return 0, noData
		case state == netcdf.OutOfRange:
			return 0, outOfRange
		}
		return value, hasValue
	}
	then := func(next decoder) decoder {
		return func(raw float64) (float64, pixelState) {
			value, state := decode(raw)
			if state != hasValue {
				return 0, state
			}
			return next(value)
		}
	}
	switch {
	case v.Name() == tsiVariable:
		return then(tsiDecoder), nil
	case indexed(p.ID):
		scale, hasScale := v.Number("scale_factor")
		offset, hasOffset := v.Number("add_offset")
		if v.Type() != "uint8" && v.Type() != "int8" || hasScale && scale != 1 || hasOffset && offset != 0 {
			return nil, fmt.Errorf("product %s has digital numbers from 0 to 255 as bytes without a scale; this variable has %s", p.ID, v.Type())
		}
		return then(indexDecoderOf(p.ID)), nil
	}
	perUnit, ok := scaleOf(p, d.Unit(), opts)
	if !ok {
		return nil, fmt.Errorf("unit %.80q: want mg m-3, µg/l or another one of chlorophyll, or --scale with what one unit is in µg/l, such as --scale 1", d.Unit())
	}
	zeroIsNoData := p.ID == OwnRaster && len(v.Numbers("_FillValue")) == 0 && len(v.Numbers("missing_value")) == 0
	return then(func(value float64) (float64, pixelState) { return ownDecoder(value*perUnit, zeroIsNoData) }), nil
}

// ownSource returns the source of a product with what its resolution says.
func ownSource(p Product, name string, g *netcdf.Grid) string {
	if p.ID != LWQ {
		return p.Source
	}
	if s := sourceOfName(p, name); s != p.Source || !g.Geographic {
		return s
	}
	if math.Abs(g.Transform[1]) < 0.0015 { // the grids have 1/1008° and 1/448°
		return p.Source + "100"
	}
	return p.Source + "300"
}

// addUncertainty adds the variable of the uncertainty, if the file has one that fits.
func (s *scene) addUncertainty(f *netcdf.File, value *netcdf.Variable, g *netcdf.Grid, at []int64, opts *Options) {
	names := []string{"chla_uncertainty"}
	if value.Name() != "chla_mean" {
		names = []string{value.Name() + "_uncertainty", value.Name() + "_unc"}
	}
	for _, name := range names {
		v, ok := f.Variable(name)
		if !ok || v.Err() != nil || !slices.Equal(v.Dimensions(), value.Dimensions()) {
			continue
		}
		d, err := v.Decoder()
		if err != nil {
			continue
		}
		perUnit, known := scaleOf(s.product, d.Unit(), opts)
		if isPercent(d.Unit()) {
			perUnit, known, s.relative = 0.01, true, true
		}
		if !known {
			continue
		}
		s.uncertainty = &layer{name: name, gather: netcdfGatherer(v, g, at), decode: func(raw float64) (float64, pixelState) {
			value, state := d.Decode(raw)
			if value *= perUnit; state != netcdf.Valid || !(value >= 0) || math.IsInf(value, 1) {
				return 0, noData
			}
			return value, hasValue
		}}
		return
	}
}

// addObservations adds the variable that counts the observations of a pixel.
func (s *scene) addObservations(f *netcdf.File, value *netcdf.Variable, g *netcdf.Grid, at []int64) {
	v, ok := f.Variable("num_obs")
	if !ok || v.Err() != nil || !slices.Equal(v.Dimensions(), value.Dimensions()) {
		return
	}
	d, err := v.Decoder()
	if err != nil {
		return
	}
	s.observations = &layer{name: v.Name(), gather: netcdfGatherer(v, g, at), decode: func(raw float64) (float64, pixelState) {
		n, state := d.Decode(raw)
		if state != netcdf.Valid || !(n >= 0) {
			return 0, noData
		}
		return n, hasValue
	}}
}

// gridOfNetCDF returns the grid of a variable.
func gridOfNetCDF(g *netcdf.Grid) (grid, error) {
	var system *crs.System
	var err error
	if g.Geographic {
		system, err = crs.FromEPSG(4326)
	} else {
		system, err = crs.FromCF(g.Mapping)
	}
	if err != nil {
		return grid{}, err
	}
	return newGrid(g.Width, g.Height, g.Transform, system)
}
