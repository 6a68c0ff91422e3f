package tiff

import (
	"cmp"
	"encoding/xml"
	"math"
	"strings"
)

// MaxAux is how many bytes of [Options.Aux] are read.
const MaxAux = 1 << 20

// pamDataset is what is read of a file of GDAL's persistent auxiliary metadata.
type pamDataset struct {
	Bands []struct {
		Number      int      `xml:"band,attr"`
		NoData      string   `xml:"NoDataValue"`
		Unit        string   `xml:"UnitType"`
		Scale       *float64 `xml:"Scale"`
		Offset      *float64 `xml:"Offset"`
		Description string   `xml:"Description"`
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
		of := im.metadata.band(band)
		im.metadata.bands[band] = of
		of.unit, of.description = cmp.Or(of.unit, strings.TrimSpace(b.Unit)), cmp.Or(of.description, b.Description)
		of.scale, of.offset = cmp.Or(of.scale, b.Scale), cmp.Or(of.offset, b.Offset)
		if scale, offset := im.Scale(band); scale == 0 || math.IsNaN(scale-scale+offset-offset) {
			im.refuse(unsupported(".aux.xml: scale %v and offset %v of band %d, want finite numbers", scale, offset, b.Number))
		}
		if _, ok := im.NoData(); !ok && strings.TrimSpace(b.NoData) != "" {
			im.setNoData(strings.TrimSpace(b.NoData))
		}
	}
}
