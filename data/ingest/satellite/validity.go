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
	decode func(raw float64) (value float64, known bool, err error)
}

// A validity hides pixels.
type validity struct {
	*expression
	operands []operand // of its names
	// strict hides a pixel if one of its operands is not known.
	strict bool
}

// newValidity returns what an expression hides. resolve finds its operands.
func newValidity(e *expression, strict bool, resolve func(name string) (operand, error)) (*validity, error) {
	v := &validity{expression: e, strict: strict}
	for _, name := range e.names {
		o, err := resolve(name)
		if err != nil {
			return nil, err
		}
		v.operands = append(v.operands, o)
	}
	return v, nil
}

const (
	// stripPixels bounds the pixels of a window that are tested at once, and maxTested the numbers that are in memory for them.
	stripPixels = 1 << 17
	maxTested   = 1 << 20
)

// over returns a gatherer of raw numbers that are NaN for hidden pixels.
func (v *validity) over(next gatherer) gatherer {
	return func(ctx context.Context, windows []image.Rectangle, each func(int, image.Rectangle, []float64) error) error {
		hidden := make([]hiddenPixels, len(windows))
		if err := v.hide(ctx, windows, hidden); err != nil {
			return err
		}
		return next(ctx, windows, func(i int, part image.Rectangle, values []float64) error {
			hidden[i].hide(windows[i], part, values)
			return each(i, part, values)
		})
	}
}

// hide sets the bits of hidden pixels.
func (v *validity) hide(ctx context.Context, windows []image.Rectangle, hidden []hiddenPixels) error {
	if len(v.operands) == 1 { // such as a flag: its numbers need not be kept
		o, values := v.operands[0], make([]float64, 1)
		return o.gather(ctx, windows, func(i int, part image.Rectangle, raw []float64) error {
			for k, r := range raw {
				value, known, err := o.decode(r)
				if err != nil {
					return fmt.Errorf("expression %.200q: %w", v.text, err)
				}
				if values[0] = value; v.strict && !known || !v.valid(values) {
					hidden[i].set(windows[i], part.Min.X+k%part.Dx(), part.Min.Y+k/part.Dx())
				}
			}
			return nil
		})
	}
	var strips []image.Rectangle
	var owners []int
	numbers := 0
	flush := func() error {
		err := v.hideStrips(ctx, strips, func(k int, y int, invalid func(x int) bool) {
			for x := strips[k].Min.X; x < strips[k].Max.X; x++ {
				if invalid(x) {
					hidden[owners[k]].set(windows[owners[k]], x, y)
				}
			}
		})
		strips, owners, numbers = strips[:0], owners[:0], 0
		return err
	}
	for i, w := range windows {
		if w.Empty() {
			continue
		}
		rows := max(1, stripPixels/w.Dx())
		for y := w.Min.Y; y < w.Max.Y; y += rows {
			strip := image.Rect(w.Min.X, y, w.Max.X, min(y+rows, w.Max.Y))
			strips, owners = append(strips, strip), append(owners, i)
			if numbers += strip.Dx() * strip.Dy() * max(1, len(v.operands)); numbers > maxTested {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}

// hideStrips reads the operands of strips, and calls row for each row of each of them.
func (v *validity) hideStrips(ctx context.Context, strips []image.Rectangle, row func(k, y int, invalid func(x int) bool)) error {
	n := len(v.operands)
	values := make([][]float64, len(strips)) // by pixel, then by operand
	unknown := make([]hiddenPixels, len(strips))
	for k, s := range strips {
		values[k] = make([]float64, s.Dx()*s.Dy()*n)
	}
	read := make([]bool, n)
	for first, o := range v.operands {
		if read[first] {
			continue
		}
		var same []int
		for i := first; i < n; i++ {
			if v.operands[i].of == o.of {
				same, read[i] = append(same, i), true
			}
		}
		err := o.gather(ctx, strips, func(k int, part image.Rectangle, raw []float64) error {
			s := strips[k]
			for j, r := range raw {
				x, y := part.Min.X+j%part.Dx(), part.Min.Y+j/part.Dx()
				at := (y-s.Min.Y)*s.Dx() + x - s.Min.X
				for _, i := range same {
					value, known, err := v.operands[i].decode(r)
					if err != nil {
						return err
					}
					if !known {
						unknown[k].set(s, x, y)
					}
					values[k][at*n+i] = value
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("expression %.200q: %w", v.text, err)
		}
	}
	for k, s := range strips {
		for y := s.Min.Y; y < s.Max.Y; y++ {
			row(k, y, func(x int) bool {
				at := ((y-s.Min.Y)*s.Dx() + x - s.Min.X) * n
				return v.strict && unknown[k].has(s, x, y) || !v.valid(values[k][at:at+n])
			})
		}
	}
	return ctx.Err()
}

// hiddenPixels has a bit for each pixel of a window that has no data.
type hiddenPixels []uint64

func (h *hiddenPixels) set(window image.Rectangle, x, y int) {
	if *h == nil {
		*h = make(hiddenPixels, (window.Dx()*window.Dy()+63)/64)
	}
	at := (y-window.Min.Y)*window.Dx() + x - window.Min.X
	(*h)[at/64] |= 1 << (at % 64)
}

func (h hiddenPixels) has(window image.Rectangle, x, y int) bool {
	if h == nil {
		return false
	}
	at := (y-window.Min.Y)*window.Dx() + x - window.Min.X
	return h[at/64]>>(at%64)&1 != 0
}

// hide makes the hidden pixels of a part of the window NaN.
func (h hiddenPixels) hide(window, part image.Rectangle, values []float64) {
	if h == nil {
		return
	}
	for i := range values {
		if h.has(window, part.Min.X+i%part.Dx(), part.Min.Y+i/part.Dx()) {
			values[i] = math.NaN()
		}
	}
}
