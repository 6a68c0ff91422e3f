package satellite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"limnomap/data"
	"limnomap/data/raster/georef"
)

// A File is a satellite file.
type File struct {
	Name string // its date and product may be in it
	io.ReaderAt
	Size int64
	// Beside opens the file whose name is that of this file and an ending, such as .msk. The error is [fs.ErrNotExist] if there is none. Nil means
	// that no file is beside this one.
	Beside func(ending string) (Beside, error)
}

// A Beside is an open file beside another one.
type Beside struct {
	io.ReaderAt
	io.Closer
	Size int64
}

// BesideLocal returns [File.Beside] of a file in a folder. open opens a file.
func BesideLocal(name string, open func(name string) (*os.File, error)) func(ending string) (Beside, error) {
	return func(ending string) (Beside, error) {
		info, err := os.Stat(name + ending)
		if err != nil {
			return Beside{}, err
		}
		if !info.Mode().IsRegular() {
			return Beside{}, errors.New("want a file")
		}
		f, err := open(name + ending)
		if err != nil {
			return Beside{}, err
		}
		return Beside{f, f, info.Size()}, nil
	}
}

// A scene is an open file: what an extraction needs of it.
type scene struct {
	product   Product
	grid      georef.Grid
	value     layer
	variable  string // of the value, for people
	period    period
	composite data.Composite // how the values of the period became one
	source    string
	version   string
	method    string   // what the method begins with, such as tsi
	index     *formula // of a cyanobacteria index if the pixels decode to one, nil if they decode to µg/l
	columns   []string // of a table that this file has and others have not

	// Other layers, nil where the file has none.
	ice, scum    *layer                // 1 where there is ice, or floating cyanobacteria
	uncertainty  *layer                // in µg/l
	relative     bool                  // uncertainty is a share of the value instead
	observations *layer                // how many a pixel has, if version does not say enough
	quantities   [numQuantities]*layer // in the units of their columns

	closers []io.Closer // of files beside it
}

// close closes the files that are open beside the file itself.
func (s *scene) close() {
	for _, c := range s.closers {
		c.Close()
	}
}

var (
	// timeMethod is the statistic over time in the attribute cell_methods of CF: time: mean, or time: lat: lon: maximum (interval: 1 day).
	timeMethod = regexp.MustCompile(`(?i)\b(?:time|t):\s*(?:\w+:\s*)*(\w+)`)
	// nameMethod is the statistic in names of NOAA: ts_2016.1007_1013.L4.LCHMP3.CIcyano.MAXIMUM_7day.tif.
	nameMethod = regexp.MustCompile(`(?i)(?:^|[._-])(mean|maximum|median)_\d+_?days?(?:[._-]|$)`)
)

// setComposite sets how the values of the period became one: by the file, its name, or otherwise its product. cellMethods is that attribute of the values,
// and measure that of files of NASA's level 3.
func (s *scene) setComposite(name, cellMethods, measure string) {
	if s.period.days() == 1 {
		return
	}
	byFile := timeMethod.FindStringSubmatch(cellMethods)
	if m := nameMethod.FindStringSubmatch(path.Base(name)); m != nil {
		measure = m[1]
	}
	if byFile != nil {
		measure = byFile[1]
	}
	composite, err := data.ParseComposite(strings.ToLower(strings.TrimSpace(measure)))
	switch {
	case err == nil:
		s.composite = composite
	case byFile != nil: // another one
	case s.product.ID == CyAN, s.product.ID == CyANv1: // EPA: the maximum of each pixel in the week
		s.composite = data.MaximumComposite
	case s.product.ID == LWQ: // chla_mean
		s.composite = data.MeanComposite
	}
}

// openScene opens a file. The options are complete.
func openScene(ctx context.Context, file File, opts *Options) (*scene, error) {
	head := make([]byte, min(8, file.Size))
	if _, err := file.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, err
	}
	switch {
	case begins(head, "II*\x00", "MM\x00*", "II+\x00", "MM\x00+"):
		s := new(scene)
		if err := s.openTIFF(file, opts); err != nil {
			s.close()
			return nil, err
		}
		return s, nil
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

// describe sets the source, the version and the period of the values. step is the size of pixels in degrees, and cellMethods that attribute of the values.
func (s *scene) describe(d dating, step float64, cellMethods string, opts *Options) (err error) {
	text := d.attributes
	if s.source, err = sourceOf(s.product, d.name, text("obpg_version"), step, opts); err != nil {
		return err
	}
	s.version = versionOf(cmp.Or(text("product_version"), text("processing_version"), versionOfName(s.product, d.name)),
		cmp.Or(text("date_created"), text("processing_time"), text("creation_date"), text("date_modified")))
	s.period, err = periodOfFile(d, opts)
	s.setComposite(d.name, cellMethods, text("measure"))
	return err
}

// sourceOf returns the source of the values of a product: that of the options, or otherwise its own.
//
// The own source of LWQ has its resolution, by the name of the file or the size of its pixels in degrees, 0 if it is not known. That of CyAN has its
// version and the satellite.
func sourceOf(p Product, name, version string, step float64, opts *Options) (string, error) {
	own := p.Source
	m := resolutionName.FindStringSubmatch(path.Base(name))
	switch {
	case p.ID == CyAN:
		var err error
		if own, err = cyanSource(p, path.Base(name), version, opts); err != nil {
			return "", err
		}
	case p.ID == LWQ && m != nil:
		own += m[1]
	case p.ID == LWQ && step > 0.0015: // the grids have 1/1008° and 1/448°
		own += "300"
	case p.ID == LWQ && step > 0:
		own += "100"
	}
	of, known := OfSource(opts.Source)
	switch {
	case opts.Source == "":
		return own, nil
	case p.ID == OwnRaster && known && of.ID != OwnRaster:
		return "", fmt.Errorf("source %.80q: this is the name of the product %s: want --product %s, or another source", opts.Source, of.ID, of.ID)
	case p.ID != OwnRaster && of.ID != p.ID:
		return "", fmt.Errorf("source %.80q: want a name that begins with %q for a file of %s", opts.Source, p.Source, p.ID)
	}
	return opts.Source, nil
}

// maxVersion is how many characters a version may have.
const maxVersion = 64

// versionOf joins the version of a product and the time at which a file was made, which puts the files of a version into an order.
func versionOf(version, made string) string {
	version = strings.Join(strings.Fields(version), " ")
	if t, _, ok := parseTimes(made); ok {
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

// versionOfName returns the version that the name of a file says, "" if it says none. That of CyAN is in its source.
func versionOfName(p Product, name string) string {
	if m := versionName.FindStringSubmatch(path.Base(name)); m != nil && !indexed(p.ID) {
		return strings.ToUpper(m[1])
	}
	return ""
}
