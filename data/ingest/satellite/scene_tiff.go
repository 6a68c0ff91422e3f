package satellite

import (
	"cmp"
	"errors"
	"fmt"

	"math"
	"path"
	"regexp"
	"strings"

	"limnomap/data/raster/crs"
	"limnomap/data/raster/tiff"
)

// openTIFF opens a GeoTIFF.
func openTIFF(file File, opts *Options) (*scene, error) {
	f, err := tiff.Open(file, file.Size, &tiff.Options{Workers: opts.Workers})
	if err != nil {
		return nil, err
	}
	im := f.Images()[0]
	if err := im.Err(); err != nil {
		return nil, err
	}
	s := new(scene)
	if s.product, err = productOfTIFF(file.Name, im, opts); err != nil {
		return nil, err
	}
	if opts.Variable != "" {
		return nil, fmt.Errorf("variable %.80q: a GeoTIFF has bands: want --band", opts.Variable)
	}
	band, err := bandOf(im, opts)
	if err != nil {
		return nil, err
	}
	s.value = layer{name: fmt.Sprintf("band %d", band+1), gather: tiffGatherer(im, band), block: im.BlockSize()}
	s.variable = s.value.name
	if d := im.Description(band); d != "" {
		s.variable += " (" + d + ")"
	}
	if s.value.decode, err = tiffDecoder(s.product, im, band, opts); err != nil {
		return nil, err
	}
	if indexed(s.product.ID) {
		s.limit = indexLimit
	}
	if s.grid, err = gridOfTIFF(im); err != nil {
		if indexed(s.product.ID) && errors.Is(err, crs.ErrUnsupported) {
			err = fmt.Errorf("%w (with -dstnodata 255, since 0 is clean water)", err)
		}
		return nil, err
	}
	if s.source, err = sourceOf(s.product, sourceOfName(s.product, file.Name), opts); err != nil {
		return nil, err
	}
	metadata := im.Metadata()
	text := func(name string) string { return cmp.Or(metadata[name], metadata["NC_GLOBAL#"+name]) }
	s.version = versionOf(cmp.Or(text("product_version"), text("PRODUCT_VERSION"), text("processing_version"), versionOfName(file.Name)),
		cmp.Or(text("date_created"), text("processing_time")))
	s.date, err = dateOf(dating{name: file.Name, start: text("time_coverage_start"), end: text("time_coverage_end")}, opts)
	return s, err
}

// indexed reports whether a product has digital numbers of a cyanobacteria index.
func indexed(id ProductID) bool { return id == CyAN || id == CyANv1 || id == NOAACI }

// The names of files of an index: L20202012020207.L3m_7D_CYAN_CI_cyano_CYAN_CONUS_300m_5_2.tif of CyAN from version 5 on,
// envisat.2010188.0706.1535C.L3.CONUS.v670.CIcyano1.tif of earlier ones, and sentinel-3a.2019200.0719.1543C.L3.LE3.v930seadasv7521_1_2.CIcyano.tif of NOAA.
var (
	cyanName = regexp.MustCompile(`(?i)_CYAN_`)
	noaaName = regexp.MustCompile(`(?i)^(sentinel-3[ab]|envisat|meris|olci).*CIcyano`)
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
			names = append(names, strings.TrimSpace(fmt.Sprintf("%d %s", b+1, im.Description(b))))
		}
		return 0, fmt.Errorf("the file has %d bands: want --band with one of them: %s", n, strings.Join(names, ", "))
	}
	return 0, nil
}

// tiffDecoder returns the decoder of a band.
func tiffDecoder(p Product, im *tiff.Image, band int, opts *Options) (decoder, error) {
	fill, hasFill := im.NoData()
	if indexed(p.ID) {
		decode := indexDecoderOf(p.ID)
		return func(raw float64) (float64, pixelState) {
			if hasFill && raw == fill {
				return 0, noData // such as the edge of a file that was warped
			}
			return decode(raw)
		}, nil
	}
	perUnit, ok := scaleOf(p, im.Unit(band), opts)
	if !ok {
		return nil, fmt.Errorf("band %d has the unit %q: want mg m-3, µg/l or another one of chlorophyll, or --scale with what one unit is in µg/l, such as --scale 1",
			band+1, im.Unit(band))
	}
	scale, offset := im.Scale(band)
	return func(raw float64) (float64, pixelState) {
		if math.IsInf(raw, 0) || hasFill && raw == fill || !hasFill && raw == 0 {
			return 0, noData
		}
		return ownDecoder((raw*scale+offset)*perUnit, false)
	}, nil
}

// gridOfTIFF returns the grid of an image.
func gridOfTIFF(im *tiff.Image) (grid, error) {
	transform, ok := im.Transform()
	if !ok {
		if err := im.TransformErr(); err != nil {
			return grid{}, err
		}
		return grid{}, fmt.Errorf("the file does not say where its pixels are: want a GeoTIFF, or gdal_translate -a_srs EPSG:4326 -a_ullr")
	}
	system, err := crs.FromGeoKeys(im.GeoKeys())
	if err != nil {
		return grid{}, err
	}
	return newGrid(im.Width(), im.Height(), transform, system)
}
