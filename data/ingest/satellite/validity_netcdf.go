package satellite

import (
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

// validAttributes are the attributes of a variable with an expression for its valid pixels, as SNAP writes them.
var validAttributes = []string{"valid_pixel_expression", "valid_expression"}

// hideInvalid hides the pixels that the variable says, or the options say, do not count.
func (s *scene) hideInvalid(p *netcdfPixels) error {
	text, from := p.opts.Valid, "--valid"
	if text == "" {
		for _, name := range validAttributes {
			if text = p.value.Text(name); strings.TrimSpace(text) != "" {
				from = name
				break
			}
		}
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	v, err := p.validity(text, true)
	if err != nil {
		return errValid(from, text, err)
	}
	s.value.gather = v.over(s.value.gather)
	return nil
}

// errValid says that an expression cannot be used, and what to do.
func errValid(from, text string, err error) error {
	if from == "--valid" {
		return fmt.Errorf("--valid: %w", err)
	}
	return fmt.Errorf("%s %.200q: %w: want --valid with an expression for the pixels that count, or --valid true if all do", from, text, err)
}

// validity returns what an expression hides.
func (p *netcdfPixels) validity(text string, strict bool) (*validity, error) {
	e, err := parseExpression(text, p.inner)
	if err != nil {
		return nil, err
	}
	return newValidity(e, strict, p.operand)
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
	if err := v.Err(); err != nil {
		return operand{}, fmt.Errorf("variable %s: %w", v.Name(), err)
	}
	d, err := v.Decoder()
	if err != nil {
		return operand{}, err
	}
	o := operand{of: v}
	if o.gather, err = p.gatherer(v); err != nil {
		return operand{}, fmt.Errorf("variable %s: %w", v.Name(), err)
	}
	switch {
	case flag == "" && v.Text("flag_meanings") == "":
		o.decode = func(raw float64) (float64, bool, error) {
			value, state := d.Decode(raw)
			if state == netcdf.Fill {
				return math.NaN(), true, nil // isnan asks for it
			}
			return value, true, nil
		}
	case flag == "" || flag == "raw":
		o.decode = func(raw float64) (float64, bool, error) { return d.Raw(raw), !d.IsFill(raw), nil }
	default:
		o.decode, err = flagDecoder(v, d, flag)
	}
	return o, err
}

// gatherer returns the reader of a variable with the pixels of the values, whatever the order of its dimensions.
func (p *netcdfPixels) gatherer(v *netcdf.Variable) (gatherer, error) {
	g, err := v.Grid(p.ctx)
	if err != nil {
		return nil, err
	}
	if g.Width != p.grid.Width || g.Height != p.grid.Height || g.Transform != p.grid.Transform {
		return nil, fmt.Errorf("its pixels are not those of %s", p.value.Name())
	}
	at, _, err := planeOf(p.ctx, v, g, p.opts)
	if err != nil {
		return nil, err
	}
	return netcdfGatherer(v, g, at), nil
}

// flagDecoder returns the decoder of a flag: 1 where it is set. Flags are bits (flag_masks), numbers (flag_values), or numbers in some bits
// (both): CF conventions 1.11, section 3.5.
func flagDecoder(v *netcdf.Variable, d *netcdf.Decoder, flag string) (func(float64) (float64, bool, error), error) {
	meanings := strings.Fields(v.Text("flag_meanings"))
	i := slices.Index(meanings, flag)
	if i < 0 {
		if len(meanings) == 0 {
			return nil, fmt.Errorf("variable %s has no flags (flag_meanings)", v.Name())
		}
		return nil, fmt.Errorf("variable %s has no flag %.80q, only %.400s", v.Name(), flag, strings.Join(meanings, ", "))
	}
	masks, values := v.Integers("flag_masks"), v.Integers("flag_values")
	if len(masks) != len(meanings) && len(masks) > 0 || len(values) != len(meanings) && len(values) > 0 || len(masks)+len(values) == 0 {
		return nil, fmt.Errorf("variable %s has %d flag_meanings, %d flag_masks and %d flag_values", v.Name(), len(meanings), len(masks), len(values))
	}
	if strings.HasPrefix(v.Type(), "float") {
		return nil, fmt.Errorf("variable %s has flags of %s: want integers", v.Name(), v.Type())
	}
	bits := ^uint64(0) // of the type: a number and its mask may have different signs
	if size := d.Bits(); size < 64 {
		bits = 1<<size - 1
	}
	mask := bits
	if len(masks) > 0 {
		mask = masks[i] & bits
	}
	if mask == 0 {
		return nil, fmt.Errorf("variable %s: the mask of the flag %s is 0", v.Name(), flag)
	}
	want := mask
	if len(values) > 0 {
		want = values[i] & mask
	}
	return func(raw float64) (float64, bool, error) {
		if d.IsFill(raw) {
			return math.NaN(), false, nil
		}
		number, ok := wholeNumber(raw)
		if !ok {
			return 0, false, fmt.Errorf("variable %s: flags of %g cannot be read exactly", v.Name(), raw)
		}
		return truth(uint64(number)&mask == want), true, nil
	}, nil
}

// flagValuesOf returns the numbers of a variable that are no values but flags, such as those of land, nil if there are none.
func flagValuesOf(v *netcdf.Variable, d *netcdf.Decoder) (special []float64) {
	if v.Text("flag_meanings") == "" {
		return nil
	}
	for _, value := range v.Numbers("flag_values") {
		special = append(special, d.Raw(value))
	}
	return special
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
			hide, err := p.validity("!'"+name+"."+flag+"'", false)
			if err != nil {
				return fmt.Errorf("variable %s: %w", name, err)
			}
			s.value.gather = hide.over(s.value.gather)
			o := hide.operands[0]
			s.ice = &layer{name: name, gather: o.gather, decode: func(raw float64) (float64, pixelState) {
				if set, known, err := o.decode(raw); err != nil || !known || set == 0 {
					return 0, noData
				}
				return 1, hasValue
			}}
			return nil
		}
	}
	return nil
}

// isIce reports whether a flag means that there is ice on the water, such as snow_ice.
func isIce(flag string) bool {
	words := strings.FieldsFunc(strings.ToLower(flag), func(r rune) bool { return r == '_' || r == '-' })
	return slices.Contains(words, "ice") && !slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"no", "not", "free", "without", "risk", "probability", "adjacent"}, w)
	})
}
