package tiff

import (
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"math"
	"strconv"
	"strings"
)

// Bounds of GDAL's metadata, an XML document of two levels in a tag.
const (
	maxMetadataBytes = 1 << 20
	maxMetadataDepth = 16
)

// metadata is what GDAL keeps about an image and its bands.
type metadata struct {
	image map[string]string
	bands map[int]*bandMetadata
}

type bandMetadata struct {
	scale, offset     *float64
	description, unit string
	items             map[string]string // without a role
}

// Metadata returns the items of GDAL's metadata that belong to the whole image and to no domain, such as AREA_OR_POINT or those of
// NetCDF conventions. The map is the caller's.
func (im *Image) Metadata() map[string]string { return maps.Clone(im.metadata.image) }

// Scale returns how values follow from raw values: raw*scale + offset. It is 1 and 0 if the file does not say.
func (im *Image) Scale(band int) (scale, offset float64) {
	scale = 1
	b := im.metadata.band(band)
	if b.scale != nil {
		scale = *b.scale
	}
	if b.offset != nil {
		offset = *b.offset
	}
	return scale, offset
}

// BandMetadata returns the items of GDAL's metadata that belong to a band and to no domain. The map is the caller's.
func (im *Image) BandMetadata(band int) map[string]string {
	return maps.Clone(im.metadata.band(band).items)
}

// Description returns the name of a band, "" if it has none.
func (im *Image) Description(band int) string { return im.metadata.band(band).description }

// Unit returns the unit of a band's values, "" if the file does not say.
func (im *Image) Unit(band int) string { return im.metadata.band(band).unit }

func (m *metadata) band(band int) *bandMetadata {
	if b := m.bands[band]; b != nil {
		return b
	}
	return &bandMetadata{}
}

// readMetadata reads the tag GDAL_METADATA. Scale and offset of the values are in it, so damage is an error.
func readMetadata(t *tagReader, d *directory) (metadata, error) {
	m := metadata{image: map[string]string{}, bands: map[int]*bandMetadata{}}
	text, err := d.text(t, tagGDALMetadata, maxMetadataBytes)
	if err != nil {
		return m, err
	}
	decoder := xml.NewDecoder(strings.NewReader(strings.ToValidUTF8(text, "\uFFFD")))
	// The text is valid UTF-8 by now, whatever a declaration says.
	decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil }
	depth := 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return m, nil
		}
		if err != nil {
			return m, damaged("tag %v: %v", tagGDALMetadata, err)
		}
		switch token := token.(type) {
		case xml.EndElement:
			depth--
		case xml.StartElement:
			if depth++; depth > maxMetadataDepth {
				return m, damaged("tag %v: XML with more than %d levels", tagGDALMetadata, maxMetadataDepth)
			}
			if token.Name.Local != "Item" {
				continue
			}
			depth--
			var value string
			if err := decoder.DecodeElement(&value, &token); err != nil {
				return m, damaged("tag %v: %v", tagGDALMetadata, err)
			}
			if err := m.add(token.Attr, unescapeXML(value)); err != nil {
				return m, err
			}
		}
	}
}

// unescapeXML undoes the second escaping, which GDAL applies to values before it writes them as XML.
var xmlEntities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&apos;", "'", "&amp;", "&")

func unescapeXML(s string) string { return xmlEntities.Replace(s) }

// add adds an item.
func (m *metadata) add(attributes []xml.Attr, value string) error {
	var name, role, domain string
	band := -1
	for _, a := range attributes {
		switch a.Name.Local {
		case "name":
			name = a.Value
		case "role":
			role = strings.ToLower(a.Value)
		case "domain":
			domain = a.Value
		case "sample":
			n, err := strconv.Atoi(a.Value)
			if err != nil || n < 0 || n > math.MaxUint16 {
				return damaged("tag %v: item %q of band %q, want a number from 0", tagGDALMetadata, name, a.Value)
			}
			band = n
		}
	}
	if domain != "" {
		return nil
	}
	if band < 0 {
		m.image[name] = value
		return nil
	}
	b := m.bands[band]
	if b == nil {
		b = &bandMetadata{}
		m.bands[band] = b
	}
	switch role {
	case "scale", "offset":
		v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return damaged("tag %v: %s %q of band %d, want a number", tagGDALMetadata, role, value, band+1)
		}
		if role == "scale" {
			b.scale = &v
		} else {
			b.offset = &v
		}
	case "description":
		b.description = value
	case "unittype":
		b.unit = value
	case "":
		if b.items == nil {
			b.items = make(map[string]string)
		}
		b.items[name] = value
	}
	return nil
}
