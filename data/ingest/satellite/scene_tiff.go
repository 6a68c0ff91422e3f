package satellite

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"

	"limnomap/data/raster/crs"
	"limnomap/data/raster/georef"
	"limnomap/data/raster/tiff"
)

// openTIFF opens a GeoTIFF.
func (s *scene) openTIFF(file File, opts *Options) error {
	aux, err := auxBeside(file)
	if err != nil {
		return err
	}
	f, err := tiff.Open(file, file.Size, &tiff.Options{Workers: opts.Workers, Aux: aux})
	if err != nil {
		return err
	}
	im := f.Images()[0]
	if err := im.Err(); err != nil {
		return err
	}
	if s.product, err = productOfTIFF(file.Name, im, opts); err != nil {
		return err
	}
	if opts.Variable != "" {
		return fmt.Errorf("variable %.80q: a GeoTIFF has bands: want --band", opts.Variable)
	}
	band, err := bandOf(im, opts)
	if err != nil {
		return err
	}
	masks, err := s.maskBeside(file, im, band, opts)
	if err != nil {
		return err
	}
	s.value = layer{gather: tiffGatherer(im, band, masks...), block: im.BlockSize()}
	s.variable = fmt.Sprintf("band %d", band+1)
	if d := bandName(im, band); d != "" {
		s.variable += " (" + d + ")"
	}
	metadata := im.Metadata()
	if start, stop := im.SNAPTimes(); start != "" {
		metadata["start_date"], metadata["stop_date"] = start, stop // as SNAP calls them in a NetCDF file
	}
	text := attributesOf(maps.Keys(metadata), func(name string) string { return metadata[name] })
	if err := s.hideInvalid(validExpression(im, band, metadata), opts, func(text string) (*validity, error) {
		return newValidity(text, true, nil, func(name string) (operand, error) { return bandOperand(im, name) })
	}); err != nil {
		return fmt.Errorf("%s: %w", s.variable, err)
	}
	if err := s.decodeBand(file.Name, im, band, text, opts); err != nil {
		return err
	}
	if s.grid, err = gridOfTIFF(im); err != nil {
		if indexed(s.product.ID) && errors.Is(err, crs.ErrUnsupported) {
			err = fmt.Errorf("%w (with -dstnodata 255, since 0 is clean water)", err)
		}
		return err
	}
	return s.describe(dating{name: file.Name, attributes: text}, 0, cmp.Or(im.BandMetadata(band)["cell_methods"], text("cell_methods")), opts)
}

// The ends of the names of files that GDAL and rasterio write beside a GeoTIFF: its mask, and what its own tags do not say.
const (
	maskEnd = ".msk"
	auxEnd  = ".aux.xml"
)

// BesideEnds are the ends of the names of files beside a file, without which its values may be others.
var BesideEnds = []string{maskEnd, auxEnd}

// beside opens the file beside a file with that end of its name. It is not ok if there is none.
func (f File) beside(end string) (b Beside, ok bool, err error) {
	if f.Beside == nil {
		return b, false, nil
	}
	if b, err = f.Beside(end); errors.Is(err, fs.ErrNotExist) {
		return b, false, nil
	}
	return b, true, err
}

// auxBeside returns the content of the file .aux.xml beside a GeoTIFF, nil if there is none.
func auxBeside(file File) (aux []byte, err error) {
	b, ok, err := file.beside(auxEnd)
	if !ok {
		return nil, nil
	}
	if err == nil {
		defer b.Close()
		aux, err = io.ReadAll(io.NewSectionReader(b, 0, tiff.MaxAux+1))
	}
	if err != nil {
		err = fmt.Errorf("the metadata %s beside it cannot be read: %w", path.Base(file.Name)+auxEnd, err)
	}
	return aux, err
}

// maskBeside opens the mask beside a GeoTIFF. GDAL writes one for all bands, or one for each.
func (s *scene) maskBeside(file File, im *tiff.Image, band int, opts *Options) (masks []masked, err error) {
	b, ok, err := file.beside(maskEnd)
	if !ok {
		return nil, nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("the mask %s beside it cannot be used: %w: mend it, or move it away if all pixels count", path.Base(file.Name)+maskEnd, err)
		}
	}()
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, b)
	f, err := tiff.Open(b, b.Size, &tiff.Options{Workers: opts.Workers})
	if err != nil {
		return nil, err
	}
	m := f.Images()[0]
	switch {
	case m.Err() != nil:
		return nil, m.Err()
	case m.Width() != im.Width() || m.Height() != im.Height() || m.Bands() != 1 && m.Bands() != im.Bands():
		return nil, fmt.Errorf("it has %d x %d pixels in %d bands, and not %d x %d in 1 or %d", m.Width(), m.Height(), m.Bands(), im.Width(), im.Height(), im.Bands())
	}
	return []masked{{m, min(band, m.Bands()-1)}}, nil
}

// validExpression returns what a band, or the file, says about the pixels that count. It is often about flags of the file from which this one was made.
func validExpression(im *tiff.Image, band int, metadata map[string]string) string {
	items := im.BandMetadata(band)
	b, _ := im.SNAP(band)
	// GDAL names the attributes of a variable VARIABLE#NAME.
	text := cmp.Or(items[validAttribute], b.Valid, metadata[items["NETCDF_VARNAME"]+"#"+validAttribute])
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		if text == "" && strings.HasSuffix(key, "#"+validAttribute) {
			text = metadata[key]
		}
	}
	return strings.TrimSpace(text)
}

// bandName returns the name of a band, "" if it has none.
func bandName(im *tiff.Image, band int) string {
	b, _ := im.SNAP(band)
	return cmp.Or(im.Description(band), b.Name)
}

// bandOperand returns what a name in an expression is: a band by its number (b1, band_1), or by its description.
func bandOperand(im *tiff.Image, name string) (operand, error) {
	for b := range im.Bands() {
		if name != bandName(im, b) && name != fmt.Sprintf("b%d", b+1) && name != fmt.Sprintf("band_%d", b+1) {
			continue
		}
		scale, offset := im.Scale(b)
		return operand{of: b, gather: tiffGatherer(im, b), decode: func(raw float64) (float64, bool) {
			if im.IsNoData(raw) {
				return math.NaN(), true
			}
			return raw*scale + offset, true
		}}, nil
	}
	return operand{}, fmt.Errorf("the file has no band %.80q: bands are b1 to b%d, or have the names of their descriptions", name, im.Bands())
}

// indexed reports whether a product has digital numbers of a cyanobacteria index.
func indexed(id ProductID) bool { return id == CyAN || id == CyANv1 || id == NOAACI }

// The names of files of an index: L20202012020207.L3m_7D_CYAN_CI_cyano_CYAN_CONUS_300m_5_2.tif of CyAN from version 5 on, or
// S3A_OLCI_EFRNT.20160424.L3m.7D.CYAN.CI_cyano.CYAN_CONUS.300m_1_1.tif of one satellite, envisat.2010188.0706.1535C.L3.CONUS.v670.CIcyano1.tif of
// earlier ones, and of NOAA sentinel-3a.2019200.0719.1543C.L3.LE3.v930seadasv7521_1_2.CIcyano.tif and ts_2016.1007_1013.L4.LCHMP3.CIcyano.MAXIMUM_7day.tif.
var (
	cyanName = regexp.MustCompile(`(?i)[._]CYAN(?:V\d+[A-Z]?|AK)?[._]`)
	noaaName = regexp.MustCompile(`(?i)^(sentinel-3[ab]?|envisat|meris|olci|ts_).*CIcyano`)
)

// productOfTIFF returns the product of a GeoTIFF. An index has bytes, whose meaning no tag says.
func productOfTIFF(name string, im *tiff.Image, opts *Options) (Product, error) {
	id := opts.Product
	isByte := im.Type() == tiff.SampleType{Format: tiff.Uint, Bits: 8}
	if id == "" {
		base := path.Base(name)
		switch {
		case isByte && cyanName.MatchString(base):
			id = CyAN
		case isByte && noaaName.MatchString(base):
			id = NOAACI
		case isByte && strings.Contains(strings.ToLower(base), "cyan"):
			return Product{}, fmt.Errorf("bytes with CyAN in the name, but not the name of a version that is known: want --product cyan, cyan-v1, noaa-ci or chl")
		case resolutionName.MatchString(base):
			id = LWQ
		default:
			id = OwnRaster
		}
	}
	if indexed(id) && !isByte {
		return Product{}, fmt.Errorf("product %s has digital numbers from 0 to 255 as uint8; this file has %s", id, im.Type())
	}
	return ProductOf(id)
}

// bandOf returns the band to read, from 0 on.
func bandOf(im *tiff.Image, opts *Options) (int, error) {
	n := im.Bands()
	if im.AlphaBand() == n-1 {
		n--
	}
	switch {
	case opts.Band > im.Bands():
		return 0, fmt.Errorf("band %d: the file has %d", opts.Band, im.Bands())
	case opts.Band > 0:
		return opts.Band - 1, nil
	case n > 1:
		var names []string
		for b := range min(n, 20) {
			names = append(names, strings.TrimSpace(fmt.Sprintf("%d %s", b+1, bandName(im, b))))
		}
		return 0, fmt.Errorf("the file has %d bands: want --band with one of them: %s", n, strings.Join(names, ", "))
	}
	return 0, nil
}

// decodeBand sets the decoder of a band. text finds items about the whole file, of which name is the name.
func (s *scene) decodeBand(name string, im *tiff.Image, band int, text func(string) string, opts *Options) error {
	scale, offset := im.Scale(band)
	if indexed(s.product.ID) {
		if scale != 1 || offset != 0 {
			return fmt.Errorf("product %s has digital numbers without a scale; this band has the scale %v and the offset %v", s.product.ID, scale, offset)
		}
		return s.setIndex(text, func(next decoder) decoder {
			return func(raw float64) (float64, pixelState) {
				if im.IsNoData(raw) {
					return 0, noData // such as the edge of a file that was warped
				}
				return next(raw)
			}
		})
	}
	snap, ok := im.SNAP(band)
	if ok && (snap.Log10 || snap.Scale != 1 || snap.Offset != 0) && scale == 1 && offset == 0 {
		return fmt.Errorf("band %d has raw numbers of SNAP (scale %v, offset %v, logarithms: %v): want a file of the values, for example by SNAP's band maths or as NetCDF",
			band+1, snap.Scale, snap.Offset, snap.Log10)
	}
	items := im.BandMetadata(band)
	item := func(name string) string { return cmp.Or(items[name], text(name)) }
	unit := cmp.Or(im.Unit(band), snap.Unit, item("units"))
	names := append(scalings(item), bandName(im, band), item("long_name"))
	if unit == "" { // of a file without any, the name counts too
		names = append(names, strings.TrimSuffix(path.Base(name), path.Ext(name)))
	}
	u, err := unitOfValues(s.product, unit, names, opts)
	if err != nil {
		return fmt.Errorf("band %d: %w", band+1, err)
	}
	_, hasFill := im.NoData()
	own := ownDecoder{unit: u, noPadding: hasFill}
	s.value.decode = func(raw float64) (float64, pixelState) {
		if math.IsInf(raw, 0) || im.IsNoData(raw) || !hasFill && raw == 0 {
			return 0, noData
		}
		return own.decode(raw*scale + offset)
	}
	return nil
}

// gridOfTIFF returns the grid of an image.
func gridOfTIFF(im *tiff.Image) (georef.Grid, error) {
	transform, ok := im.Transform()
	if !ok {
		if err := im.TransformErr(); err != nil {
			return georef.Grid{}, err
		}
		return georef.Grid{}, fmt.Errorf("the file does not say where its pixels are: want a GeoTIFF, or gdal_translate -a_srs EPSG:4326 -a_ullr")
	}
	system, err := crs.FromGeoKeys(im.GeoKeys())
	if err != nil {
		return georef.Grid{}, err
	}
	return georef.New(im.Width(), im.Height(), transform, system)
}
