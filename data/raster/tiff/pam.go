package tiff

import (
	"encoding/xml"
	"math"
	"strconv"
	"strings"
)

// MaxAux is how many bytes of [Options.Aux] are read.
const MaxAux = 1 << 20

// pamDataset is what is read of a file of GDAL's persistent auxiliary metadata.
type pamDataset struct {
	Bands []struct {
		Number      int    `xml:"band,attr"`
		NoData      string `xml:"NoDataValue"`
		Unit        string `xml:"UnitType"`
		Scale       string `xml:"Scale"`
		Offset      string `xml:"Offset"`
		Description string `xml:"Description"`
	} `xml:"PAMRasterBand"`
}

// readAux adds what GDAL has written beside the file to what the file itself does not say. If it cannot be read, the image is refused: the values may
// need it.
func (im *Image) readAux(aux []byte) {
	if len(aux) > MaxAux {
		im.refuse(unsupported(".aux.xml with %d bytes, want at most %d", len(aux), MaxAux))
		return
	}
	var d pamDataset
	if err := xml.Unmarshal(aux, &d); err != nil {
		im.refuse(unsupported(".aux.xml: %v", err))
		return
	}
	for _, b := range d.Bands {
		band := b.Number - 1
		if band < 0 || band >= im.bands {
			continue
		}
		of := im.metadata.bands[band]
		if of == nil {
			of = &bandMetadata{}
			im.metadata.bands[band] = of
		}
		if of.unit == "" {
			of.unit = strings.TrimSpace(b.Unit)
		}
		if of.description == "" {
			of.description = b.Description
		}
		for _, number := range []struct {
			text string
			to   **float64
		}{{b.Scale, &of.scale}, {b.Offset, &of.offset}} {
			if *number.to != nil || strings.TrimSpace(number.text) == "" {
				continue
			}
			v, err := strconv.ParseFloat(strings.TrimSpace(number.text), 64)
			if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				im.refuse(unsupported(".aux.xml: scale or offset %.40q of band %d, want a number", number.text, b.Number))
				return
			}
			*number.to = &v
		}
		if _, ok := im.NoData(); !ok && strings.TrimSpace(b.NoData) != "" {
			im.setNoData(strings.TrimSpace(b.NoData))
		}
	}
}
