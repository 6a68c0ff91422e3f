package satellite

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"limnomap/data"
)

// Options are the optional parameters of an extraction. A nil *Options means all defaults.
type Options struct {
	// Product says how files are read. Empty means that their content and their names say it.
	Product ProductID
	// Variable is the variable of a NetCDF file to read. Empty means that of the product.
	Variable string
	// Band is the band of a GeoTIFF to read, from 1 on. Zero means the only one.
	Band int
	// Scale is what one unit of an [OwnRaster] is in µg/l. Zero means that the file says it.
	Scale float64
	// Valid is an expression for the pixels that count, in place of that of the file: see [expression]. Empty means that of the file.
	Valid string
	// Source is the source of the values of an [OwnRaster], such as the name of the program that made it; and of other products, if the
	// file does not say which version of them it is. Empty means that of the product.
	Source string
	// Date is the date of the values. Absent means that the file says it.
	Date data.Optional[data.Date]
	// Inside says which pixels are a lake's.
	Inside Inside
	// Shore is how many pixels from the shore are left out.
	Shore Shore
	// MinPixels is how many pixels with a value a lake needs. Zero means 3, as CyAN calls a lake resolvable (Schaeffer and others:
	// Journal of Applied Remote Sensing 12, 2018).
	MinPixels int
	// MinShare is the least share of a lake's pixels that must have a value, from 0 to 1. Absent means 0.1.
	MinShare data.Optional[float64]
	// WithoutOutline says what is done with lakes of which only a point is known.
	WithoutOutline WithoutOutline
	// Statistic makes one value of the pixels.
	Statistic Statistic
	// WithoutPixels says that the pixels of the lakes are not kept.
	WithoutPixels bool
	// PixelDays is for how many days pixels are kept, counted from the date of the values. Zero means that they are kept for ever.
	PixelDays int
	// Progress is called now and then with the share of the work that is done, from 0 to 1. Calls do not overlap.
	Progress func(done float64)
	// Workers is how many goroutines decode pixels. Zero means one for each processor.
	Workers int
	// Now returns the present time: no value is dated after it. Nil means time.Now.
	Now func() time.Time
}

const (
	defaultMinPixels = 3
	defaultMinShare  = 0.1
	// poorShare is the share of a lake's pixels with a value below which the value is poor: it is kept and never shown as current. Of
	// 11,789 pixels of Lake Champlain 358 had a value once, with a median of 72 µg/l for a lake that was not blooming.
	poorShare = 0.2
)

// withDefaults returns a copy with defaults for zero values, or an error that names what is invalid.
func (o *Options) withDefaults() (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Product != "" {
		if _, err := ProductOf(c.Product); err != nil {
			return c, err
		}
	}
	if c.Band < 0 {
		return c, fmt.Errorf("band %d: want 1 or more", c.Band)
	}
	if !(c.Scale >= 0) || math.IsInf(c.Scale, 1) {
		return c, fmt.Errorf("scale %v: want a number above 0", c.Scale)
	}
	if c.Valid = strings.TrimSpace(c.Valid); c.Valid != "" {
		if _, err := parseExpression(c.Valid, nil); err != nil {
			return c, fmt.Errorf("valid %.200q: %w", c.Valid, err)
		}
	}
	if c.MinPixels < 0 {
		return c, fmt.Errorf("min pixels %d: want 1 or more", c.MinPixels)
	}
	if !c.MinShare.Known {
		c.MinShare = data.Known(defaultMinShare)
	}
	if s := c.MinShare.Value; !(s >= 0 && s <= 1) {
		return c, fmt.Errorf("min share %v: want a number from 0 to 1", s)
	}
	c.Source = strings.Join(strings.Fields(c.Source), " ")
	c.MinPixels = cmp.Or(c.MinPixels, defaultMinPixels)
	if c.Progress == nil {
		c.Progress = func(float64) {}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c, nil
}

// Settings returns the options that decide the values of a file, "" if all are the defaults.
func (o *Options) Settings() string {
	text := func(o *Options) string {
		c, _ := o.withDefaults() // the error is that of reading a file
		c.Progress, c.Workers, c.Now, c.WithoutPixels, c.PixelDays = nil, 0, nil, false, 0
		return strings.Replace(fmt.Sprintf("%+v", c), " WithoutPixels:false PixelDays:0", "", 1) // as before there were pixels
	}
	if s := text(o); s != text(nil) {
		return s
	}
	return ""
}

// Inside says which pixels are inside an outline.
type Inside uint8

const (
	Full   Inside = iota // pixels that are wholly inside
	Centre               // pixels whose centre is inside
)

var insideNames = [...]string{Full: "full", Centre: "centre"}

func (i Inside) String() string { return insideNames[i] }

// MarshalText returns the name of i.
func (i Inside) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText reads the name of i.
func (i *Inside) UnmarshalText(text []byte) error {
	return parseName(i, text, insideNames[:], "inside")
}

// A Statistic makes one value of many pixels.
type Statistic uint8

const (
	Median Statistic = iota
	Mean
	P90 // the value that 90 % of the pixels do not exceed
)

var statisticNames = [...]string{Median: "median", Mean: "mean", P90: "p90"}

func (s Statistic) String() string { return statisticNames[s] }

// MarshalText returns the name of s.
func (s Statistic) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the name of s.
func (s *Statistic) UnmarshalText(text []byte) error {
	return parseName(s, text, statisticNames[:], "statistic")
}

// parseName sets to to the index of a name.
func parseName[T ~uint8](to *T, text []byte, names []string, what string) error {
	for i, name := range names {
		if string(text) == name {
			*to = T(i)
			return nil
		}
	}
	return fmt.Errorf("%s %.40q: want %s", what, text, strings.Join(names, " or "))
}

// Shore is how many pixels from the shore are left out. The zero value is [AutoShore].
type Shore struct {
	fixed  bool
	pixels int
}

// AutoShore leaves out two pixels from the shore in lakes that have at least 10 others. The manual of LWQ advises one pixel or more; the
// turbidity of Lake Constance was 3.44, 2.45, 2.05 and 1.77 in the first rings from the shore, and 1.23 in the middle.
var AutoShore Shore

const (
	autoShorePixels = 2
	autoShoreRest   = 10
	maxShore        = 1000
)

// FixedShore leaves out that many pixels from the shore, 0 or more.
func FixedShore(pixels int) Shore { return Shore{true, pixels} }

func (s Shore) String() string {
	if !s.fixed {
		return "auto"
	}
	return strconv.Itoa(s.pixels)
}

// MarshalText returns what UnmarshalText reads.
func (s Shore) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads auto or a number of pixels.
func (s *Shore) UnmarshalText(text []byte) error {
	if string(text) == "auto" {
		*s = AutoShore
		return nil
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 0 || n > maxShore {
		return fmt.Errorf("shore %.40q: want auto, or a number of pixels from 0 to %d", text, maxShore)
	}
	*s = FixedShore(n)
	return nil
}

// WithoutOutline says what is done with a lake of which only a point is known. The zero value is [Grow].
type WithoutOutline struct {
	skip bool
	disc float64 // radius in metres, or 0
}

var (
	// Grow starts at the nearest pixel with a value and takes the pixels with a value that are connected to it.
	Grow WithoutOutline
	// Skip leaves such lakes out.
	Skip = WithoutOutline{skip: true}
)

// maxDisc is far more than any lake for which a disc is sensible.
const maxDisc = 50_000

// Disc takes the pixels within that many metres of the point.
func Disc(metres float64) WithoutOutline { return WithoutOutline{disc: metres} }

const discPrefix = "disc:"

func (w WithoutOutline) String() string {
	switch {
	case w.skip:
		return "skip"
	case w.disc > 0:
		return discPrefix + strconv.FormatFloat(w.disc, 'f', -1, 64)
	}
	return "grow"
}

// MarshalText returns what UnmarshalText reads.
func (w WithoutOutline) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText reads grow, skip, or disc: and a number of metres.
func (w *WithoutOutline) UnmarshalText(text []byte) error {
	s := string(text)
	switch metres, disc := strings.CutPrefix(s, discPrefix); {
	case s == "grow":
		*w = Grow
		return nil
	case s == "skip":
		*w = Skip
		return nil
	case disc:
		if m, err := strconv.ParseFloat(metres, 64); err == nil && m > 0 && m <= maxDisc {
			*w = Disc(m)
			return nil
		}
	}
	return fmt.Errorf("without outline %.40q: want grow, skip, or disc:METRES with up to %d metres", s, maxDisc)
}
