package ogc

import (
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"limnomap/api/answer"
	"limnomap/api/coordinates"
	"limnomap/api/params"
	"limnomap/tiles"
	"limnomap/tiles/mosaic"
)

// PathWMS is the address of the WMS, in the versions 1.3.0 (OGC 06-042) and 1.1.1 (OGC 01-068r3).
const PathWMS = "/wms"

// The codes of exceptions (WMS 1.3.0, table E.1); InvalidSRS is that of 1.1.1.
const (
	codeInvalidFormat    = "InvalidFormat"
	codeInvalidCRS       = "InvalidCRS"
	codeInvalidSRS       = "InvalidSRS"
	codeLayerNotDefined  = "LayerNotDefined"
	codeStyleNotDefined  = "StyleNotDefined"
	codeInvalidPoint     = "InvalidPoint"
	codeInvalidDimension = "InvalidDimensionValue"
)

// A Map is a request for a picture of a part of the map.
type Map struct {
	Tile    // all but its address
	Picture mosaic.Picture
}

// An Info is a request for what is at a pixel of a map.
type Info struct {
	Map
	X, Y   int
	Count  int    // of lakes at most
	Format string // one of InfoFormats
}

// InfoFormats are the media types of answers to GetFeatureInfo, the default first.
var InfoFormats = []string{answer.TypeJSON, "text/html", "text/plain"}

// A wmsRequest is a request by key and value, in one version.
type wmsRequest struct {
	*params.Params
	s   *Service
	old bool // 1.1.1
}

// WMS answers a request by key and value. Without an operation it sends the capabilities.
func (s *Service) WMS(w http.ResponseWriter, r *http.Request) error {
	query := params.OfAnyCase(r)
	q := wmsRequest{Params: &query, s: s}
	version, _ := q.Text("version")
	if version == "" {
		version, _ = q.Text("wmtver") // of 1.0.0, which some clients still send
	}
	q.old = version != "" && version < "1.3"
	err := q.answer(w, r)
	var e *exception
	if errors.As(err, &e) {
		return q.refuse(w, r, []exception{*e})
	}
	if list := exceptionsOf(q.Params); len(list) > 0 {
		return q.refuse(w, r, list)
	}
	return err
}

func (q *wmsRequest) answer(w http.ResponseWriter, r *http.Request) error {
	request, asked := q.Text("request")
	if service, ok := q.Text("service"); ok && !strings.EqualFold(service, "WMS") {
		q.Refuse("service", "%s is not WMS", params.Quote(service))
	}
	if err := q.Err(); err != nil {
		return err
	}
	switch name := strings.ToLower(request); {
	case !asked, name == "getcapabilities", name == "capabilities":
		return q.s.wmsCapabilities(w, r, q.old)
	case name == "getmap", name == "map":
		m, err := q.readMap()
		if err != nil {
			return err
		}
		return q.s.SendMap(w, r, m)
	case name == "getfeatureinfo":
		info, err := q.readInfo()
		if err != nil {
			return err
		}
		return q.s.SendInfo(w, r, info)
	case name == "getlegendgraphic":
		return q.legend(w, r)
	}
	return &exception{codeNotSupported, "request", params.Quote(request) + " is none of GetCapabilities, GetMap, GetFeatureInfo, GetLegendGraphic"}
}

// readMap reads the parameters of GetMap (WMS 1.3.0, table 8). The format may be left out, as some clients do that ask what is at a pixel.
func (q *wmsRequest) readMap() (m Map, err error) {
	s := q.s
	m.Request = s.Default
	if m.State, err = s.Current(); err != nil {
		return m, err
	}
	if err := q.layers("layers"); err != nil {
		return m, err
	}
	if m.Style, err = q.style("styles"); err != nil {
		return m, err
	}
	if format, ok := q.Text("format"); ok && !strings.EqualFold(strings.TrimSpace(strings.Split(format, ";")[0]), answer.TypePNG) {
		return m, &exception{codeInvalidFormat, "format", params.Quote(format) + " is not " + answer.TypePNG}
	}
	m.Picture, err = q.picture()
	if err != nil {
		return m, err
	}
	if m.Week, m.Dated = Week(q.Params, m.State.Snapshot); q.Err() != nil {
		for _, e := range exceptionsOf(q.Params) {
			if e.Locator == "time" {
				return m, &exception{codeInvalidDimension, "time", e.Text}
			}
		}
	}
	return m, q.Err()
}

// layers checks that a parameter names the only layer.
func (q *wmsRequest) layers(name string) error {
	layer, ok := q.Required(name)
	if ok && layer != layerName {
		return &exception{codeLayerNotDefined, name, params.Quote(layer) + " is not " + layerName}
	}
	return nil
}

// style returns the style that a parameter names; the default if it is empty.
func (q *wmsRequest) style(name string) (tiles.StyleID, error) {
	style, _ := q.Text(name)
	ids := q.s.styleIDs()
	switch {
	case style == "" || style == "default":
		return q.s.Default.Style, nil
	case !slices.Contains(ids, tiles.StyleID(style)):
		return "", &exception{codeStyleNotDefined, name, fmt.Sprintf("%s is none of %s", params.Quote(style), strings.Trim(fmt.Sprint(ids), "[]"))}
	}
	return tiles.StyleID(style), nil
}

// picture reads the part of the map, its size and what lies behind it. The order of axes is that of the system in 1.3.0, and x before y in 1.1.1.
func (q *wmsRequest) picture() (p mosaic.Picture, err error) {
	name, code := "crs", codeInvalidCRS
	if q.old {
		name, code = "srs", codeInvalidSRS
	}
	text, ok := q.Required(name)
	if !ok {
		return p, q.Err()
	}
	system, err := coordinates.Parse(text)
	if err != nil {
		return p, &exception{code, name, err.Error()}
	}
	p.System, p.MaxZoom = system.CRS, q.s.MaxZoom
	order := *system
	order.NorthFirst = system.NorthFirst && !q.old
	if text, ok := q.Required("bbox"); ok {
		if p.Min, p.Max, err = order.ParseBox(text); err != nil || !(p.Min[0] < p.Max[0] && p.Min[1] < p.Max[1]) {
			q.Refuse("bbox", "%s %s", params.Quote(text), coordinates.MistakeInBox)
		}
	}
	p.Width, p.Height = q.side("width"), q.side("height")
	background := mosaic.White
	if text, _ := q.Text("bgcolor"); text != "" {
		background = params.Parsed(q.Params, "bgcolor", background, mosaic.ParseColor, "is not a colour as 0xRRGGBB")
	}
	if transparent, _ := q.Text("transparent"); !strings.EqualFold(transparent, "true") {
		p.Background = background
	}
	return p, q.Err()
}

// side reads the width or the height.
func (q *wmsRequest) side(name string) int {
	if _, ok := q.Required(name); !ok {
		return 0
	}
	return q.Integer(name, 1, mosaic.MaxSide, 0)
}

// readInfo reads the parameters of GetFeatureInfo (WMS 1.3.0, table 9).
func (q *wmsRequest) readInfo() (info Info, err error) {
	if err := q.layers("query_layers"); err != nil {
		return info, err
	}
	if info.Map, err = q.readMap(); err != nil {
		return info, err
	}
	column, row := "i", "j"
	if q.old {
		column, row = "x", "y"
	}
	info.X, info.Y = point(q.Params, column, info.Picture.Width), point(q.Params, row, info.Picture.Height)
	if err := q.Err(); err != nil {
		e := exceptionsOf(q.Params)[0]
		return info, &exception{codeInvalidPoint, e.Locator, e.Text}
	}
	info.Count = q.Integer("feature_count", 1, 100, 1)
	if info.Format, err = infoFormat(q.Params, "info_format", codeInvalidFormat); err != nil {
		return info, err
	}
	return info, q.Err()
}

// legend answers with the legend of a style.
func (q *wmsRequest) legend(w http.ResponseWriter, r *http.Request) error {
	if layer, ok := q.Text("layer"); ok && layer != layerName {
		return &exception{codeLayerNotDefined, "layer", params.Quote(layer) + " is not " + layerName}
	}
	style, err := q.style("style")
	if err != nil {
		return err
	}
	if format, ok := q.Text("format"); ok && format != answer.TypePNG {
		return &exception{codeInvalidFormat, "format", params.Quote(format) + " is not " + answer.TypePNG}
	}
	if err := q.Err(); err != nil {
		return err
	}
	return q.s.SendLegend(w, r, style)
}

// A serviceExceptionReport is the answer with what is wrong (WMS 1.3.0, annex E.2).
type serviceExceptionReport struct {
	XMLName    xml.Name           `xml:"ServiceExceptionReport"`
	Namespace  string             `xml:"xmlns,attr,omitempty"`
	Version    string             `xml:"version,attr"`
	Exceptions []serviceException `xml:"ServiceException"`
}

type serviceException struct {
	Code    string `xml:"code,attr,omitempty"`
	Locator string `xml:"locator,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// refuse answers with what is wrong. The codes of missing and of wrong values are those of other services, and are left out.
func (q *wmsRequest) refuse(w http.ResponseWriter, r *http.Request, list []exception) error {
	report := serviceExceptionReport{Namespace: "http://www.opengis.net/ogc", Version: "1.3.0"}
	mediaType := answer.TypeXML
	if q.old {
		report.Namespace, report.Version, mediaType = "", "1.1.1", "application/vnd.ogc.se_xml"
	}
	for _, e := range list {
		code := e.Code
		if code == codeMissing || code == codeInvalid {
			code = ""
		}
		report.Exceptions = append(report.Exceptions, serviceException{code, e.Locator, e.Locator + ": " + e.Text})
	}
	answer.InfoOf(r).Reason = list[0].Error()
	body, err := xml.Marshal(report)
	if err != nil {
		return err
	}
	answer.WriteFailure(w, r, http.StatusBadRequest, mediaType, nil, append(append([]byte(xml.Header), body...), '\n'))
	return nil
}
