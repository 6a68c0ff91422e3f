package api

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"strconv"

	"limnomap/api/answer"
	"limnomap/data"
)

const (
	pathWMTS         = "/wmts"
	pathCapabilities = pathWMTS + "/1.0.0/WMTSCapabilities.xml" // WMTS 1.0.0, section 10.3

	wmtsVersion   = "1.0.0"
	wmtsNamespace = "http://www.opengis.net/wmts/1.0"
	owsNamespace  = "http://www.opengis.net/ows/1.1"
	xlinkSpace    = "http://www.w3.org/1999/xlink"
	xsiSpace      = "http://www.w3.org/2001/XMLSchema-instance"
	wmtsSchema    = "http://schemas.opengis.net/wmts/1.0/wmtsGetCapabilities_response.xsd"

	layerName = "chlorophyll"
	timeName  = "Time"
	// wmtsMatrices is the matrix set's name in WMTS: ArcGIS knows this one as its own maps' scheme.
	wmtsMatrices = "GoogleMapsCompatible"
	// maxTimes bounds how many weeks a document lists: two years, as many as are in memory by default. Clients show them as
	// a list to choose from. Older ones are answered too.
	maxTimes = 104
)

var xmlKind = answer.NewKind(answer.TypeXML, answer.CacheMinute)

// drawnCapabilities is a capabilities document with what it was made of.
type drawnCapabilities struct {
	published   *published
	base        string
	attribution string // which changes without a restart
	content     []byte
}

// capabilities answers with the description of the WMTS.
func (s *Server) capabilities(w http.ResponseWriter, r *http.Request) error {
	p, err := s.published()
	if err != nil {
		return err
	}
	s.varyOrigin(w)
	drawn, err := s.capabilitiesOf(p, s.base(r))
	if err != nil {
		return err
	}
	return s.sender.Send(w, r, xmlKind, answer.Bytes(drawn.content))
}

// capabilitiesOf returns the document for addresses that begin with base. The last one is kept: there are many only where
// a trusted proxy serves several hosts.
func (s *Server) capabilitiesOf(p *published, base string) (*drawnCapabilities, error) {
	attribution := s.attribution()
	if last := s.lastCapabilities.Load(); last != nil && last.published == p && last.base == base && last.attribution == attribution {
		return last, nil
	}
	body, err := xml.Marshal(s.describeWMTS(p, base))
	if err != nil {
		return nil, fmt.Errorf("WMTS capabilities: %w", err)
	}
	content := append(append([]byte(xml.Header), body...), '\n')
	drawn := &drawnCapabilities{published: p, base: base, attribution: attribution, content: content}
	s.lastCapabilities.Store(drawn)
	return drawn, nil
}

func (s *Server) describeWMTS(p *published, base string) *wmtsCapabilities {
	kvp := base + pathWMTS + "?"
	self := base + pathCapabilities
	return &wmtsCapabilities{
		Namespace:      wmtsNamespace,
		OWS:            owsNamespace,
		XLink:          xlinkSpace,
		XSI:            xsiSpace,
		SchemaLocation: wmtsNamespace + " " + wmtsSchema,
		Version:        wmtsVersion,
		Identification: owsIdentification{
			Title:       s.ogcTitle("limnomap"),
			Abstract:    s.ogcAbstract(),
			Keywords:    []string{"chlorophyll-a", "lakes", "water quality"},
			ServiceType: "OGC WMTS",
			Version:     wmtsVersion,
		},
		// RESTful first: clients that understand both take the first, and those addresses are cached for longer.
		Operations: []owsOperation{
			{Name: "GetCapabilities", Gets: []owsGet{encodedGet(self, "RESTful"), encodedGet(kvp, "KVP")}},
			{Name: "GetTile", Gets: []owsGet{encodedGet(base+pathTiles+"/", "RESTful"), encodedGet(kvp, "KVP")}},
		},
		Layer:     s.wmtsLayer(p, base),
		MatrixSet: wmtsMatrixSetTo(s.opts.MaxZoom),
		Self:      xlinkRef{self},
	}
}

func encodedGet(href, encoding string) owsGet {
	return owsGet{Href: href, Constraint: owsConstraint{Name: "GetEncoding", Values: []string{encoding}}}
}

func (s *Server) wmtsLayer(p *published, base string) wmtsLayer {
	lower, upper := p.extent.Min, p.extent.Max
	layer := wmtsLayer{
		Title:      s.ogcTitle(ogcLayerTitle),
		Abstract:   s.ogcAbstract(),
		Bounds:     wgs84Bounds{corner(round(lower.Lon()), round(lower.Lat())), corner(round(upper.Lon()), round(upper.Lat()))},
		Identifier: layerName,
		Format:     answer.TypePNG,
		Dimension:  timesOf(p.snap),
		MatrixSet:  wmtsMatrices,
	}
	for i, style := range s.opts.Styles {
		layer.Styles = append(layer.Styles, wmtsStyle{
			Default:    i == 0,
			Title:      style.Title,
			Abstract:   style.Description,
			Identifier: string(style.ID),
			Legend:     wmtsLegend{Format: answer.TypePNG, Href: base + pathLegend + ".png"},
		})
	}
	time := nowCurrent
	if layer.Dimension != nil {
		time = "{" + timeName + "}"
	}
	// v= makes the tile of a named week immutable, and tells GDAL, which keeps tiles by their address alone, of new data.
	layer.ResourceURL = wmtsTileTemplate{Format: answer.TypePNG, Type: "tile", Template: fmt.Sprintf(
		"%s%s/{TileMatrix}/{TileCol}/{TileRow}%s?style={Style}&time=%s&v=%s", base, pathTiles, tileSuffix, time, p.version)}
	return layer
}

// timesOf returns the weeks that the map can be shown as of, the newest of them, each by its Monday; nil if there is none.
// Who names no week gets the map of now: were the newest week the default, clients that keep it would go on showing that
// week as if it were the present one.
func timesOf(snap *data.Snapshot) *wmtsDimension {
	weeks := snap.Weeks[max(len(snap.Weeks)-maxTimes, 0):]
	if len(weeks) == 0 {
		return nil
	}
	d := &wmtsDimension{Identifier: timeName, UOM: "ISO8601", Default: nowCurrent, Current: true}
	for _, week := range weeks {
		d.Values = append(d.Values, week.Week.Monday().String())
	}
	return d
}

func wmtsMatrixSetTo(maxZoom int) wmtsMatrixSet {
	set := wmtsMatrixSet{
		Title:      "Web Mercator, as Google Maps and OpenStreetMap have it",
		Identifier: wmtsMatrices,
		CRS:        "urn:ogc:def:crs:EPSG::3857",
	}
	if maxZoom <= wkssZoom { // a set may lack the larger scales of the well-known one, but not exceed them
		set.ScaleSet = "urn:ogc:def:wkss:OGC:1.0:GoogleMapsCompatible"
	}
	for zoom := range maxZoom + 1 {
		set.Matrices = append(set.Matrices, wmtsMatrix{
			Identifier: zoom,
			Scale:      decimal(scaleDenominator(zoom)),
			Corner:     corner(-quadEdge, quadEdge),
			TileWidth:  tilePixels,
			TileHeight: tilePixels,
			Width:      matrixWidth(zoom),
			Height:     matrixWidth(zoom),
		})
	}
	return set
}

// decimal returns f without an exponent, which some clients cannot read.
func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// corner returns the coordinates of a corner, that to the east first.
func corner(east, north float64) string { return decimal(east) + " " + decimal(north) }

// ogcLayerTitle is what clients show of the map in their lists of layers.
const ogcLayerTitle = "Chlorophyll-a of lakes"

// ogcTitle returns a title for clients that show nothing else: it says that the data are not real where that is so.
func (s *Server) ogcTitle(title string) string {
	if s.opts.Notice == "" {
		return title
	}
	return title + " (" + s.opts.Notice + ")"
}

// ogcAbstract returns what has to be known of the map, and whose data it shows.
func (s *Server) ogcAbstract() string {
	abstract := "Chlorophyll-a of lakes, in µg/l, measured by satellite, week by week. " +
		"The colour is the value; the opacity tells how near lakes are. Where nothing is drawn there is no current value, " +
		"which never means clean water. " + levelCaveat
	if attribution := s.attribution(); attribution != "" {
		abstract += " Data: " + attribution + "."
	}
	return abstract
}
