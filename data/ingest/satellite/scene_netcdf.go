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
	"limnomap/data/raster/georef"
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
	text := attributesOf(slices.Values(f.AttributeNames()), f.Text)
	pixels := &netcdfPixels{f: f, value: v, ctx: ctx, opts: opts}
	when, err := s.openVariable(pixels, text)
	if err != nil {
		return nil, fmt.Errorf("variable %s: %w", v.Name(), err)
	}
	if err := s.addIce(pixels); err != nil {
		return nil, err
	}
	s.addScum(pixels)
	s.addQuantities(pixels)
	s.addUncertainty(pixels)
	step := 0.0
	if pixels.grid.Geographic {
		step = math.Abs(pixels.grid.Transform[1])
	}
	when.name, when.attributes = file.Name, text
	if err := s.describe(when, step, v.Text("cell_methods"), opts); err != nil {
		return nil, err
	}
	if !strings.Contains(s.version, " ") && s.product.ID == LWQ { // without the time of processing
		s.observations = pixels.layer("num_obs", func(string) (linear, bool) { return linear{1, 0}, true }, 0)
	}
	return s, nil
}

// openVariable sets what the variable with the values says about them, and returns what its time coordinate says. text finds global attributes.
func (s *scene) openVariable(p *netcdfPixels, text func(name string) string) (when dating, err error) {
	v := p.value
	if err := v.Err(); err != nil {
		return when, err
	}
	g, err := v.Grid(p.ctx)
	if err != nil {
		return when, err
	}
	if s.grid, err = gridOfNetCDF(g); err != nil {
		return when, err
	}
	at, when, err := planeOf(p.ctx, v, g, p.opts)
	if err != nil {
		return when, err
	}
	p.grid = g
	s.value, s.variable = layer{gather: netcdfGatherer(v, g, at)}, v.Name()
	if chunk := v.ChunkShape(); chunk != nil {
		s.value.block = image.Pt(int(min(chunk[g.X], int64(g.Width))), int(min(chunk[g.Y], int64(g.Height))))
	}
	if err := s.hideInvalid(strings.TrimSpace(v.Text(validAttribute)), p.opts, func(text string) (*validity, error) {
		return newValidity(text, true, p.inner, p.operand)
	}); err != nil {
		return when, err
	}
	return when, s.decodeVariable(v, text, p.opts)
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

// planeOf returns the index of the plane to read in the dimensions beside columns and rows, and what the time coordinate says about it.
func planeOf(ctx context.Context, v *netcdf.Variable, g *netcdf.Grid, opts *Options) (at []int64, when dating, err error) {
	dimensions := v.Dimensions()
	at = make([]int64, len(dimensions))
	times, err := v.Times(ctx)
	if err != nil && !opts.Date.Known {
		return nil, when, fmt.Errorf("%w; --date YYYY-MM-DD says the day", err)
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
		if at[i], err = stepOf(ctx, v, times, opts); err != nil {
			return nil, when, err
		}
	}
	step := 0
	if t := v.TimeDimension(); t >= 0 {
		step = int(at[t])
	}
	if step >= len(times) {
		return at, when, nil
	}
	when.time = times[step]
	bounds, err := v.TimeBounds(ctx)
	switch {
	case err != nil && opts.Date.Known:
		return at, when, nil
	case err == nil && bounds != nil:
		if when.bounds = [2]time.Time(bounds[2*step:]); when.bounds[1].Before(when.bounds[0]) {
			err = fmt.Errorf("the bounds of its time are %s", listTimes(when.bounds[:]))
		}
	}
	return at, when, err
}

// stepOf returns the only step of the day that the options want. A file with several is never read in part without being asked to: the highest value
// of a day may be in any of them.
func stepOf(ctx context.Context, v *netcdf.Variable, times []time.Time, opts *Options) (int64, error) {
	if !opts.Date.Known {
		if slices.ContainsFunc(times, func(t time.Time) bool { return data.DateOf(t) != data.DateOf(times[0]) }) {
			return 0, fmt.Errorf("%d times, %s: want --date with one of these days", len(times), listTimes(times))
		}
		return 0, errSameDay(times)
	}
	bounds, _ := v.TimeBounds(ctx)
	var found []time.Time
	step := 0
	for i, t := range times {
		day := data.DateOf(t)
		if bounds != nil && bounds[2*i+1].After(bounds[2*i]) { // the date of a period is its last day
			day = interval{start: bounds[2*i], end: bounds[2*i+1]}.days().last
		}
		if day == opts.Date.Value {
			step, found = i, append(found, t)
		}
	}
	switch len(found) {
	case 1:
		return int64(step), nil
	case 0:
		return 0, fmt.Errorf("%d times, %s, and none of %s: want --date with one of these days", len(times), listTimes(times), opts.Date.Value)
	}
	return 0, errSameDay(found)
}

func errSameDay(times []time.Time) error {
	return fmt.Errorf("%d times of one day, %s: want a file with one of them, as cdo seltimestep makes it, or with their maximum, as cdo timmax does",
		len(times), listTimes(times))
}

// listTimes lists times for an error: the first ones, and the last one.
func listTimes(times []time.Time) string {
	const most = 8
	var all []string
	for i, t := range times {
		if i < most-1 || i == len(times)-1 {
			all = append(all, t.Format("2006-01-02T15:04Z"))
		} else if i == most-1 {
			all = append(all, "...")
		}
	}
	return strings.Join(all, ", ")
}

// decodeVariable sets the decoder of a variable. text finds global attributes.
func (s *scene) decodeVariable(v *netcdf.Variable, text func(name string) string, opts *Options) error {
	d, err := v.Decoder()
	if err != nil {
		return err
	}
	var special []float64 // flags between the values, such as land and cloud
	if v.Text("flag_meanings") != "" {
		for _, value := range v.Numbers("flag_values") {
			special = append(special, d.Raw(value))
		}
	}
	then := func(next decoder) decoder {
		return func(raw float64) (float64, pixelState) {
			value, state := d.Decode(raw)
			switch {
			case slices.Contains(special, d.Raw(raw)), state == netcdf.Fill, math.IsNaN(value):
				return 0, noData
			case state == netcdf.OutOfRange:
				chl, would := next(value)
				if !would.usable() || math.IsInf(value, 0) {
					chl = math.NaN()
				}
				return chl, outOfRange
			}
			return next(value)
		}
	}
	switch {
	case v.Name() == tsiVariable:
		s.value.decode, s.method = then(tsiDecoder), "tsi"
		return nil
	case opts.Valid == "" && s.product.ID == OwnRaster && v.Text("flag_masks") != "":
		return fmt.Errorf("its values are flags (flag_masks, %.200q): want another --variable, or --valid with an expression for the pixels that count",
			v.Text("flag_meanings"))
	case indexed(s.product.ID):
		scale, hasScale := v.Number("scale_factor")
		offset, hasOffset := v.Number("add_offset")
		if v.Type() != "uint8" && v.Type() != "int8" || hasScale && scale != 1 || hasOffset && offset != 0 {
			return fmt.Errorf("product %s has digital numbers from 0 to 255 as bytes without a scale; this variable has %s", s.product.ID, v.Type())
		}
		about := attributesOf(slices.Values(v.AttributeNames()), v.Text)
		return s.setIndex(func(name string) string { return cmp.Or(about(name), text(name)) }, then)
	}
	u, err := unitOfValues(s.product, d.Unit(), append(scalings(func(name string) string { return cmp.Or(v.Text(name), text(name)) }), v.Name(), v.Text("long_name")), opts)
	if err != nil {
		return err
	}
	own := ownDecoder{unit: u, noPadding: s.product.ID != OwnRaster || d.HasFill()}
	s.value.decode = then(own.decode)
	return nil
}

// addUncertainty adds the variable of the uncertainty, if the file has one that fits.
func (s *scene) addUncertainty(p *netcdfPixels) {
	names := []string{"chla_uncertainty"}
	if name := p.value.Name(); name != "chla_mean" {
		names = []string{name + "_uncertainty", name + "_unc"}
	}
	for _, name := range names {
		s.uncertainty = p.layer(name, func(text string) (linear, bool) {
			if s.relative = isPercent(text); s.relative {
				return linear{0.01, 0}, true
			}
			u, err := unitOfValues(s.product, text, nil, p.opts)
			return linear{u.perUnit, 0}, err == nil && u.base == 0 // the uncertainty of a logarithm is a factor
		}, 0)
		if s.uncertainty != nil {
			return
		}
	}
}

// gridOfNetCDF returns the grid of a variable.
func gridOfNetCDF(g *netcdf.Grid) (georef.Grid, error) {
	var system *crs.System
	var err error
	if g.Geographic {
		system, err = crs.FromEPSG(4326)
	} else {
		system, err = crs.FromCF(g.Mapping)
	}
	if err != nil {
		return georef.Grid{}, err
	}
	return georef.New(g.Width, g.Height, g.Transform, system)
}
