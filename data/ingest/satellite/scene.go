package satellite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"limnomap/data"
)

// A File is a satellite file.
type File struct {
	Name string // its date and product may be in it
	io.ReaderAt
	Size int64
}

// A scene is an open file: what an extraction needs of it.
type scene struct {
	product  Product
	grid     grid
	value    layer
	variable string // of the value, for people
	date     data.Date
	source   string
	version  string
	method   string // what the method begins with, such as tsi
	// limit is the limit of detection in µg/l, 0 if there is none.
	limit float64
	// uncertainty is a layer that decodes to µg/l, or to a share of the value if it is relative. It is nil if there is none.
	uncertainty *layer
	relative    bool
	// observations is a layer that counts how many observations a pixel has. It is nil if there is none or version says enough.
	observations *layer
}

// openScene opens a file. The options are complete.
func openScene(ctx context.Context, file File, opts *Options) (*scene, error) {
	head := make([]byte, min(8, file.Size))
	if _, err := file.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, err
	}
	switch {
	case begins(head, "II*\x00", "MM\x00*", "II+\x00", "MM\x00+"):
		return openTIFF(file, opts)
	case begins(head, "\x89HDF\r\n\x1a\n", "CDF\x01", "CDF\x02", "CDF\x05"): // NetCDF-4, which is HDF5, and NetCDF-3
		return openNetCDF(ctx, file, opts)
	}
	return nil, errFormat(head)
}

// begins reports whether a file begins with one of these bytes.
func begins(head []byte, magics ...string) bool {
	return slices.ContainsFunc(magics, func(magic string) bool { return strings.HasPrefix(string(head), magic) })
}

func errFormat(head []byte) error {
	is := ""
	switch {
	case len(head) == 0:
		is = "the file is empty"
	case begins(head, "PK"):
		is = "this is a ZIP archive: unpack it first"
	case begins(head, "\x1f\x8b"):
		is = "this is a file compressed by gzip: decompress it first"
	case begins(head, "\x0e\x03\x13\x01"):
		is = "this is a file of HDF4: convert it, for example with gdal_translate"
	case begins(head, "<"):
		is = "this is a web page or XML, maybe instead of a failed download"
	default:
		is = fmt.Sprintf("it begins with %q", head)
	}
	return errors.New("neither NetCDF nor GeoTIFF: " + is)
}

// sourceOf returns the source of the values of a product. own is its source with the resolution, if the file says it.
func sourceOf(p Product, own string, opts *Options) (string, error) {
	switch {
	case opts.Source == "":
		return own, nil
	case p.ID == OwnRaster:
		if other, ok := OfSource(opts.Source); ok && other.ID != OwnRaster {
			return "", fmt.Errorf("source %.80q: this is the name of the product %s: want --product %s, or another source", opts.Source, other.ID, other.ID)
		}
		return opts.Source, nil
	}
	if of, ok := OfSource(opts.Source); !ok || of.ID != p.ID {
		return "", fmt.Errorf("source %.80q: want a name that begins with %q for a file of %s", opts.Source, p.Source, p.ID)
	}
	return opts.Source, nil
}

// A dating is what a file says about its date.
type dating struct {
	name       string    // of the file
	start, end string    // of the period, as global attributes
	time       time.Time // of the coordinate variable; zero without one
}

// dateOf returns the last day of the period of a file.
func dateOf(d dating, opts *Options) (data.Date, error) {
	date, ok := opts.Date.Value, opts.Date.Known
	if !ok {
		date, ok = lastDay(d.start, d.end)
		if last, isDekad := dekadInName(path.Base(d.name)); isDekad && ok && date > last-11 && date < last {
			date = last // the file says only its first day
		}
	}
	if !ok {
		date, ok = DateInName(path.Base(d.name))
	}
	if !ok && !d.time.IsZero() {
		date, ok = data.DateOf(d.time), true
	}
	if !ok {
		return 0, errors.New("no date, neither in the name nor in the file: want --date YYYY-MM-DD")
	}
	if today := data.DateOf(opts.Now().UTC()); date > today+1 {
		return 0, fmt.Errorf("date %s: want a day until tomorrow, %s", date, today+1)
	}
	return date, nil
}

// timeForms are the forms of time_coverage_end (Attribute Convention for Data Discovery 1.3 wants ISO 8601).
var timeForms = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "20060102T150405Z", "20060102T150405", "2006-01-02", "20060102"}

func parseTime(s string) (t time.Time, hasTime, ok bool) {
	s = strings.TrimSpace(s)
	for _, form := range timeForms {
		if t, err := time.Parse(form, s); err == nil {
			return t.UTC(), strings.Contains(form, "15"), t.Year() >= firstYear && t.Year() <= 2100
		}
	}
	return t, false, false
}

// lastDay returns the last day of a period. An end at midnight is not in the period, unless there is no other day.
func lastDay(start, end string) (data.Date, bool) {
	t, hasTime, ok := parseTime(end)
	if !ok {
		return 0, false
	}
	day := data.DateOf(t)
	if begin, _, ok := parseTime(start); ok && hasTime && t.Equal(t.Truncate(24*time.Hour)) && data.DateOf(begin) < day {
		day--
	}
	return day, true
}

// maxVersion is how many characters a version may have.
const maxVersion = 64

// versionOf joins the version of a product and the time at which a file was made, which puts the files of a version into an order.
func versionOf(version, made string) string {
	version = strings.Join(strings.Fields(version), " ")
	if t, _, ok := parseTime(made); ok {
		version = strings.TrimSpace(version + " " + t.Format("2006-01-02T15:04:05Z"))
	}
	if len(version) > maxVersion || strings.ContainsFunc(version, func(r rune) bool { return r < ' ' || r > '~' }) {
		return ""
	}
	return version
}

var (
	// resolutionName is the resolution in the name of a file of LWQ, in metres.
	resolutionName = regexp.MustCompile(`(?i)LWQ_?(\d{2,4})`)
	// versionName is the version in the name of a file: c_gls_LWQ300_202509010000_GLOBE_OLCI_V2.1.1.nc, or ESACCI-LAKES-…-fv2.1.0.nc.
	versionName = regexp.MustCompile(`(?i)[_-]f?(v\d+(?:\.\d+)*)(?:[._-]|$)`)
)

// sourceOfName returns the source of a product with the resolution in the name of a file.
func sourceOfName(p Product, name string) string {
	if m := resolutionName.FindStringSubmatch(path.Base(name)); m != nil && p.ID == LWQ {
		return p.Source + m[1]
	}
	return p.Source
}

// versionOfName returns the version that the name of a file says, "" if it says none.
func versionOfName(name string) string {
	if m := versionName.FindStringSubmatch(path.Base(name)); m != nil {
		return strings.ToUpper(m[1])
	}
	return ""
}

// scaleOf returns what one unit of a variable or a band is in µg/l. The option Scale is for rasters of any program, and for others whose unit is not known.
func scaleOf(p Product, unit string, opts *Options) (scale float64, ok bool) {
	scale, ok = unitScale(unit)
	if opts.Scale > 0 && (p.ID == OwnRaster || !ok) {
		return opts.Scale, true
	}
	return scale, ok
}
