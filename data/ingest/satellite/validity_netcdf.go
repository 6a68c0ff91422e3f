package satellite

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"limnomap/data/raster/netcdf"
)

// netcdfPixels finds the operands of expressions about the pixels of a variable.
type netcdfPixels struct {
	ctx   context.Context
	f     *netcdf.File
	value *netcdf.Variable
	grid  *netcdf.Grid
	opts  *Options
}

// inner returns the expression of a mask or a virtual band of SNAP, which has no values in the file: an attribute of a variable of that name.
func (p *netcdfPixels) inner(name string) (string, bool) {
	for _, n := range []string{name, name + "_mask"} {
		if v, ok := p.variable(n); ok && len(v.Dimensions()) < 2 {
			if text := v.Text("expression"); text != "" {
				return text, true
			}
		}
	}
	return "", false
}

// variable returns a variable by its name, in the group of the values first.
func (p *netcdfPixels) variable(name string) (*netcdf.Variable, bool) {
	if i := strings.LastIndexByte(p.value.Name(), '/'); i >= 0 {
		if v, ok := p.f.Variable(p.value.Name()[:i+1] + name); ok {
			return v, true
		}
	}
	return p.f.Variable(name)
}

// numbers returns the decoder and the reader of a variable with the pixels of the values, whatever the order of its dimensions.
func (p *netcdfPixels) numbers(v *netcdf.Variable) (*netcdf.Decoder, gatherer, error) {
	d, err := v.Decoder()
	if err = cmp.Or(v.Err(), err); err != nil {
		return nil, nil, err
	}
	g, err := v.Grid(p.ctx)
	if err != nil {
		return nil, nil, err
	}
	if g.Width != p.grid.Width || g.Height != p.grid.Height || g.Transform != p.grid.Transform {
		return nil, nil, fmt.Errorf("its pixels are not those of %s", p.value.Name())
	}
	at, _, err := planeOf(p.ctx, v, g, p.opts)
	return d, netcdfGatherer(v, g, at), err
}

// layer returns the layer of the values of a variable that are not below least, by what its unit means; nil if the file has none that can be read.
func (p *netcdfPixels) layer(name string, unit func(text string) (linear, bool), least float64) *layer {
	v, ok := p.variable(name)
	if !ok || !isRaster(v) {
		return nil
	}
	d, gather, err := p.numbers(v)
	if err != nil {
		return nil
	}
	to, ok := unit(d.Unit())
	if !ok {
		return nil
	}
	return &layer{gather: gather, decode: func(raw float64) (float64, pixelState) {
		value, state := d.Decode(raw)
		if value = to.factor*value + to.offset; state != netcdf.Valid || !(value >= least) || math.IsInf(value, 0) {
			return 0, noData
		}
		return value, hasValue
	}}
}

// operand returns what a name is: a variable with its scale, raw numbers (NAME.raw) or a flag (NAME.FLAG).
func (p *netcdfPixels) operand(name string) (operand, error) {
	v, ok := p.variable(name)
	flag := ""
	if dot := strings.LastIndexByte(name, '.'); !ok && dot > 0 {
		v, ok = p.variable(name[:dot])
		flag = name[dot+1:]
	}
	if !ok {
		return operand{}, fmt.Errorf("the file has no variable %.80q", name)
	}
	d, gather, err := p.numbers(v)
	o := operand{of: v, gather: gather}
	switch {
	case err != nil:
	case flag == "" && v.Text("flag_meanings") == "":
		o.decode = func(raw float64) (float64, bool) {
			value, _ := d.Decode(raw)
			return value, true // NaN for a missing one: isnan asks for it
		}
	case flag == "" || flag == "raw":
		o.decode = func(raw float64) (float64, bool) { return d.Raw(raw), !d.IsFill(raw) }
	default:
		o.decode, err = flagDecoder(v, d, flag)
	}
	if err != nil {
		err = fmt.Errorf("variable %s: %w", v.Name(), err)
	}
	return o, err
}

// flagDecoder returns the decoder of a flag: 1 where it is set. Flags are bits (flag_masks), numbers (flag_values), or numbers in some bits
// (both): CF conventions 1.11, section 3.5.
func flagDecoder(v *netcdf.Variable, d *netcdf.Decoder, flag string) (func(float64) (float64, bool), error) {
	meanings := strings.Fields(v.Text("flag_meanings"))
	i := slices.Index(meanings, flag)
	if i < 0 {
		return nil, fmt.Errorf("it has no flag %.80q, only %.400q", flag, meanings)
	}
	masks, values := v.Integers("flag_masks"), v.Integers("flag_values")
	wrong := func(numbers []uint64) bool { return len(numbers) != 0 && len(numbers) != len(meanings) }
	if wrong(masks) || wrong(values) || len(masks)+len(values) == 0 || strings.HasPrefix(v.Type(), "float") {
		return nil, fmt.Errorf("it has %d flag_meanings, %d flag_masks and %d flag_values of %s: want as many integers", len(meanings), len(masks), len(values), v.Type())
	}
	mask := ^uint64(0) >> (64 - d.Bits()) // a number and its mask may have different signs
	if len(masks) > 0 {
		mask &= masks[i]
	}
	want := mask
	if len(values) > 0 {
		want &= values[i]
	}
	if mask == 0 {
		return nil, fmt.Errorf("the mask of the flag %s is 0", flag)
	}
	return func(raw float64) (float64, bool) {
		number, ok := wholeNumber(raw) // larger ones have lost bits
		if !ok || d.IsFill(raw) {
			return math.NaN(), false
		}
		return truth(uint64(number)&mask == want), true
	}, nil
}

// addIce hides the pixels with ice, and adds the layer that tells why a lake has no value: by the meanings of the flags in the file.
func (s *scene) addIce(p *netcdfPixels) error {
	if s.product.ID != LWQ && s.product.ID != LakesCCI {
		return nil
	}
	for _, name := range []string{"quality_flags", "lake_ice_cover_class", "lake_ice_cover"} {
		v, ok := p.variable(name)
		if !ok || v.Err() != nil {
			continue
		}
		for _, flag := range strings.Fields(v.Text("flag_meanings")) {
			if !isIce(flag) {
				continue
			}
			o, err := p.operand(name + "." + flag)
			if err != nil {
				return err
			}
			hide := &validity{eval: func(v []float64) float64 { return truth(!isTrue(v[0])) }, operands: []operand{o}}
			s.value.gather = hide.over(s.value.gather)
			s.ice = o.layer(1)
			return nil
		}
	}
	return nil
}

// layer returns the layer of the pixels of which an operand is known to be at least a number.
func (o operand) layer(least float64) *layer {
	return &layer{gather: o.gather, decode: func(raw float64) (float64, pixelState) {
		if value, known := o.decode(raw); !known || !(value >= least) {
			return 0, noData
		}
		return 1, hasValue
	}}
}

// isIce reports whether a flag means that there is ice on the water, such as snow_ice.
func isIce(flag string) bool {
	words := strings.FieldsFunc(strings.ToLower(flag), func(r rune) bool { return r == '_' || r == '-' })
	return slices.Contains(words, "ice") && !slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"no", "not", "free", "without", "risk", "probability", "adjacent"}, w)
	})
}
