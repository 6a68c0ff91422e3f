package ogc

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"limnomap/api/answer"
	"limnomap/data/snapshot"
)

const (
	PathWMTS         = "/wmts"
	PathCapabilities = PathWMTS + "/1.0.0/WMTSCapabilities.xml" // WMTS 1.0.0, section 10.3

	wmtsVersion   = "1.0.0"
	wmtsNamespace = "http://www.opengis.net/wmts/1.0"
	owsNamespace  = "http://www.opengis.net/ows/1.1"
	xlinkSpace    = "http://www.w3.org/1999/xlink"
	xsiSpace      = "http://www.w3.org/2001/XMLSchema-instance"
	wmtsSchema    = "http://schemas.opengis.net/wmts/1.0/wmtsGetCapabilities_response.xsd"

	layerName = "chlorophyll"
	timeName  = "Time"
	// wmtsMatrices is the matrix set's name in WMTS: ArcGIS knows it as the scheme of its own maps.
	wmtsMatrices = "GoogleMapsCompatible"
	// maxTimes bounds how many weeks a document lists: two years, as many as are in memory by default. Clients show them as
	// a list to choose from. Tiles of older ones exist too.
	maxTimes = 104
)

var xmlKind = answer.NewKind(answer.TypeXML, answer.CacheMinute)

// A capabilitiesText is a capabilities document and its inputs.
type capabilitiesText struct {
	state       *State
	base        string
	attribution string // which changes without a restart
	content     []byte
}

// Capabilities answers with the description of the WMTS.
func (s *Service) Capabilities(w http.ResponseWriter, r *http.Request) error {
	state, err := s.Current()
	if err != nil {
		return err
	}
	answer.InfoOf(r).TrueFor = s.TrueFor(state)
	base, private := s.Base(w, r)
	content, err := s.capabilities(state, base)
	if err != nil {
		return err
	}
	return s.Sender.SendBytes(w, r, xmlKind.PrivateIf(private), content)
}

// capabilities returns the document with addresses that begin with base. The last one is kept: there are several only if a
// trusted proxy serves several hosts, or if some clients use the IP address of the server.
func (s *Service) capabilities(state *State, base string) ([]byte, error) {
	attribution := s.Attribution(state)
	if last := s.lastCapabilities.Load(); last != nil && last.state == state && last.base == base && last.attribution == attribution {
		return last.content, nil
	}
	body, err := xml.Marshal(s.describeWMTS(state, base))
	if err != nil {
		return nil, fmt.Errorf("WMTS capabilities: %w", err)
	}
	content := append(append([]byte(xml.Header), body...), '\n')
	s.lastCapabilities.Store(&capabilitiesText{state, base, attribution, content})
	return content, nil
}

func (s *Service) describeWMTS(state *State, base string) *wmtsCapabilities {
	kvp := base + PathWMTS + "?"
	self := base + PathCapabilities
	return &wmtsCapabilities{
		Namespace:      wmtsNamespace,
		OWS:            owsNamespace,
		XLink:          xlinkSpace,
		XSI:            xsiSpace,
		SchemaLocation: wmtsNamespace + " " + wmtsSchema,
		Version:        wmtsVersion,
		Identification: owsIdentification{
			Title:       s.title("limnomap"),
			Abstract:    s.abstract(state),
			Keywords:    []string{"chlorophyll-a", "lakes", "water quality"},
			ServiceType: "OGC WMTS",
			Version:     wmtsVersion,
		},
		// RESTful first: clients that understand both take the first, and those addresses are cached for longer.
		Operations: []owsOperation{
			{Name: "GetCapabilities", Gets: []owsGet{encodedGet(self, "RESTful"), encodedGet(kvp, "KVP")}},
			{Name: "GetTile", Gets: []owsGet{encodedGet(base+s.TilesPath+"/", "RESTful"), encodedGet(kvp, "KVP")}},
			{Name: "GetFeatureInfo", Gets: []owsGet{encodedGet(kvp, "RESTful"), encodedGet(kvp, "KVP")}},
		},
		Layer:     s.wmtsLayer(state, base),
		MatrixSet: wmtsMatrixSetTo(s.MaxZoom),
		Self:      xlinkRef{self},
	}
}

func encodedGet(href, encoding string) owsGet {
	return owsGet{Href: href, Constraint: owsConstraint{Name: "GetEncoding", Values: []string{encoding}}}
}

func (s *Service) wmtsLayer(state *State, base string) wmtsLayer {
	layer := wmtsLayer{
		Title:       s.title(layerTitle),
		Abstract:    s.abstract(state),
		Bounds:      wgs84Bounds{corner(state.Bounds[0], state.Bounds[1]), corner(state.Bounds[2], state.Bounds[3])},
		Identifier:  layerName,
		Format:      answer.TypePNG,
		InfoFormats: InfoFormats,
		Dimension:   timesOf(state.Snapshot),
		MatrixSet:   wmtsMatrices,
	}
	for i, style := range s.Styles {
		legend := base + s.LegendPath + ".png"
		if i > 0 { // the legend of a style explains the signs that the style draws
			legend += "?" + url.Values{"style": {string(style.ID)}}.Encode()
		}
		layer.Styles = append(layer.Styles, wmtsStyle{
			Default:    i == 0,
			Title:      style.Title,
			Abstract:   style.Description,
			Identifier: string(style.ID),
			Legend:     wmtsLegend{Format: answer.TypePNG, Href: legend},
		})
	}
	time := currentTime
	if layer.Dimension != nil {
		time = "{" + timeName + "}"
	}
	// v= makes the tile of a named week immutable, and tells GDAL, which caches tiles only by their address, about new data.
	layer.Resources = []wmtsTemplate{{Format: answer.TypePNG, Type: "tile", Template: fmt.Sprintf(
		"%s%s/{TileMatrix}/{TileCol}/{TileRow}.png?style={Style}&time=%s&v=%s", base, s.TilesPath, time, state.MapVersion)}}
	for _, format := range InfoFormats {
		layer.Resources = append(layer.Resources, wmtsTemplate{Format: format, Type: "FeatureInfo", Template: fmt.Sprintf(
			"%s%s?service=WMTS&request=GetFeatureInfo&version=%s&layer=%s&style={Style}&format=%s&tilematrixset=%s&tilematrix={TileMatrix}&tilerow={TileRow}&tilecol={TileCol}&time=%s&infoformat=%s&j={J}&i={I}",
			base, PathWMTS, wmtsVersion, layerName, answer.TypePNG, wmtsMatrices, time, format)})
	}
	return layer
}

// timesOf returns the newest weeks that the map can show, each by its Monday; nil if there is none. Without a week a client
// gets the current map: if the newest week were the default, clients that store it would show that week as the current one
// for ever.
func timesOf(snap *snapshot.Snapshot) *wmtsDimension {
	weeks := snap.Weeks[max(len(snap.Weeks)-maxTimes, 0):]
	if len(weeks) == 0 {
		return nil
	}
	d := &wmtsDimension{Identifier: timeName, UOM: "ISO8601", Default: currentTime, Current: true}
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

// corner returns the coordinates of a corner, the eastern one first.
func corner(east, north float64) string { return decimal(east) + " " + decimal(north) }
