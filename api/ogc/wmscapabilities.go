package ogc

import (
	"encoding/xml"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"

	"limnomap/api/answer"
	"limnomap/api/coordinates"
	"limnomap/tiles/mosaic"
)

// The elements of a WMS capabilities document, in the order of the schema of 1.3.0 and of the DTD of 1.1.1. What one of them lacks is empty in it.

type wmsDocument struct {
	XMLName    xml.Name
	Namespace  string        `xml:"xmlns,attr,omitempty"`
	XLink      string        `xml:"xmlns:xlink,attr,omitempty"`
	XSI        string        `xml:"xmlns:xsi,attr,omitempty"`
	Schema     string        `xml:"xsi:schemaLocation,attr,omitempty"`
	Version    string        `xml:"version,attr"`
	Service    wmsService    `xml:"Service"`
	Capability wmsCapability `xml:"Capability"`
}

type wmsService struct {
	Name        string      `xml:"Name"`
	Title       string      `xml:"Title"`
	Abstract    string      `xml:"Abstract"`
	Keywords    []string    `xml:"KeywordList>Keyword"`
	Online      wmsResource `xml:"OnlineResource"`
	Fees        string      `xml:"Fees"`
	Constraints string      `xml:"AccessConstraints"`
	LayerLimit  int         `xml:"LayerLimit,omitempty"`
	MaxWidth    int         `xml:"MaxWidth,omitempty"`
	MaxHeight   int         `xml:"MaxHeight,omitempty"`
}

type wmsResource struct {
	XLink string `xml:"xmlns:xlink,attr"`
	Type  string `xml:"xlink:type,attr"`
	Href  string `xml:"xlink:href,attr"`
}

type wmsOperation struct {
	Formats []string    `xml:"Format"`
	Get     wmsResource `xml:"DCPType>HTTP>Get>OnlineResource"`
}

type wmsCapability struct {
	Capabilities wmsOperation `xml:"Request>GetCapabilities"`
	Map          wmsOperation `xml:"Request>GetMap"`
	Info         wmsOperation `xml:"Request>GetFeatureInfo"`
	Exceptions   []string     `xml:"Exception>Format"`
	Layer        wmsLayer     `xml:"Layer"`
}

type wmsLayer struct {
	Queryable int            `xml:"queryable,attr,omitempty"`
	Name      string         `xml:"Name,omitempty"`
	Title     string         `xml:"Title"`
	Abstract  string         `xml:"Abstract,omitempty"`
	CRS       []string       `xml:"CRS"`
	SRS       []string       `xml:"SRS"`
	World     *wmsWorld      `xml:"EX_GeographicBoundingBox"`
	LatLon    *wmsBox        `xml:"LatLonBoundingBox"`
	Boxes     []wmsBox       `xml:"BoundingBox"`
	Dimension []wmsDimension `xml:"Dimension"`
	Extent    []wmsDimension `xml:"Extent"`
	Styles    []wmsStyle     `xml:"Style"`
	Layers    []wmsLayer     `xml:"Layer"`
}

type wmsWorld struct {
	West  string `xml:"westBoundLongitude"`
	East  string `xml:"eastBoundLongitude"`
	South string `xml:"southBoundLatitude"`
	North string `xml:"northBoundLatitude"`
}

type wmsBox struct {
	CRS  string `xml:"CRS,attr,omitempty"`
	SRS  string `xml:"SRS,attr,omitempty"`
	MinX string `xml:"minx,attr"`
	MinY string `xml:"miny,attr"`
	MaxX string `xml:"maxx,attr"`
	MaxY string `xml:"maxy,attr"`
}

type wmsDimension struct {
	Name    string `xml:"name,attr"`
	Units   string `xml:"units,attr,omitempty"`
	Default string `xml:"default,attr,omitempty"`
	Values  string `xml:",chardata"`
}

type wmsStyle struct {
	Name     string       `xml:"Name"`
	Title    string       `xml:"Title"`
	Abstract string       `xml:"Abstract"`
	Legend   wmsLegendURL `xml:"LegendURL"`
}

type wmsLegendURL struct {
	Width  int         `xml:"width,attr"`
	Height int         `xml:"height,attr"`
	Format string      `xml:"Format"`
	Online wmsResource `xml:"OnlineResource"`
}

func resource(href string) wmsResource { return wmsResource{xlinkSpace, "simple", href} }

// wmsCapabilities answers with the description of the WMS, in 1.3.0 or 1.1.1.
func (s *Service) wmsCapabilities(w http.ResponseWriter, r *http.Request, old bool) error {
	state, err := s.Current()
	if err != nil {
		return err
	}
	answer.InfoOf(r).TrueFor = s.TrueFor(state)
	base, private := s.Base(w, r)
	d, err := s.describeWMS(state, base, old)
	var body []byte
	if err == nil {
		body, err = xml.Marshal(d)
	}
	if err != nil {
		return fmt.Errorf("WMS capabilities: %w", err)
	}
	head, kind := xml.Header, xmlKind
	if old {
		head += `<!DOCTYPE WMT_MS_Capabilities SYSTEM "http://schemas.opengis.net/wms/1.1.1/capabilities_1_1_1.dtd">` + "\n"
		kind = oldWMSKind
	}
	return s.Sender.SendBytes(w, r, kind.PrivateIf(private), append(append([]byte(head), body...), '\n'))
}

var oldWMSKind = answer.NewKind("application/vnd.ogc.wms_xml", answer.CacheMinute)

func (s *Service) describeWMS(state *State, base string, old bool) (*wmsDocument, error) {
	layer, err := s.wmsLayers(state, base, old)
	if err != nil {
		return nil, err
	}
	address := resource(base + PathWMS + "?")
	d := &wmsDocument{
		XMLName: xml.Name{Local: "WMS_Capabilities"}, Namespace: "http://www.opengis.net/wms", XLink: xlinkSpace, XSI: xsiSpace,
		Schema: "http://www.opengis.net/wms http://schemas.opengis.net/wms/1.3.0/capabilities_1_3_0.xsd", Version: "1.3.0",
		Service: wmsService{
			Name: "WMS", Title: s.title("limnomap"), Abstract: s.abstract(state), Keywords: []string{"chlorophyll-a", "lakes", "water quality"}, Online: address,
			Fees: "none", Constraints: "none", LayerLimit: 1, MaxWidth: mosaic.MaxSide, MaxHeight: mosaic.MaxSide,
		},
		Capability: wmsCapability{
			Capabilities: wmsOperation{[]string{"text/xml"}, address}, Map: wmsOperation{[]string{answer.TypePNG}, address}, Info: wmsOperation{InfoFormats, address},
			Exceptions: []string{"XML"},
			Layer:      layer,
		},
	}
	if old {
		d.XMLName.Local, d.Namespace, d.XLink, d.XSI, d.Schema, d.Version = "WMT_MS_Capabilities", "", "", "", "", "1.1.1"
		d.Service.Name = "OGC:WMS"
		d.Service.LayerLimit, d.Service.MaxWidth, d.Service.MaxHeight = 0, 0, 0
		d.Capability.Capabilities.Formats, d.Capability.Exceptions = []string{"application/vnd.ogc.wms_xml"}, []string{"application/vnd.ogc.se_xml"}
	}
	return d, nil
}

// wmsLayers returns the root, which cannot be asked for, with the layer in it.
func (s *Service) wmsLayers(state *State, base string, old bool) (wmsLayer, error) {
	var names []string
	for _, system := range coordinates.Systems {
		if !old || system.Name != "CRS:84" {
			names = append(names, system.Name)
		}
	}
	west, south, east, north := state.Bounds[0], state.Bounds[1], state.Bounds[2], state.Bounds[3]
	layer := wmsLayer{Queryable: 1, Name: layerName, Title: s.title(layerTitle), Abstract: s.abstract(state)}
	root := wmsLayer{Title: s.title("limnomap")}
	degrees := box(west, south, east, north)
	metres := box(mercatorMetres(west, 0), mercatorMetres(0, south), mercatorMetres(east, 0), mercatorMetres(0, north))
	if old {
		root.SRS, root.LatLon = names, &degrees
		geographic := degrees
		geographic.SRS, metres.SRS = "EPSG:4326", "EPSG:3857"
		root.Boxes = []wmsBox{geographic, metres}
	} else {
		root.CRS = names
		root.World = &wmsWorld{decimal(west), decimal(east), decimal(south), decimal(north)}
		geographic := box(south, west, north, east) // the axes of EPSG:4326
		degrees.CRS, geographic.CRS, metres.CRS = "CRS:84", "EPSG:4326", "EPSG:3857"
		root.Boxes = []wmsBox{degrees, geographic, metres}
	}
	if times := timesOf(state.Snapshot); times != nil {
		values := strings.Join(append([]string{currentTime}, times.Values...), ",")
		d := wmsDimension{Name: "time", Units: times.UOM, Default: currentTime, Values: values}
		if old {
			layer.Dimension = []wmsDimension{{Name: "time", Units: times.UOM}}
			layer.Extent = []wmsDimension{{Name: "time", Default: currentTime, Values: values}}
		} else {
			layer.Dimension = []wmsDimension{d}
		}
	}
	for _, style := range s.Styles {
		legend := base + s.LegendPath + ".png?" + url.Values{"style": {string(style.ID)}}.Encode()
		width, height, err := s.LegendSize(style.ID)
		if err != nil {
			return root, err
		}
		layer.Styles = append(layer.Styles, wmsStyle{string(style.ID), style.Title, style.Description, wmsLegendURL{width, height, answer.TypePNG, resource(legend)}})
	}
	root.Layers = []wmsLayer{layer}
	return root, nil
}

func box(minX, minY, maxX, maxY float64) wmsBox {
	return wmsBox{MinX: decimal(minX), MinY: decimal(minY), MaxX: decimal(maxX), MaxY: decimal(maxY)}
}

// mercatorMetres returns the easting of a longitude, or the northing of a latitude, in EPSG:3857, whole metres.
func mercatorMetres(lon, lat float64) float64 {
	lat = min(max(lat, -85.05), 85.05)
	return math.Round(lon*quadEdge/180 + math.Asinh(math.Tan(lat*math.Pi/180))*quadEdge/math.Pi)
}
