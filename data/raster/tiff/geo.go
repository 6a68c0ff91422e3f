package tiff

import (
	"math"
	"slices"
	"strings"
)

// A georeference is where an image is on the map.
type georeference struct {
	transform    [6]float64
	transformErr error // why there is none
	keys         map[uint16]any
}

// Ids of GeoKeys that callers need most (GeoTIFF 1.1, annex B).
const (
	GTModelType     uint16 = 1024 // 1 projected, 2 geographic
	GTRasterType    uint16 = 1025 // 1 PixelIsArea, 2 PixelIsPoint
	GeographicType  uint16 = 2048 // code of EPSG
	ProjectedCSType uint16 = 3072 // code of EPSG
)

const rasterPixelIsPoint = 2

// Transform returns where pixels are in the coordinate reference system of the image, in GDAL's order: x0, dx, rx, y0, ry, dy. The
// corner of the pixel in column c and row r that is nearest to the corner of the image is at x0 + c*dx + r*rx, y0 + c*ry + r*dy.
// In files that refer to the centres of pixels (PixelIsPoint) half a pixel is taken off, as in GDAL. The result is not ok if
// the file has no transform; [Image.TransformErr] says why.
func (im *Image) Transform() (transform [6]float64, ok bool) {
	return im.geo.transform, im.geo.transformErr == nil
}

// TransformErr returns why Transform is not ok, nil if it is: ground control points and rational polynomials are refused by name.
func (im *Image) TransformErr() error { return im.geo.transformErr }

// GeoKeys returns the GeoKeys of the image by their ids. A value is a uint16, a []float64 or a string. The map must not be changed.
func (im *Image) GeoKeys() map[uint16]any { return im.geo.keys }

// readGeoreference reads the tags of GeoTIFF.
func readGeoreference(t *tagReader, d *directory) (georeference, error) {
	var g georeference
	var err error
	if g.keys, err = readGeoKeys(t, d); err != nil {
		return g, err
	}
	scale, err := d.doubles(t, tagModelPixelScale)
	if err != nil {
		return g, err
	}
	tie, err := d.doubles(t, tagModelTiepoint)
	if err != nil {
		return g, err
	}
	matrix, err := d.doubles(t, tagModelTransform)
	if err != nil {
		return g, err
	}
	g.transform, g.transformErr = transform(scale, tie, matrix)
	if g.transformErr == nil && g.keys[GTRasterType] == uint16(rasterPixelIsPoint) {
		m := &g.transform
		m[0] -= (m[1] + m[2]) / 2
		m[3] -= (m[4] + m[5]) / 2
	}
	return g, nil
}

// transform combines the tags in the order of precedence that GDAL has.
func transform(scale, tie, matrix []float64) ([6]float64, error) {
	var m [6]float64
	switch {
	case len(scale) >= 2 && scale[0] != 0 && scale[1] != 0 && len(tie) >= 6:
		m[1] = scale[0]
		m[5] = -math.Abs(scale[1]) // some writers store it negative; rows go south in both cases
		m[0] = tie[3] - tie[0]*m[1]
		m[3] = tie[4] - tie[1]*m[5]
	case len(matrix) == 16:
		m = [6]float64{matrix[3], matrix[0], matrix[1], matrix[7], matrix[4], matrix[5]}
	case len(tie) >= 12:
		return m, unsupported("%d ground control points in the place of a transform; convert the file with: gdalwarp -t_srs EPSG:4326", len(tie)/6)
	default:
		return m, unsupported("the image has no ModelPixelScale with ModelTiepoint and no ModelTransformation; assign its bounds with: gdal_translate -a_ullr")
	}
	for _, v := range m {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return [6]float64{}, damaged("the transform %v has values that are not finite", m)
		}
	}
	if m[1]*m[5]-m[2]*m[4] == 0 {
		return [6]float64{}, damaged("the transform %v gives pixels no area", m)
	}
	return m, nil
}

// maxGeoKeys bounds the keys of an image. The standard defines about 100.
const maxGeoKeys = 1024

// readGeoKeys reads the directory of GeoKeys (GeoTIFF 1.1, section 7.1.2).
func readGeoKeys(t *tagReader, d *directory) (map[uint16]any, error) {
	keys := map[uint16]any{}
	directory, err := d.integers(t, tagGeoKeys, 4*(maxGeoKeys+1))
	if err != nil || directory == nil {
		return keys, err
	}
	if len(directory) < 4 || uint64(len(directory)/4-1) < directory[3] {
		return nil, damaged("tag %v has %d values, too few for its keys", tagGeoKeys, len(directory))
	}
	doubles, err := d.doubles(t, tagGeoDoubles)
	if err != nil {
		return nil, err
	}
	texts, err := d.text(t, tagGeoTexts, 1<<20)
	if err != nil {
		return nil, err
	}
	if slices.Max(directory) > math.MaxUint16 {
		return nil, damaged("tag %v has the value %d, want values of 16 bits", tagGeoKeys, slices.Max(directory))
	}
	for i := range int(directory[3]) {
		key := directory[4*i+4:][:4]
		id, location, count, value := uint16(key[0]), tag(key[1]), int(key[2]), int(key[3])
		switch {
		case location == 0:
			keys[id] = uint16(value)
		case location == tagGeoDoubles && count > 0:
			if value+count > len(doubles) {
				return nil, damaged("GeoKey %d has the doubles %d to %d of %d", id, value, value+count-1, len(doubles))
			}
			keys[id] = doubles[value : value+count : value+count]
		case location == tagGeoTexts:
			// Counts that include a missing terminator are common.
			text := texts[min(value, len(texts)):min(value+count, len(texts))]
			keys[id] = strings.TrimRight(text, "|\x00")
		}
	}
	return keys, nil
}
