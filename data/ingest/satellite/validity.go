package satellite

import (
	"context"
	"fmt"
	"image"
	"math"
)

// An operand is a name in an expression about pixels: a variable, a band or a flag.
type operand struct {
	of     any // what is read: operands of the same are read once
	gather gatherer
	// decode returns the value of a raw number. It is not known if the file has none there.
	decode func(raw float64) (value float64, known bool)
}

// A validity hides pixels for which eval is false.
type validity struct {
	eval     term
	operands []operand // of its names
	// strict hides a pixel if one of its operands is not known.
	strict bool
}

// newValidity returns what an expression hides. resolve finds its operands.
func newValidity(text string, strict bool, inner func(string) (string, bool), resolve func(name string) (operand, error)) (*validity, error) {
	e, err := parseExpression(text, inner)
	if err != nil {
		return nil, err
	}
	v := &validity{eval: e.eval, strict: strict}
	for _, name := range e.names {
		o, err := resolve(name)
		if err != nil {
			return nil, err
		}
		v.operands = append(v.operands, o)
	}
	return v, nil
}

// validAttribute is the attribute with an expression for the valid pixels, as SNAP writes it.
const validAttribute = "valid_pixel_expression"

// hideInvalid hides the pixels that do not count, by the options or otherwise by an expression of the file. use makes a validity of an expression.
func (s *scene) hideInvalid(ofFile string, opts *Options, use func(text string) (*validity, error)) error {
	from, text, want := validAttribute, ofFile, ": want --valid with an expression for the pixels that count, or --valid true if all do"
	if opts.Valid != "" {
		from, text, want = "--valid", opts.Valid, ""
	}
	if text == "" {
		return nil
	}
	v, err := use(text)
	if err != nil {
		return fmt.Errorf("%s %.200q: %w%s", from, text, err, want)
	}
	s.value.gather = v.over(s.value.gather)
	return nil
}

const (
	// stripPixels bounds the pixels of a window that are tested at once, and maxTested the numbers that are in memory for them.
	stripPixels = 1 << 17
	maxTested   = 1 << 20
)

// A strip is some rows of a window whose pixels are tested.
type strip struct {
	image.Rectangle
	hidden *hiddenPixels
	values []float64 // by pixel, then by operand
}

// over returns a gatherer of raw numbers that are NaN for hidden pixels.
func (v *validity) over(next gatherer) gatherer {
	return func(ctx context.Context, windows []image.Rectangle, each func(int, image.Rectangle, []float64) error) error {
		hidden := make([]hiddenPixels, len(windows))
		var strips []strip
		numbers := 0
		for i, w := range windows {
			hidden[i].window = w
			for y := w.Min.Y; y < w.Max.Y && !w.Empty(); {
				s := strip{image.Rect(w.Min.X, y, w.Max.X, min(y+max(1, stripPixels/w.Dx()), w.Max.Y)), &hidden[i], nil}
				strips, y = append(strips, s), s.Max.Y
				if len(v.operands) > 1 {
					numbers += s.Dx() * s.Dy() * len(v.operands)
				}
				if numbers > maxTested {
					if err := v.hide(ctx, strips); err != nil {
						return err
					}
					strips, numbers = nil, 0
				}
			}
		}
		if err := v.hide(ctx, strips); err != nil {
			return err
		}
		return next(ctx, windows, func(i int, part image.Rectangle, values []float64) error {
			for k := range values {
				if x, y := pixelAt(part, k); hidden[i].has(x, y) {
					values[k] = math.NaN()
				}
			}
			return each(i, part, values)
		})
	}
}

// hide reads the operands of strips, and hides their invalid pixels.
func (v *validity) hide(ctx context.Context, strips []strip) error {
	n := len(v.operands)
	windows := make([]image.Rectangle, len(strips))
	for k := range strips {
		windows[k] = strips[k].Rectangle
	}
	if n == 1 { // such as a flag: its numbers need not be kept
		o, values := v.operands[0], make([]float64, 1)
		return o.gather(ctx, windows, func(k int, part image.Rectangle, raw []float64) error {
			for j, r := range raw {
				value, known := o.decode(r)
				if values[0] = value; v.strict && !known || !isTrue(v.eval(values)) {
					strips[k].hidden.set(pixelAt(part, j))
				}
			}
			return nil
		})
	}
	for k := range strips {
		strips[k].values = make([]float64, windows[k].Dx()*windows[k].Dy()*n)
	}
	for i, o := range v.operands {
		var same []int
		for m := range v.operands {
			if v.operands[m].of == o.of {
				same = append(same, m)
			}
		}
		if same[0] < i {
			continue // read already
		}
		if err := o.gather(ctx, windows, func(k int, part image.Rectangle, raw []float64) error {
			s := &strips[k]
			for j, r := range raw {
				x, y := pixelAt(part, j)
				at := ((y-s.Min.Y)*s.Dx() + x - s.Min.X) * n
				for _, m := range same {
					value, known := v.operands[m].decode(r)
					if s.values[at+m] = value; v.strict && !known {
						s.hidden.set(x, y)
					}
				}
			}
			return nil
		}); err != nil {
			return fmt.Errorf("the pixels that count: %w", err)
		}
	}
	for _, s := range strips {
		for k := range s.Dx() * s.Dy() {
			if !isTrue(v.eval(s.values[k*n : (k+1)*n])) {
				s.hidden.set(pixelAt(s.Rectangle, k))
			}
		}
	}
	return ctx.Err()
}

// pixelAt returns the k-th pixel of a window, row by row.
func pixelAt(window image.Rectangle, k int) (x, y int) {
	return window.Min.X + k%window.Dx(), window.Min.Y + k/window.Dx()
}

// hiddenPixels has a bit for each pixel of a window that has no data, and none if all have.
type hiddenPixels struct {
	window image.Rectangle
	bits   []uint64
}

func (h *hiddenPixels) at(x, y int) int { return (y-h.window.Min.Y)*h.window.Dx() + x - h.window.Min.X }

func (h *hiddenPixels) set(x, y int) {
	if h.bits == nil {
		h.bits = make([]uint64, (h.window.Dx()*h.window.Dy()+63)/64)
	}
	at := h.at(x, y)
	h.bits[at/64] |= 1 << (at % 64)
}

func (h *hiddenPixels) has(x, y int) bool {
	at := h.at(x, y)
	return h.bits != nil && h.bits[at/64]>>(at%64)&1 != 0
}
